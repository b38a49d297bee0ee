// Where things are on the timeline: tracks in groups, from top to bottom.

import type { Plot, Track } from "./api";
import type { State } from "./store";

export const ROW = 18;
export const FOLDED_ROW = 12;
export const GROUP_HEAD = 24;
export const TRACK_GAP = 5;
export const PLOT_HEIGHT = 56;
export const LOCK_HEIGHT = 18;
/** Sets of frames that have a strip at the top. */
export const FRAME_STRIPS = 4;

/** Beyond so many lanes, devices start with one row a lane: their kernels look alike. */
const MANY_LANES = 24;

export type Item =
  | {
      kind: "group";
      key: string;
      name: string;
      count: number;
      y: number;
      height: number;
      isFolded: boolean;
    }
  | { kind: "track"; track: Track; y: number; height: number; isFolded: boolean; isPinned: boolean }
  | { kind: "plot"; plot: Plot; y: number; height: number }
  | { kind: "lock"; lock: number; name: string; y: number; height: number };

export interface Layout {
  items: Item[];
  height: number;
  /** What stays at the top when the rest is scrolled. */
  pinnedHeight: number;
}

export function trackKey(track: Track): string {
  return `t${track.id}`;
}

export function groupKey(name: string): string {
  return `g${name}`;
}

export function trackLabel(track: Track): string {
  if (track.sm) return `SM ${track.sm[1]} ${track.name}`;
  return track.core ? `${track.core[1]},${track.core[2]} ${track.name}` : track.name;
}

export function matches(track: Track, filter: string): boolean {
  const text = `${trackLabel(track)} ${track.group}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Device tracks by core, row by row, or by SM; the rest as recorded. What a person moved comes first. */
function sortTracks(tracks: Track[], order: number[]): Track[] {
  const place = new Map(order.map((id, i) => [id, i]));
  const rank = (track: Track) => place.get(track.id) ?? order.length;
  return [...tracks].sort((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    if (a.core && b.core)
      return a.core[0] - b.core[0] || a.core[2] - b.core[2] || a.core[1] - b.core[1] || a.id - b.id;
    if (a.sm && b.sm) return a.sm[0] - b.sm[0] || a.sm[1] - b.sm[1] || a.thread - b.thread;
    return a.id - b.id;
  });
}

function byGroup(tracks: Track[]): Map<string, Track[]> {
  const groups = new Map<string, Track[]>();
  for (const track of tracks) {
    const group = groups.get(track.group);
    if (group) group.push(track);
    else groups.set(track.group, [track]);
  }
  return groups;
}

function trackHeight(track: Track, isFolded: boolean): number {
  const rows = Math.max(1, track.depth);
  return isFolded ? FOLDED_ROW + 3 : rows * ROW + TRACK_GAP;
}

/** Sets of frames that are shown, by number. */
export function shownFrameSets(state: State): number[] {
  const sets = state.info?.frameSets ?? [];
  return sets.flatMap((set, i) => (set.count > 0 ? [i] : [])).slice(0, FRAME_STRIPS);
}

export function makeLayout(state: State): Layout {
  const items: Item[] = [];
  const folds = new Set(state.folded);
  const many = state.tracks.filter((track) => track.kind === "lane").length > MANY_LANES;
  let y = 0;
  // Folding a track is remembered as a change from how it starts.
  const isFolded = (track: Track) => (many && track.kind === "lane") !== folds.has(trackKey(track));
  const place = (track: Track, isPinned: boolean) => {
    const folded = isFolded(track);
    const height = trackHeight(track, folded);
    items.push({ kind: "track", track, y, height, isFolded: folded, isPinned });
    y += height;
  };

  const pinned = new Set(state.pinned);
  const hidden = new Set(state.hidden);
  const shown = state.tracks.filter(
    (track) => !hidden.has(track.id) && matches(track, state.filter),
  );
  const byId = new Map(shown.map((track) => [track.id, track]));
  for (const id of state.pinned) {
    const track = byId.get(id);
    if (track) place(track, true);
  }
  const pinnedHeight = y;

  const placePlots = (name: string, plots: Plot[]) => {
    if (plots.length === 0 || state.filter) return;
    const folded = folds.has(groupKey(name));
    items.push(head(name, plots.length, y, folded));
    y += GROUP_HEAD;
    for (const plot of folded ? [] : plots) {
      items.push({ kind: "plot", plot, y, height: PLOT_HEIGHT });
      y += PLOT_HEIGHT;
    }
  };
  placePlots(
    "Plots",
    state.plots.filter((plot) => plot.kind !== "memory"),
  );
  const rest = sortTracks(
    shown.filter((track) => !pinned.has(track.id)),
    state.order,
  );
  for (const [name, tracks] of byGroup(rest)) {
    const folded = folds.has(groupKey(name));
    items.push(head(name, tracks.length, y, folded));
    y += GROUP_HEAD;
    if (!folded) for (const track of tracks) place(track, false);
  }
  placePlots(
    "Memory",
    state.plots.filter((plot) => plot.kind === "memory"),
  );
  if (state.locks.length > 0 && !state.filter) {
    const folded = folds.has(groupKey("Locks"));
    items.push(head("Locks", state.locks.length, y, folded));
    y += GROUP_HEAD;
    for (const lock of folded ? [] : state.locks) {
      items.push({ kind: "lock", lock: lock.id, name: lock.name, y, height: LOCK_HEIGHT });
      y += LOCK_HEIGHT;
    }
  }
  return { items, height: y, pinnedHeight };
}

function head(name: string, count: number, y: number, isFolded: boolean): Item {
  return { kind: "group", key: groupKey(name), name, count, y, height: GROUP_HEAD, isFolded };
}

/** The order of all tracks with one of them moved before or behind its neighbour. */
export function movedOrder(state: State, track: Track, by: -1 | 1): number[] {
  const group = sortTracks(state.tracks, state.order).filter(
    (other) => other.group === track.group,
  );
  const at = group.findIndex((other) => other.id === track.id);
  const to = at + by;
  if (at < 0 || to < 0 || to >= group.length) return state.order;
  [group[at], group[to]] = [group[to]!, group[at]!];
  const moved = new Set(group.map((other) => other.id));
  return [...state.order.filter((id) => !moved.has(id)), ...group.map((other) => other.id)];
}
