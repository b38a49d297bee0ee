// The state of the page: what is shown, chosen and arranged. What a link should restore goes into
// the address (see link.ts); what is a person's habit (theme, sizes) into the browser's storage.

import type { Info, Loss, Plot, Range, Run, Source, Track, ZoneDetails } from "./api";

export const TABS = ["stats", "find", "messages", "ops", "device", "flame", "info"] as const;
export type Tab = (typeof TABS)[number];

export const TAB_NAMES: Record<Tab, string> = {
  stats: "Statistics",
  find: "Find zone",
  messages: "Messages",
  ops: "Ops",
  device: "Device",
  flame: "Flame graph",
  info: "Info",
};

export const MEASURES = ["busy", "kernel", "waiting", "lost", "traffic"] as const;
export type Measure = (typeof MEASURES)[number];

export const SCALES = ["linear", "log"] as const;
export type Scale = (typeof SCALES)[number];

/** Which calls of a source are listed. */
export const ORDERS = ["longest", "shortest", "time"] as const;
export type Order = (typeof ORDERS)[number];

export const GROUPINGS = ["op", "category", "memory"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const SEVERITIES = ["trace", "debug", "info", "warning", "error", "fatal"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** By which column a table is sorted. */
export interface Sort {
  key: string;
  isDown: boolean;
}

export interface ZoneRef {
  track: number;
  zone: number;
}

export interface Bookmark {
  time: number;
  /** What a person called it; empty: its time. */
  label: string;
}

export interface State {
  info: Info | null;
  sources: Source[];
  tracks: Track[];
  trackTotal: number;
  /** The track that was brought to the screen last. */
  shown: number | null;
  plots: Plot[];
  losses: Loss[];
  locks: { id: number; name: string }[];
  /** The stretch of time on the screen. */
  view: Range;
  /** How far the tracks are scrolled, in pixels. */
  scroll: number;
  selection: ZoneRef | null;
  /** What is known of it, once that has come. */
  selected: ZoneDetails | null;
  /** The run of an op that is looked at: its number, what is known of it, and its kernels as
   * "track.zone". */
  op: number | null;
  run: Run | null;
  runZones: ReadonlySet<string>;
  /** The timeline is about to become narrower or wider, and what is on it is to stay in place. */
  keepsScale: boolean;
  range: Range | null;
  measure: Range | null;
  measuring: boolean;
  tab: Tab;
  /** The source that "find zone" is about. */
  find: number | null;
  /** What is typed where a source is chosen. */
  pickText: string;
  findScale: Scale;
  findCounts: Scale;
  findOrder: Order;
  /** Orders of tables; null: as they start. */
  findSort: Sort | null;
  statsFilter: string;
  /** Zones of devices, or of the host; null: of the host where it has any. */
  statsDevices: boolean | null;
  statsTrack: number | null;
  statsSort: Sort | null;
  messageFilter: string;
  /** The least severity that is listed. */
  messageSeverity: Severity;
  messageSort: Sort | null;
  opFilter: string;
  opSort: Sort | null;
  opGrouping: Grouping;
  /** The row of the ops report that is looked at. */
  opRow: number | null;
  /** Columns of the ops table, by key; null: the usual ones. */
  opColumns: string[] | null;
  /** What the map of a device shows, of which zones and device, and the core that is chosen on it. */
  mapMeasure: Measure;
  mapFilter: string;
  mapDevice: number | null;
  mapCore: string | null;
  flameDevices: boolean | null;
  /** The box of the flame graph that is looked into: sources from the outermost zone on. */
  flamePath: number[];
  filter: string;
  hidden: number[];
  pinned: number[];
  /** Groups that are folded away, and tracks shown as one row; both by key. */
  folded: string[];
  /** Tracks in the order a person gave them, before all others. */
  order: number[];
  bookmarks: Bookmark[];
  /** The list of bookmarks is open, with one of them (or -1) to be named. */
  marksOpen: number | null;
  follow: boolean;
  connection: "open" | "lost";
  help: boolean;
  search: boolean;
  error: string | null;
  theme: "light" | "dark" | "system";
  panelHeight: number;
  labelWidth: number;
  detailWidth: number;
}

const HABITS = ["theme", "panelHeight", "labelWidth", "detailWidth"] as const;
const STORAGE_KEY = "strobe-view";

/** What is stored may be of another version, or made up. */
function storedHabits(): Partial<State> {
  const habits: Partial<State> = {};
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}") as Record<string, unknown>;
    const { theme } = stored;
    if (theme === "light" || theme === "dark" || theme === "system") habits.theme = theme;
    for (const size of ["panelHeight", "labelWidth", "detailWidth"] as const) {
      const pixels = stored[size];
      if (typeof pixels === "number" && pixels >= 20 && pixels <= 4000) habits[size] = pixels;
    }
  } catch {
    // As if nothing were stored.
  }
  return habits;
}

/** How a page starts. */
export const FIRST: Readonly<State> = {
  info: null,
  sources: [],
  tracks: [],
  trackTotal: 0,
  shown: null,
  plots: [],
  losses: [],
  locks: [],
  view: { from: 0, to: 1 },
  scroll: 0,
  selection: null,
  selected: null,
  op: null,
  run: null,
  runZones: new Set(),
  keepsScale: false,
  range: null,
  measure: null,
  measuring: false,
  tab: "stats",
  find: null,
  pickText: "",
  findScale: "linear",
  findCounts: "linear",
  findOrder: "longest",
  findSort: null,
  statsFilter: "",
  statsDevices: null,
  statsTrack: null,
  statsSort: null,
  messageFilter: "",
  messageSeverity: "trace",
  messageSort: null,
  opFilter: "",
  opSort: null,
  opGrouping: "op",
  opRow: null,
  opColumns: null,
  mapMeasure: "busy",
  mapFilter: "",
  mapDevice: null,
  mapCore: null,
  flameDevices: null,
  flamePath: [],
  filter: "",
  hidden: [],
  pinned: [],
  folded: [],
  order: [],
  bookmarks: [],
  marksOpen: null,
  follow: false,
  connection: "open",
  help: false,
  search: false,
  error: null,
  theme: "system",
  panelHeight: 300,
  labelWidth: 220,
  detailWidth: 320,
};

let state: State = { ...FIRST, ...storedHabits() };

type Listener = (state: State, before: State) => void;
const listeners = new Set<Listener>();

export function getState(): State {
  return state;
}

export function setState(change: Partial<State>): void {
  const before = state;
  state = { ...state, ...change };
  if (HABITS.some((habit) => habit in change)) keepHabits();
  for (const listener of [...listeners]) listener(state, before);
}

export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keepHabits(): void {
  try {
    const habits = Object.fromEntries(HABITS.map((habit) => [habit, state[habit]]));
    localStorage.setItem(STORAGE_KEY, JSON.stringify(habits));
  } catch {
    // A page from a file may have no storage; then habits last as long as the page.
  }
}

export function forgetRun(): void {
  setState({ op: null, run: null, runZones: new Set() });
}

/** Whoever closes what is selected is done with its op. */
export function deselect(): void {
  setState({ selection: null, keepsScale: state.selection !== null });
  forgetRun();
}

/** The end of what can be looked at. */
export function traceEnd(): number {
  return Math.max(1, state.info?.end ?? 1);
}

const SHORTEST_VIEW = 20;

/** Puts a stretch of time on the screen, kept within reach of the trace. */
export function placeView(from: number, to: number): void {
  const end = traceEnd();
  const longest = end * 1.2 + 1000;
  let span = Math.min(longest, Math.max(SHORTEST_VIEW, to - from));
  if (!Number.isFinite(span)) span = longest;
  const middle = (from + to) / 2;
  const lowest = -span * 0.5;
  const highest = end + span * 0.5 - span;
  const start = Math.min(Math.max(middle - span / 2, lowest), Math.max(lowest, highest));
  setState({ view: { from: start, to: start + span }, keepsScale: false });
}

/** The same for a person, who may want to look at something while the trace grows on. */
export function showRange(from: number, to: number): void {
  placeView(from, to);
  if (state.follow && state.view.to < traceEnd()) setState({ follow: false });
}

/** The same place in the middle, as wide as now. */
export function showTime(time: number): void {
  const half = (state.view.to - state.view.from) / 2;
  showRange(time - half, time + half);
}

/** Moves so that a stretch fills a part of the screen. */
export function showAround(from: number, to: number): void {
  const length = Math.max(to - from, SHORTEST_VIEW);
  showRange(from - length * 0.75, to + length * 0.75);
}

/** All of the trace, or of what the page has of it, with a little room at both ends. */
export function wholeView(): Range {
  const { from, to } = state.info?.part ?? { from: 0, to: traceEnd() };
  const room = (to - from) * 0.01;
  return { from: from - room, to: to + room };
}

export function placeAll(): void {
  const { from, to } = wholeView();
  placeView(from, to);
}

/** Whether a panel is about devices; where nobody chose, about the host if it has zones. */
export function isOfDevices(chosen: boolean | null, info: Info | null): boolean {
  return chosen ?? ((info?.zones ?? 0) === 0 && (info?.deviceZones ?? 0) > 0);
}

export function showAll(): void {
  placeAll();
  if (state.info?.live) setState({ follow: true });
}

export function toggled<T>(list: T[], item: T): T[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
}
