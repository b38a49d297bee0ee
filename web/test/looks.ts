// How the page looks and feels: what can be read, reached without a mouse, and stays in its place.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inkOn } from "../src/colours";
import { formatPercent } from "../src/format";
import { TABS } from "../src/store";
import {
  browser,
  canvasBox,
  clickZone,
  openPage,
  page,
  reset,
  settle,
  shareViewer,
  state,
  zones,
} from "./browser";
import { makeFolder, makeTrace, PROJECT, run, serve, STROBE } from "./harness";

let trace = "";
shareViewer(
  () => {
    trace = makeTrace("run");
    return makeFolder(trace);
  },
  { width: 1280, height: 720 },
);

// ---- reading ----

/** Texts on the page that stand out too little from their ground (WCAG AA). */
async function faintTexts(): Promise<string[]> {
  return page.evaluate(() => {
    type Colour = [red: number, green: number, blue: number, alpha: number];
    const parse = (text: string): Colour => {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
      return [red, green, blue, alpha];
    };
    const over = (top: Colour, below: Colour): Colour => {
      const mixed = [0, 1, 2].map((i) => top[i]! * top[3] + below[i]! * (1 - top[3]));
      return [mixed[0]!, mixed[1]!, mixed[2]!, 1];
    };
    const light = (colour: Colour) => {
      const [red, green, blue] = colour.slice(0, 3).map((channel) => {
        const part = channel / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    /** Bars behind rows count wherever they end. */
    const ground = (element: Element | null): Colour => {
      if (!element) return [255, 255, 255, 1];
      const { backgroundColor, backgroundImage } = getComputedStyle(element);
      const own = parse(backgroundColor);
      const below = own[3] === 1 ? own : over(own, ground(element.parentElement));
      const bar = /rgba?\([^)]*\)/.exec(backgroundImage)?.[0];
      return bar ? over(parse(bar), below) : below;
    };
    const faint = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement!;
      const text = walker.currentNode.textContent?.trim();
      if (!text || !element.checkVisibility() || element.closest("script, style")) continue;
      const below = ground(element);
      const [high, low] = [
        light(over(parse(getComputedStyle(element).color), below)),
        light(below),
      ].sort((a, b) => b - a);
      const contrast = (high! + 0.05) / (low! + 0.05);
      if (contrast < 4.5) faint.add(`${contrast.toFixed(2)} ${element.className}: ${text}`);
    }
    return [...faint];
  });
}

test("texts stand out from their ground, light and dark", async () => {
  const step = (await zones(page)).find((one) => one.name === "decode step")!;
  for (const theme of ["light", "dark"] as const) {
    await reset();
    await page.evaluate((chosen) => window.strobeTest.change({ theme: chosen }), theme);
    await clickZone(page, step);
    await page.locator('.details [data-figure="p99"]').waitFor();
    for (const tab of TABS) {
      await page.evaluate((shown) => window.strobeTest.change({ tab: shown, find: 3 }), tab);
      await settle(page);
      await page.waitForTimeout(400);
      assert.deepEqual(await faintTexts(), [], `${theme}, ${tab}`);
    }
    await page.keyboard.press("?");
    assert.deepEqual(await faintTexts(), [], `${theme}, help`);
    await page.keyboard.press("Escape");
  }
  await page.evaluate(() => localStorage.clear());
});

test("what is written on a colour can be read", () => {
  assert.equal(inkOn("rgb(20, 30, 90)"), "#ffffff");
  assert.equal(inkOn("#00ff7f"), "#10151c");
  assert.equal(inkOn("rgb(120, 20, 20)"), "#ffffff");
});

test("little is not nothing", () => {
  assert.equal(formatPercent(0), "0.00 %");
  assert.equal(formatPercent(0.000021), "0.0021 %");
  assert.equal(formatPercent(0.00009), "0.0090 %");
  assert.equal(formatPercent(1e-12), "< 0.000001 %");
  assert.equal(formatPercent(0.5), "50.0 %");
});

test("every button says what it does", async () => {
  for (const tab of TABS) {
    await reset(`#tab=${tab}&find=3&zone=0.0&marks=1000000~one`);
    await page.waitForTimeout(300);
    const silent = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, [role=separator]")]
        .filter((one) => {
          const { title } = one as HTMLElement;
          const label = one.getAttribute("aria-label") ?? one.closest("label")?.textContent;
          return !title && !label && !one.textContent?.trim();
        })
        .map((one) => one.outerHTML),
    );
    assert.deepEqual(silent, []);
  }
});

test("a text that is cut says all of itself", async () => {
  await reset("#tab=ops");
  const cell = page.locator(".ops-body .table-row.clickable .text", { hasText: "2304 x 16384" });
  const cut = cell.first();
  await cut.waitFor();
  assert.ok(await cut.evaluate((one) => one.scrollWidth > one.clientWidth));
  await cut.hover();
  assert.match((await cut.getAttribute("title")) ?? "", /32 . 2304 . 16384/);
});

// ---- staying in place ----

test("a click that opens or closes the details moves nothing on the timeline", async () => {
  await reset();
  const placed = async () =>
    (await zones(page))
      .filter((one) => one.name === "decode step")
      .slice(0, 8)
      .map((one) => Math.round(one.x));
  const before = await placed();
  const steps = (await zones(page)).filter((one) => one.name === "decode step");
  await clickZone(page, steps[2]!);
  await page.locator(".details").waitFor();
  await settle(page);
  assert.deepEqual(await placed(), before);
  await page.keyboard.press("Escape");
  await page.locator(".details").waitFor({ state: "detached" });
  await settle(page);
  assert.deepEqual(await placed(), before);
  // What would be covered is brought to where it can be seen.
  await clickZone(page, steps[steps.length - 1]!);
  await page.locator(".details").waitFor();
  await settle(page);
  const { view } = await state(page);
  const { start } = steps[steps.length - 1]!;
  assert.ok(view.from < start && start < view.to);
});

test("what tells of a zone does not cover it", async () => {
  await reset("#t=1000000~2000000&fold=gPlots");
  const box = await canvasBox(page);
  const wide = (await zones(page)).filter(
    (one) => one.width > 20 && one.y + one.height < box.height,
  );
  assert.ok(wide.length > 5);
  for (const zone of wide.slice(0, 12)) {
    await page.mouse.move(box.x + Math.max(zone.x, 0) + 10, box.y + zone.y + 3);
    const told = (await page.locator(".tooltip", { hasText: zone.name }).boundingBox())!;
    const isAside =
      told.y >= box.y + zone.y + zone.height || told.y + told.height <= box.y + zone.y;
    assert.ok(isAside, `${zone.name} at ${zone.y}: ${JSON.stringify(told)}`);
  }
});

test("graphs, frames and locks tell their values", async () => {
  await reset("#t=1000000~2000000");
  const box = await canvasBox(page);
  const label = (await page.locator(".label", { hasText: "queue depth" }).boundingBox())!;
  await page.mouse.move(box.x + 200, label.y + 30);
  await page.mouse.move(box.x + 201, label.y + 30);
  await page.locator(".tooltip", { hasText: /queue depth: \d/ }).waitFor();
  const strip = (await page.locator(".strip-label").first().boundingBox())!;
  await page.mouse.move(box.x + 200, strip.y + 8);
  await page.locator(".tooltip", { hasText: /Frame 1: \d+\.\d+ µs/ }).waitFor();
});

test("a loss is hatched and says what it is", async () => {
  await reset("#t=1000000~2000000&fold=gPlots");
  const step = (await zones(page)).filter((one) => one.name === "decode step");
  const [{ end }, { start: next }] = [step[0]!, step[1]!];
  assert.ok(next > end, "there is a gap to look at");
  const { thread } = (await state(page)).tracks.find((one) => one.id === step[0]!.track)!;
  const red = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>(".canvas-box canvas")!;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i]! > 170 && data[i + 1]! < 140 && data[i + 2]! < 140) count++;
      return count;
    });
  const before = await red();
  const loss = { from: end, to: next, count: 12, cause: "full", text: "the ring was full", thread };
  await page.evaluate((one) => window.strobeTest.change({ losses: [one] }), loss);
  await settle(page);
  const box = await canvasBox(page);
  const { view } = await state(page);
  const x = (((end + next) / 2 - view.from) / (view.to - view.from)) * box.width;
  assert.ok((await red()) > before + 20, "hatched");
  await page.mouse.move(box.x + x, box.y + step[0]!.y + 4);
  await page.locator(".tooltip", { hasText: "12 lost: the ring was full" }).waitFor();
});

test("two fingers on the screen zoom where they are", async () => {
  await reset();
  const box = await canvasBox(page);
  const before = (await state(page)).view;
  const canvas = page.locator(".canvas-box canvas");
  const touch = (kind: string, pointerId: number, x: number) =>
    canvas.dispatchEvent(kind, {
      pointerId,
      pointerType: "touch",
      clientX: box.x + x,
      clientY: box.y + 200,
      button: 0,
      buttons: 1,
    });
  await touch("pointerdown", 11, 400);
  await touch("pointerdown", 12, 500);
  await touch("pointermove", 11, 350);
  await touch("pointermove", 12, 550);
  await touch("pointerup", 11, 350);
  await touch("pointerup", 12, 550);
  const { view, selection } = await state(page);
  const factor = (before.to - before.from) / (view.to - view.from);
  assert.ok(Math.abs(factor - 2) < 0.01, `by ${factor}`);
  const middle = (range: { from: number; to: number }) =>
    range.from + (range.to - range.from) * (450 / box.width);
  assert.ok(Math.abs(middle(view) - middle(before)) < (view.to - view.from) / 100);
  assert.equal(selection, null, "that was no click");
});

test("a pinch of a touchpad zooms, also beside the timeline", async () => {
  await reset();
  const box = await canvasBox(page);
  const before = (await state(page)).view;
  const pinch = (x: number, y: number) =>
    page.evaluate(
      ([clientX, clientY]) => {
        const options = { deltaY: -4, ctrlKey: true, bubbles: true, cancelable: true };
        const event = new WheelEvent("wheel", { ...options, clientX, clientY });
        return !document.elementFromPoint(clientX!, clientY!)!.dispatchEvent(event);
      },
      [x, y],
    );
  for (let i = 0; i < 10; i++)
    assert.ok(await pinch(box.x + 300, box.y + 200), "it is kept from enlarging the page");
  const zoomed = (await state(page)).view;
  const factor = (before.to - before.from) / (zoomed.to - zoomed.from);
  assert.ok(factor > 1.4 && factor < 1.6, `by ${factor}`);
  assert.ok(await pinch(box.x - 60, box.y + 200));
  const { view } = await state(page);
  assert.ok(view.to - view.from < zoomed.to - zoomed.from);
});

// ---- without a mouse ----

const focused = () =>
  page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute("title") ?? activeElement?.className ?? "";
  });

test("a dialog takes the focus, keeps it, and gives it back", async () => {
  await reset();
  await page.locator(".panels .table-row.clickable").first().waitFor();
  for (const key of ["/", "?"]) {
    await page.locator(".panels .table-body").focus();
    await page.keyboard.press(key);
    await page.locator("dialog[open]").waitFor();
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press("Tab");
      const isInside = await page.evaluate(
        () => document.activeElement === document.body || document.activeElement!.closest("dialog"),
      );
      assert.ok(isInside, "the rest of the page is out of reach");
    }
    const { view } = await state(page);
    if (key === "?") await page.keyboard.press("d");
    assert.deepEqual((await state(page)).view, view);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.equal(await focused(), "table-body");
  }
});

test("rows of a table are chosen with keys", async () => {
  await reset();
  const rows = page.locator(".panels .table-row.clickable");
  await rows.first().waitFor();
  const third = (await rows.nth(2).locator("> *").first().textContent())!;
  await page.locator(".panels .table-body").focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  assert.equal((await state(page)).scroll, 0, "the timeline stays");
  await page.keyboard.press("Enter");
  const { tab, find, sources } = await state(page);
  assert.equal(tab, "find");
  assert.equal(sources[find!]![0], third);
});

test("tracks, groups and sizes are reached with keys", async () => {
  await reset();
  await page.locator('[data-track="0"]').focus();
  for (const title of ["Show one row", "Pin to the top"]) {
    await page.keyboard.press("Tab");
    assert.equal(await focused(), title);
  }
  await page.keyboard.press("Enter");
  assert.deepEqual((await state(page)).pinned, [0]);
  await page.locator(".group-label", { hasText: "Plots" }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual((await state(page)).folded, ["gPlots"]);
  const { panelHeight } = await state(page);
  await page.locator('[role=separator][aria-label="Height of the tabs"]').focus();
  await page.keyboard.press("ArrowUp");
  assert.equal((await state(page)).panelHeight, panelHeight + 20);
  await page.evaluate(() => localStorage.clear());
});

test("N starts at the first zone on the screen", async () => {
  await reset();
  await page.keyboard.press("n");
  await page.waitForFunction(() => window.strobeTest.state().selection !== null);
  const { selection } = await state(page);
  const top = (await zones(page)).sort((a, b) => a.y - b.y || a.x - b.x)[0]!;
  assert.deepEqual(selection, { track: top.track, zone: top.zone });
});

// ---- bookmarks ----

test("bookmarks are named, jumped to and removed", async () => {
  await reset();
  const box = await canvasBox(page);
  for (const x of [300, 600]) {
    await page.mouse.move(box.x + x, box.y + 200);
    await page.keyboard.press("b");
  }
  await settle(page);
  await page.mouse.click(box.x + 600, box.y + 5);
  const names = page.locator("dialog input");
  await names.first().waitFor();
  assert.equal(await names.count(), 2);
  const inFocus = page.locator("dialog input:focus");
  await inFocus.fill("second token");
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  const { bookmarks } = await state(page);
  assert.deepEqual(
    bookmarks.map((mark) => mark.label),
    ["", "second token"],
  );
  await page.waitForFunction(() => location.hash.includes("second+token"));
  await page.locator('[aria-label="Bookmarks"]').click();
  await page.locator("dialog .button").nth(1).click();
  const { view } = await state(page);
  assert.ok(Math.abs((view.from + view.to) / 2 - bookmarks[1]!.time) < 2);
  await page.locator('[aria-label="Bookmarks"]').click();
  await page.locator('dialog [title="Remove"]').first().click();
  await page.keyboard.press("Escape");
  assert.deepEqual(
    (await state(page)).bookmarks.map((mark) => mark.label),
    ["second token"],
  );
});

// ---- the rest ----

test("an ops report without a trace has all of the room", async () => {
  const ops = await serve(join(PROJECT, "examples/perf/decoder_wormhole"));
  const alone = await openPage(browser, ops.link);
  await alone.locator(".ops-body .table-row.clickable").first().waitFor();
  const table = (await alone.locator(".ops-body").boundingBox())!;
  assert.ok(table.height > 450, `${table.height} of 720`);
  await alone.locator(".empty", { hasText: "no trace" }).waitFor();
  await alone.close();
  await ops.stop();
});

test("the flame graph lists the heaviest zones", async () => {
  await reset("#tab=flame&flame=device");
  const list = page.locator(".heaviest .label-text");
  await list.first().waitFor();
  const options = ["--devices", "--json", "--sort", "self", "--top", "5"];
  const expected = JSON.parse(run(STROBE, "stats", ...options, trace));
  assert.deepEqual(
    (await list.allTextContents()).slice(0, 5),
    expected.map((row: any) => row.name),
  );
});

test("all is within reach on a small screen", async () => {
  for (const tab of TABS) {
    await reset(`#tab=${tab}&find=3&range=1000000~9000000`);
    await page.waitForTimeout(300);
    const lost = await page.evaluate(() =>
      [...document.querySelectorAll(".bar > *, .toolbar > *, .tabs > *")]
        .filter((one) => {
          const { left, right } = one.getBoundingClientRect();
          return left < 0 || right > window.innerWidth + 0.5;
        })
        .map((one) => one.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(lost, [], tab);
  }
});
