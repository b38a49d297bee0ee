// The address as a link: what is after '#' restores the view.

import { getState, MEASURES, setState, showAll, showRange, subscribe, TABS } from "./store";
import type { Bookmark, State, Tab } from "./store";
import type { Info, Range } from "./api";

function writeRange(range: Range): string {
  return `${Math.round(range.from)}~${Math.round(range.to)}`;
}

function readRange(text: string | null): Range | null {
  const [from, to] = (text ?? "").split("~").map(Number);
  if (from === undefined || to === undefined) return null;
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from < to ? { from, to } : null;
}

function readNumbers(text: string | null): number[] {
  if (!text) return [];
  return text
    .split(".")
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number >= 0);
}

function readBookmarks(text: string | null): Bookmark[] {
  if (!text) return [];
  return text
    .split("|")
    .map((part) => {
      const cut = part.indexOf("~");
      return { time: Number(part.slice(0, cut)), label: part.slice(cut + 1) };
    })
    .filter((bookmark) => Number.isFinite(bookmark.time));
}

/** The tab that is open unless a link names one. */
function firstTab(info: Info | null): Tab {
  return info?.ops && info.tracks === 0 ? "ops" : "stats";
}

/** What of a state belongs into a link. */
export function writeLink(state: State): string {
  const link = new URLSearchParams();
  link.set("t", writeRange(state.view));
  if (state.scroll > 0) link.set("y", String(Math.round(state.scroll)));
  if (state.selection) link.set("zone", `${state.selection.track}.${state.selection.zone}`);
  if (state.range) link.set("range", writeRange(state.range));
  if (state.tab !== firstTab(state.info)) link.set("tab", state.tab);
  if (state.find !== null) link.set("find", String(state.find));
  if (state.op !== null) link.set("op", String(state.op));
  if (state.mapMeasure !== "busy") link.set("map", state.mapMeasure);
  if (state.mapCore) link.set("core", state.mapCore);
  if (state.opColumns) link.set("columns", state.opColumns.join("."));
  if (state.filter) link.set("filter", state.filter);
  if (state.hidden.length) link.set("hide", state.hidden.join("."));
  if (state.pinned.length) link.set("pin", state.pinned.join("."));
  if (state.order.length) link.set("order", state.order.join("."));
  if (state.folded.length) link.set("fold", state.folded.join("|"));
  if (state.bookmarks.length)
    link.set("marks", state.bookmarks.map((mark) => `${mark.time}~${mark.label}`).join("|"));
  return `#${link.toString()}`;
}

export interface Link {
  /** The stretch of time; null: the link does not say. */
  view: Range | null;
  tab: Tab | null;
  /** Everything else; what a link does not say is as it is at first. */
  rest: Partial<State>;
}

export function readLink(hash: string): Link {
  const link = new URLSearchParams(hash.replace(/^#/, ""));
  const found: Partial<State> = {};
  found.scroll = readNumbers(link.get("y"))[0] ?? 0;
  const [track, zone] = readNumbers(link.get("zone"));
  found.selection = track !== undefined && zone !== undefined ? { track, zone } : null;
  found.range = readRange(link.get("range"));
  found.find = readNumbers(link.get("find"))[0] ?? null;
  found.op = readNumbers(link.get("op"))[0] ?? null;
  found.mapMeasure = MEASURES.find((measure) => measure === link.get("map")) ?? "busy";
  found.mapCore = link.get("core");
  found.opColumns = link.get("columns")?.split(".") ?? null;
  found.filter = link.get("filter") ?? "";
  found.hidden = readNumbers(link.get("hide"));
  found.pinned = readNumbers(link.get("pin"));
  found.order = readNumbers(link.get("order"));
  found.folded = (link.get("fold") ?? "").split("|").filter(Boolean);
  found.bookmarks = readBookmarks(link.get("marks"));
  const tab = TABS.find((one) => one === link.get("tab")) ?? null;
  return { view: readRange(link.get("t")), tab, rest: found };
}

/** Shows what a link says of a trace that is known. */
export function followLink({ view, tab, rest }: Link): void {
  setState({ ...rest, tab: tab ?? firstTab(getState().info) });
  if (view) showRange(view.from, view.to);
  else showAll();
}

/** Keeps the address up to date, a moment after the last change. */
export function keepLink(): void {
  let timer = 0;
  let known = location.hash;
  const write = () => {
    // An address that someone else has just changed is about to be read, not to be overwritten.
    if (location.hash !== known) return;
    history.replaceState(null, "", writeLink(getState()));
    known = location.hash;
  };
  subscribe(() => {
    window.clearTimeout(timer);
    timer = window.setTimeout(write, 200);
  });
  window.addEventListener("hashchange", () => {
    known = location.hash;
    followLink(readLink(known));
  });
}
