// Fetches what the timeline draws, a window somewhat larger than the screen at a time.
//
// Old data is drawn, stretched, until new data is there, so moving never waits. One request is
// under way at a time; when it is answered, what the screen needs by then is asked for. What is
// kept is what was on the screen last, so memory does not grow with the trace.

import type { DataSource, Frame, Lock, Message, PlotPoint, Range } from "./api";
import type { TrackSpans } from "./spans";

export interface Window extends Range {
  /** Nanoseconds of a pixel. */
  grain: number;
  revision: number;
}

export interface LoadedTrack {
  window: Window;
  spans: TrackSpans;
  texts: Map<number, string>;
}

interface Loaded<T> {
  window: Window;
  data: T;
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
const TRACKS_AT_ONCE = 256;
const KEPT_TRACKS = 2000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30000;

export class Loader {
  readonly tracks = new Map<number, LoadedTrack>();
  readonly plots = new Map<number, Loaded<PlotPoint[]>>();
  readonly frames = new Map<number, Loaded<Frame[]>>();
  locks: Loaded<Map<number, Lock>> | null = null;
  flags: Loaded<Message[]> | null = null;
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
        await Promise.all(loads.map((load) => load()));
        this.pauseMs = 0;
        this.arrived();
      }
    } catch (error) {
      this.waitAWhile();
      this.failed(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.busy = false;
    }
  }

  /** The requests that would bring what is missing. */
  private missing(needs: Needs): (() => Promise<void>)[] {
    const { window, width } = this.windowFor(needs);
    const loads: (() => Promise<void>)[] = [];
    const tracks = needs.tracks.filter((id) => !this.serves(this.tracks.get(id)?.window, needs));
    if (tracks.length > 0)
      loads.push(() => this.loadTracks(tracks.slice(0, TRACKS_AT_ONCE), window, width));
    for (const id of needs.plots) {
      if (!this.serves(this.plots.get(id)?.window, needs))
        loads.push(() => this.loadPlot(id, window, width));
    }
    for (const set of needs.frameSets) {
      if (!this.serves(this.frames.get(set)?.window, needs))
        loads.push(() => this.loadFrames(set, window, width));
    }
    if (needs.hasLocks && !this.serves(this.locks?.window, needs))
      loads.push(() => this.loadLocks(window, width));
    if (needs.hasMessages && !this.serves(this.flags?.window, needs))
      loads.push(() => this.loadFlags(window, width));
    return loads;
  }

  private async loadTracks(ids: number[], window: Window, width: number): Promise<void> {
    const document = await this.source.zones(window, width, ids);
    for (const spans of document.tracks) {
      this.tracks.delete(spans.track);
      this.tracks.set(spans.track, { window, spans, texts: document.texts });
    }
    // The map keeps the order of insertion: what was drawn longest ago goes first.
    for (const id of this.tracks.keys()) {
      if (this.tracks.size <= KEPT_TRACKS) break;
      this.tracks.delete(id);
    }
  }

  private async loadPlot(id: number, window: Window, width: number): Promise<void> {
    this.plots.set(id, { window, data: await this.source.plot(id, window, width) });
  }

  private async loadFrames(set: number, window: Window, width: number): Promise<void> {
    this.frames.set(set, { window, data: await this.source.frames(set, window, width) });
  }

  private async loadLocks(window: Window, width: number): Promise<void> {
    const locks = await this.source.locks(window, width);
    this.locks = { window, data: new Map(locks.map((lock) => [lock.id, lock])) };
  }

  private async loadFlags(window: Window, width: number): Promise<void> {
    this.flags = { window, data: await this.source.flags(window, Math.min(width, 1500)) };
  }
}
