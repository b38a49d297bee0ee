// What the tests share: programs, traces, servers.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

function variable(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; run through test.mjs`);
  return value;
}

export const STROBE = variable("STROBE");
export const SCRATCH = variable("SCRATCH");
export const PROJECT = variable("PROJECT");
const VIEW_SAMPLE = variable("VIEW_SAMPLE");
/** A program to be recorded; it is built beside view_sample. */
export const STREAMER = join(dirname(VIEW_SAMPLE), "streamer");

/** The demo: a small model that runs on the emulated device. */
export const TINY_GPT = join(dirname(VIEW_SAMPLE), "tiny_gpt");

/** Zones of a CUDA kernel, as an H200 recorded them: 132 SMs with nine lanes each. */
export const OF_GPU = join(PROJECT, "tests/fixtures/cuda/h200.tracy");

export function run(program: string, ...options: string[]): string {
  const done = spawnSync(program, options, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, `${program} ${options.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** The same for a program that may say that its result is partial. */
export function runPartly(program: string, ...options: string[]): string {
  const done = spawnSync(program, options, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok(done.status === 0 || done.status === 3, `${program}: ${done.stderr}`);
  return done.stdout;
}

/** A trace made by view_sample. */
export function makeTrace(...kind: string[]): string {
  mkdirSync(SCRATCH, { recursive: true });
  const path = join(SCRATCH, `${kind.join("-")}.tracy`);
  run(VIEW_SAMPLE, ...kind, path);
  assert.ok(existsSync(path));
  return path;
}

/** A folder as a run leaves it: a trace and its ops report. */
export function makeFolder(trace: string): string {
  const folder = join(SCRATCH, "report");
  const sample = join(PROJECT, "examples/perf/decoder_wormhole");
  mkdirSync(folder, { recursive: true });
  copyFileSync(trace, join(folder, "run.tracy"));
  for (const name of readdirSync(sample)) copyFileSync(join(sample, name), join(folder, name));
  return folder;
}

export interface Server {
  link: string;
  /** All that were printed: where it listens on all addresses, the one for others comes first. */
  links: string[];
  origin: string;
  process: ChildProcess;
  /** Ends it, and says how it ended and what it wrote to standard error. */
  stop(): Promise<{ code: number | null; errors: string }>;
}

/** Servers that a test has not stopped; one that failed leaves its own behind. */
const running = new Set<ChildProcess>();

export function stopAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts `strobe view` and waits for its link. */
export function serve(...options: string[]): Promise<Server> {
  return serveWith({}, ...options);
}

/** The same with some variables set. */
export async function serveWith(
  variables: Record<string, string>,
  ...options: string[]
): Promise<Server> {
  const child = spawn(STROBE, ["view", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  let errors = "";
  running.add(child);
  child.on("close", () => running.delete(child));
  child.stderr.on("data", (data) => (errors += String(data)));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const links = await new Promise<string[]>((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim().split("\n")));
    void ended.then((code) => reject(new Error(`strobe view ended with ${code}: ${errors}`)));
  });
  const link = links[links.length - 1]!;
  return {
    link,
    links,
    origin: new URL(link).origin,
    process: child,
    async stop() {
      child.kill("SIGTERM");
      return { code: await ended, errors };
    },
  };
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
