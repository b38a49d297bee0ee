// A browser, and what the tests of the page do with it.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import type { BrowserContext, Page } from "playwright-core";
import type { Drawn } from "../src/draw";
import type { State } from "../src/store";
import { PROJECT, SCRATCH, serve, stopAll } from "./harness";
import type { Server } from "./harness";

export interface TestHook {
  zones(): Drawn[];
  flags(): unknown[];
  isSettled(): boolean;
  state(): State;
  change(change: Partial<State>): void;
  drawTimes(): number[];
  scrollBy(pixels: number): void;
  loadedTracks(): number;
}

declare global {
  interface Window {
    strobeTest: TestHook;
  }
}

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** A loaded machine may take its time; only hanging is a failure. */
const PATIENCE = 30000;

export async function openBrowser(size: {
  width: number;
  height: number;
}): Promise<BrowserContext> {
  const folder = join(SCRATCH, "browser");
  rmSync(folder, { recursive: true, force: true });
  return chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    viewport: size,
    colorScheme: "light",
    reducedMotion: "reduce",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--force-color-profile=srgb",
      "--font-render-hinting=none",
    ],
  });
}

/** What the tests of a suite share; see shareViewer. */
export let server: Server;
export let browser: BrowserContext;
export let page: Page;

/** One server, browser and page for all tests of a suite: of the trace that `make` makes. */
export function shareViewer(make: () => string, size: { width: number; height: number }): void {
  before(async () => {
    server = await serve(make());
    browser = await openBrowser(size);
    page = await openPage(browser, server.link);
  });
  after(async () => {
    await browser.close();
    const { code, errors } = await server.stop();
    stopAll();
    assert.equal(code, 0, errors);
  });
}

/** Opens the page anew, as it starts or as a link says. */
export async function reset(link = ""): Promise<void> {
  await page.goto("about:blank");
  await page.goto(server.link + link);
  await settle(page);
}

/** Opens an address; console errors and requests elsewhere fail the test that made them. */
export async function openPage(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  const allowed = new URL(address).origin;
  page.on("console", (message) => {
    if (message.type() === "error") throw new Error(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => {
    throw error;
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && new URL(url).origin !== allowed)
      throw new Error(`a request went elsewhere: ${url}`);
  });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(address);
  await settle(page);
  return page;
}

/** Waits until all that the screen needs was loaded and drawn. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => window.strobeTest?.isSettled(), null, { timeout: PATIENCE });
}

export function zones(page: Page): Promise<Drawn[]> {
  return page.evaluate(() => window.strobeTest.zones());
}

export function state(page: Page): Promise<State> {
  return page.evaluate(() => window.strobeTest.state());
}

/** Where the canvas is on the page. */
export async function canvasBox(page: Page) {
  const box = await page.locator(".canvas-box canvas").boundingBox();
  assert.ok(box);
  return box;
}

export async function clickZone(page: Page, zone: Drawn): Promise<void> {
  const box = await canvasBox(page);
  const left = Math.max(zone.x, 0);
  const right = Math.min(zone.x + zone.width, box.width);
  await page.mouse.click(box.x + (left + right) / 2, box.y + zone.y + zone.height / 2);
}

// ---- pictures ----

/** How much of a picture may differ: fonts are drawn a little differently everywhere. */
const DIFFERENT_PIXELS = 0.03;

/** The part of pixels that differ clearly; 1 if the sizes do. */
async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
  return page.evaluate(
    async ([first, second]) => {
      const pixels = async (png: string) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d")!;
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [left, right] = [await pixels(first!), await pixels(second!)];
      if (left.width !== right.width || left.height !== right.height) return 1;
      let different = 0;
      for (let i = 0; i < left.data.length; i += 4) {
        const apart = [0, 1, 2].map((k) => Math.abs(left.data[i + k]! - right.data[i + k]!));
        if (Math.max(...apart) > 48) different++;
      }
      return different / (left.data.length / 4);
    },
    [a.toString("base64"), b.toString("base64")],
  );
}

const WRITES_PICTURES = process.env["STROBE_TEST_WRITE"] === "1";

/** A picture for the documentation of what is never the same twice. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (WRITES_PICTURES) await comparePicture(page, name);
}

/**
 * Compares the page with the picture in the documentation; with STROBE_TEST_WRITE=1 makes the
 * picture anew.
 */
export async function comparePicture(page: Page, name: string): Promise<void> {
  const folder = join(PROJECT, "docs", "images");
  const path = join(folder, `view-${name}.png`);
  await settle(page);
  await page.mouse.move(2, 2);
  await page.waitForTimeout(150);
  const now = await page.screenshot();
  if (WRITES_PICTURES) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, now);
    return;
  }
  assert.ok(existsSync(path), `${path} is missing; STROBE_TEST_WRITE=1 makes it`);
  const part = await difference(page, now, readFileSync(path));
  if (part > DIFFERENT_PIXELS) writeFileSync(join(SCRATCH, `view-${name}.png`), now);
  assert.ok(
    part <= DIFFERENT_PIXELS,
    `${name}: ${(part * 100).toFixed(1)} % of the picture differ`,
  );
}
