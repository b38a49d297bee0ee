// What bench/view.py measures in the browser: first paint, drawing, memory while moving about.

import { test } from "node:test";
import { openBrowser, openPage, settle } from "./browser";

const MOVES = 150;

test("measure", async () => {
  const browser = await openBrowser({ width: 1440, height: 900 });
  try {
    const begun = performance.now();
    const page = await openPage(browser, process.env["BENCH_LINK"]!);
    const firstPaint = performance.now() - begun;
    const session = await browser.newCDPSession(page);
    const heap = async () => {
      await session.send("HeapProfiler.collectGarbage");
      return (await session.send("Runtime.getHeapUsage")).usedSize;
    };
    const heapBefore = await heap();
    const draws: number[] = [];
    for (let i = 0; i < MOVES; i++) {
      await page.evaluate((move) => {
        const { view, info } = window.strobeTest.state();
        const end = info!.end;
        // A walk through all zooms that is the same every time.
        const span = Math.max(200, end * 10 ** (-6 * Math.abs(Math.sin(move * 0.7))));
        const from = (end - span) * Math.abs(Math.sin(move * 1.3));
        history.replaceState(null, "", `#t=${Math.round(from)}~${Math.round(from + span)}`);
        window.dispatchEvent(new HashChangeEvent("hashchange"));
        return view;
      }, i);
      await settle(page);
      draws.push(...(await page.evaluate(() => window.strobeTest.drawTimes().slice(-3))));
    }
    draws.sort((a, b) => a - b);
    const result = {
      firstPaint,
      heapBefore,
      heapAfter: await heap(),
      moves: MOVES,
      drawMedian: draws[Math.floor(draws.length / 2)],
      drawP99: draws[Math.floor(draws.length * 0.99)],
    };
    console.log(`BENCH ${JSON.stringify(result)}`);
  } finally {
    await browser.close();
  }
});
