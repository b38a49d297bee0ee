// Fetches what the timeline draws, a window somewhat larger than the screen at a time.
//
// Old data is drawn, stretched, until new data is there, so moving never waits. One request is
// under way at a time; when it is answered, what the screen needs by then is asked for. What is
// kept is what was on the screen last, so memory does not grow with the trace.

import { Refusal } from "./api";
import type { DataSource, Frame, Lock, Message, PlotPoint, Range } from "./api";
import type { TrackSpans } from "./spans";

export interface Window extends Range {
  /** Nanoseconds of a pixel. */
  grain: number;
  revision: number;
}

export interface LoadedTrack {
  spans: TrackSpans;
  texts: Map<number, string>;
}

/** A request, and the parts of the screen that it brings. */
interface Load {
  parts: string[];
  window: Window;
  run: () => Promise<void>;
}

export interface Needs {
  view: Range;
  width: number;
  tracks: number[];
  plots: number[];
  frameSets: number[];
  hasLocks: boolean;
  hasMessages: boolean;
}

/** Windows reach this much beyond the screen on both sides, in screens. */
const MARGIN = 0.5;
const LARGEST_WIDTH = 16384;
/** Drawn more coarsely than this, a track says nothing. */
const LEAST_WIDTH = 64;
const TRACKS_AT_ONCE = 256;
const KEPT_TRACKS = 2000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30000;

export class Loader {
  readonly tracks = new Map<number, LoadedTrack>();
  readonly plots = new Map<number, PlotPoint[]>();
  readonly frames = new Map<number, Frame[]>();
  locks = new Map<number, Lock>();
  flags: Message[] = [];
  /** The windows that were asked for last, by part of the screen, once they are answered. */
  private readonly answered = new Map<string, Window>();
  private revision = 0;
  private busy = false;
  /** After a failure: how long nothing is asked, and the timer that ends it. */
  private pauseMs = 0;
  private pause: number | null = null;
  private needs: Needs | null = null;

  constructor(
    private readonly source: DataSource,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  /** What the screen needs now. Asks for what is missing or too coarse. */
  want(needs: Needs): void {
    this.needs = needs;
    if (!this.busy && this.pause === null && this.missing(needs).length > 0) void this.work();
  }

  /** The server is there again. */
  resume(): void {
    if (this.pause !== null) window.clearTimeout(this.pause);
    this.pause = null;
    this.pauseMs = 0;
    if (this.needs) this.want(this.needs);
  }

  /** What has failed would fail again at once; it is asked for later, and later each time. */
  private waitAWhile(): void {
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.pauseMs * 2));
    this.pause = window.setTimeout(() => {
      this.pause = null;
      if (this.needs) this.want(this.needs);
    }, this.pauseMs);
  }

  /** The trace has grown: what was loaded is out of date. */
  outdate(): void {
    this.revision++;
    if (this.needs) this.want(this.needs);
  }

  get isIdle(): boolean {
    return !this.busy;
  }

  private serves(window: Window | undefined, needs: Needs): boolean {
    if (!window || window.revision !== this.revision) return false;
    const grain = (needs.view.to - needs.view.from) / needs.width;
    const fits = window.from <= needs.view.from && window.to >= needs.view.to;
    return (
      fits &&
      window.grain <= Math.max(1, grain * 1.4) &&
      (window.grain >= grain / 4 || window.grain <= 1)
    );
  }

  private windowFor(needs: Needs): { window: Window; width: number } {
    const span = needs.view.to - needs.view.from;
    const width = Math.min(LARGEST_WIDTH, Math.ceil(needs.width * (1 + 2 * MARGIN)));
    const from = Math.floor(needs.view.from - span * MARGIN);
    const to = Math.ceil(needs.view.to + span * MARGIN) + 1;
    const grain = Math.max(1, (to - from) / width);
    return { window: { from, to, grain, revision: this.revision }, width };
  }

  /** Loads until the screen has what it needs. */
  private async work(): Promise<void> {
    this.busy = true;
    try {
      for (;;) {
        const loads = this.needs ? this.missing(this.needs) : [];
        if (loads.length === 0) break;
        // After a failure one request is enough to learn whether it lasts.
        await this.settle(this.pauseMs > 0 ? loads.slice(0, 1) : loads);
        this.pauseMs = 0;
      }
    } catch (error) {
      this.waitAWhile();
      this.failed(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.busy = false;
    }
  }

  /** Waits for all; what was refused is answered as well, and is not asked for again. */
  private async settle(loads: Load[]): Promise<void> {
    const results = await Promise.allSettled(loads.map((load) => load.run()));
    const failures: unknown[] = [];
    loads.forEach((load, i) => {
      const result = results[i]!;
      const failure: unknown = result.status === "rejected" ? result.reason : null;
      if (failure instanceof Refusal) this.failed(failure);
      else if (failure) failures.push(failure);
      if (!failure || failure instanceof Refusal)
        for (const part of load.parts) this.answered.set(part, load.window);
    });
    this.arrived();
    if (failures.length > 0) throw failures[0];
  }

  /** The requests that would bring what is missing. */
  private missing(needs: Needs): Load[] {
    const { window, width } = this.windowFor(needs);
    const loads: Load[] = [];
    const isMissing = (part: string) => !this.serves(this.answered.get(part), needs);
    const add = (part: string, run: () => Promise<void>) => {
      if (isMissing(part)) loads.push({ parts: [part], window, run });
    };
    const tracks = needs.tracks.filter((id) => isMissing(`track ${id}`)).slice(0, TRACKS_AT_ONCE);
    if (tracks.length > 0) {
      const parts = tracks.map((id) => `track ${id}`);
      loads.push({ parts, window, run: () => this.loadTracks(tracks, window, width) });
    }
    for (const id of needs.plots) add(`plot ${id}`, () => this.loadPlot(id, window, width));
    for (const set of needs.frameSets) add(`set ${set}`, () => this.loadFrames(set, window, width));
    if (needs.hasLocks) add("locks", () => this.loadLocks(window, width));
    if (needs.hasMessages) add("flags", () => this.loadFlags(window, width));
    return loads;
  }

  private async loadTracks(ids: number[], window: Window, width: number): Promise<void> {
    const document = await this.source.zones(window, width, ids);
    if (document.isCut && (ids.length > 1 || width > LEAST_WIDTH)) {
      await this.loadLess(ids, window, width);
      return;
    }
    for (const spans of document.tracks) {
      this.tracks.delete(spans.track);
      this.tracks.set(spans.track, { spans, texts: document.texts });
    }
    // The map keeps the order of insertion: what was drawn longest ago goes first.
    for (const id of this.tracks.keys()) {
      if (this.tracks.size <= KEPT_TRACKS) break;
      this.tracks.delete(id);
      this.answered.delete(`track ${id}`);
    }
  }

  /** There was more than one answer holds: half of the tracks at a time, one track more coarsely. */
  private async loadLess(ids: number[], window: Window, width: number): Promise<void> {
    const half = Math.ceil(ids.length / 2);
    if (ids.length === 1) return this.loadTracks(ids, window, Math.ceil(width / 2));
    await this.loadTracks(ids.slice(0, half), window, width);
    await this.loadTracks(ids.slice(half), window, width);
  }

  private async loadPlot(id: number, window: Window, width: number): Promise<void> {
    this.plots.set(id, await this.source.plot(id, window, width));
  }

  private async loadFrames(set: number, window: Window, width: number): Promise<void> {
    this.frames.set(set, await this.source.frames(set, window, width));
  }

  private async loadLocks(window: Window, width: number): Promise<void> {
    const locks = await this.source.locks(window, width);
    this.locks = new Map(locks.map((lock) => [lock.id, lock]));
  }

  private async loadFlags(window: Window, width: number): Promise<void> {
    this.flags = await this.source.flags(window, Math.min(width, 1500));
  }
}
