// The HTTP API of `strobe view` as clients meet it: well-behaved, mistaken and hostile ones.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { readSpans } from "../src/spans";
import {
  freePort,
  makeTrace,
  OF_GPU,
  run,
  SCRATCH,
  serve,
  serveWith,
  stopAll,
  STREAMER,
  STROBE,
} from "./harness";
import type { Server } from "./harness";

let trace = "";
let server: Server;

before(async () => {
  trace = makeTrace("run");
  server = await serve(trace);
});

after(async () => {
  const { code, errors } = await server.stop();
  stopAll();
  // Under the sanitizers this is where leaks and errors show.
  assert.equal(code, 0, errors);
  assert.equal(errors, "");
});

async function json(path: string): Promise<any> {
  const response = await fetch(`${server.origin}/api/${path}`);
  assert.equal(response.status, 200, path);
  return response.json();
}

/** A request as it stands, so that nothing is put right on the way. */
function raw(options: {
  path: string;
  method?: string;
  host?: string;
}): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.origin);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        path: options.path,
        method: options.method ?? "GET",
        headers: { host: options.host ?? `${hostname}:${port}` },
      },
      (response) => {
        let body = "";
        response.on("data", (data) => (body += String(data)));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

test("statistics are those of strobe stats", async () => {
  for (const devices of [false, true]) {
    const options = devices ? ["--devices"] : [];
    const expected = JSON.parse(run(STROBE, "stats", "--json", ...options, trace));
    const { rows } = await json(`stats?devices=${devices ? 1 : 0}`);
    const { sources } = await json("sources?count=20000");
    assert.equal(rows.length, expected.length);
    for (const row of expected) {
      const ours = rows.find((one: any) => {
        const [name, , line] = sources[one.source];
        return name === row.name && line === row.line;
      });
      assert.deepEqual(
        [
          ours.count,
          ours.total,
          ours.self,
          ours.mean,
          ours.median,
          ours.p99,
          ours.min,
          ours.max,
          ours.deviation,
        ],
        [
          row.count,
          row.total_ns,
          row.self_ns,
          row.mean_ns,
          row.median_ns,
          row.p99_ns,
          row.min_ns,
          row.max_ns,
          row.std_ns,
        ],
      );
    }
  }
});

test("statistics of a range and a track are those of strobe stats", async () => {
  const options = ["--from", "3ms", "--to", "9ms", "--thread", "worker 1"];
  const expected = JSON.parse(run(STROBE, "stats", "--json", ...options, trace));
  const { tracks } = await json("tracks?filter=worker%201");
  const { rows } = await json(`stats?from=3000000&to=9000000&track=${tracks[0].id}`);
  assert.deepEqual(
    rows.map((row: any) => [row.count, row.total]).sort(),
    expected.map((row: any) => [row.count, row.total_ns]).sort(),
  );
});

test("one source has the figures of the statistics, whatever was asked first", async () => {
  const own = await serve(trace);
  const ask = async (question: string): Promise<any> =>
    (await fetch(`${own.origin}/api/${question}`)).json();
  const found = await ask("find?source=1&bins=2&count=1");
  const { rows } = await ask("stats");
  const row = rows.find((one: any) => one.source === 1);
  assert.ok(row.self > 0);
  for (const figure of ["count", "total", "self", "median", "p99"])
    assert.equal(found[figure], row[figure], figure);
  assert.deepEqual(await own.stop(), { code: 0, errors: "" });
});

test("calls cut by a range are in figures, histogram and list alike", async () => {
  const { sources } = await json("sources?count=20000");
  const source = sources.findIndex(([name]: [string]) => name === "decode step");
  const found = await json(`find?source=${source}&from=5671490&to=11546493&bins=10&count=1000`);
  const { rows } = await json("stats?from=5671490&to=11546493");
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
  assert.equal(found.count, rows.find((row: any) => row.source === source).count);
  assert.equal(sum(found.counts), found.count);
  assert.equal(found.calls.length, found.count);
  assert.equal(sum(found.sums), found.total);
});

test("the overview has all tracks in it", async () => {
  const own = await serve(makeTrace("threads", "30000"));
  const response = await fetch(`${own.origin}/api/overview?from=0&to=30005000&width=30`);
  const { host } = (await response.json()) as { host: number[] };
  assert.ok(Math.min(...host) > 0.5, host.join(" "));
  assert.deepEqual(await own.stop(), { code: 0, errors: "" });
});

test("zones of a window are all zones of it, once each", async () => {
  const response = await fetch(`${server.origin}/api/zones?width=1200&tracks=0,1,2,3`);
  const { tracks, isCut } = readSpans(await response.arrayBuffer());
  const info = await json("info");
  const zones = tracks.reduce((sum, track) => sum + track.count.reduce((a, b) => a + b, 0), 0);
  assert.equal(zones, info.zones);
  assert.equal(isCut, false);
  for (const track of tracks)
    for (let i = 0; i < track.length; i++) assert.ok(track.end[i]! >= track.start[i]!);
});

test("a histogram counts every call, whatever its scale", async () => {
  for (const scale of ["linear", "log"]) {
    const found = await json(`find?source=1&bins=17&scale=${scale}&count=1000`);
    const counted = found.counts.reduce((a: number, b: number) => a + b, 0);
    assert.equal(counted, found.count);
    assert.equal(found.edges.length, 18);
    assert.equal(found.calls.length, found.count);
    assert.equal(found.calls[0][3], found.max);
  }
});

test("what is not there is 404, what is wrong 400, and both say why", async () => {
  for (const [path, status] of [
    ["/api/nothing", 404],
    ["/nothing", 404],
    ["/api/ops", 404],
    ["/api/zone?track=0&zone=99999999", 400],
    ["/api/zones?tracks=0&width=-1", 400],
    ["/api/stats?from=9&to=1", 400],
    ["/api/stats?bogus=1", 400],
    [`/api/search?text=${"x".repeat(9000)}`, 400],
  ] as const) {
    const answer = await raw({ path });
    assert.equal(answer.status, status, path);
    assert.ok(JSON.parse(answer.body).error.length > 5);
  }
});

test("no path reaches a file", async () => {
  for (const path of [
    "/../../../../etc/passwd",
    "/api/../../etc/passwd",
    "/..%2f..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "//etc/passwd",
    "/index.html/../../etc/passwd",
  ]) {
    const answer = await raw({ path });
    assert.notEqual(answer.status, 200, path);
    assert.doesNotMatch(answer.body, /root:/);
  }
});

test("only GET and HEAD, and only for this machine", async () => {
  assert.equal((await raw({ path: "/api/info", method: "POST" })).status, 405);
  assert.equal((await raw({ path: "/api/info", method: "DELETE" })).status, 405);
  assert.equal((await raw({ path: "/api/info", method: "HEAD" })).status, 200);
  assert.equal((await raw({ path: "/api/info", host: "evil.example" })).status, 403);
  assert.equal((await raw({ path: "/", host: "localhost.evil.example" })).status, 403);
  assert.equal((await raw({ path: "/", host: "localhost:1" })).status, 200);
});

test("the page forbids itself requests elsewhere", async () => {
  const response = await fetch(`${server.origin}/`);
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /connect-src 'self'/);
});

test("many clients at once are all answered", async () => {
  const questions = Array.from({ length: 120 }, (_, i) =>
    i % 3 === 0 ? "stats?devices=1&from=1" : i % 3 === 1 ? "overview?width=300" : "find?source=3",
  );
  const answers = await Promise.all(questions.map((question) => json(question)));
  assert.equal(answers.length, 120);
});

test("garbage and clients that go away do no harm", async () => {
  const { hostname, port } = new URL(server.origin);
  const pieces = [
    "\x00\xff\xfe\r\n\r\n",
    "GET /api/zones?tracks=0 HTTP/1.1\r\n",
    `GET /${"a".repeat(100000)} HTTP/1.1\r\n\r\n`,
  ];
  await Promise.all(
    pieces.map(
      (piece) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () => {
            socket.write(piece);
            setTimeout(() => socket.destroy(), 50);
          });
          socket.on("close", () => resolve());
          socket.on("error", () => resolve());
        }),
    ),
  );
  assert.equal((await json("info")).program, "decoder");
});

test("lanes of a GPU say their SM", async () => {
  const gpu = await serve(OF_GPU);
  const ask = async (path: string) => (await fetch(`${gpu.origin}/api/${path}`)).json();
  const { tracks } = await ask("tracks?count=10000");
  assert.equal(tracks.length, 132 * 9);
  assert.equal(new Set(tracks.map((track: any) => track.sm.join())).size, 132);
  for (const track of tracks) {
    assert.equal(track.group, "NVIDIA H200 0");
    assert.ok(track.uncertainty > 0 && !track.core);
  }
  const { lanes } = await ask("device");
  assert.equal(lanes.length, tracks.length);
  assert.deepEqual(
    lanes.map((lane: any) => lane.sm),
    tracks.map((track: any) => track.sm),
  );
  // Eight warps of an SM have zones of the kernel, and one of those waits.
  const waiting = lanes.filter((lane: any) => lane.waiting > 0);
  assert.equal(waiting.length, 132 * 8);
  for (const lane of waiting) assert.ok(lane.waiting < lane.busy);
  assert.equal((await gpu.stop()).code, 0);
});

test("events tell the revision at once", async () => {
  const stop = new AbortController();
  const response = await fetch(`${server.origin}/api/events`, { signal: stop.signal });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const { value } = await response.body!.getReader().read();
  assert.match(
    new TextDecoder().decode(value),
    /data: \{"id":"[0-9a-f]{16}","revision":1,"end":\d+,"live":false\}\n\n$/,
  );
  stop.abort();
});

test("beyond the loopback nothing is shown without the token", async () => {
  const open = await serve(trace, "--listen", "127.0.0.1");
  const token = new URL(open.link).searchParams.get("token") ?? "";
  assert.match(token, /^[0-9a-f]{32}$/);
  const status = async (query: string) => (await fetch(`${open.origin}/api/info${query}`)).status;
  assert.equal(await status(""), 403);
  assert.equal(await status(`?token=${token.replace(/./, "x")}`), 403);
  assert.equal(await status(`?token=${token}0`), 403);
  assert.equal(await status(`?token=${token}`), 200);
  assert.equal((await open.stop()).code, 0);
});

test("a server on all addresses prints links that can be opened", async () => {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const others = all.filter((one) => !one.internal && !one.address.startsWith("fe80"));
  for (const [address, own, family] of [
    ["0.0.0.0", "127.0.0.1", "IPv4"],
    ["::", "[::1]", ""],
  ] as const) {
    if (address === "::" && !all.some((one) => one.family === "IPv6")) continue;
    const open = await serve(trace, "--listen", address);
    const reachable = others.filter((one) => family === "" || one.family === family);
    assert.equal(new URL(open.link).hostname, own);
    assert.equal(open.links.length, reachable.length > 0 ? 2 : 1);
    if (open.links.length > 1) {
      const host = new URL(open.links[0]!).hostname.replace(/[[\]]/g, "");
      assert.ok(
        reachable.some((one) => one.address === host),
        host,
      );
    }
    for (const link of open.links) {
      const { origin, search } = new URL(link);
      assert.equal((await fetch(`${origin}/api/info${search}`)).status, 200, link);
      assert.equal((await fetch(`${origin}/api/info`)).status, 403, link);
    }
    assert.deepEqual(await open.stop(), { code: 0, errors: "" });
  }
});

test("a port that is taken is an error that says so", async () => {
  const { port } = new URL(server.origin);
  await assert.rejects(serve(trace, "--port", port), /ended with 1: .*cannot listen on 127.0.0.1/);
});

test("a large trace is opened from its index the next time", async () => {
  const cache = join(SCRATCH, "cache");
  rmSync(cache, { recursive: true, force: true });
  const environment = { STROBE_CACHE: cache };
  const large = makeTrace("nested", "1000000");
  const kept = () => (existsSync(join(cache, "view")) ? readdirSync(join(cache, "view")) : []);
  const asked = "api/zones?width=700&tracks=0&from=100000&to=90000000";
  const read = async (server: Server, path: string) =>
    Buffer.from(await (await fetch(server.link + path)).arrayBuffer()).toString("base64");
  const answers: string[][] = [];
  for (const _ of ["reads the trace", "maps the index", "after damage"]) {
    const server = await serveWith(environment, large);
    answers.push([await read(server, asked), await read(server, "api/stats")]);
    while (!kept().some((name) => name.endsWith(".index"))) await delay(50);
    const { code, errors } = await server.stop();
    assert.equal(code, 0, errors);
    assert.equal(/made anew/.test(errors), answers.length === 3, errors);
    const path = join(cache, "view", kept()[0]!);
    if (answers.length === 2) truncateSync(path, statSync(path).size - 1000);
  }
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
});

const DEVICE_LOG = `ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 64
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data
0,1,2,BRISC,7,1000,0,1024,,,BRISC-FW,ZONE_START,12,brisc.cc,
0,1,2,BRISC,8,1010,0,1024,,,BRISC-KERNEL,ZONE_START,12,brisc.cc,
0,1,2,BRISC,8,1090,0,1024,,,BRISC-KERNEL,ZONE_END,12,brisc.cc,
0,1,2,BRISC,7,1100,0,1024,,,BRISC-FW,ZONE_END,12,brisc.cc,
0,2,2,BRISC,7,1000,0,1024,,,BRISC-FW,ZONE_START,12,brisc.cc,
0,2,2,BRISC,7,1050,0,1024,,,BRISC-FW,ZONE_END,12,brisc.cc,
`;

test("a device log has lanes of its own, alone and in a folder", async () => {
  const folder = join(SCRATCH, "device-log");
  const log = join(folder, ".logs", "profile_log_device.csv");
  mkdirSync(join(folder, ".logs"), { recursive: true });
  writeFileSync(log, DEVICE_LOG);
  const place = { run_host_id: 1024, src_device_id: 0, sx: 1, sy: 2, proc: "BRISC" };
  const kernel = { ...place, zone: "BRISC-KERNEL" };
  const transfer = { ...place, type: "READ", dx: 0, dy: 11 };
  const events = [
    { ...kernel, zone_phase: "ZONE_START", timestamp: 1010 },
    { ...transfer, num_bytes: 32, timestamp: 1020 },
    { ...transfer, num_bytes: 64, timestamp: 1050 },
    { ...kernel, zone_phase: "ZONE_END", timestamp: 1090 },
  ];
  writeFileSync(join(folder, ".logs", "noc_trace_dev0_ID1024.json"), JSON.stringify(events));
  for (const path of [log, folder]) {
    const own = await serve(path);
    const ask = async (question: string): Promise<any> =>
      (await fetch(`${own.origin}/api/${question}`)).json();
    const { lanes } = await ask("device");
    assert.deepEqual(
      lanes.map((lane: any) => [lane.core, lane.name, lane.busy, lane.kernel]),
      [
        [[0, 1, 2], "BRISC", 200, 160],
        [[0, 2, 2], "BRISC", 100, 0],
      ],
    );
    const { runs } = await ask("runs");
    assert.deepEqual([runs.length, runs[0].id, runs[0].kernels], [1, 1024, 2]);
    if (path === folder) {
      const all = await ask("noc");
      assert.deepEqual([all.bytes, all.transfers, all.skipped], [96, 2, 0]);
      // Two ns a cycle: one transfer began 40 ns after the first marker, the other after 100.
      const early = await ask("noc?from=0&to=100");
      assert.deepEqual([early.bytes, early.unplaced], [32, 0]);
      assert.deepEqual(early.ends, [
        [0, 1, 2, 32],
        [0, 0, 11, 32],
      ]);
      assert.equal((await ask("noc?id=1024&from=100&to=101")).bytes, 64);
      assert.equal((await ask("noc?id=7")).bytes, 0);
    }
    assert.deepEqual(await own.stop(), { code: 0, errors: "" });
  }
  writeFileSync(log, DEVICE_LOG + "0,2,2,BRISC,7,no time");
  const own = await serve(log);
  const { code, errors } = await own.stop();
  assert.equal(code, 3);
  assert.match(errors, /profile_log_device.csv: rows that cannot be read: 1, the first is line 9/);
});

test("a file of transfers that is too large is passed over, and said to be", async () => {
  const folder = join(SCRATCH, "large-transfers");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  copyFileSync(trace, join(folder, "run.tracy"));
  const large = join(folder, "noc_trace_dev0_ID7.json");
  writeFileSync(large, "[]");
  truncateSync(large, (64 << 20) + 1);
  const own = await serve(folder);
  const all = (await (await fetch(`${own.origin}/api/noc`)).json()) as any;
  assert.deepEqual([all.files, all.skipped], [1, 1]);
  assert.match(
    (await own.stop()).errors,
    /noc_trace_dev0_ID7.json: its transfers are not shown: it is larger than 64 MB/,
  );
});

test("a session with flaws shows what it can, and says so", async () => {
  const folder = join(SCRATCH, "flawed");
  const elsewhere = join(SCRATCH, "elsewhere");
  for (const path of [folder, elsewhere]) {
    rmSync(path, { recursive: true, force: true }); // a run before has left pipes here
    mkdirSync(path);
  }
  const member = (name: string, zero_tick: bigint) => {
    const file = join(elsewhere, name);
    copyFileSync(trace, file);
    return `{"file":"${file}","program":"${name}","process_id":1,"zero_tick":${zero_tick},"ns_per_tick":1}`;
  };
  const list = join(folder, "session.json");
  const check = async (text: string | null, zones: number, warning: RegExp) => {
    if (text !== null) writeFileSync(list, text);
    const own = await serve(folder);
    const shown = (await (await fetch(`${own.origin}/api/info`)).json()) as any;
    const { code, errors } = await own.stop();
    assert.equal(code, 3, errors);
    assert.match(errors, warning);
    assert.match(shown.damage, warning);
    assert.equal(shown.zones, zones);
  };
  const { zones } = await json("info");
  const [first, last] = [member("a.tracy", -(2n ** 63n)), member("b.tracy", 2n ** 63n - 1n)];
  await check(`{"programs":[${first},${last}]}`, 2 * zones, /its clock is not that/);
  rmSync(join(elsewhere, "b.tracy"));
  writeFileSync(join(elsewhere, "c.tracy"), "no trace");
  const broken = last.replaceAll("b.tracy", "c.tracy");
  await check(`{"programs":[${first},${broken}]}`, zones, /c.tracy/);
  copyFileSync(trace, join(folder, "one.tracy"));
  await check("{", zones, /session.json: line 1/);
  // What nobody writes into would be waited for, and what has no end read for ever.
  run("mkfifo", join(elsewhere, "b.tracy"));
  await check(`{"programs":[${last},${first}]}`, zones, /the trace of .*b.tracy is not there/);
  const endless = first.replaceAll(join(elsewhere, "a.tracy"), "/dev/zero");
  await check(`{"programs":[${endless},${first}]}`, zones, /the trace of .dev.zero is not there/);
  rmSync(list);
  run("mkfifo", list);
  await check(null, zones, /session.json: is no file/);
});

/** A folder with these traces as programs of a session, one after the other. */
function makeSession(name: string, traces: string[]): string {
  const folder = join(SCRATCH, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const programs = traces.map((path, i) => {
    const file = `${i}.tracy`;
    copyFileSync(path, join(folder, file));
    return { file, program: "demo", process_id: i + 1, zero_tick: 1000 * i, ns_per_tick: 1 };
  });
  writeFileSync(join(folder, "session.json"), JSON.stringify({ programs }));
  return folder;
}

test("a large session is opened from its index the next time", async () => {
  const cache = join(SCRATCH, "session-cache");
  rmSync(cache, { recursive: true, force: true });
  const large = makeTrace("nested", "600000");
  const folder = makeSession("large-session", [large, large]);
  const kept = () => (existsSync(join(cache, "view")) ? readdirSync(join(cache, "view")) : []);
  const answers: string[] = [];
  let touched = 0;
  for (const round of ["reads the traces", "maps the index", "after a change"]) {
    if (round === "after a change") {
      utimesSync(join(folder, "1.tracy"), 1e9, 1e9);
      touched = statSync(join(cache, "view", kept()[0]!)).ino;
    }
    const own = await serveWith({ STROBE_CACHE: cache }, folder);
    const { program, zones } = await infoOf(own);
    const stats = await (await fetch(`${own.origin}/api/stats`)).text();
    answers.push(JSON.stringify([program, zones, stats]));
    const index = () => kept().find((name) => name.endsWith(".index"));
    while (!index() || statSync(join(cache, "view", index()!)).ino === touched) await delay(50);
    if (round === "maps the index") {
      // All of it lies in the map of the file; nothing was read from the traces.
      const maps = readFileSync(`/proc/${own.process.pid}/maps`, "utf8");
      assert.match(maps, /session\.json-[0-9a-f]{16}\.index/);
    }
    const { code, errors } = await own.stop();
    assert.deepEqual([code, errors], [0, ""]);
  }
  assert.match(answers[0]!, /^\["2 programs",1200000,/);
  assert.deepEqual(answers.slice(1), [answers[0], answers[0]]);
});

/** A program that can be recorded, and `strobe capture` that does; its journal is there. */
async function record(name: string, ...options: string[]) {
  const port = String(await freePort());
  const output = join(SCRATCH, `${name}.tracy`);
  const journal = `${output}.journal`;
  for (const path of [output, journal]) rmSync(path, { force: true });
  const program = spawn(STREAMER, ["--port", port, "--rate", "20000", "--once", ...options], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => program.stdout.once("data", resolve));
  const recorder = spawn(STROBE, ["capture", "-q", "-p", port, "-o", output], { stdio: "ignore" });
  const ended = new Promise<number | null>((resolve) => recorder.on("close", resolve));
  while (!existsSync(journal) || statSync(journal).size < 10000) await delay(20);
  const kill = async () => {
    recorder.kill("SIGKILL");
    await ended;
    program.kill("SIGKILL");
  };
  return { output, journal, recorder, ended, kill };
}

async function infoOf(server: Server): Promise<any> {
  return (await fetch(`${server.origin}/api/info`)).json();
}

/** Asks until what is told of the trace is so. */
async function until(server: Server, is: (info: any) => boolean): Promise<any> {
  for (;;) {
    const info = await infoOf(server);
    if (is(info)) return info;
    await delay(50);
  }
}

test("a journal grows on the page while it is recorded, and says when it has ended", async () => {
  const recording = await record("growing", "--zones", "60000");
  const own = await serve(recording.journal);
  const early = await infoOf(own);
  assert.deepEqual([early.live, early.ended, early.damage], [true, false, ""]);
  assert.equal(early.name, "growing.tracy.journal");
  await until(own, (info) => info.live && info.zones > early.zones);
  const stop = new AbortController();
  const events = await fetch(`${own.origin}/api/events`, { signal: stop.signal });
  assert.match(
    new TextDecoder().decode((await events.body!.getReader().read()).value),
    /"live":true/,
  );
  stop.abort();
  assert.equal(await recording.ended, 0);
  const late = await until(own, (info) => !info.live);
  assert.deepEqual([late.id, late.ended, late.damage], [early.id, true, ""]);
  // The trace has taken the journal's place; what was shown stays.
  assert.ok(!existsSync(recording.journal));
  assert.equal(late.zones, 60000);
  const { rows } = (await (await fetch(`${own.origin}/api/stats`)).json()) as any;
  const expected = JSON.parse(run(STROBE, "stats", "--json", recording.output));
  assert.deepEqual(
    rows.map((row: any) => [row.count, row.total]).sort(),
    expected.map((row: any) => [row.count, row.total_ns]).sort(),
  );
  const { code, errors } = await own.stop();
  assert.equal(code, 0, errors);
  assert.match(errors, /is being recorded, and shown as it grows/);
  assert.match(errors, /the recording has ended: the program has ended/);
  assert.doesNotMatch(errors, /warning/);
});

test("a recorder that is told to stop ends the recording on the page", async () => {
  const recording = await record("stopped", "--zones", "10000000");
  const own = await serve(recording.journal);
  recording.recorder.kill("SIGINT");
  assert.equal(await recording.ended, 0);
  const late = await until(own, (info) => info.ended);
  assert.deepEqual([late.live, late.damage], [false, ""]);
  const { code, errors } = await own.stop();
  assert.equal(code, 0, errors);
  assert.match(errors, /the recording has ended: its recorder was told to stop/);
});

const DEAD = /the journal has no end: the recorder or the machine stopped before it/;

test("a journal of a recorder that was killed is a dead one", async () => {
  const recording = await record("killed", "--zones", "10000000");
  const own = await serve(recording.journal);
  await recording.kill();
  const late = await until(own, (info) => info.ended);
  assert.equal(late.live, false);
  assert.match(late.damage, DEAD);
  assert.ok(late.zones > 0);
  const { code, errors } = await own.stop();
  assert.equal(code, 3, errors);
  assert.match(errors, DEAD);
  // And so it is from the beginning when it is opened later.
  const later = await serve(recording.journal);
  const shown = await infoOf(later);
  assert.deepEqual([shown.live, shown.ended], [false, false]);
  assert.match(shown.damage, DEAD);
  assert.equal(shown.zones, late.zones);
  const end = await later.stop();
  assert.equal(end.code, 3, end.errors);
  assert.match(end.errors, DEAD);
});

test("a journal that is removed while it is shown is followed to its end", async () => {
  const recording = await record("removed", "--zones", "60000");
  const own = await serve(recording.journal);
  rmSync(recording.journal);
  await recording.ended;
  const late = await until(own, (info) => info.ended);
  assert.deepEqual([late.zones, late.damage], [60000, ""]);
  const { code, errors } = await own.stop();
  assert.equal(code, 0, errors);
  assert.match(errors, /was removed while its recorder writes it/);
});

test("a journal that is cut while it is shown leaves what was shown", async () => {
  const cuts = {
    "the journal was cut to 100 bytes while it was shown": async (recording: any) => {
      recording.recorder.kill("SIGSTOP");
      const status = `/proc/${recording.recorder.pid}/stat`;
      while (!readFileSync(status, "utf8").includes(") T")) await delay(10);
      truncateSync(recording.journal, 100);
    },
    // The recorder goes on behind a hole of what was never shown.
    "has a wrong checksum": async (recording: any, own: Server) => {
      const grow = async () => {
        const { size } = statSync(recording.journal);
        while (statSync(recording.journal).size < size + 20000) await delay(20);
      };
      own.process.kill("SIGSTOP");
      await grow();
      truncateSync(recording.journal, 100);
      await grow();
      own.process.kill("SIGCONT");
    },
  };
  for (const [damage, cut] of Object.entries(cuts)) {
    const recording = await record("cut", "--zones", "10000000");
    const own = await serve(recording.journal);
    const { zones } = await until(own, (info) => info.zones > 1000);
    await cut(recording, own);
    const late = await until(own, (info) => info.ended);
    assert.ok(late.damage.includes(damage), late.damage);
    assert.ok(late.zones >= zones);
    assert.equal((await fetch(`${own.origin}/api/stats`)).status, 200);
    await recording.kill();
    const { code, errors } = await own.stop();
    assert.equal(code, 3);
    assert.ok(errors.includes(damage), errors);
  }
});

test("a page without a server says that its journal is still written", async () => {
  const recording = await record("snapshot", "--zones", "10000000");
  const page = join(SCRATCH, "snapshot.html");
  const done = spawnSync(STROBE, ["view", recording.journal, "--static", page], {
    encoding: "utf8",
  });
  assert.equal(done.status, 3, done.stderr);
  assert.match(done.stderr, /its recorder still writes it, and this is what it held/);
  assert.match(readFileSync(page, "utf8"), /its recorder still writes it/);
  await recording.kill();
});

test("a folder with nothing but a journal shows that, and how to follow it", async () => {
  const recording = await record("alone", "--zones", "10000000");
  const folder = join(SCRATCH, "alone");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  linkSync(recording.journal, join(folder, "run.tracy.journal"));
  const own = await serve(folder);
  const shown = await infoOf(own);
  assert.ok(shown.zones > 0 && !shown.live);
  assert.match(shown.damage, /still writes it.*`strobe view` of this journal alone follows it/);
  const { code, errors } = await own.stop();
  assert.equal(code, 3, errors);
  assert.match(errors, /`strobe view` of this journal alone follows it/);
  await recording.kill();
});

const SUBJECT = join(dirname(STROBE), "client_subject");
const withSubject = { skip: !existsSync(SUBJECT) && "no program to record" };

test("zones of a session have the call stacks of their programs", withSubject, async () => {
  const traces = ["first", "second"].map((name) => {
    const file = join(SCRATCH, `${name}.rec`);
    rmSync(file, { force: true });
    const environment = { ...process.env, STROBE_OUT: file };
    assert.equal(spawnSync(SUBJECT, ["everything"], { env: environment }).status, 0);
    run(STROBE, "recover", "-f", file, "-o", join(SCRATCH, `${name}.tracy`));
    return join(SCRATCH, `${name}.tracy`);
  });
  const stacksOf = async (path: string): Promise<any[]> => {
    const own = await serve(path);
    const ask = async (question: string): Promise<any> =>
      (await fetch(`${own.origin}/api/${question}`)).json();
    const { sources } = await ask("sources?count=20000");
    const source = sources.findIndex(([name]: [string]) => name === "with stack");
    const { calls } = await ask(`find?source=${source}&count=10`);
    const zones = calls.map(([track, zone]: [number, number]) =>
      ask(`zone?track=${track}&zone=${zone}`),
    );
    const stacks = (await Promise.all(zones)).map((zone: any) => JSON.stringify(zone.stack));
    assert.equal((await own.stop()).code, 0);
    return stacks.sort();
  };
  const alone = (await Promise.all(traces.map(stacksOf))).flat().sort();
  assert.equal(alone.length, 2);
  assert.match(alone[0], /\[\[".+",/);
  assert.deepEqual(await stacksOf(makeSession("stacks", traces)), alone);
});

test("a file that a program records into says whether it still does", withSubject, async () => {
  const file = join(SCRATCH, "itself.rec");
  rmSync(file, { force: true });
  const program = spawn(SUBJECT, ["forever"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, STROBE_OUT: file },
  });
  const ended = new Promise((resolve) => program.on("close", resolve));
  await new Promise((resolve) => program.stdout.once("data", resolve));
  program.stdout.resume();
  const check = async (words: RegExp) => {
    const own = await serve(file);
    const { damage, live } = await infoOf(own);
    const { code, errors } = await own.stop();
    assert.deepEqual([code, live], [3, false], errors);
    assert.match(damage, words);
    assert.match(errors, words);
  };
  await check(/the program still writes it, and this is what it held when it was opened/);
  program.kill("SIGKILL");
  await ended;
  await check(/the program has not closed it: it was killed, or the machine stopped/);
});

test("a journal that is being written is not replaced", async () => {
  const recording = await record("taken", "--zones", "10000000");
  const port = String(await freePort());
  const other = spawn(STREAMER, ["--port", port, "--zones", "10", "--once"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => other.stdout.once("data", resolve));
  const done = spawnSync(STROBE, ["capture", "-f", "-p", port, "-o", recording.output], {
    encoding: "utf8",
  });
  other.kill();
  assert.equal(done.status, 1, done.stderr);
  assert.match(done.stderr, /taken.tracy.journal: another recorder is writing it/);
  assert.ok(statSync(recording.journal).size > 10000);
  await recording.kill();
});
