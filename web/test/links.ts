// Links, keys and hands that meet the unexpected: odd addresses, things that are not on the screen,
// a server that is gone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Messages } from "../src/api";
import { TABS } from "../src/store";
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
import { makeFolder, makeTrace, run, SCRATCH, serve, STROBE } from "./harness";

let trace = "";
shareViewer(
  () => {
    trace = makeTrace("run");
    return makeFolder(trace);
  },
  { width: 1280, height: 720 },
);

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
  await page.waitForFunction(() => location.hash.includes("op=1&map=waiting&core=0:2,2"));
});

// ---- what links keep ----

/** The words of the address, once it has all of these and says nothing new. */
async function linkWith(...words: string[]): Promise<string> {
  await page.waitForFunction(
    (all) => all.every((word) => location.hash.slice(1).split("&").includes(word)),
    words,
  );
  return page.url();
}

/** What can be read below the timeline, and what is typed and chosen there. */
async function readPanel(shown: Page): Promise<string> {
  return shown.evaluate(() => {
    const panel = document.querySelector<HTMLElement>(".panels")!;
    const fields = [...panel.querySelectorAll<HTMLInputElement>("input, select")];
    const values = fields.map((field) => `${field.value} ${field.checked}`);
    const pressed = [...panel.querySelectorAll("[aria-pressed=true], .selected, .chosen")];
    const bars = [...panel.querySelectorAll<HTMLElement>(".histogram-bar")];
    return JSON.stringify([
      panel.innerText,
      values,
      pressed.map((one) => one.textContent),
      bars.map((bar) => bar.style.height),
    ]);
  });
}

/** Until two pages have the same below the timeline. */
async function showsThe(same: Page): Promise<void> {
  let [mine, theirs] = ["", ""];
  for (let i = 0; i < 100; i++) {
    [mine, theirs] = [await readPanel(page), await readPanel(same)];
    if (mine === theirs) return;
    await page.waitForTimeout(100);
  }
  assert.equal(theirs, mine);
}

/** A page that was sent the link shows what this one does, and has the same link. */
async function isRestored(...words: string[]): Promise<void> {
  const link = await linkWith(...words);
  const other = await openPage(browser, link);
  await showsThe(other);
  await other.waitForTimeout(300);
  assert.equal(other.url(), link);
  await other.close();
}

const rows = () => page.locator(".panels .table-row.clickable");
const head = (title: string) =>
  page.locator(".panels [role=columnheader]", { hasText: title }).click();
const press = (title: string) => page.locator(".segments button", { hasText: title }).click();

test("a link is short while all is as at first", async () => {
  await reset();
  await page.waitForTimeout(400);
  assert.equal(new URL(page.url()).hash, "");
  await page.fill('[aria-label="Filter by name"]', "mat & mul|~%");
  await linkWith("stats=mat+%26+mul|~%25");
  await page.fill('[aria-label="Filter by name"]', "");
  await head("Count");
  await linkWith("stats-sort=-count");
  await head("Total");
  await page.waitForFunction(() => location.hash === "");
});

test("a link keeps filter, tracks and order of the statistics", async () => {
  await reset();
  await rows().first().waitFor();
  await press("Device");
  await page.selectOption('[aria-label="Track"]', { index: 3 });
  await page.fill('[aria-label="Filter by name"]', "kernel");
  await head("Max");
  await head("Max");
  const { statsTrack } = await state(page);
  await isRestored(
    "stats-of=device",
    `stats-track=${statsTrack}`,
    "stats=kernel",
    "stats-sort=max",
  );
  for (const row of await rows().allTextContents()) assert.match(row, /KERNEL/);
  await press("Host");
  await isRestored("stats-of=host", "stats=kernel");
});

test("a link keeps scales and calls of a found zone, and what is typed to find one", async () => {
  await reset("#tab=find");
  await page.fill('[aria-label="Zone name"]', "matmul");
  await isRestored("tab=find", "pick=matmul");
  await page.locator(".pick-list button").first().click();
  await page.locator(".histogram-bar").first().waitFor();
  await press("Log time");
  await page.locator(".panels .check input").click();
  await page.selectOption('[aria-label="Which calls"]', "shortest");
  await isRestored("find-scale=log", "find-counts=log", "find-calls=shortest");
  const durations = async () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".find-body .table-row.clickable")].map((row) =>
        parseFloat(row.children[0]!.textContent!),
      ),
    );
  const shortest = await durations();
  assert.deepEqual(
    shortest,
    [...shortest].sort((a, b) => a - b),
  );
  await head("Start");
  await isRestored("find-sort=-start");
  await page.selectOption('[aria-label="Which calls"]', "time");
  await isRestored("find-calls=time");
  assert.ok(!page.url().includes("find-sort"), "another list starts in its own order");
});

test("a link keeps filter, severity and order of the messages", async () => {
  // Formats that can be written know no severities: we answer as a server of such a trace would.
  await browser.route("**/api/messages?*", async (route) => {
    const url = new URL(route.request().url());
    const least = Number(url.searchParams.get("severity") ?? 0);
    url.searchParams.delete("severity");
    const answer = (await (await route.fetch({ url: url.href })).json()) as Messages;
    for (const message of answer.messages) message.severity = message.id % 6;
    const messages = answer.messages.filter((message) => message.severity >= least);
    await route.fulfill({ json: { messages, matched: messages.length } });
  });
  await reset("#tab=messages");
  await rows().first().waitFor();
  await head("Severity");
  await isRestored("messages-sort=severity");
  await page.selectOption('[aria-label="Least severity"]', "error");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".panels .table-row.clickable")].every((row) =>
      /error|fatal/.test(row.children[1]!.textContent!),
    ),
  );
  assert.ok((await rows().count()) > 4);
  await page.fill('[aria-label="Filter messages"]', "TT_DNN");
  await isRestored("severity=error", "messages=TT_DNN");
  await browser.unrouteAll({ behavior: "wait" });
});

test("a link keeps filter, order, summary and row of the ops", async () => {
  await reset("#tab=ops");
  await rows().first().waitFor();
  await press("by memory");
  await page.fill('[aria-label="Filter ops"]', "matmul");
  await head("Gap");
  await rows().nth(2).click();
  await page.locator(".advice").waitFor();
  const { opRow } = await state(page);
  await isRestored("ops-by=memory", "ops=matmul", "ops-sort=-gap_us", `row=${opRow}`);
});

test("a link keeps zones, figure and core of the map", async () => {
  await reset("#tab=device");
  await page.locator(".core").first().waitFor();
  await page.fill('[aria-label="Only zones named"]', "sdpa");
  await press("Waiting");
  await page.locator('.core[title^="Core 3,2"]').click();
  await isRestored("map-zones=sdpa", "map=waiting", "core=0:3,2");
});

test("a link keeps what the flame graph is about", async () => {
  await reset("#tab=flame");
  await page.locator('.flame-box[title^="MatmulQKV"]').first().click();
  const { flamePath } = await state(page);
  assert.equal(flamePath.length, 2);
  await isRestored(`flame-in=${flamePath.join(".")}`);
  await press("Device");
  await isRestored("flame=device");
  assert.ok(!page.url().includes("flame-in"));
});

test("a link keeps measure, range and bookmarks with odd names", async () => {
  const names = ["a|b~c", "50 % off", "<b>&amp;</b>", "ünï"];
  const marks = names.map((label, i) => ({ time: 1000000 * (i + 1), label }));
  await reset();
  await page.evaluate((bookmarks) => window.strobeTest.change({ bookmarks }), marks);
  const measure = { from: 2000000, to: 3000000 };
  await page.evaluate((range) => window.strobeTest.change({ measure: range }), measure);
  await page.evaluate((range) => window.strobeTest.change({ range }), measure);
  const link = await linkWith("measure=2000000~3000000", "range=2000000~3000000");
  const other = await openPage(browser, link);
  const restored = await state(other);
  assert.deepEqual(restored.bookmarks, marks);
  assert.deepEqual([restored.measure, restored.range], [measure, measure]);
  await other.close();
});

// ---- links that mean harm ----

const MARKUP = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`;
const PARTS =
  `t y zone range measure tab filter hide pin order fold marks find pick find-scale find-counts
  find-calls find-sort stats stats-of stats-track stats-sort messages severity messages-sort op row ops
  ops-sort ops-by columns map map-zones device core flame flame-in`.split(/\s+/);

/** A lone half of a letter cannot be written into an address. */
function toWellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/g, "\ufffd");
}

test("no link can hang a page, have it ask nonsense, or put markup into it", async () => {
  const values = [
    MARKUP,
    "-1",
    "99999999",
    "1e400",
    "9007199254740993",
    "__proto__",
    "constructor.prototype",
    "%E0%A4%A",
    "~|~.~|.~-",
    "\u0000\u202e\ud800",
    "1.".repeat(15000),
    "5~x|".repeat(3000),
    "x".repeat(30000),
  ];
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  for (const value of values) {
    const words = PARTS.map(
      (name) => `${name}=${name === "tab" ? "find" : encodeURIComponent(toWellFormed(value))}`,
    );
    await reset(`#${words.join("&")}`);
    for (const [i, tab] of TABS.entries()) {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press(String(i + 1));
      assert.equal((await state(page)).tab, tab);
      await page.waitForTimeout(250);
    }
    await page.waitForTimeout(300);
    const harm = await page.evaluate(() => [
      "harmed" in window,
      document.querySelectorAll("img, body script:not([src])").length,
      "polluted" in {},
    ]);
    assert.deepEqual(harm, [false, 0, false], value.slice(0, 40));
    // The page can still be used, and then what is left of the link is short.
    await page.keyboard.press("0");
    await page.waitForFunction(() => location.hash.length < 20000);
  }
  assert.deepEqual(refused, []);
  page.removeAllListeners("response");
});

test("a link to what another trace has shows what this one has", async () => {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  await reset("#tab=device&map=traffic&core=7:7,7&device=5&op=999999&row=999999");
  await page.locator(".segments button.on", { hasText: "Busy" }).waitFor();
  assert.match((await page.locator(".core").first().textContent()) ?? "", /%/);
  await page.waitForTimeout(300);
  assert.deepEqual(refused, []);
  page.removeAllListeners("response");
});

// ---- back and forward ----

const entries = (shown: Page) => shown.evaluate(() => history.length);

test("back and forward go from place to place, not from tick to tick", async () => {
  const shown = await openPage(browser, server.link);
  const before = await entries(shown);
  const box = await canvasBox(shown);
  await shown.mouse.move(box.x + 300, box.y + 10);
  for (let i = 0; i < 6; i++) {
    await shown.mouse.wheel(0, -120);
    await shown.waitForTimeout(250);
  }
  const zoomed = (await state(shown)).view;
  await shown.fill('[aria-label="Filter by name"]', "matmul");
  await shown.waitForTimeout(300);
  assert.equal(await entries(shown), before, "no entries for these");
  await shown.keyboard.press("Escape");
  await shown.keyboard.press("7");
  await shown.waitForTimeout(1200);
  const step = (await zones(shown)).find((one) => one.name === "decode step" && one.x > 50)!;
  await clickZone(shown, step);
  await shown.waitForTimeout(400);
  assert.equal(await entries(shown), before + 2);
  await shown.goBack();
  await shown.waitForFunction(() => window.strobeTest.state().selection === null);
  assert.equal((await state(shown)).tab, "info");
  await shown.goBack();
  await shown.waitForFunction(() => window.strobeTest.state().tab === "stats");
  const { view, statsFilter } = await state(shown);
  assert.equal(statsFilter, "matmul");
  assert.ok(Math.abs(view.from - zoomed.from) < 2 && Math.abs(view.to - zoomed.to) < 2);
  await shown.goForward();
  await shown.goForward();
  await shown.waitForFunction(() => window.strobeTest.state().selection !== null);
  assert.deepEqual((await state(shown)).selection, { track: step.track, zone: step.zone });
  await shown.close();
});

test("steps that follow each other quickly are one", async () => {
  const shown = await openPage(browser, server.link);
  const before = await entries(shown);
  await clickZone(shown, (await zones(shown)).find((one) => one.name === "decode step")!);
  for (let i = 0; i < 5; i++) {
    await shown.waitForTimeout(300);
    await shown.keyboard.press("n");
  }
  await shown.waitForTimeout(400);
  assert.equal(await entries(shown), before + 1);
  await shown.goBack();
  await shown.waitForFunction(() => window.strobeTest.state().selection === null);
  await shown.close();
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
  // And keeps its link.
  await alone.fill('[aria-label="Filter by name"]', "matmul");
  await alone.waitForFunction(() => location.hash.includes("stats=matmul"));
  await alone.reload();
  await settle(alone);
  const { selection, statsFilter } = await state(alone);
  assert.deepEqual([selection!.zone, statsFilter], [steps[1]!.zone, "matmul"]);
  await alone.close();
});
