// What keys do. One table, read by the listener and by the help.

import { messageOf } from "./api";
import type { DataSource, Zone, ZoneDetails } from "./api";
import { MOST_BOOKMARKS } from "./link";
import { jumpTo } from "./panel_find";
import {
  deselect,
  getState,
  setState,
  showAll,
  showAround,
  showRange,
  showTime,
  TABS,
} from "./store";
import type { ZoneRef } from "./store";
import { timelineCanvas } from "./timeline";

interface Key {
  keys: string[];
  label: string;
  help: string;
  /** Does it once when pressed. */
  run?: () => void;
  /** Goes on while it is held: view widths or zoom steps a second. */
  hold?: { pan?: number; zoom?: number; scroll?: number };
}

/** What keys ask about zones. */
let data: DataSource;

function isSame(a: ZoneRef | null, b: ZoneRef | null): boolean {
  return a?.track === b?.track && a?.zone === b?.zone;
}

function endOf(zone: Zone): number {
  return zone.end ?? getState().info?.end ?? zone.start;
}

/** What is known of the selected zone, asked for if need be; null if another one was chosen. */
async function knownSelection(): Promise<ZoneDetails | null> {
  const { selection, selected } = getState();
  if (!selection) return null;
  if (selected && isSame(selection, selected.zone)) return selected;
  const details = await data.zone(selection.track, selection.zone);
  return isSame(selection, getState().selection) ? details : null;
}

async function showSelection(): Promise<void> {
  const { selection, range } = getState();
  if (selection) {
    const zone = (await knownSelection())?.zone;
    if (zone) jumpTo(zone.track, zone.zone, zone.start, endOf(zone));
  } else if (range) showAround(range.from, range.to);
  else showAll();
}

function addBookmark(): void {
  const { bookmarks, view } = getState();
  const time = Math.round(timelineCanvas()?.pointer ?? (view.from + view.to) / 2);
  if (bookmarks.length < MOST_BOOKMARKS)
    setState({ bookmarks: [...bookmarks, { time, label: "" }] });
}

function select(zone: Zone): void {
  setState({ selection: { track: zone.track, zone: zone.zone } });
  const { view } = getState();
  if (zone.start < view.from || endOf(zone) > view.to) showTime((zone.start + endOf(zone)) / 2);
}

/** Without a mouse: the topmost zone on the screen is where one starts. */
function selectFirst(): void {
  const { zones = [], top = 0 } = timelineCanvas()?.picture ?? {};
  const { view } = getState();
  const [first] = zones
    .filter((zone) => zone.count === 1 && zone.y >= top && zone.end > view.from)
    .sort((a, b) => a.y - b.y || a.x - b.x);
  if (first) setState({ selection: { track: first.track, zone: first.zone } });
}

/** Steps to the neighbour of the selected zone; from none, to the first on the screen. */
async function step(direction: 1 | -1): Promise<void> {
  if (!getState().selection) return selectFirst();
  const details = await knownSelection();
  const next = direction > 0 ? details?.next : details?.previous;
  if (next) select(next);
}

let lastStep = Promise.resolve();

/** What a key does to the selected zone, after what the keys before it do. */
function inTurn(act: () => Promise<void>): void {
  lastStep = lastStep.then(act).catch((error) => setState({ error: messageOf(error) }));
}

/** Undoes the innermost thing first. */
function back(): void {
  const state = getState();
  if (state.help || state.search || state.marksOpen !== null)
    setState({ help: false, search: false, marksOpen: null });
  else if (state.measuring) setState({ measuring: false, measure: null });
  else if (state.measure) setState({ measure: null });
  else if (state.selection) deselect();
  else setState({ range: null });
}

export const KEYS: Key[] = [
  { keys: ["w"], label: "W", help: "Zoom in", hold: { zoom: -3.2 } },
  { keys: ["s"], label: "S", help: "Zoom out", hold: { zoom: 3.2 } },
  { keys: ["a", "ArrowLeft"], label: "A ←", help: "Move left", hold: { pan: -1.1 } },
  { keys: ["d", "ArrowRight"], label: "D →", help: "Move right", hold: { pan: 1.1 } },
  { keys: ["ArrowUp"], label: "↑", help: "Scroll up", hold: { scroll: -700 } },
  { keys: ["ArrowDown"], label: "↓", help: "Scroll down", hold: { scroll: 700 } },
  {
    keys: ["f"],
    label: "F",
    help: "Fit the selected zone or range, else everything",
    run: () => inTurn(showSelection),
  },
  { keys: ["0"], label: "0", help: "Show the whole trace", run: showAll },
  { keys: [".", "n"], label: "N", help: "Next zone in the row", run: () => inTurn(() => step(1)) },
  {
    keys: [",", "p"],
    label: "P",
    help: "Previous zone in the row",
    run: () => inTurn(() => step(-1)),
  },
  {
    keys: ["b"],
    label: "B",
    help: "Bookmark at the pointer; click its flag to name it",
    run: addBookmark,
  },
  {
    keys: ["m"],
    label: "M",
    help: "Measure: drag between two edges",
    run: () => setState({ measuring: !getState().measuring, measure: null }),
  },
  { keys: ["/"], label: "/", help: "Search everywhere", run: () => setState({ search: true }) },
  { keys: ["?"], label: "?", help: "This help", run: () => setState({ help: !getState().help }) },
  { keys: ["Escape"], label: "Esc", help: "Close, deselect, clear", run: back },
];

export const HANDS: [string, string][] = [
  ["Drag", "move in all directions"],
  ["Ctrl + wheel, pinch", "zoom at the pointer"],
  ["Wheel", "scroll the tracks; on the ruler: zoom"],
  ["Shift + wheel", "move in time"],
  ["Shift + drag, drag on the ruler", "select a range, from message to message or edge to edge"],
  ["Click", "select a zone"],
  ["Double-click", "zoom to a zone"],
  ["1 … 7", "the tabs below"],
];

const held = new Set<Key>();
let lastFrame = 0;

/** Moves as long as keys are held, in step with the screen. */
function move(now: number): void {
  const seconds = Math.min(0.05, (now - lastFrame) / 1000);
  lastFrame = now;
  for (const { hold } of held) {
    const { view } = getState();
    const span = view.to - view.from;
    if (hold?.pan)
      showRange(view.from + span * hold.pan * seconds, view.to + span * hold.pan * seconds);
    if (hold?.scroll) timelineCanvas()?.scrollBy(hold.scroll * seconds);
    if (hold?.zoom) {
      const middle = timelineCanvas()?.pointer ?? (view.from + view.to) / 2;
      timelineCanvas()?.zoomAt(Math.exp(hold.zoom * seconds), middle);
    }
  }
  if (held.size > 0) requestAnimationFrame(move);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target !== null && ["SELECT", "TEXTAREA"].includes(target.tagName);
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  const { help, search, marksOpen } = getState();
  if ((search || marksOpen !== null || (help && event.key !== "?")) && event.key !== "Escape")
    return;
  const tab = TABS[Number(event.key) - 1];
  if (tab) {
    setState({ tab });
    return;
  }
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const key = KEYS.find((one) => one.keys.includes(letter));
  if (!key) return;
  event.preventDefault();
  if (key.run && !event.repeat) key.run();
  if (key.hold && !held.has(key)) {
    held.add(key);
    if (held.size === 1) {
      lastFrame = performance.now();
      requestAnimationFrame(move);
    }
  }
}

export function listenToKeys(source: DataSource): void {
  data = source;
  window.addEventListener("keydown", pressed);
  window.addEventListener("keyup", (event) => {
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    for (const key of held) if (key.keys.includes(letter)) held.delete(key);
  });
  window.addEventListener("blur", () => held.clear());
}
