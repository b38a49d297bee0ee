// The timeline: overview, track labels, canvas, tooltip.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Track } from "./api";
import { TimelineCanvas, wheelFactor } from "./canvas";
import type { Hover } from "./canvas";
import { topHeight } from "./draw";
import type { Drawn } from "./draw";
import { Stamp } from "./controls";
import { countOf, formatCount, formatShortTime, formatTime } from "./format";
import { useAnswer, useData, useExactAnswer, useStore, useTheme } from "./hooks";
import { movedOrder, trackKey, trackLabel, shownFrameSets } from "./layout";
import type { Item, Layout } from "./layout";
import { getState, setState, showRange, toggled, traceEnd } from "./store";
import { Icon } from "./icons";

/** Of the buttons that an event says are down. */
const LEFT_BUTTON = 1;

let current: TimelineCanvas | null = null;

/** The canvas on the page, for keys and panels that move it. */
export function timelineCanvas(): TimelineCanvas | null {
  return current;
}

// ---- overview ----

function drawOverview(
  canvas: HTMLCanvasElement,
  host: number[],
  device: number[],
  colours: string[],
) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const context = canvas.getContext("2d")!;
  const hasDevice = device.some((part) => part > 0);
  const rows = hasDevice ? [host, device] : [host];
  const height = canvas.height / rows.length;
  rows.forEach((parts, row) => {
    context.fillStyle = colours[row]!;
    parts.forEach((part, i) => {
      // On whole pixels: the edges of bars beside each other would be seen.
      const left = Math.round((i / parts.length) * canvas.width);
      const width = Math.round(((i + 1) / parts.length) * canvas.width) - left;
      const bar = Math.max(part > 0 ? 1 : 0, part * (height - 3 * ratio));
      context.fillRect(left, (row + 1) * height - bar, width, bar);
    });
  });
}

export function OverviewStrip() {
  const data = useData();
  const theme = useTheme();
  const view = useStore((state) => state.view);
  const info = useStore((state) => state.info);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { data: overview } = useAnswer(() => data.overview(600), [], 0, info?.revision);
  useEffect(() => {
    if (!canvas.current || !overview) return;
    drawOverview(canvas.current, overview.host, overview.device, [
      theme.hostBusy,
      theme.deviceBusy,
    ]);
  }, [overview, theme]);
  const end = traceEnd();
  const left = Math.max(0, (view.from / end) * 100);
  const right = Math.min(100, (view.to / end) * 100);
  const move = (event: PointerEvent) => {
    if ((event.buttons & LEFT_BUTTON) === 0) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const middle = ((event.clientX - box.left) / box.width) * end;
    const { from, to } = getState().view;
    showRange(middle - (to - from) / 2, middle + (to - from) / 2);
  };
  return (
    <div
      class="overview"
      onWheel={(event) => {
        const { from, to } = getState().view;
        timelineCanvas()?.zoomAt(wheelFactor(event.deltaY), (from + to) / 2);
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={move}
      title="The whole trace: how busy host and devices are. Drag to move the view, wheel to zoom."
    >
      <canvas ref={canvas} />
      <div
        class="overview-window"
        style={{ left: `${left}%`, width: `${Math.max(0.3, right - left)}%` }}
      />
    </div>
  );
}

// ---- labels ----

function TrackButtons({ track, isPinned }: { track: Track; isPinned: boolean }) {
  const { pinned, hidden } = getState();
  return (
    <span class="track-buttons">
      <button
        title={isPinned ? "Unpin" : "Pin to the top"}
        onClick={() => setState({ pinned: toggled(pinned, track.id) })}
      >
        <Icon name="pin" />
      </button>
      <button
        title="Move up"
        onClick={() => setState({ order: movedOrder(getState(), track, -1) })}
      >
        <Icon name="up" />
      </button>
      <button
        title="Move down"
        onClick={() => setState({ order: movedOrder(getState(), track, 1) })}
      >
        <Icon name="down" />
      </button>
      <button title="Hide" onClick={() => setState({ hidden: toggled(hidden, track.id) })}>
        <Icon name="hide" />
      </button>
    </span>
  );
}

function Label({ item, y }: { item: Item; y: number }) {
  const style = { top: `${y}px`, height: `${item.height}px` };
  const fold = (key: string) => setState({ folded: toggled(getState().folded, key) });
  if (item.kind === "group") {
    return (
      <button
        class="label group-label"
        style={style}
        aria-expanded={!item.isFolded}
        title={`${item.name || "program"}: ${item.isFolded ? "unfold" : "fold"}`}
        onClick={() => fold(item.key)}
      >
        <Icon name={item.isFolded ? "closed" : "open"} />
        <span class="label-text">{item.name || "program"}</span>
        <span class="label-note">{formatCount(item.count)}</span>
      </button>
    );
  }
  if (item.kind === "plot") {
    return (
      <div class="label plot-label" style={style} title={item.plot.name || "processor use"}>
        <span class="label-text">{item.plot.name || "processor use"}</span>
      </div>
    );
  }
  if (item.kind === "lock") {
    return (
      <div
        class="label lock-label"
        style={style}
        title="A line: it is held. A block: held while others wait for it"
      >
        <span class="label-text">{item.name || "lock"}</span>
      </div>
    );
  }
  const { track } = item;
  const plusMinus =
    track.uncertainty !== undefined ? `± ${formatShortTime(track.uncertainty)}` : "";
  const isDeep = track.depth > 1;
  return (
    <div
      class={`label track-label ${item.isFolded ? "folded" : ""}`}
      style={style}
      data-track={track.id}
      tabIndex={0}
      title={`${trackLabel(track)} · ${countOf(track.zones, "zone")}${plusMinus ? ` · clock ${plusMinus}` : ""}`}
    >
      <button
        class="fold"
        disabled={!isDeep}
        title={item.isFolded ? "Show all rows" : "Show one row"}
        onClick={() => fold(trackKey(track))}
      >
        {isDeep && <Icon name={item.isFolded ? "closed" : "open"} />}
      </button>
      <span class="label-text">{trackLabel(track)}</span>
      {plusMinus && !item.isFolded && <span class="label-note">{plusMinus}</span>}
      <TrackButtons track={track} isPinned={item.isPinned} />
    </div>
  );
}

function Labels({ layout, height }: { layout: Layout; height: number }) {
  const scroll = useStore((state) => state.scroll);
  const top = useStore(topHeight);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const wheeled = (event: WheelEvent) => timelineCanvas()?.wheeled(event);
    box.current!.addEventListener("wheel", wheeled, { passive: false });
  }, []);
  const pinnedEnd = layout.pinnedHeight;
  const isShown = (item: Item) =>
    (item.kind === "track" && item.isPinned) ||
    (item.y + item.height > scroll + pinnedEnd - 40 && item.y < scroll + height);
  const visible = layout.items.filter(isShown);
  return (
    <div class="labels" style={{ top: `${top}px` }} ref={box}>
      <div class="labels-pinned" style={{ height: `${pinnedEnd}px` }}>
        {visible
          .filter((item) => item.kind === "track" && item.isPinned)
          .map((item) => (
            <Label key={itemKey(item)} item={item} y={item.y} />
          ))}
      </div>
      <div class="labels-scrolled" style={{ top: `${pinnedEnd}px` }}>
        {visible
          .filter((item) => item.kind !== "track" || !item.isPinned)
          .map((item) => (
            <Label key={itemKey(item)} item={item} y={item.y - scroll - pinnedEnd} />
          ))}
      </div>
    </div>
  );
}

function itemKey(item: Item): string {
  if (item.kind === "group") return item.key;
  if (item.kind === "lock") return `l${item.lock}`;
  return item.kind === "track" ? trackKey(item.track) : `p${item.plot.id}`;
}

function StripLabels() {
  const info = useStore((state) => state.info);
  const frameSets = useStore((state) => shownFrameSets(state).join(","));
  const filter = useStore((state) => state.filter);
  const hidden = useStore((state) => state.hidden);
  return (
    <>
      <div class="filter-box">
        <Icon name="filter" />
        <input
          placeholder="Filter tracks"
          value={filter}
          aria-label="Filter tracks"
          onInput={(event) => setState({ filter: event.currentTarget.value, scroll: 0 })}
        />
        {hidden.length > 0 && (
          <button class="chip" title="Show hidden tracks" onClick={() => setState({ hidden: [] })}>
            {hidden.length} hidden
          </button>
        )}
      </div>
      {frameSets.split(",").map((set) =>
        set === "" ? null : (
          <div key={set} class="strip-label" title={info?.frameSets[Number(set)]?.name}>
            {info?.frameSets[Number(set)]?.name || "Frames"}
          </div>
        ),
      )}
      {(info?.messages ?? 0) > 0 && <div class="strip-label">Messages</div>}
    </>
  );
}

// ---- tooltip ----

/** About as high as it gets. */
const TOOLTIP_HEIGHT = 170;

function SelfTime({ drawn }: { drawn: Drawn }) {
  const data = useData();
  const { data: details } = useExactAnswer(
    () => data.zone(drawn.track, drawn.zone),
    [drawn.track, drawn.zone],
    120,
  );
  const self = details?.self;
  return <dd>{self === undefined ? "…" : formatTime(self)}</dd>;
}

function Tooltip({ hover, width, height }: { hover: Hover; width: number; height: number }) {
  const sources = useStore((state) => state.sources);
  const { drawn, message } = hover;
  // Below what it is about, or above where there is more room, and never on it.
  const above = drawn ? drawn.y : hover.y - 8;
  const below = drawn ? drawn.y + drawn.height : hover.y + 12;
  const isAbove = height - below < TOOLTIP_HEIGHT && above > height - below;
  const style = {
    left: hover.x > width - 340 ? "auto" : `${hover.x + 14}px`,
    right: hover.x > width - 340 ? `${width - hover.x + 14}px` : "auto",
    top: isAbove ? "auto" : `${below + 4}px`,
    bottom: isAbove ? `${height - above + 4}px` : "auto",
  };
  if (!drawn) {
    return (
      <div class="tooltip" style={style}>
        {message}
      </div>
    );
  }
  const source = sources[drawn.source];
  if (drawn.count > 1) {
    return (
      <div class="tooltip" style={style}>
        <strong>{formatCount(drawn.count)} zones</strong>
        <dl>
          <dt>mostly</dt>
          <dd>{drawn.name}</dd>
          <dt>busy</dt>
          <dd>
            {formatTime(drawn.busy)} of {formatTime(drawn.end - drawn.start)}
          </dd>
        </dl>
        <p class="dim">Zoom in to tell them apart.</p>
      </div>
    );
  }
  return (
    <div class="tooltip" style={style}>
      <strong>{drawn.name}</strong>
      {drawn.text && <p>{drawn.text}</p>}
      <dl>
        <dt>{drawn.isOpen ? "so far" : "duration"}</dt>
        <dd>{formatTime(drawn.end - drawn.start)}</dd>
        <dt>self</dt>
        <SelfTime drawn={drawn} />
        <dt>start</dt>
        <dd>
          <Stamp time={drawn.start} />
        </dd>
      </dl>
      {source?.[1] && (
        <p class="dim">
          {source[1]}:{source[2]}
        </p>
      )}
    </div>
  );
}

// ---- all of it ----

function EmptyTimeline() {
  const info = useStore((state) => state.info);
  const tracks = useStore((state) => state.tracks);
  const filter = useStore((state) => state.filter);
  const hidden = useStore((state) => state.hidden);
  if (!info) return <div class="empty">Loading…</div>;
  if (tracks.length === 0 && filter)
    return <div class="empty">No track is called like “{filter}”.</div>;
  if (tracks.length === 0) {
    const reason = info.live
      ? "Nothing was recorded yet. Zones appear here as they come in."
      : info.ops
        ? "There is no trace with this ops report. The Ops tab below has the report."
        : "This trace holds no zones.";
    return <div class="empty">{reason}</div>;
  }
  if (hidden.length >= tracks.length)
    return (
      <div class="empty">All tracks are hidden. The chip at the top left brings them back.</div>
    );
  return null;
}

export function Timeline() {
  const data = useData();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [layout, setLayout] = useState<Layout>({ items: [], height: 0, pinnedHeight: 0 });
  const labelWidth = useStore((state) => state.labelWidth);
  const shown = useStore((state) => state.tracks.length);
  const total = useStore((state) => state.trackTotal);
  const filter = useStore((state) => state.filter);
  useEffect(() => {
    current = new TimelineCanvas(canvas.current!, data, setHover, setLayout);
    return () => {
      current?.destroy();
      current = null;
    };
  }, []);
  useEffect(() => current?.invalidate(), [theme]);
  const height = box.current?.clientHeight ?? 600;
  const width = box.current?.clientWidth ?? 800;
  return (
    <div class="timeline">
      <div class="gutter" style={{ width: `${labelWidth}px` }}>
        <StripLabels />
        <Labels layout={layout} height={height} />
        {shown < total && (
          <div class="more-tracks">
            {formatCount(shown)} of {formatCount(total)} tracks
            {filter ? "" : "; filter to find others"}
          </div>
        )}
        <Splitter
          direction="column"
          label="Width of the labels"
          onMove={(by) => setState({ labelWidth: clamp(getState().labelWidth + by, 120, 520) })}
        />
      </div>
      <div class="canvas-box" ref={box}>
        <canvas ref={canvas} tabIndex={0} aria-label="Timeline" />
        <EmptyTimeline />
        {hover && <Tooltip hover={hover} width={width} height={height} />}
      </div>
    </div>
  );
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** As far as a key moves a bar. */
const SPLITTER_STEP = 20;

/** A bar between two parts that can be dragged, or moved with arrow keys. */
export function Splitter({
  direction,
  label,
  onMove,
}: {
  direction: "row" | "column";
  label: string;
  onMove: (by: number) => void;
}) {
  const keys = direction === "row" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const last = useRef<number | null>(null);
  const at = (event: PointerEvent) => (direction === "row" ? event.clientY : event.clientX);
  return (
    <div
      class={`splitter ${direction}`}
      role="separator"
      aria-orientation={direction === "row" ? "horizontal" : "vertical"}
      aria-label={label}
      title={`${label}: drag, or arrow keys`}
      tabIndex={0}
      onKeyDown={(event) => {
        const way = keys.indexOf(event.key);
        if (way < 0) return;
        event.preventDefault();
        event.stopPropagation();
        onMove(way === 0 ? -SPLITTER_STEP : SPLITTER_STEP);
      }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        last.current = at(event);
      }}
      onPointerMove={(event) => {
        if ((event.buttons & LEFT_BUTTON) === 0) last.current = null;
        if (last.current === null) return;
        onMove(at(event) - last.current);
        last.current = at(event);
      }}
      onPointerUp={() => (last.current = null)}
      onPointerCancel={() => (last.current = null)}
    />
  );
}
