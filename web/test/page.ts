// The page in a real browser: what is drawn, what hands and keys do, and that figures are right.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Drawn } from "../src/draw";
import { formatCount, formatStamp, formatTime } from "../src/format";
import {
  browser,
  canvasBox,
  clickZone,
  comparePicture,
  keepPicture,
  openPage,
  page,
  reset,
  server,
  settle,
  shareViewer,
  state,
  zones,
} from "./browser";
import {
  freePort,
  makeFolder,
  makeTrace,
  OF_GPU,
  run,
  runPartly,
  SCRATCH,
  serve,
  STREAMER,
  STROBE,
  TINY_GPT,
} from "./harness";

let trace = "";

shareViewer(
  () => {
    trace = makeTrace("run");
    return makeFolder(trace);
  },
  { width: 1440, height: 900 },
);

test("the timeline shows the whole trace", async () => {
  const drawn = await zones(page);
  const steps = drawn.filter((zone) => zone.name === "decode step");
  assert.equal(steps.length, 24);
  assert.ok(
    drawn.some((zone) => zone.track >= 4),
    "device lanes are drawn",
  );
  assert.ok((await page.title()).startsWith("decoder"));
  await comparePicture(page, "timeline");
});

test("ctrl and wheel zoom at the pointer", async () => {
  await reset();
  const box = await canvasBox(page);
  const before = (await state(page)).view;
  const part = 0.3;
  const time = before.from + (before.to - before.from) * part;
  await page.mouse.move(box.x + box.width * part, box.y + 250);
  await page.keyboard.down("Control");
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await settle(page);
  const view = (await state(page)).view;
  assert.ok(view.to - view.from < (before.to - before.from) / 4);
  const now = view.from + (view.to - view.from) * part;
  assert.ok(
    Math.abs(now - time) < (view.to - view.from) * 0.01,
    "the time under the pointer stays",
  );
  for (const zone of await zones(page)) assert.ok(zone.end >= view.from && zone.start <= view.to);
});

test("dragging moves the view, keys move and zoom it", async () => {
  await reset();
  const box = await canvasBox(page);
  await page.keyboard.down("w");
  await page.waitForTimeout(400);
  await page.keyboard.up("w");
  const zoomed = (await state(page)).view;
  assert.ok(zoomed.to - zoomed.from < 20e6);
  await page.mouse.move(box.x + 600, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 300, { steps: 4 });
  await page.mouse.up();
  const moved = (await state(page)).view;
  const shift = ((moved.from - zoomed.from) / (zoomed.to - zoomed.from)) * box.width;
  assert.ok(Math.abs(shift - 200) < 3, `moved by ${shift} pixels`);
  await page.keyboard.down("a");
  await page.waitForTimeout(150);
  await page.keyboard.up("a");
  assert.ok((await state(page)).view.from < moved.from);
  await page.keyboard.press("0");
  const all = (await state(page)).view;
  assert.ok(all.from < 0 && all.to > 20e6);
});

test("a selected zone shows the figures of strobe stats", async () => {
  await reset();
  const expected = JSON.parse(run(STROBE, "stats", "--json", trace)).find(
    (row: any) => row.name === "decode step",
  );
  const zone = (await zones(page)).find(
    (one) => one.name === "decode step" && one.text === "token 7",
  );
  assert.ok(zone);
  await clickZone(page, zone);
  const details = page.locator(".details");
  await details.locator('[data-figure="p99"]').waitFor();
  const figure = (name: string) => details.locator(`[data-figure="${name}"]`).textContent();
  assert.equal(await figure("duration"), formatTime(zone.end - zone.start));
  assert.equal(await figure("count"), formatCount(expected.count));
  assert.equal(await figure("total"), formatTime(expected.total_ns));
  assert.equal(await figure("median"), formatTime(expected.median_ns));
  assert.equal(await figure("p99"), formatTime(expected.p99_ns));
  assert.equal(await figure("max"), formatTime(expected.max_ns));
  assert.match((await details.textContent()) ?? "", /token 7/);
  await comparePicture(page, "zone");
});

test("a device zone leads to the host zone that started it", async () => {
  await reset();
  await page.fill('[aria-label="Filter tracks"]', "command queue");
  await settle(page);
  const kernel = (await zones(page)).find((zone) => zone.name === "SDPA-KERNEL" && zone.width > 4);
  assert.ok(kernel);
  await clickZone(page, kernel);
  const started = page.locator(".details section", { hasText: "Started by" });
  await started.locator(".zone-link").click();
  await settle(page);
  assert.equal((await state(page)).selection?.track, 0);
});

test("the statistics table sorts, filters and follows the selection", async () => {
  await reset();
  const rows = page.locator(".panels .table-row.clickable");
  await rows.first().waitFor();
  const byTotal = JSON.parse(run(STROBE, "stats", "--json", trace));
  assert.match((await rows.first().textContent()) ?? "", new RegExp(byTotal[0].name));
  await page.locator('[role="columnheader"]', { hasText: "Count" }).click();
  const byCount = JSON.parse(run(STROBE, "stats", "--json", "--sort", "count", trace));
  assert.match((await rows.first().textContent()) ?? "", new RegExp(byCount[0].name));
  await page.fill('[aria-label="Filter by name"]', "matmul");
  await page.waitForFunction(
    () => document.querySelectorAll(".panels .table-row.clickable").length === 4,
  );
  await page.fill('[aria-label="Filter by name"]', "");
  const box = await canvasBox(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 300, box.y + 250);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 250, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const { range } = await state(page);
  assert.ok(range);
  const options = [
    "--from",
    String(Math.floor(range.from)),
    "--to",
    String(Math.ceil(range.to)),
    "--filter",
    "decode step",
  ];
  const [expected] = JSON.parse(run(STROBE, "stats", "--json", ...options, trace));
  const row = rows.filter({ hasText: "decode step" });
  await page.waitForFunction(
    (count) =>
      [...document.querySelectorAll(".panels .table-row.clickable")].some(
        (one) =>
          one.textContent?.startsWith("decode step") && one.children[1]?.textContent === count,
      ),
    formatCount(expected.count),
  );
  assert.equal(await row.locator("> *").nth(2).textContent(), formatTime(expected.total_ns));
});

test("find zone shows a histogram and jumps to calls", async () => {
  await reset("#tab=find&find=3");
  await page.locator(".histogram-bar").first().waitFor();
  await comparePicture(page, "find");
  await page.locator(".find-body .table-row.clickable").nth(1).click();
  await settle(page);
  const { selection } = await state(page);
  assert.ok(selection);
  assert.ok(
    (await zones(page)).some(
      (zone) => zone.track === selection.track && zone.zone === selection.zone,
    ),
  );
});

test("times are to the nanosecond, and can be copied", async () => {
  assert.equal(formatStamp(1234567891), "1.234\u202f567\u202f891 s");
  assert.equal(formatStamp(-1), "−0.000\u202f000\u202f001 s");
  assert.equal(formatStamp(3600e9), "3600.000\u202f000\u202f000 s");
  await reset("#tab=find&find=3&find-calls=time");
  const starts = page.locator(".find-body .table-row.clickable .stamp");
  await starts.first().waitFor();
  const found = JSON.parse(
    await (await fetch(`${server.origin}/api/find?source=3&order=time&count=500`)).text(),
  );
  const expected = found.calls.map((call: number[]) => `${(call[2]! / 1e9).toFixed(9)} s`);
  const seen = await starts.allTextContents();
  assert.ok(seen.length > 5);
  assert.deepEqual(seen, expected.slice(0, seen.length));
  assert.equal(await starts.first().getAttribute("title"), `${found.calls[0][2]} ns`);
  const widths = await starts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
  assert.equal(new Set(widths.map(({ left, right }) => `${left} ${right}`)).size, 1, "aligned");
  // What is copied is what the other commands take.
  const [from, to] = [seen[2]!, seen[3]!].map((text) => text.replace(" ", ""));
  const options = ["--from", from!, "--to", to!, "--whole"];
  const counted = JSON.parse(run(STROBE, "stats", "--json", ...options, trace));
  const [name] = (await state(page)).sources[3]!;
  assert.equal(counted.find((row: any) => row.name === name)?.count, 1);
  await page.locator(".find-body .table-row.clickable").nth(2).click();
  await page.locator(".details [data-figure=start]", { hasText: seen[2]! }).waitFor();
});

test("tracks are filtered, hidden, pinned, folded and moved", async () => {
  await reset();
  await page.fill('[aria-label="Filter tracks"]', "worker");
  await settle(page);
  assert.deepEqual([...new Set((await zones(page)).map((zone) => zone.track))], [2, 3]);
  const label = page.locator('[data-track="2"]');
  await label.hover();
  await label.locator('[title="Hide"]').click();
  await settle(page);
  assert.deepEqual([...new Set((await zones(page)).map((zone) => zone.track))], [3]);
  await page.locator(".chip", { hasText: "hidden" }).click();
  const second = page.locator('[data-track="3"]');
  await second.hover();
  await second.locator('[title="Move up"]').click();
  await settle(page);
  const first = (await zones(page)).find((zone) => zone.y > 0);
  assert.equal(first?.track, 3);
  await second.hover();
  await second.locator('[title="Pin to the top"]').click();
  assert.deepEqual((await state(page)).pinned, [3]);
  await second.locator(".fold").click();
  await settle(page);
  assert.ok(
    (await zones(page)).filter((zone) => zone.track === 3).every((zone) => zone.depth === 0),
  );
});

test("a link restores what was seen", async () => {
  await reset();
  const zone = (await zones(page)).find(
    (one) => one.name === "decode step" && one.text === "token 3",
  )!;
  await clickZone(page, zone);
  await page.keyboard.press("f");
  await page.keyboard.press("4");
  await settle(page);
  await page.waitForFunction(() => location.hash.includes("tab=ops"));
  const other = await openPage(browser, page.url());
  await settle(page);
  const before = await zones(page);
  const after = await zones(other);
  assert.deepEqual((await state(other)).selection, { track: zone.track, zone: zone.zone });
  assert.equal((await state(other)).tab, "ops");
  // Narrow ones may be drawn together, or not yet: what was loaded finer stays on the first page.
  const wide = (all: Drawn[]) =>
    all.filter((one) => one.width >= 8).map((one) => [one.track, one.zone, Math.round(one.x)]);
  assert.ok(wide(before).length > 4);
  assert.deepEqual(wide(after), wide(before));
  await other.close();
});

test("measure and bookmarks", async () => {
  await reset();
  const box = await canvasBox(page);
  const zone = (await zones(page)).find(
    (one) => one.name === "decode step" && one.text === "token 9",
  )!;
  await page.keyboard.press("m");
  await page.mouse.move(box.x + zone.x + 2, box.y + zone.y + 6);
  await page.mouse.down();
  await page.mouse.move(box.x + zone.x + zone.width - 2, box.y + zone.y + 6, { steps: 3 });
  await page.mouse.up();
  const { measure } = await state(page);
  assert.deepEqual(measure, { from: zone.start, to: zone.end }, "it snaps to the edges");
  await page.keyboard.press("Escape");
  await page.mouse.move(box.x + 500, box.y + 200);
  await page.keyboard.press("b");
  assert.equal((await state(page)).bookmarks.length, 1);
});

test("an op leads to its kernels, its host call and back", async () => {
  await reset();
  await page.fill('[aria-label="Filter tracks"]', "3,2 NCRISC");
  await settle(page);
  const kernel = (await zones(page)).find((zone) => zone.width > 6 && zone.count === 1);
  assert.ok(kernel);
  await clickZone(page, kernel);
  const op = page.locator('.details [data-part="op"]');
  await op.waitFor();
  assert.match((await op.textContent()) ?? "", /DeviceOperation/);
  await op.locator("button", { hasText: "Its kernels" }).click();
  await page.waitForFunction(() => window.strobeTest.state().runZones.size === 96);
  const { run: chosen } = await state(page);
  assert.ok(chosen && kernel.start >= chosen.from && kernel.end <= chosen.to);
  await op.locator("button", { hasText: "On the map" }).click();
  assert.deepEqual((await state(page)).range, { from: chosen.from, to: chosen.to });
  await page.locator(".details section", { hasText: "Started by" }).locator(".zone-link").click();
  await page.fill('[aria-label="Filter tracks"]', "");
  await page.locator('.details [data-part="asked"]').waitFor();
});

test("memory, locks, frame sets and call stacks are shown", async () => {
  await reset();
  const labels = page.locator(".strip-label");
  assert.deepEqual(await labels.allTextContents(), ["Frames", "tokens", "Messages"]);
  const step = (await zones(page)).find((one) => one.name === "decode step")!;
  await clickZone(page, step);
  const stack = page.locator('.details [data-part="stack"] li');
  await stack.first().waitFor();
  assert.deepEqual(
    (await stack.allTextContents()).map((line) => line.replace(/model.*|decoder.cpp.*/, "")),
    ["decode_step", "run_decoder", "main"],
  );
  await page.keyboard.press("Escape");
  await page.evaluate(() => window.strobeTest.scrollBy(1e6));
  await settle(page);
  for (const name of ["Device 0 DRAM", "Device 0 L1", "command queue"])
    await page.locator(".label", { hasText: name }).first().waitFor();
  await comparePicture(page, "memory");
});

test("the device map shows waiting, losses and utilisation", async () => {
  await reset("#tab=device");
  const core = page.locator(".core").first();
  await core.waitFor();
  const shown = new Set<string>();
  for (const measure of ["Busy", "Utilisation", "Waiting", "Losses"]) {
    await page.locator(".segments button", { hasText: measure }).click();
    shown.add((await core.textContent()) ?? "");
  }
  assert.equal(shown.size, 4, [...shown].join(" "));
  assert.equal(await page.locator(".memory-graph").count(), 2);
});

test("a GPU is a map of its SMs, and a group on the timeline", async () => {
  const served = await serve(OF_GPU);
  const gpu = await openPage(browser, `${served.link}#tab=device`);
  const sms = gpu.locator(".core");
  await sms.first().waitFor();
  assert.equal(await sms.count(), 132);
  const place = (number: number) =>
    gpu
      .locator(`.core[title^="SM ${number}:"]`)
      .evaluate((one) => [one.style.gridColumn, one.style.gridRow].map((text) => parseInt(text)));
  assert.deepEqual(await place(0), [1, 1]);
  assert.deepEqual(await place(131), [12, 11]);
  const measures = await gpu.locator(".segments[aria-label] button").allTextContents();
  assert.deepEqual(measures, ["Busy", "Waiting", "Losses"]);
  await gpu.locator(".segments button", { hasText: "Waiting" }).click();
  await gpu.locator('.core[title^="SM 17:"]').click();
  assert.equal(await gpu.locator(".core-details h3").textContent(), "SM 17");
  assert.equal(await gpu.locator(".core-details .lane-bar").count(), 9);
  assert.match((await gpu.locator(".toolbar").textContent()) ?? "", /132 SMs/);
  const { tracks } = await state(gpu);
  assert.deepEqual([...new Set(tracks.map((track) => track.group))], ["NVIDIA H200 0"]);
  await gpu.locator(".label", { hasText: "SM 0 warp slot 1" }).first().waitFor();
  await gpu.close();
  await served.stop();
});

/** A report as `strobe run -r` makes it, of the demo on the emulated device. */
function makeReport(): string {
  const folder = join(SCRATCH, "demo");
  rmSync(folder, { recursive: true, force: true });
  const model = [TINY_GPT, "-q", "-l", "1", "-w", "32", "-n", "8", "-s", "1"];
  run(STROBE, "run", "-r", "--collect-noc-traces", "-o", folder, ...model);
  const reports = join(folder, "reports");
  return join(reports, readdirSync(reports)[0]!);
}

test("the demo's report is shown with the figures of strobe perf and stats", async () => {
  const folder = makeReport();
  const files = readdirSync(folder);
  const table = join(folder, files.find((name) => name.startsWith("ops_perf_results"))!);
  const report = JSON.parse(runPartly(STROBE, "perf", "--json", table));
  const demo = await serve(folder);
  const shown = await openPage(browser, `${demo.link}#tab=ops`);
  const rows = shown.locator(".ops-body .table-row.clickable");
  await rows.first().waitFor();
  const costliest = report.ops.reduce((best: any, op: any) =>
    op.total_percent > best.total_percent ? op : best,
  );
  const text = (await rows.first().textContent()) ?? "";
  assert.ok(text.includes(`${costliest.device_time_us.toFixed(1)} µs`), text);
  // Columns are chosen one by one, and a link keeps them.
  const heads = shown.locator(".ops-body [role=columnheader]");
  assert.ok(!(await heads.allTextContents()).includes("Cores"));
  await shown.locator(".choice summary").click();
  await shown.locator(".choice label", { hasText: "Cores" }).click();
  await shown.locator(".choice label", { hasText: "Gap" }).click();
  await shown.locator(".choice summary").click();
  await shown.waitForFunction(() => location.hash.includes("columns="));
  const titles = (await heads.allTextContents()).map((title) => title.replace(/[↓↑]/, ""));
  assert.ok(titles.includes("Cores") && !titles.includes("Gap"), titles.join());
  await shown.reload();
  await rows.first().waitFor();
  assert.deepEqual(
    (await heads.allTextContents()).map((title) => title.replace(/[↓↑]/, "")),
    titles,
  );
  // How well clocks agree and what recording costs, as report.json has it.
  const about = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  const { facts } = (await state(shown)).info!;
  const fact = (name: string) => facts.find((one) => one.name === name)?.text ?? "";
  for (const sync of about.clocks.sync ?? [])
    assert.ok(fact(`Clock of device ${sync.device}`).includes(`${sync.samples} samples`));
  for (const [processor, cost] of Object.entries<number>(about.overhead.costs?.zone_ns ?? {}))
    assert.ok(fact("Cost of a zone").includes(`${cost.toFixed(0)} ns on ${processor}`));
  assert.ok(fact("Rows").includes(`${about.completeness.complete} complete`));
  // The firmware has one source for each op, all of one name and place.
  const lanes = await openPage(browser, `${demo.link}#tab=stats&stats-of=device`);
  await lanes.locator(".panels .table-row.clickable").first().waitFor();
  const names = await lanes.locator(".panels .clickable [role=cell]:first-child").allTextContents();
  const firmware = names.filter((name) => name.startsWith("BRISC-FW"));
  assert.ok(firmware.length > 1, names.join());
  assert.equal(new Set(firmware).size, firmware.length, firmware.join());
  await lanes.close();
  await rows.first().click();
  await shown.locator(".ops-side button", { hasText: "kernels" }).click();
  await shown.waitForFunction(() => window.strobeTest.state().runZones.size > 0);
  const run_ = (await state(shown)).run!;
  assert.equal(run_.id, costliest.global_call_count);
  // What the map of its time shows is about what the report says it took.
  assert.ok((run_.to - run_.from) / 1e3 >= costliest.device_time_us);
  await shown.keyboard.press("1");
  const stats = JSON.parse(
    run(STROBE, "stats", "--devices", "--json", join(folder, "tracy_profile_log_host.tracy")),
  );
  const matmul = stats.find((row: any) => row.name === "MATMUL");
  await shown.locator(".segments button", { hasText: "Device" }).first().click();
  const row = shown.locator(".panels .table-row", { hasText: "MATMUL" }).first();
  await row.waitFor();
  assert.ok(((await row.textContent()) ?? "").includes(formatTime(matmul.total_ns)));
  await shown.keyboard.press("5");
  await shown.locator(".segments button", { hasText: "NoC traffic" }).click();
  await shown.locator(".core", { hasText: "kB" }).first().waitFor();
  await keepPicture(shown, "demo");
  await shown.close();
  await demo.stop();
});

test("the processes of a session are on one line of time", async () => {
  const folder = join(SCRATCH, "session");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const programs = [0, 1].map((i) => {
    copyFileSync(trace, join(folder, `part-${i}.tracy`));
    const zero_tick = 5000 + i * 4e6;
    return {
      file: `part-${i}.tracy`,
      program: `part${i}`,
      process_id: 10 + i,
      zero_tick,
      ns_per_tick: 0.5,
    };
  });
  writeFileSync(join(folder, "session.json"), JSON.stringify({ programs }));
  const both = await serve(folder);
  const shown = await openPage(browser, both.link);
  await shown.fill('[aria-label="Filter tracks"]', "main");
  await settle(shown);
  const drawn = await zones(shown);
  const first = drawn.filter((zone) => zone.name === "decode step" && zone.text === "token 3");
  assert.equal(first.length, 2);
  assert.equal(first[1]!.start - first[0]!.start, 2e6, "the second clock began 2 ms later");
  const groups = await shown.locator(".group-label").allTextContents();
  assert.deepEqual(
    groups.map((name) => name.slice(0, 8)),
    ["part0 10", "part1 11"],
  );
  await shown.close();
  await both.stop();
});

test("a text written onto a zone is found", async () => {
  await reset();
  await page.keyboard.press("/");
  await page.keyboard.type("token 17");
  // Not any hit with that word: those for the first letters are shown until the last is typed.
  const hit = page.locator(".hits button", { hasText: "token 17" });
  await hit.waitFor();
  await hit.click();
  await page.waitForFunction(() => window.strobeTest.state().selection !== null);
});

test("search finds zones, tracks and messages", async () => {
  await reset();
  await page.keyboard.press("/");
  await page.keyboard.type("matmulq");
  const hit = page.locator(".hits button").first();
  await hit.waitFor();
  assert.match((await hit.textContent()) ?? "", /MatmulQKV/);
  await comparePicture(page, "search");
  await page.keyboard.press("Enter");
  assert.equal((await state(page)).tab, "find");
});

test("messages are listed, filtered and jumped to", async () => {
  await reset("#tab=messages");
  const rows = page.locator(".panels .table-row.clickable");
  await rows.first().waitFor();
  assert.ok((await rows.count()) > 4);
  await page.fill('[aria-label="Filter messages"]', "signpost");
  await page.waitForFunction(
    () => document.querySelectorAll(".panels .table-row.clickable").length === 1,
  );
  await page.keyboard.press("Escape");
  await page.keyboard.down("w");
  await page.waitForTimeout(300);
  await page.keyboard.up("w");
  const at = (await rows.first().textContent()) ?? "";
  await rows.first().click();
  const { view } = await state(page);
  assert.ok(at.includes(`${((view.from + view.to) / 2 / 1e9).toFixed(9)} s`), at);
});

test("messages, ops, device, flame graph and info have their say", async () => {
  for (const [tab, element, text] of [
    ["messages", ".panels .table-row.clickable", ""],
    ["ops", ".ops-body .table-row.clickable", "MatmulDeviceOperation"],
    ["device", ".core", "1,1"],
    ["flame", ".flame-box", "decode step"],
    ["info", ".info dl", "decoder"],
  ] as const) {
    await reset(`#tab=${tab}`);
    await page.locator(element, { hasText: text }).first().waitFor();
    if (tab === "ops") await page.locator(element).nth(4).click();
    if (tab === "device") await page.locator(element).nth(7).click();
    await comparePicture(page, tab);
  }
});

test("a dark page is dark", async () => {
  await reset();
  await page.locator('[aria-label="Light or dark"]').click();
  await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
  await comparePicture(page, "dark");
  await page.locator('[aria-label="Light or dark"]').click();
});

test("an empty trace, one zone and many threads are shown as well", async () => {
  const empty = await serve(makeTrace("empty"));
  const blank = await openPage(browser, empty.link);
  assert.match((await blank.locator(".empty").textContent()) ?? "", /holds no zones/);
  await blank.close();
  await empty.stop();
  const one = await serve(makeTrace("one"));
  const single = await openPage(browser, one.link);
  assert.equal((await zones(single)).length, 1);
  await single.close();
  await one.stop();
  const many = await serve(makeTrace("threads", "20000"));
  const crowd = await openPage(browser, many.link);
  assert.match((await crowd.locator(".more-tracks").textContent()) ?? "", /10,000 of 20,000/);
  await crowd.fill('[aria-label="Filter tracks"]', "thread 19999");
  await crowd.waitForFunction(() => window.strobeTest.state().tracks.length <= 1);
  await crowd.close();
  await many.stop();
});

test("a page without a server answers the same", async () => {
  const path = join(SCRATCH, "run.html");
  run(STROBE, "view", trace, "--static", path);
  const alone = await openPage(browser, `file://${path}`);
  await alone.locator(".panels .table-row.clickable").first().waitFor();
  await reset();
  const served = await zones(page);
  const own = await zones(alone);
  const steps = (all: typeof own) =>
    all.filter((zone) => zone.name === "decode step").map((zone) => zone.start);
  assert.deepEqual(steps(own), steps(served));
  const zone = own.find((one) => one.text === "token 7")!;
  await clickZone(alone, zone);
  const details = alone.locator(".details");
  await details.locator('[data-figure="p99"]').waitFor();
  const [expected] = JSON.parse(run(STROBE, "stats", "--json", "--filter", "decode step", trace));
  const figure = (name: string) => details.locator(`[data-figure="${name}"]`).textContent();
  assert.equal(await figure("median"), formatTime(expected.median_ns));
  assert.equal(await figure("p99"), formatTime(expected.p99_ns));
  assert.equal(await figure("σ"), formatTime(expected.std_ns));
  for (const key of "1234567") await alone.keyboard.press(key);
  await alone.close();
});

test("a page of a stretch shows that stretch, and says which it is", async () => {
  const path = join(SCRATCH, "stretch.html");
  run(STROBE, "view", trace, "--static", path, "--from", "5ms", "--to", "10ms");
  const alone = await openPage(browser, `file://${path}`);
  const { view, info } = await state(alone);
  assert.ok(view.from > 4.9e6 && view.from < 5e6, `begins at ${view.from}`);
  assert.ok(view.to > 10e6 && view.to < 10.1e6, `ends at ${view.to}`);
  const all = info!.zones + info!.deviceZones;
  assert.ok(info!.part!.zones > 0 && info!.part!.zones < all);
  const title = (await alone.locator(".bar .title").textContent()) ?? "";
  assert.match(title, /5\.000 ms to 10\.000 ms of .* ms · [\d,]+ zones$/);
  // Moved away, it comes back to what it has.
  await alone.keyboard.press("w");
  await alone.keyboard.press("0");
  assert.deepEqual((await state(alone)).view, view);
  await alone.close();
});

test("a page without a server draws messages as one with a server does", async () => {
  const path = join(SCRATCH, "flags.html");
  run(STROBE, "view", trace, "--static", path);
  const alone = await openPage(browser, `file://${path}`);
  await reset();
  const flags = (one: Page) =>
    one.evaluate(() =>
      (window.strobeTest.flags() as { message: { time: number; count?: number } }[]).map(
        ({ message }) => [message.time, message.count ?? 1],
      ),
    );
  const own = await flags(alone);
  assert.ok(own.length > 0);
  assert.deepEqual(own, await flags(page));
  await alone.close();
});

test("a running program grows on the page", async () => {
  const port = await freePort();
  const output = join(SCRATCH, "live.tracy");
  for (const path of [output, `${output}.journal`]) rmSync(path, { force: true });
  const options = ["--port", String(port), "--zones", "120000", "--rate", "20000", "--once"];
  const program = spawn(STREAMER, options, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => program.stdout.once("data", resolve));
  const live = await serve("--live", `127.0.0.1:${port}`, "--output", output);
  const growing = await openPage(browser, live.link);
  await growing.locator(".badge.live").waitFor();
  const count = async () => (await state(growing)).info!.zones;
  const early = await count();
  await growing.waitForFunction((zones) => window.strobeTest.state().info!.zones > zones, early);
  await growing.waitForFunction(() => window.strobeTest.zones().length > 0);
  assert.ok((await state(growing)).follow);
  await growing.keyboard.press("4");
  await growing.getByText("told when the recording has ended").waitFor();
  // Who looks at something is left to it.
  await growing.keyboard.down("w");
  await growing.waitForFunction(() => !window.strobeTest.state().follow);
  await growing.keyboard.up("w");
  await growing.locator(".badge.live").click();
  assert.ok((await state(growing)).follow);
  await growing.waitForFunction(() => !window.strobeTest.state().info!.live);
  await growing.locator(".badge.ended").waitFor();
  await settle(growing);
  assert.equal(await count(), 120000);
  await growing.close();
  const { code, errors } = await live.stop();
  assert.equal(code, 0, errors);
  assert.match(errors, /note: recording \S/);
  assert.match(run(STROBE, "info", output), /zones +120,000/);
});

test("an interrupted recording says where it is", async () => {
  const port = await freePort();
  const output = join(SCRATCH, "interrupted.tracy");
  for (const path of [output, `${output}.journal`]) rmSync(path, { force: true });
  const options = ["--port", String(port), "--zones", "10000000", "--rate", "20000", "--once"];
  const program = spawn(STREAMER, options, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => program.stdout.once("data", resolve));
  const live = await serve("--live", `127.0.0.1:${port}`, "--output", output);
  const { errors } = await live.stop();
  program.kill();
  assert.match(errors, /note: the recording has ended and is in .+interrupted\.tracy$/m);
});

test("a server that goes away is noticed", async () => {
  const short = await serve(trace);
  const left = await browser.newPage();
  await left.goto(short.link);
  await settle(left);
  await short.stop();
  await left.locator(".badge.lost").waitFor({ timeout: 20000 });
  assert.ok((await zones(left)).length > 0, "what was loaded stays");
  await left.close();
});
