// Draws the timeline on a canvas. What was drawn, and where, is kept until the next time, for
// finding what the pointer is on and for tests.

import type { Loss, Message, Plot, PlotPoint, Source, Track } from "./api";
import { fromTrace, inkOn, sourceColour } from "./colours";
import type { Theme } from "./colours";
import {
  formatAxisTime,
  formatCount,
  formatShortTime,
  formatStamp,
  formatTime,
  formatValue,
  niceStep,
} from "./format";
import { FOLDED_ROW, ROW, shownFrameSets } from "./layout";
import type { Item, Layout } from "./layout";
import type { Loader, LoadedTrack } from "./loader";
import { FLAG_OPEN } from "./spans";
import type { State } from "./store";

export const RULER = 30;
export const STRIP = 18;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A span as it stands on the canvas. */
export interface Drawn extends Box {
  track: number;
  zone: number;
  source: number;
  count: number;
  start: number;
  end: number;
  busy: number;
  name: string;
  text: string;
  isOpen: boolean;
  depth: number;
}

/** What else says something when the pointer is on it. */
export interface Spot extends Box {
  text: string;
}

export interface Scene {
  state: State;
  layout: Layout;
  loader: Loader;
  theme: Theme;
  width: number;
  height: number;
  scroll: number;
  hovered: Drawn | null;
  pointerTime: number | null;
  /** From the host zone that gave a command to the device zone that ran it. */
  link: { fromTrack: number; fromTime: number; toTrack: number; toTime: number } | null;
}

export interface Picture {
  zones: Drawn[];
  flags: { message: Message; x: number }[];
  marks: { index: number; x: number }[];
  spots: Spot[];
  /** Where the tracks begin: below the ruler and the strips. */
  top: number;
}

const FONT = '11px "Inter Variable", system-ui, sans-serif';
const SMALL_FONT = '10px "Inter Variable", system-ui, sans-serif';
const LABEL_PADDING = 4;
/** Of the ruler; a screen has a few dozen. */
const MOST_MARKS = 1000;

const widths = new Map<string, number>();

function textWidth(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(text, width);
  }
  return width;
}

/** As much of a text as fits, or nothing where that would say nothing. */
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = textWidth(context, text);
  if (width <= room) return text;
  const letters = Math.floor((text.length * room) / width) - 1;
  return letters >= 2 ? `${text.slice(0, letters)}…` : "";
}

/** Messages of the runtime by what they tell of: the name of an op, or of a signpost. */
export function messageTitle(text: string): string {
  const plain = text.replace(/^`|`$/g, "").replace(/\s+/g, " ");
  return /^TT_DNN_DEVICE_OP: "([^"]*)"/.exec(plain)?.[1] ?? plain.replace(/^TT_SIGNPOST: /, "");
}

function lossText({ count, text, cause }: Loss): string {
  return `${count > 0 ? `${formatCount(count)} lost: ` : "Lost: "}${text || cause}`;
}

export function topHeight(state: State): number {
  const strips = shownFrameSets(state).length + ((state.info?.messages ?? 0) > 0 ? 1 : 0);
  return RULER + strips * STRIP;
}

class Painter {
  readonly picture: Picture = { zones: [], flags: [], marks: [], spots: [], top: 0 };
  private readonly scale: number;
  private hatch: CanvasPattern | null = null;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: Scene,
  ) {
    const { view } = scene.state;
    this.scale = scene.width / (view.to - view.from);
  }

  private x(time: number): number {
    return (time - this.scene.state.view.from) * this.scale;
  }

  paint(): Picture {
    const { context, scene } = this;
    const { theme, width, height } = scene;
    this.picture.top = topHeight(scene.state);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    this.paintGrid();
    this.paintBounds();
    this.paintItems();
    this.paintLink();
    this.paintRuler();
    this.paintStrips();
    this.paintRange();
    this.paintMeasure();
    this.paintMarks();
    this.paintPointer();
    return this.picture;
  }

  // ---- the axis ----

  private gridStep(): number {
    return niceStep(110 / this.scale);
  }

  private gridTimes(): number[] {
    const { from, to } = this.scene.state.view;
    const step = this.gridStep();
    const first = Math.ceil(from / step);
    const count = Math.max(0, Math.ceil(to / step) - first);
    return Array.from({ length: Math.min(count, MOST_MARKS) }, (_, i) => (first + i) * step);
  }

  private paintGrid(): void {
    const { context, scene } = this;
    context.fillStyle = scene.theme.faintLine;
    for (const time of this.gridTimes())
      context.fillRect(Math.round(this.x(time)), RULER, 1, scene.height);
  }

  /** What lies before the beginning and behind the end of the trace. */
  private paintBounds(): void {
    const { context, scene } = this;
    if (scene.state.tracks.length === 0) return;
    const begin = this.x(0);
    const end = this.x(scene.state.info?.end ?? 0);
    context.fillStyle = scene.theme.surface;
    if (begin > 0) context.fillRect(0, RULER, begin, scene.height);
    if (end < scene.width) context.fillRect(end, RULER, scene.width - end, scene.height);
  }

  private paintRuler(): void {
    const { context, scene } = this;
    const { theme } = scene;
    context.fillStyle = theme.surface;
    context.fillRect(0, 0, scene.width, RULER);
    context.fillStyle = theme.line;
    context.fillRect(0, RULER - 1, scene.width, 1);
    context.font = SMALL_FONT;
    const step = this.gridStep();
    for (const time of this.gridTimes()) {
      const x = Math.round(this.x(time));
      context.fillStyle = theme.line;
      context.fillRect(x, RULER - 7, 1, 6);
      context.fillStyle = theme.dimText;
      context.fillText(formatAxisTime(time, step), x + 4, RULER / 2 + 2);
    }
    context.font = FONT;
  }

  // ---- frames and messages ----

  private paintStrips(): void {
    let y = RULER;
    const { info } = this.scene.state;
    for (const set of shownFrameSets(this.scene.state)) {
      this.paintFrames(set, y);
      y += STRIP;
    }
    if ((info?.messages ?? 0) > 0) this.paintFlags(y);
  }

  private stripBackground(y: number): void {
    const { context, scene } = this;
    context.fillStyle = scene.theme.surface;
    context.fillRect(0, y, scene.width, STRIP);
    context.fillStyle = scene.theme.line;
    context.fillRect(0, y + STRIP - 1, scene.width, 1);
  }

  private paintFrames(set: number, y: number): void {
    const { context, scene } = this;
    this.stripBackground(y);
    for (const [first, count, start, end] of scene.loader.frames.get(set) ?? []) {
      const left = this.x(start);
      const right = this.x(end);
      if (right < 0 || left > scene.width) continue;
      context.fillStyle = scene.theme.line;
      const length = formatTime(end - start);
      const about =
        count > 1 ? `${formatCount(count)} frames in ${length}` : `Frame ${first}: ${length}`;
      this.addSpot(left, right, y, STRIP, about);
      if (count > 1) {
        context.fillRect(left, y + 5, Math.max(1, right - left), STRIP - 11);
        continue;
      }
      context.fillRect(Math.round(left), y + 2, 1, STRIP - 5);
      const begin = Math.max(left, 0) + 5;
      const text = `${first} · ${formatShortTime(end - start)}`;
      context.fillStyle = scene.theme.dimText;
      context.fillText(fitted(context, text, right - begin - 5), begin, y + STRIP / 2);
    }
  }

  private addSpot(left: number, right: number, y: number, height: number, text: string): void {
    this.picture.spots.push({ x: left, y, width: Math.max(1, right - left), height, text });
  }

  private paintFlags(y: number): void {
    const { context, scene } = this;
    this.stripBackground(y);
    const messages = scene.loader.flags;
    messages.forEach((message, i) => {
      const x = this.x(message.time);
      const next = messages[i + 1];
      const room = next ? this.x(next.time) - x - 14 : 220;
      if (x < -300 || x > scene.width) return;
      const colour = message.colour === 0xffffffff ? scene.theme.accent : fromTrace(message.colour);
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(x, y + 3);
      context.lineTo(x + 7, y + 6.5);
      context.lineTo(x, y + 10);
      context.fill();
      context.fillRect(x, y + 3, 1.5, STRIP - 4);
      this.picture.flags.push({ message, x });
      const many = message.count !== undefined ? ` +${message.count - 1}` : "";
      const label = fitted(context, messageTitle(message.text) + many, Math.min(room, 220));
      context.fillStyle = scene.theme.text;
      context.fillText(label, x + 10, y + STRIP / 2);
    });
  }

  // ---- tracks ----

  /** Where an item is on the canvas: pinned ones stay, the rest is scrolled below them. */
  private itemY(item: Item): number {
    const isPinned = item.kind === "track" && item.isPinned;
    return this.picture.top + item.y - (isPinned ? 0 : this.scene.scroll);
  }

  private paintItems(): void {
    const { context, scene } = this;
    const { layout } = scene;
    const pinnedEnd = this.picture.top + layout.pinnedHeight;
    context.save();
    context.beginPath();
    context.rect(0, pinnedEnd, scene.width, scene.height - pinnedEnd);
    context.clip();
    for (const item of layout.items) {
      if (item.kind !== "track" || !item.isPinned) this.paintItem(item, pinnedEnd);
    }
    context.restore();
    for (const item of layout.items) {
      if (item.kind === "track" && item.isPinned) this.paintItem(item, this.picture.top);
    }
    if (layout.pinnedHeight > 0) {
      context.fillStyle = scene.theme.accent;
      context.fillRect(0, pinnedEnd - 1, scene.width, 1);
    }
  }

  private paintItem(item: Item, top: number): void {
    const { context, scene } = this;
    const y = this.itemY(item);
    if (y + item.height < top || y > scene.height) return;
    if (item.kind === "group") {
      context.fillStyle = scene.theme.surface;
      context.fillRect(0, y, scene.width, item.height);
      context.fillStyle = scene.theme.line;
      context.fillRect(0, y + item.height - 1, scene.width, 1);
    } else if (item.kind === "plot") {
      this.paintPlot(item.plot, y, item.height);
    } else if (item.kind === "lock") {
      this.paintLock(item.lock, y, item.height);
    } else {
      this.paintTrack(item.track, y, item.height, item.isFolded);
      context.fillStyle = scene.theme.faintLine;
      context.fillRect(0, y + item.height - 1, scene.width, 1);
    }
  }

  private paintTrack(track: Track, y: number, height: number, isFolded: boolean): void {
    const loaded = this.scene.loader.tracks.get(track.id);
    if (loaded) this.paintSpans(loaded, y, isFolded);
    for (const loss of this.scene.state.losses) {
      if (loss.thread === undefined || loss.thread === track.thread)
        this.paintLoss(loss, y, height);
    }
  }

  private paintSpans(loaded: LoadedTrack, y: number, isFolded: boolean): void {
    const { scene } = this;
    const { spans } = loaded;
    const rowHeight = isFolded ? FOLDED_ROW : ROW;
    const shift = scene.state.view.from;
    // In a row, what is drawn last on a pixel hides what was there; once is enough.
    let paintedTo = -Infinity;
    let depth = 0;
    for (let i = 0; i < spans.length; i++) {
      if (spans.depth[i]! !== depth) {
        depth = spans.depth[i]!;
        paintedTo = -Infinity;
        if (isFolded) return;
      }
      const left = (spans.start[i]! - shift) * this.scale;
      const right = (spans.end[i]! - shift) * this.scale;
      if (right < 0 || left > scene.width || right < paintedTo) continue;
      const width = Math.max(right - left, 1);
      paintedTo = left + width;
      this.paintSpan(loaded, i, left, y + 1 + depth * ROW, width, rowHeight - 2);
    }
  }

  private paintSpan(
    loaded: LoadedTrack,
    i: number,
    left: number,
    y: number,
    width: number,
    height: number,
  ): void {
    const { context, scene } = this;
    const { spans } = loaded;
    const source: Source | undefined = scene.state.sources[spans.source[i]!];
    const count = spans.count[i]!;
    const given = spans.colour[i]!;
    const colour = given !== 0 ? fromTrace(given) : sourceColour(scene.theme, source);
    const x = Math.max(left, -2);
    const shown = Math.min(left + width, scene.width + 2) - x;
    context.fillStyle = colour;
    if (count > 1) {
      context.globalAlpha = 0.72;
      context.fillRect(x, y, shown, height);
      context.globalAlpha = 1;
    } else {
      // A gap of a pixel keeps neighbours of one colour apart.
      context.fillRect(x, y, shown > 3 ? shown - 1 : shown, height);
    }
    const name = loaded.texts.get(spans.name[i]!) ?? source?.[0] ?? "";
    const isOpen = (spans.flags[i]! & FLAG_OPEN) !== 0;
    if (height > 11 && shown > 22)
      this.labelSpan(count > 1 ? `${count} zones` : name, colour, { x, y, width: shown, height });
    const drawn: Drawn = {
      track: spans.track,
      zone: spans.zone[i]!,
      source: spans.source[i]!,
      count,
      start: spans.start[i]!,
      end: spans.end[i]!,
      busy: spans.busy[i]!,
      name,
      text: loaded.texts.get(spans.text[i]!) ?? "",
      isOpen,
      depth: spans.depth[i]!,
      x,
      y,
      width: shown,
      height,
    };
    this.picture.zones.push(drawn);
    this.outlineSpan(drawn);
  }

  private labelSpan(name: string, ground: string, { x, y, width, height }: Box): void {
    const { context } = this;
    const left = Math.max(x, 0);
    const room = x + width - left - 2 * LABEL_PADDING;
    const label = fitted(context, name, room);
    if (!label) return;
    context.fillStyle = inkOn(ground);
    context.fillText(label, left + LABEL_PADDING, y + height / 2 + 0.5);
  }

  private outlineSpan(drawn: Drawn): void {
    const { context, scene } = this;
    const { selection, find } = scene.state;
    const isSelected = selection?.track === drawn.track && selection.zone === drawn.zone;
    const isFound = find !== null && drawn.source === find && scene.state.tab === "find";
    const { hovered } = scene;
    const isHovered = hovered?.track === drawn.track && hovered.zone === drawn.zone;
    if (isHovered) {
      context.fillStyle = scene.theme.hover;
      context.fillRect(drawn.x, drawn.y, drawn.width, drawn.height);
    }
    const { runZones } = scene.state;
    const isOfRun = runZones.size > 0 && runZones.has(`${drawn.track}.${drawn.zone}`);
    if (!isSelected && !isFound && !isOfRun) return;
    context.strokeStyle = isSelected ? scene.theme.text : scene.theme.accent;
    context.lineWidth = isSelected ? 2 : 1;
    const width = Math.max(drawn.width - 1, 1);
    context.strokeRect(drawn.x + 0.5, drawn.y + 0.5, width, drawn.height - 1);
  }

  /** Hatched, so that it reads as missing whatever the colours. */
  private paintLoss(loss: Loss, y: number, height: number): void {
    const { context, scene } = this;
    const left = this.x(loss.from);
    const end = loss.to < 0 ? (scene.state.info?.end ?? 0) : loss.to;
    const right = Math.max(this.x(end), left + 3);
    if (right < 0 || left > scene.width) return;
    this.addSpot(left, right, y, height, lossText(loss));
    context.fillStyle = this.hatchPattern() ?? scene.theme.loss;
    context.fillRect(
      Math.max(left, 0),
      y,
      Math.min(right, scene.width) - Math.max(left, 0),
      height,
    );
  }

  private hatchPattern(): CanvasPattern | null {
    if (this.hatch) return this.hatch;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const context = tile.getContext("2d")!;
    context.strokeStyle = this.scene.theme.loss;
    context.globalAlpha = 0.55;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const shift of [-8, 0, 8]) {
      context.moveTo(shift, 8);
      context.lineTo(shift + 8, 0);
    }
    context.stroke();
    this.hatch = this.context.createPattern(tile, "repeat");
    return this.hatch;
  }

  // ---- plots ----

  private paintPlot(plot: Plot, y: number, height: number): void {
    const { context, scene } = this;
    const points = scene.loader.plots.get(plot.id) ?? [];
    if (points.length === 0) return;
    const values = points.flatMap(([, low, high]) => [low, high]);
    const low = Math.min(0, ...values);
    const high = Math.max(...values, low + 1e-9);
    const inner = height - 12;
    const level = (value: number) => y + 6 + inner - ((value - low) / (high - low)) * inner;
    context.beginPath();
    let last: number | null = null;
    for (const [time, , top, end] of points) {
      const x = this.x(time);
      if (last !== null && plot.steps) context.lineTo(x, last);
      if (last === null) context.moveTo(x, level(top));
      else context.lineTo(x, level(top));
      last = level(end);
      context.lineTo(x, last);
    }
    const lastTime = points[points.length - 1]![0];
    // What is in use stays so until something changes.
    const end = plot.steps ? Math.max(lastTime, scene.state.info?.end ?? 0) : lastTime;
    const behind = this.x(end);
    if (last !== null && plot.steps) context.lineTo(behind, last);
    context.strokeStyle = scene.theme.accent;
    context.lineWidth = 1.25;
    context.stroke();
    const first = this.x(points[0]![0]);
    context.lineTo(behind, level(low));
    context.lineTo(first, level(low));
    context.fillStyle = scene.theme.accentFill;
    context.fill();
    this.labelPlot(formatValue(high, plot.format), y);
    this.addPlotSpots(plot, points, y, height);
    context.fillStyle = scene.theme.faintLine;
    context.fillRect(0, y + height - 1, scene.width, 1);
  }

  /** The value at the pointer is that of the last point before it. */
  private addPlotSpots(plot: Plot, points: PlotPoint[], y: number, height: number): void {
    const { pointerTime } = this.scene;
    if (pointerTime === null) return;
    const after = points.findIndex(([time]) => time > pointerTime);
    const at = points[after < 0 ? points.length - 1 : after - 1];
    if (!at) return;
    const [, low, high, last] = at;
    const value = (number: number) => formatValue(number, plot.format);
    const spread = low < high ? ` (${value(low)} to ${value(high)})` : "";
    const text = `${plot.name || "processor use"}: ${value(last)}${spread}`;
    this.addSpot(0, this.scene.width, y, height, text);
  }

  /** The highest value on the screen, on a ground of its own: the line may run below it. */
  private labelPlot(text: string, y: number): void {
    const { context, scene } = this;
    const width = textWidth(context, text) + 8;
    context.globalAlpha = 0.85;
    context.fillStyle = scene.theme.background;
    context.fillRect(scene.width - width - 2, y + 3, width, 15);
    context.globalAlpha = 1;
    context.fillStyle = scene.theme.dimText;
    context.fillText(text, scene.width - width + 2, y + 11);
  }

  /** Held: a line. Held while others waited: a block, so that it is seen without colours too. */
  private paintLock(id: number, y: number, height: number): void {
    const { context, scene } = this;
    for (const [start, end, state] of scene.loader.locks.get(id)?.spans ?? []) {
      const left = Math.max(this.x(start), 0);
      const width = Math.max(Math.min(this.x(end), scene.width) - left, 1);
      if (left > scene.width || this.x(end) < 0) continue;
      const isContended = state === 2;
      const about = isContended ? "held while others wait" : "held";
      this.addSpot(left, left + width, y, height, `${about}: ${formatTime(end - start)}`);
      context.fillStyle = isContended ? scene.theme.loss : scene.theme.accent;
      if (isContended) context.fillRect(left, y + 2, width, height - 5);
      else context.fillRect(left, y + height / 2 - 2, width, 3);
    }
    context.fillStyle = scene.theme.faintLine;
    context.fillRect(0, y + height - 1, scene.width, 1);
  }

  // ---- on top of it all ----

  private trackMiddle(id: number): number | null {
    for (const item of this.scene.layout.items) {
      if (item.kind === "track" && item.track.id === id)
        return this.itemY(item) + Math.min(item.height, ROW) / 2;
    }
    return null;
  }

  private paintLink(): void {
    const { context, scene } = this;
    if (!scene.link) return;
    const fromY = this.trackMiddle(scene.link.fromTrack);
    const toY = this.trackMiddle(scene.link.toTrack);
    if (fromY === null || toY === null) return;
    const fromX = this.x(scene.link.fromTime);
    const toX = this.x(scene.link.toTime);
    const bend = Math.max(30, Math.abs(toX - fromX) / 2);
    context.strokeStyle = scene.theme.text;
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX, toY);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = scene.theme.text;
    context.beginPath();
    context.arc(fromX, fromY, 3, 0, Math.PI * 2);
    context.arc(toX, toY, 3, 0, Math.PI * 2);
    context.fill();
  }

  private paintRange(): void {
    const { context, scene } = this;
    const { range } = scene.state;
    if (!range) return;
    const left = this.x(range.from);
    const right = this.x(range.to);
    context.fillStyle = scene.theme.accentFill;
    context.fillRect(left, 0, right - left, scene.height);
    context.fillStyle = scene.theme.accent;
    context.fillRect(Math.round(left), 0, 1, scene.height);
    context.fillRect(Math.round(right), 0, 1, scene.height);
    this.paintBadge(formatTime(range.to - range.from), (left + right) / 2, 8, scene.theme.accent);
  }

  private paintMeasure(): void {
    const { context, scene } = this;
    const { measure } = scene.state;
    if (!measure) return;
    const left = this.x(measure.from);
    const right = this.x(measure.to);
    const y = scene.height / 2;
    context.fillStyle = scene.theme.text;
    context.fillRect(Math.round(left), RULER, 1, scene.height);
    context.fillRect(Math.round(right), RULER, 1, scene.height);
    context.fillRect(left, y, right - left, 1);
    const label = formatTime(Math.abs(measure.to - measure.from));
    this.paintBadge(label, (left + right) / 2, y, scene.theme.text);
  }

  private paintBadge(text: string, middle: number, y: number, colour: string): void {
    const { context, scene } = this;
    const width = textWidth(context, text) + 12;
    const x = Math.min(Math.max(middle - width / 2, 2), scene.width - width - 2);
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(x, y - 8, width, 16, 4);
    context.fill();
    context.fillStyle = scene.theme.background;
    context.fillText(text, x + 6, y + 0.5);
  }

  private paintMarks(): void {
    const { context, scene } = this;
    scene.state.bookmarks.forEach((mark, index) => {
      const x = this.x(mark.time);
      if (x < 0 || x > scene.width) return;
      context.fillStyle = scene.theme.loss;
      context.fillRect(Math.round(x), 0, 1, scene.height);
      context.beginPath();
      context.moveTo(x - 5, 0);
      context.lineTo(x + 5, 0);
      context.lineTo(x + 5, 9);
      context.lineTo(x, 13);
      context.lineTo(x - 5, 9);
      context.fill();
      context.fillStyle = scene.theme.text;
      context.fillText(mark.label || formatStamp(mark.time), x + 8, 7);
      this.picture.marks.push({ index, x });
    });
  }

  private paintPointer(): void {
    const { context, scene } = this;
    if (scene.pointerTime === null) return;
    const x = Math.round(this.x(scene.pointerTime));
    context.fillStyle = scene.theme.dimText;
    context.globalAlpha = 0.5;
    context.fillRect(x, 0, 1, scene.height);
    context.globalAlpha = 1;
  }
}

export function drawTimeline(context: CanvasRenderingContext2D, scene: Scene): Picture {
  return new Painter(context, scene).paint();
}
