// The canvas of the timeline: when to draw, and what hands do to it.

import { Refusal } from "./api";
import type { DataSource, Track } from "./api";
import { drawTimeline, topHeight, RULER, STRIP } from "./draw";
import type { Drawn, Picture, Scene } from "./draw";
import { currentTheme } from "./hooks";
import { groupKey, makeLayout, matches, ROW, shownFrameSets, trackKey } from "./layout";
import type { Item, Layout } from "./layout";
import { Loader } from "./loader";
import { deselect, getState, setState, showAround, showRange, subscribe, toggled } from "./store";
import type { State } from "./store";
import { LISTED_TRACKS } from "./tracks";

export interface Hover {
  drawn: Drawn | null;
  message: string | null;
  x: number;
  y: number;
}

type TrackItem = Item & { kind: "track" };

type Drag =
  | { kind: "pan"; x: number; y: number; state: State; moved: boolean }
  | { kind: "range"; from: number; moved: boolean }
  | { kind: "measure"; from: number; moved: boolean }
  | { kind: "pinch"; distance: number; middle: number; state: State };

/** A click may shake by so many pixels. */
const CLICK_SLACK = 4;
const DOUBLE_CLICK_MS = 500;
const SNAP = 6;
const WHEEL_ZOOM = 0.0022;
const PINCH_ZOOM = 0.01;

/** A notch of a wheel is about 100 pixels; fingers on a touchpad send a few at a time. */
export function wheelFactor(pixels: number): number {
  const length = Math.min(240, Math.abs(pixels));
  const step = Math.min(length * PINCH_ZOOM, Math.max(100, length) * WHEEL_ZOOM);
  return Math.exp(Math.sign(pixels) * step);
}

export class TimelineCanvas {
  readonly loader: Loader;
  layout: Layout = { items: [], height: 0, pinnedHeight: 0 };
  picture: Picture = { zones: [], flags: [], marks: [], spots: [], top: 0 };
  /** Milliseconds that drawing took, the last hundred times; for tests and benchmarks. */
  readonly drawTimes: number[] = [];
  private readonly context: CanvasRenderingContext2D;
  private width = 0;
  private height = 0;
  private isDirty = true;
  private isAlive = true;
  private hovered: Drawn | null = null;
  private pointerTime: number | null = null;
  private link: Scene["link"] = null;
  private drag: Drag | null = null;
  /** The click before: a second one soon and at the same place is part of it. */
  private last: { x: number; y: number; time: number; drawn: Drawn | null } | null = null;
  /** What is to be brought to the screen as soon as its track is known. */
  private wanted: { track: number; zone: number | undefined } | null = null;
  private readonly pointers = new Map<number, PointerEvent>();
  private readonly unsubscribe: () => void;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly source: DataSource,
    private readonly onHover: (hover: Hover | null) => void,
    private readonly onLayout: (layout: Layout) => void,
  ) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.loader = new Loader(
      source,
      () => this.invalidate(),
      (error) =>
        setState(error instanceof Refusal ? { error: error.message } : { connection: "lost" }),
    );
    this.unsubscribe = subscribe((state, before) => this.stateChanged(state, before));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.listen();
    this.resize();
    this.relayout();
    void document.fonts.ready.then(() => this.invalidate());
    const frame = () => {
      if (!this.isAlive) return;
      if (this.isDirty) this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  destroy(): void {
    this.isAlive = false;
    this.unsubscribe();
    this.observer.disconnect();
    window.removeEventListener("pointerdown", this.doubled, true);
  }

  setLink(link: Scene["link"]): void {
    this.link = link;
    this.invalidate();
  }

  invalidate(): void {
    this.isDirty = true;
  }

  get isSettled(): boolean {
    return this.loader.isIdle && !this.isDirty;
  }

  // ---- state ----

  private stateChanged(state: State, before: State): void {
    this.invalidate();
    const arranged = [
      "tracks",
      "plots",
      "locks",
      "filter",
      "hidden",
      "pinned",
      "folded",
      "order",
      "info",
    ] as const;
    if (arranged.some((key) => state[key] !== before[key])) this.relayout();
    if (state.tracks !== before.tracks) this.bringWanted();
    if (state.scroll !== before.scroll) this.onLayout(this.layout);
    if (state.connection === "open" && before.connection === "lost") this.loader.resume();
  }

  private relayout(): void {
    this.layout = makeLayout(getState());
    this.clampScroll();
    this.onLayout(this.layout);
    this.invalidate();
  }

  get viewHeight(): number {
    return this.height - topHeight(getState());
  }

  private clampScroll(): void {
    const { scroll } = getState();
    const highest = Math.max(0, this.layout.height - this.viewHeight + 24);
    // Until tracks are known, a link's place is not for us to judge.
    if (this.layout.items.length > 0 && scroll > highest) setState({ scroll: highest });
  }

  scrollBy(pixels: number): void {
    const highest = Math.max(0, this.layout.height - this.viewHeight + 24);
    const scroll = Math.min(highest, Math.max(0, getState().scroll + pixels));
    if (scroll !== getState().scroll) setState({ scroll });
  }

  /**
   * Brings a track to the screen, and in it the row of a zone, wherever it is: hidden, folded away,
   * filtered out. One that is not listed comes when it is (see tracks.ts).
   */
  show(track: number, zone?: number): void {
    this.wanted = { track, zone };
    setState({ shown: track });
    this.bringWanted();
  }

  private bringWanted(): void {
    const { wanted } = this;
    const state = getState();
    const track = wanted && state.tracks.find((one) => one.id === wanted.track);
    if (!wanted || !track) return;
    this.wanted = null;
    const group = groupKey(track.group);
    const isFiltered = !matches(track, state.filter);
    setState({
      filter: isFiltered ? "" : state.filter,
      hidden: state.hidden.filter((id) => id !== track.id),
      folded: state.folded.filter((key) => key !== group),
    });
    if (wanted.zone === undefined || track.depth <= 1) this.reveal(track.id);
    else void this.revealRow(track, wanted.zone);
    // Without the filter other tracks are listed, and this one will be elsewhere.
    if (isFiltered && (state.info?.tracks ?? 0) > LISTED_TRACKS) this.wanted = wanted;
  }

  private async revealRow(track: Track, zone: number): Promise<void> {
    const { selected } = getState();
    const isKnown = selected?.zone.track === track.id && selected.zone.zone === zone;
    const details = isKnown ? selected : await this.source.zone(track.id, zone).catch(() => null);
    const depth = details?.parents.length ?? 0;
    const item = this.trackItem(track.id);
    if (item?.isFolded && depth > 0)
      setState({ folded: toggled(getState().folded, trackKey(track)) });
    this.reveal(track.id, depth);
  }

  private trackItem(id: number): TrackItem | undefined {
    return this.layout.items.find(
      (item): item is TrackItem => item.kind === "track" && item.track.id === id,
    );
  }

  /** Scrolls so that a track, or one of its rows, is on the screen. */
  private reveal(id: number, row?: number): void {
    const item = this.trackItem(id);
    if (!item || item.isPinned) return;
    const isRow = row !== undefined && !item.isFolded;
    const { scroll } = getState();
    const room = this.viewHeight - this.layout.pinnedHeight;
    const top = item.y - this.layout.pinnedHeight + (isRow ? row * ROW : 0);
    const bottom = top + (isRow ? ROW : item.height);
    if (top < scroll) this.scrollBy(top - scroll - 30);
    else if (bottom > scroll + room)
      this.scrollBy(Math.min(bottom - scroll - room, top - scroll) + 30);
  }

  /**
   * When a click opens or closes the details beside the timeline, what is on it stays where it is:
   * there is less or more of it at the right. A selected zone that would be gone is brought back.
   */
  private keepScale(before: number): void {
    const { selection, view, keepsScale, follow } = getState();
    if (!keepsScale || before === this.width) return;
    setState({ keepsScale: false });
    if (follow) return;
    const span = ((view.to - view.from) * this.width) / before;
    const drawn = this.picture.zones.find(
      (one) => one.track === selection?.track && one.zone === selection.zone,
    );
    const isCovered = drawn !== undefined && drawn.start > view.from + span * 0.9;
    const from = isCovered ? drawn.start - span / 2 : view.from;
    setState({ view: { from, to: from + span } });
  }

  private resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    const before = this.width;
    this.width = Math.max(1, clientWidth);
    this.keepScale(before);
    this.height = Math.max(1, clientHeight);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    // A canvas that was resized is empty; a frame without it would flash.
    this.draw();
    this.onLayout(this.layout);
  }

  // ---- drawing ----

  private draw(): void {
    this.isDirty = false;
    const state = getState();
    const begun = performance.now();
    this.picture = drawTimeline(this.context, {
      state,
      layout: this.layout,
      loader: this.loader,
      theme: currentTheme(state),
      width: this.width,
      height: this.height,
      scroll: state.scroll,
      hovered: this.hovered,
      pointerTime: this.pointerTime,
      link: this.link,
    });
    this.drawTimes.push(performance.now() - begun);
    if (this.drawTimes.length > 100) this.drawTimes.shift();
    this.wantData(state);
  }

  private wantData(state: State): void {
    if (!state.info) return;
    const top = state.scroll + this.layout.pinnedHeight;
    const bottom = state.scroll + this.viewHeight;
    const slack = 100;
    const visible = this.layout.items.filter(
      (item) =>
        (item.kind === "track" && item.isPinned) ||
        (item.y + item.height > top - slack && item.y < bottom + slack),
    );
    this.loader.want({
      view: state.view,
      width: this.width,
      tracks: visible.flatMap((item) => (item.kind === "track" ? [item.track.id] : [])),
      plots: visible.flatMap((item) => (item.kind === "plot" ? [item.plot.id] : [])),
      frameSets: shownFrameSets(state),
      hasLocks: visible.some((item) => item.kind === "lock"),
      hasMessages: state.info.messages > 0,
    });
  }

  // ---- places ----

  private timeAt(x: number): number {
    const { view } = getState();
    return view.from + (x / this.width) * (view.to - view.from);
  }

  private spot(event: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private drawnAt(x: number, y: number): Drawn | null {
    if (y < this.picture.top) return null;
    let nearest: Drawn | null = null;
    for (const drawn of this.picture.zones) {
      if (y < drawn.y || y >= drawn.y + drawn.height) continue;
      // Narrow spans are hard to hit; one pixel of mercy, and what is exactly hit wins.
      if (x >= drawn.x && x < drawn.x + drawn.width) return drawn;
      if (x >= drawn.x - 1.5 && x < drawn.x + drawn.width + 1.5) nearest = drawn;
    }
    return nearest;
  }

  /** The edge of a zone near the pointer in the row it is on, else a message, else its time. */
  private snapped(x: number, y: number): number {
    const { view } = getState();
    let best = SNAP;
    let time = this.timeAt(x);
    const offer = (edge: number) => {
      const distance = Math.abs(((edge - view.from) / (view.to - view.from)) * this.width - x);
      if (distance >= best) return;
      best = distance;
      time = edge;
    };
    for (const drawn of this.picture.zones) {
      if (y < drawn.y - 1 || y > drawn.y + drawn.height + 1) continue;
      offer(drawn.start);
      offer(drawn.end);
    }
    // What one points at goes before what is above it.
    if (best === SNAP) for (const { message } of this.picture.flags) offer(message.time);
    return time;
  }

  get pointer(): number | null {
    return this.pointerTime;
  }

  zoomAt(factor: number, time: number): void {
    const { view } = getState();
    showRange(time - (time - view.from) * factor, time + (view.to - time) * factor);
  }

  // ---- hands ----

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("focus", () =>
      canvas.classList.toggle("by-key", canvas.matches(":focus-visible")),
    );
    canvas.addEventListener("pointerdown", (event) => this.pressed(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("pointercancel", (event) => this.dropped(event));
    canvas.addEventListener("pointerleave", () => this.left());
    window.addEventListener("pointerdown", this.doubled, true);
    canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
  }

  /** Also of the labels: a pinch there must not enlarge the page. */
  wheeled(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.spot(event);
    const isBeside = x < 0;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const across = (event.shiftKey ? event.deltaY : event.deltaX) * lines;
    const down = event.shiftKey ? 0 : event.deltaY * lines;
    const zooms = event.ctrlKey || event.metaKey || (y < this.picture.top && !isBeside);
    if (zooms && down !== 0) {
      this.zoomAt(wheelFactor(down), this.timeAt(isBeside ? this.width / 2 : x));
      return;
    }
    if (across !== 0) {
      const { view } = getState();
      const shift = (across / this.width) * (view.to - view.from);
      showRange(view.from + shift, view.to + shift);
    }
    if (down !== 0) this.scrollBy(down);
  }

  private pressed(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { x, y } = this.spot(event);
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // A pointer that a test made up cannot be captured.
    }
    this.pointers.set(event.pointerId, event);
    const state = getState();
    if (this.pointers.size === 2) {
      const [first, second] = [...this.pointers.values()].map((one) => this.spot(one).x);
      this.drag = {
        kind: "pinch",
        distance: Math.max(10, Math.abs(second! - first!)),
        middle: this.timeAt((first! + second!) / 2),
        state,
      };
    } else if (state.measuring) {
      this.drag = { kind: "measure", from: this.snapped(x, y), moved: false };
    } else if (event.shiftKey || y < RULER) {
      this.drag = { kind: "range", from: this.snapped(x, y), moved: false };
    } else {
      this.drag = { kind: "pan", x, y, state, moved: false };
    }
  }

  private moved(event: PointerEvent): void {
    const { x, y } = this.spot(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, event);
    this.pointerTime = this.timeAt(x);
    this.invalidate();
    // A menu or another window may have taken the release.
    if (event.buttons === 0 && this.pointers.has(event.pointerId)) this.dropped(event);
    const { drag } = this;
    if (!drag) this.hover(x, y);
    else if (drag.kind === "pan") this.pan(drag, x, y);
    else if (drag.kind === "pinch") this.pinch(drag);
    else this.stretch(drag, x, y);
  }

  private pan(drag: Drag & { kind: "pan" }, x: number, y: number): void {
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < CLICK_SLACK) return;
    drag.moved = true;
    this.canvas.style.cursor = "grabbing";
    const { view, scroll } = drag.state;
    const shift = ((x - drag.x) / this.width) * (view.to - view.from);
    showRange(view.from - shift, view.to - shift);
    this.scrollBy(scroll - (y - drag.y) - getState().scroll);
    this.onHover(null);
  }

  private pinch(drag: Drag & { kind: "pinch" }): void {
    const [first, second] = [...this.pointers.values()].map((one) => this.spot(one).x);
    if (first === undefined || second === undefined) return;
    const { view } = drag.state;
    const factor = drag.distance / Math.max(10, Math.abs(second - first));
    const span = (view.to - view.from) * factor;
    const from = drag.middle - ((first + second) / 2 / this.width) * span;
    showRange(from, from + span);
  }

  private stretch(drag: Drag & { kind: "range" | "measure" }, x: number, y: number): void {
    const to = this.snapped(x, y);
    drag.moved = true;
    this.onHover(null);
    const stretched = { from: Math.min(drag.from, to), to: Math.max(drag.from, to) };
    setState(drag.kind === "measure" ? { measure: stretched } : { range: stretched });
  }

  private hover(x: number, y: number): void {
    this.hovered = this.drawnAt(x, y);
    const flag = y < this.picture.top ? this.flagAt(x, y) : null;
    const mark = this.markAt(x, y);
    const canClick = this.hovered || flag || mark;
    this.canvas.style.cursor = getState().measuring
      ? "crosshair"
      : canClick
        ? "pointer"
        : "default";
    const text = mark ? "Bookmark: click to name or remove it" : (flag?.text ?? this.spotAt(x, y));
    if (!this.hovered && text === null) this.onHover(null);
    else this.onHover({ drawn: this.hovered, message: text, x, y });
  }

  private markAt(x: number, y: number) {
    return y < RULER ? this.picture.marks.find((one) => Math.abs(one.x - x) < 7) : undefined;
  }

  /** What is drawn last is on top. */
  private spotAt(x: number, y: number): string | null {
    const { spots } = this.picture;
    for (let i = spots.length - 1; i >= 0; i--) {
      const spot = spots[i]!;
      const isAcross = x >= spot.x - 1 && x < spot.x + spot.width + 1;
      if (isAcross && y >= spot.y && y < spot.y + spot.height) return spot.text;
    }
    return null;
  }

  private flagAt(x: number, y: number) {
    if (y < this.picture.top - STRIP || y >= this.picture.top) return null;
    return this.picture.flags.find((flag) => x >= flag.x - 2 && x < flag.x + 9)?.message ?? null;
  }

  /** Ends what a pointer was doing, and says what that was. */
  private dropped(event: PointerEvent): Drag | null {
    const { drag } = this;
    this.pointers.delete(event.pointerId);
    this.drag = null;
    this.canvas.style.cursor = "default";
    return drag;
  }

  private released(event: PointerEvent): void {
    const { x, y } = this.spot(event);
    const drag = this.dropped(event);
    if (!drag || drag.kind === "pinch" || drag.moved) return;
    const { clientX, clientY, timeStamp } = event;
    this.last = { x: clientX, y: clientY, time: timeStamp, drawn: this.drawnAt(x, y) };
    this.clicked(x, y);
  }

  private isSecond({ clientX, clientY, timeStamp }: MouseEvent): boolean {
    const { last } = this;
    if (!last || timeStamp - last.time > DOUBLE_CLICK_MS) return false;
    return Math.hypot(clientX - last.x, clientY - last.y) <= CLICK_SLACK;
  }

  private clicked(x: number, y: number): void {
    const mark = this.markAt(x, y);
    if (mark) {
      setState({ marksOpen: mark.index });
      return;
    }
    if (y < RULER) {
      setState({ range: null });
      return;
    }
    if (this.flagAt(x, y)) {
      setState({ tab: "messages" });
      return;
    }
    const drawn = this.drawnAt(x, y);
    // The details may now come under the pointer.
    this.onHover(null);
    if (!drawn) return deselect();
    const keepsScale = getState().selection === null;
    setState({ selection: { track: drawn.track, zone: drawn.zone }, keepsScale });
  }

  /**
   * The second press of a double click, wherever it lands: the first may have opened the details,
   * which then are where the canvas was.
   */
  private readonly doubled = (event: PointerEvent): void => {
    const drawn = event.button === 0 && this.isSecond(event) ? this.last?.drawn : null;
    this.last = null;
    if (!drawn) return;
    event.stopPropagation();
    const swallow = (click: Event) => click.stopPropagation();
    window.addEventListener("click", swallow, { capture: true, once: true });
    window.setTimeout(() => window.removeEventListener("click", swallow, true), DOUBLE_CLICK_MS);
    showAround(drawn.start, drawn.end);
  };

  private left(): void {
    if (this.drag) return;
    this.hovered = null;
    this.pointerTime = null;
    this.onHover(null);
    this.invalidate();
  }
}
