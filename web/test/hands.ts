// Hands and keys that are quicker than answers, and what the page does while none come.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page, Route } from "playwright-core";
import type { ZoneDetails } from "../src/api";
import { formatApart, formatShortTime, formatTime } from "../src/format";
import {
  browser,
  canvasBox,
  clickZone,
  openPage,
  page,
  reset,
  server,
  settle,
  shareViewer,
  state,
  zones,
} from "./browser";
import { makeTrace, PROJECT, serve } from "./harness";

let trace = "";
shareViewer(() => (trace = makeTrace("run")), { width: 1280, height: 720 });

async function ask<T>(path: string): Promise<T> {
  return (await fetch(`${server.origin}/api/${path}`)).json() as Promise<T>;
}

/** The zones of a row as the server steps through them, from the first one on. */
async function rowFrom(track: number, zone: number): Promise<number[]> {
  const row: number[] = [];
  for (let next: number | undefined = zone; next !== undefined; ) {
    row.push(next);
    const details: ZoneDetails = await ask(`zone?track=${track}&zone=${next}`);
    next = details.next?.zone;
  }
  return row;
}

async function decodeSteps() {
  const steps = (await zones(page)).filter((zone) => zone.name === "decode step");
  return steps.sort((a, b) => a.start - b.start);
}

/** Counts the requests of a page from now on. */
function countRequests(counted: Page): () => number {
  let count = 0;
  counted.on("request", () => count++);
  return () => count;
}

function selected() {
  return page.evaluate(() => window.strobeTest.state().selection);
}

async function waitForSelection(track: number, zone: number): Promise<void> {
  await page.waitForFunction(
    ([wantedTrack, wantedZone]) => {
      const { selection } = window.strobeTest.state();
      return selection?.track === wantedTrack && selection?.zone === wantedZone;
    },
    [track, zone],
  );
}

/** Is a zone drawn where the canvas can be seen? */
async function isOnScreen(shown: Page, track: number, zone: number): Promise<boolean> {
  await settle(shown);
  const box = await canvasBox(shown);
  return (await zones(shown)).some(
    (one) =>
      one.track === track &&
      one.zone === zone &&
      one.y >= 0 &&
      one.y + one.height <= box.height &&
      one.x < box.width,
  );
}

// ---- links ----

// ---- hands ----

test("only the left button selects and moves", async () => {
  await reset();
  const step = (await decodeSteps())[4]!;
  const box = await canvasBox(page);
  const before = (await state(page)).view;
  for (const button of ["right", "middle"] as const) {
    await page.mouse.move(box.x + step.x + step.width / 2, box.y + step.y + 4);
    await page.mouse.down({ button });
    await page.mouse.move(box.x + step.x + 150, box.y + step.y + 4, { steps: 3 });
    await page.mouse.up({ button });
    await page.mouse.click(box.x + step.x + step.width / 2, box.y + step.y + 4, { button });
    await page.mouse.move(box.x + box.width / 2, 60);
    await page.mouse.click(box.x + box.width * 0.9, 60, { button });
  }
  await page.keyboard.press("Escape");
  assert.deepEqual((await state(page)).view, before);
  assert.equal(await selected(), null);
});

test("a drag ends where its release is swallowed, and a cancelled press is no click", async () => {
  await reset();
  const step = (await decodeSteps())[4]!;
  const box = await canvasBox(page);
  const at = (x: number, buttons: number) => ({
    clientX: box.x + x,
    clientY: box.y + step.y + 4,
    pointerId: 7,
    button: 0,
    buttons,
  });
  const canvas = page.locator(".canvas-box canvas");
  const middle = step.x + step.width / 2;
  await canvas.dispatchEvent("pointerdown", at(middle, 1));
  await canvas.dispatchEvent("pointercancel", at(middle, 0));
  assert.equal(await selected(), null);
  await canvas.dispatchEvent("pointerdown", at(middle, 1));
  await canvas.dispatchEvent("pointermove", at(middle + 60, 1));
  const { view } = await state(page);
  await canvas.dispatchEvent("pointermove", at(middle + 200, 0));
  await canvas.dispatchEvent("pointermove", at(middle + 300, 0));
  assert.deepEqual((await state(page)).view, view);
});

// ---- keys ----

test("F fits the selected zone wherever it is", async () => {
  await reset();
  const [first] = await decodeSteps();
  assert.ok(first);
  const fits = async () => {
    await page.waitForFunction(
      ([start, end]) => {
        const { view } = window.strobeTest.state();
        const length = end! - start!;
        return view.from <= start! && view.to >= end! && view.to - view.from < 4 * length;
      },
      [first.start, first.end],
    );
  };
  // Off the screen, with nothing known of it but its number.
  await reset(`#t=15000000~16000000&zone=${first.track}.${first.zone}`);
  await page.locator(".details [data-figure=duration]").waitFor();
  await page.keyboard.press("f");
  await fits();
  // Before the answer about it has come.
  await reset("#t=15000000~16000000");
  await page.evaluate((hash) => {
    location.hash = hash;
    return new Promise((resolve) => window.addEventListener("hashchange", resolve));
  }, `#t=15000000~16000000&zone=${first.track}.${first.zone}`);
  await page.keyboard.press("f");
  await fits();
});

test("N and P go through the row, over the edge of the screen, at any speed", async () => {
  await reset();
  const steps = await decodeSteps();
  const { track } = steps[0]!;
  const row = await rowFrom(track, steps[0]!.zone);
  assert.equal(row.length, 24);
  await clickZone(page, steps[3]!);
  await page.keyboard.press("f");
  for (let i = 4; i < 10; i++) {
    await page.keyboard.press("n");
    await waitForSelection(track, row[i]!);
    await settle(page);
    const { view } = await state(page);
    assert.ok(steps[i]!.start >= view.from && steps[i]!.end <= view.to, `step ${i} is seen`);
  }
  // As fast as keys can be pressed.
  await page.evaluate(() => {
    for (let i = 0; i < 8; i++) window.dispatchEvent(new KeyboardEvent("keydown", { key: "p" }));
  });
  await waitForSelection(track, row[1]!);
  for (let i = 0; i < 3; i++) await page.keyboard.press("p");
  await waitForSelection(track, row[0]!);
});

test("a link names the tab where a page starts with another one", async () => {
  const report = join(PROJECT, "examples/perf/decoder_wormhole");
  const ops = await serve(report);
  const first = await openPage(browser, ops.link);
  assert.equal((await state(first)).tab, "ops");
  await first.keyboard.press("1");
  await first.waitForFunction(() => location.hash.includes("tab=stats"));
  const second = await openPage(browser, first.url());
  assert.equal((await state(second)).tab, "stats");
  await first.close();
  await second.close();
  await ops.stop();
});

// ---- answers that come late ----

test("no answer stands under another question", async () => {
  await reset();
  const steps = await decodeSteps();
  await clickZone(page, steps[2]!);
  const details = page.locator(".details");
  const calls = details.locator("section", { hasText: "All calls of it" });
  await calls.waitFor();
  const body = details.locator(".details-body");
  const heldBack: Record<string, () => void> = {};
  for (const path of ["zone", "find"]) {
    const held = new Promise<void>((resolve) => (heldBack[path] = resolve));
    await page.route(`**/api/${path}?*`, async (route) => {
      await held;
      await route.continue();
    });
  }
  const title = await details.locator(".zone-title").textContent();
  await details.locator("section", { hasText: "Inside" }).locator(".zone-link").first().click();
  await page.locator('.details-body[aria-busy="true"]').waitFor();
  assert.equal(await body.locator(".zone-title").textContent(), title, "the one before, inert");
  assert.equal(await body.evaluate((one) => getComputedStyle(one).pointerEvents), "none");
  heldBack["zone"]!();
  await page.locator('.details-body[aria-busy="false"]').waitFor();
  assert.notEqual(await body.locator(".zone-title").textContent(), title);
  assert.equal(await calls.count(), 0, "the calls of the zone before are not those of this one");
  heldBack["find"]!();
  await calls.waitFor();
  await page.unrouteAll({ behavior: "wait" });
});

// ---- what is hidden ----

test("jumping to a zone or track brings it to the screen whatever hides it", async () => {
  const many = await serve(makeTrace("threads", "30000"));
  const crowd = await openPage(browser, many.link);
  const search = async (text: string) => {
    await crowd.keyboard.press("/");
    await crowd.keyboard.type(text);
    await crowd.locator(".hits button", { hasText: text }).first().waitFor();
    await crowd.keyboard.press("Enter");
    await crowd.waitForFunction(() => !window.strobeTest.state().search);
  };
  const isLabelled = (track: number) =>
    crowd.locator(`.labels [data-track="${track}"]`).waitFor({ timeout: 10000 });
  // Beyond the tracks that a page lists, also after the list has come anew.
  await search("thread 29998");
  await isLabelled(29998);
  await crowd.fill('[aria-label="Filter tracks"]', "777");
  await crowd.waitForFunction(() => window.strobeTest.state().tracks.length < 1000);
  await crowd
    .locator("canvas")
    .first()
    .click({ position: { x: 5, y: 5 } });
  await search("thread 29990");
  await isLabelled(29990);
  await crowd.waitForTimeout(500);
  await isLabelled(29990);
  const { filter, tracks } = await state(crowd);
  assert.equal(filter, "");
  assert.ok(tracks.length >= 10000);
  // Folded away, hidden, filtered: all at once.
  await crowd.goto("about:blank");
  await crowd.goto(`${many.link}#fold=gthreads&hide=500.501&filter=777&tab=find&find=1`);
  await settle(crowd);
  await search("thread 500");
  await isLabelled(500);
  assert.deepEqual((await state(crowd)).hidden, [501]);
  await crowd.goto("about:blank");
  await crowd.goto(`${many.link}#filter=777&tab=find&find=1`);
  await settle(crowd);
  await crowd.locator(".find-body .table-row.clickable").first().click();
  await crowd.waitForFunction(() => window.strobeTest.state().selection !== null);
  const { track, zone } = (await state(crowd)).selection!;
  await isLabelled(track);
  await crowd.waitForTimeout(500);
  assert.ok(await isOnScreen(crowd, track, zone));
  await crowd.close();
  await many.stop();
});

test("a nested zone in a folded track is brought to the screen", async () => {
  await reset();
  const [step] = await decodeSteps();
  const { track, zone } = step!;
  const { children } = await ask<ZoneDetails>(`zone?track=${track}&zone=${zone}`);
  await reset(`#fold=t${track}&tab=find&find=${children[0]!.source}`);
  await page.locator(".find-body .table-row.clickable").first().click();
  await page.waitForFunction(() => window.strobeTest.state().folded.length === 0);
  const selection = (await selected())!;
  assert.equal(selection.track, track);
  assert.ok(await isOnScreen(page, selection.track, selection.zone));
});

// ---- answers that are cut ----

/** Marks answers about several tracks, and those in full width, as cut, and empties them. */
async function cutAnswers(route: Route): Promise<void> {
  const asked = new URL(route.request().url()).searchParams;
  const tracks = asked.get("tracks")!.split(",").length;
  if (tracks === 1 && Number(asked.get("width")) < 1000) return route.continue();
  const body = Buffer.alloc(34);
  body.writeUInt32LE(0x315a4253, 0);
  body.writeUInt32LE(1, 8);
  body.writeUInt32LE(32, 12);
  body.writeUInt32LE(2, 16);
  body.write("{}", 32);
  await route.fulfill({ contentType: "application/octet-stream", body });
}

test("what an answer cannot hold is asked for in parts", async () => {
  await reset();
  const seen = new Set((await zones(page)).map((zone) => zone.track));
  assert.ok(seen.size > 1);
  await page.goto("about:blank");
  await page.route("**/api/zones?*", cutAnswers);
  await page.goto(server.link);
  await settle(page);
  const drawn = new Set((await zones(page)).map((zone) => zone.track));
  assert.deepEqual([...drawn].sort(), [...seen].sort());
  await page.unrouteAll({ behavior: "wait" });
});

// ---- a server that fails ----

test("a refused request is not repeated, and holds up nothing else", async () => {
  await reset();
  await page.route("**/api/frames*", (route) =>
    route.fulfill({ status: 400, contentType: "application/json", body: '{"error":"no frames"}' }),
  );
  page.removeAllListeners("console");
  const [, , step] = await decodeSteps();
  await clickZone(page, step!);
  await page.keyboard.press("f");
  await page.locator(".badge", { hasText: "no frames" }).waitFor();
  await settle(page);
  const asked = countRequests(page);
  await page.waitForTimeout(1500);
  assert.ok(asked() < 10, `${asked()} requests`);
  const finer = (await zones(page)).filter((zone) => zone.count === 1).length;
  assert.ok(finer > 5, "zones are there all the same");
  await page.locator(".badge", { hasText: "no frames" }).click();
  await page.waitForTimeout(300);
  assert.equal(await page.locator(".badge.lost").count(), 0);
  await page.unrouteAll();
});

test("a server that is gone is left in peace, and asked again when it is back", async () => {
  const short = await serve(trace);
  const { port } = new URL(short.origin);
  const left = await browser.newPage();
  left.setDefaultTimeout(30000);
  await left.goto(short.link);
  await settle(left);
  short.process.kill("SIGKILL");
  await left.keyboard.down("w");
  await left.waitForTimeout(500);
  await left.keyboard.up("w");
  await left.locator(".badge.lost").waitFor();
  const asked = countRequests(left);
  await left.keyboard.down("d");
  await left.waitForTimeout(300);
  await left.keyboard.up("d");
  await left.keyboard.press("2");
  await left.keyboard.press("1");
  await left.waitForTimeout(3000);
  assert.ok(asked() < 15, `${asked()} requests in 3 s`);
  assert.equal(await left.locator(".badge.lost").count(), 1, "one badge says it");
  const again = await serve(trace, "--port", port);
  await left.waitForFunction(() => window.strobeTest.state().connection === "open");
  await left.locator(".panels .table-row.clickable").first().waitFor();
  await settle(left);
  assert.equal(await left.locator(".badge.lost").count(), 0);
  const { view } = await state(left);
  assert.ok((await zones(left)).some((zone) => zone.end - zone.start < (view.to - view.from) / 4));
  await left.close();
  await again.stop();
});

test("a range that is drawn from message to message is exactly between them", async () => {
  await reset();
  const flags = await page.evaluate(
    () => window.strobeTest.flags() as { message: { time: number }; x: number }[],
  );
  const [first, last] = [flags[0]!, flags.at(-1)!];
  const box = await canvasBox(page);
  await page.mouse.move(box.x + first.x + 0.6, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + (first.x + last.x) / 2, box.y + 8);
  await page.mouse.move(box.x + last.x - 0.6, box.y + 8);
  await page.mouse.up();
  const { range } = await state(page);
  assert.deepEqual(range, { from: first.message.time, to: last.message.time });
  await page.evaluate(() => window.strobeTest.change({ range: null }));
});

test("what was not loaded is not called empty", async () => {
  const short = await serve(makeTrace("run"));
  const left = await browser.newPage();
  await left.goto(short.link);
  await settle(left);
  await short.stop();
  await left.locator(".badge.lost").waitFor();
  for (const [key, panel] of [
    ["6", "flame graph"],
    ["3", "messages"],
  ] as const) {
    await left.keyboard.press(key);
    const error = left.locator(".panels .notice.error");
    await error.waitFor();
    assert.equal(await error.textContent(), "the server does not answer", panel);
    assert.doesNotMatch(await left.locator(".panels").innerText(), /No (zones|messages)/, panel);
  }
  await left.close();
});

test("times that differ little are told apart", () => {
  assert.deepEqual(formatApart([2673400, 2673500, 2673600], formatShortTime), [
    "2.67340 ms",
    "2.67350 ms",
    "2.67360 ms",
  ]);
  assert.deepEqual(formatApart([2320, 35300, 68400], formatShortTime), [
    "2.32 µs",
    "35.3 µs",
    "68.4 µs",
  ]);
  assert.deepEqual(formatApart([5000, 5000], formatTime), ["5.000 µs", "5.000 µs"]);
});

test("of a long path the end is seen", async () => {
  await reset("#tab=stats");
  const place = page.locator(".panels .place").first();
  await place.waitFor();
  const isSeen = await place.evaluate((element) => {
    const text = element.firstElementChild!.firstChild as Text;
    text.data = `/a/very/long/path/of/folders/that/has/no/room/here/${text.data}`;
    const last = document.createRange();
    last.setStart(text, text.length - 1);
    last.setEnd(text, text.length);
    const [glyph, cell] = [last.getBoundingClientRect(), element.getBoundingClientRect()];
    return glyph.left >= cell.left && glyph.right <= cell.right + 1;
  });
  assert.ok(isSeen);
});
