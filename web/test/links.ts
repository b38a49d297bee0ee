// Links, keys and hands that meet the unexpected: odd addresses, things that are not on the screen,
// a server that is gone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { canvasBox, clickZone, openBrowser, openPage, settle, state, zones } from "./browser";
import { makeTrace, run, SCRATCH, serve, stopAll, STROBE } from "./harness";
import type { Server } from "./harness";

let trace = "";
let server: Server;
let browser: BrowserContext;
let page: Page;

before(async () => {
  trace = makeTrace("run");
  server = await serve(trace);
  browser = await openBrowser({ width: 1280, height: 720 });
  page = await openPage(browser, server.link);
});

after(async () => {
  await browser.close();
  const { code, errors } = await server.stop();
  stopAll();
  assert.equal(code, 0, errors);
});

async function reset(link = ""): Promise<void> {
  await page.goto("about:blank");
  await page.goto(server.link + link);
  await settle(page);
}

/** Until the details of what is selected are known. */
async function detailsKnown(): Promise<void> {
  await page.waitForFunction(() => {
    const { selection, selected } = window.strobeTest.state();
    return selection !== null && selected?.zone.zone === selection.zone;
  });
}

test("a link that makes no sense shows something that does", async () => {
  for (const time of ["-1e30~1e30", "9007199254740991~9007199254740999", "5~6", "x~y"]) {
    await reset(`#t=${time}&range=${time}&zone=-1.7&find=1e99`);
    const { view, selection } = await state(page);
    assert.ok(view.to - view.from >= 20 && view.to < 1e9, `${time}: ${view.from} to ${view.to}`);
    assert.equal(selection, null);
  }
});

test("a link in an open page leaves nothing of what was before", async () => {
  await reset("#tab=device&zone=0.0&range=1000~2000&find=1&fold=gdecoder");
  await page.evaluate(() => (location.hash = "#t=0~5000000"));
  await page.waitForFunction(() => window.strobeTest.state().tab === "stats");
  const { selection, range, find, folded } = await state(page);
  assert.deepEqual([selection, range, find, folded], [null, null, null, []]);
});

test("a link keeps what the map shows and the op that is looked at", async () => {
  await reset("#tab=device&map=waiting&core=0:2,2&op=1");
  await page.waitForFunction(() => window.strobeTest.state().runZones.size > 0);
  const { run, mapMeasure, mapCore } = await state(page);
  assert.deepEqual([run?.op, mapMeasure, mapCore], [1, "waiting", "0:2,2"]);
  // As the page writes it, which comes a moment later.
  await page.waitForFunction(() => location.hash.includes("op=1&map=waiting&core=0%3A2%2C2"));
});

test("a double click zooms to what the first click hit", async () => {
  await reset();
  const box = await canvasBox(page);
  const zone = (await zones(page)).find(
    (one) => one.name === "decode step" && one.x > box.width * 0.8,
  )!;
  await page.mouse.dblclick(box.x + zone.x + zone.width / 2, box.y + zone.y + 8);
  await settle(page);
  const { view, selection } = await state(page);
  assert.deepEqual(selection, { track: zone.track, zone: zone.zone });
  const length = zone.end - zone.start;
  assert.ok(view.from < zone.start && view.to > zone.end && view.to - view.from < 4 * length);
});

test("other buttons do nothing", async () => {
  await reset();
  const box = await canvasBox(page);
  const zone = (await zones(page)).find((one) => one.name === "decode step")!;
  const spot = [box.x + zone.x + zone.width / 2, box.y + zone.y + 8] as const;
  for (const button of ["right", "middle"] as const) await page.mouse.click(...spot, { button });
  assert.equal((await state(page)).selection, null);
});

test("F fits the selected zone wherever it is", async () => {
  await reset();
  const zone = (await zones(page)).find((one) => one.name === "decode step")!;
  await reset(`#t=15000000~16000000&zone=${zone.track}.${zone.zone}`);
  await detailsKnown();
  await page.keyboard.press("f");
  const { view } = await state(page);
  assert.ok(view.from < zone.start && view.to > zone.end);
  assert.ok(view.to - view.from < 4 * (zone.end - zone.start));
});

test("N and P step through a row beyond the screen", async () => {
  await reset();
  const steps = (await zones(page)).filter((one) => one.name === "decode step");
  await clickZone(page, steps[3]!);
  await detailsKnown();
  await page.keyboard.press("f");
  const row = steps.map((one) => one.zone);
  for (let i = 4; i < 10; i++) {
    await page.keyboard.press("n");
    await detailsKnown();
    const { selection, view } = await state(page);
    assert.equal(selection!.zone, row[i]);
    assert.ok(view.from <= steps[i]!.start && view.to >= steps[i]!.end, "it is on the screen");
  }
  await page.keyboard.press("p");
  assert.equal((await state(page)).selection!.zone, row[8]);
});

test("Enter opens what was typed and not what was found before", async () => {
  await reset();
  await page.keyboard.press("/");
  await page.keyboard.type("e");
  await page.locator(".hits button").first().waitFor();
  await page.keyboard.press("Backspace");
  await page.keyboard.type("matmulqkv");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.strobeTest.state().tab === "find");
  const { find, sources } = await state(page);
  assert.match(sources[find!]![0], /MatmulQKV/);
});

test("a jump brings tracks back that are hidden, folded or filtered away", async () => {
  for (const link of ["#hide=2.3", "#fold=gdecoder", "#filter=nothing%20like%20it"]) {
    await reset(link);
    await page.keyboard.press("/");
    await page.keyboard.type("worker 1");
    await page.locator(".hits button", { hasText: "track" }).first().click();
    await page.locator(".track-label", { hasText: "worker 1" }).waitFor();
  }
});

test("a histogram has room for all of its bars", async () => {
  await reset("#tab=find&find=3");
  const bars = page.locator(".histogram-bar");
  await bars.first().waitFor();
  const frame = (await page.locator(".histogram .bars").boundingBox())!;
  const last = (await bars.last().boundingBox())!;
  assert.ok(Math.abs(last.x + last.width - (frame.x + frame.width)) < 2);
});

test("stored habits that make no sense are forgotten", async () => {
  await page.evaluate(() =>
    localStorage.setItem(
      "strobe-view",
      '{"panelHeight":3000,"labelWidth":"x","tracks":5,"theme":[]}',
    ),
  );
  await reset();
  assert.ok((await canvasBox(page)).height > 80);
  assert.equal((await state(page)).labelWidth, 220);
  await page.evaluate(() => localStorage.clear());
});

test("more pages of one server than a browser has connections for", async () => {
  const pages: Page[] = [];
  for (let i = 0; i < 8; i++) pages.push(await openPage(browser, server.link));
  for (const one of pages) await one.close();
});

test("a server that is gone is not asked all the time", async () => {
  const short = await serve(trace);
  const left = await browser.newPage();
  await left.goto(short.link);
  await settle(left);
  short.process.kill("SIGKILL");
  let requests = 0;
  left.on("request", () => requests++);
  await left.keyboard.down("w");
  await left.waitForTimeout(300);
  await left.keyboard.up("w");
  await left.waitForTimeout(3000);
  assert.ok(requests < 40, `${requests} requests`);
  assert.equal(await left.locator(".badge.lost").count(), 1);
  await left.close();
  const origin = new URL(short.link);
  const again = await serve(trace, "--port", origin.port);
  const back = await browser.newPage();
  await back.goto(again.link);
  await settle(back);
  await again.stop();
  await back.locator(".badge.lost").waitFor();
  const third = await serve(trace, "--port", origin.port);
  await back.locator(".badge.lost").waitFor({ state: "detached" });
  assert.ok((await zones(back)).length > 1, "it is the same trace, and goes on");
  await third.stop();
  const other = await serve(makeTrace("one"), "--port", origin.port);
  await back.waitForFunction(() => window.strobeTest?.state().info?.zones === 1);
  await back.close();
  await other.stop();
});

test("a page without a server steps and fits as well", async () => {
  const path = join(SCRATCH, "alone.html");
  run(STROBE, "view", trace, "--static", path);
  const alone = await openPage(browser, `file://${path}`);
  const steps = (await zones(alone)).filter((one) => one.name === "decode step");
  await clickZone(alone, steps[0]!);
  await alone.waitForFunction(() => window.strobeTest.state().selected !== null);
  await alone.keyboard.press("n");
  assert.equal((await state(alone)).selection!.zone, steps[1]!.zone);
  await alone.close();
});
