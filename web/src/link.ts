// The address as a link: what is after '#' restores what is seen.
//
// Each part of the state has a name and a form. What is as a page starts is left out; what makes no
// sense is read as if it were not there. Anybody can write a link, so nothing in one is trusted:
// lists and texts are bounded, and numbers are compared with what the trace has.

import type { Info, Range } from "./api";
import {
  FIRST,
  getState,
  GROUPINGS,
  MEASURES,
  ORDERS,
  SCALES,
  setState,
  SEVERITIES,
  showAll,
  showRange,
  subscribe,
  TABS,
  wholeView,
} from "./store";
import type { Bookmark, Sort, State, Tab, ZoneRef } from "./store";
import { LISTED_TRACKS } from "./tracks";

/** How long a text from a link may be; fields take no longer ones. */
export const LONGEST_TEXT = 200;
/** As many bookmarks as a page keeps. */
export const MOST_BOOKMARKS = 500;
const MOST_FOLDED = 20000;
/** Of a program or a device. */
const LONGEST_NAME = 1000;
const DEEPEST = 1024;

// ---- forms ----

interface Form<T> {
  /** Empty: nothing to say. */
  write(value: T): string;
  read(text: string): T | undefined;
}

function isNumber(number: number | undefined): number is number {
  return number !== undefined && Number.isSafeInteger(number) && number >= 0;
}

function readNumber(text: string | undefined): number | undefined {
  const number = /^\d{1,16}$/.test(text ?? "") ? Number(text) : undefined;
  return isNumber(number) ? number : undefined;
}

const WHOLE: Form<number> = { write: (value) => String(Math.round(value)), read: readNumber };

const NUMBER: Form<number | null> = {
  write: (value) => (value === null ? "" : String(value)),
  read: readNumber,
};

const NUMBERS: Form<number[]> = {
  write: (values) => values.join("."),
  read: (text) => [...new Set(text.split(".").map(readNumber).filter(isNumber))],
};

/** Sources, of which one may be there twice. */
const PATH: Form<number[]> = {
  write: NUMBERS.write,
  read: (text) => text.split(".").slice(0, DEEPEST).map(readNumber).filter(isNumber),
};

/** Without what no name has and no field takes. */
function plainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, "").slice(0, LONGEST_TEXT);
}

const TEXT: Form<string> = { write: plainText, read: plainText };

const NAME: Form<string | null> = {
  write: (value) => value ?? "",
  read: (text) => plainText(text) || undefined,
};

function escapeBar(text: string): string {
  return text.replace(/[%|]/g, encodeURIComponent);
}

function unescapeBar(text: string): string {
  return text.replace(/%(25|7C)/g, (_, code) => (code === "25" ? "%" : "|"));
}

const TEXTS: Form<string[]> = {
  write: (values) => values.map(escapeBar).join("|"),
  read: (text) => {
    const values = text.split("|").slice(0, MOST_FOLDED).map(unescapeBar);
    return [...new Set(values.filter((value) => value && value.length <= LONGEST_NAME))];
  },
};

const RANGE: Form<Range | null> = {
  write: (range) => (range ? `${Math.round(range.from)}~${Math.round(range.to)}` : ""),
  read: (text) => {
    const [from, to] = text.split("~").map(Number);
    if (from === undefined || to === undefined) return undefined;
    const isWhole = Number.isSafeInteger(from) && Number.isSafeInteger(to);
    return isWhole && from < to ? { from, to } : undefined;
  },
};

const ZONE: Form<ZoneRef | null> = {
  write: (zone) => (zone ? `${zone.track}.${zone.zone}` : ""),
  read: (text) => {
    const [track, zone] = text.split(".").map(readNumber);
    return isNumber(track) && isNumber(zone) ? { track, zone } : undefined;
  },
};

const SORT: Form<Sort | null> = {
  write: (sort) => (sort ? `${sort.isDown ? "-" : ""}${sort.key}` : ""),
  read: (text) => {
    const [, sign, key] = /^(-?)(\w{1,40})$/.exec(text) ?? [];
    return key === undefined ? undefined : { key, isDown: sign === "-" };
  },
};

const COLUMNS: Form<string[] | null> = {
  write: (keys) => keys?.join(".") ?? "",
  read: (text) => text.split(".").slice(0, 50).map(plainText),
};

const DEVICES: Form<boolean | null> = {
  write: (devices) => (devices === null ? "" : devices ? "device" : "host"),
  read: (text) => (text === "device" ? true : text === "host" ? false : undefined),
};

const BOOKMARKS: Form<Bookmark[]> = {
  write: (marks) =>
    marks.map(({ time, label }) => (label ? `${time}~${escapeBar(label)}` : time)).join("|"),
  read: (text) =>
    text
      .split("|")
      .slice(0, MOST_BOOKMARKS)
      .map((part) => {
        const [, time, label] = /^(-?\d{1,16})(?:~(.*))?$/s.exec(part) ?? [];
        return { time: Number(time), label: plainText(unescapeBar(label ?? "")) };
      })
      .filter((bookmark) => Number.isSafeInteger(bookmark.time)),
};

function choice<T extends string>(choices: readonly T[]): Form<T> {
  return { write: (value) => value, read: (text) => choices.find((one) => one === text) };
}

// ---- parts ----

interface Part {
  name: string;
  write(state: State): string;
  read(text: string): Partial<State>;
  first: Partial<State>;
}

function part<K extends keyof State>(key: K, name: string, form: Form<State[K]>): Part {
  const first = { [key]: FIRST[key] } as Partial<State>;
  return {
    name,
    first,
    write: (state) => {
      const text = form.write(state[key]);
      return text === form.write(FIRST[key]) ? "" : text;
    },
    read: (text) => {
      const value = form.read(text);
      return value === undefined ? first : ({ [key]: value } as Partial<State>);
    },
  };
}

const PARTS: Part[] = [
  part("scroll", "y", WHOLE),
  part("selection", "zone", ZONE),
  part("range", "range", RANGE),
  part("measure", "measure", RANGE),
  part("filter", "filter", TEXT),
  part("hidden", "hide", NUMBERS),
  part("pinned", "pin", NUMBERS),
  part("order", "order", NUMBERS),
  part("folded", "fold", TEXTS),
  part("bookmarks", "marks", BOOKMARKS),
  part("find", "find", NUMBER),
  part("pickText", "pick", TEXT),
  part("findScale", "find-scale", choice(SCALES)),
  part("findCounts", "find-counts", choice(SCALES)),
  part("findOrder", "find-calls", choice(ORDERS)),
  part("findSort", "find-sort", SORT),
  part("statsFilter", "stats", TEXT),
  part("statsDevices", "stats-of", DEVICES),
  part("statsTrack", "stats-track", NUMBER),
  part("statsSort", "stats-sort", SORT),
  part("messageFilter", "messages", TEXT),
  part("messageSeverity", "severity", choice(SEVERITIES)),
  part("messageSort", "messages-sort", SORT),
  part("op", "op", NUMBER),
  part("opRow", "row", NUMBER),
  part("opFilter", "ops", TEXT),
  part("opSort", "ops-sort", SORT),
  part("opGrouping", "ops-by", choice(GROUPINGS)),
  part("opColumns", "columns", COLUMNS),
  part("mapMeasure", "map", choice(MEASURES)),
  part("mapFilter", "map-zones", TEXT),
  part("mapDevice", "device", NUMBER),
  part("mapCore", "core", NAME),
  part("flameDevices", "flame", DEVICES),
  part("flamePath", "flame-in", PATH),
];

/** The tab that is open unless a link names one. */
function firstTab(info: Info | null): Tab {
  return info?.ops && info.tracks === 0 ? "ops" : "stats";
}

/** As for a form, but readable: what may stand in an address stays as it is. */
function encode(text: string): string {
  return new URLSearchParams({ "": text })
    .toString()
    .slice(1)
    .replace(/%(7E|3A|2C|7C|2F)/g, decodeURIComponent);
}

function isWhole(view: Range): boolean {
  const whole = wholeView();
  return Math.abs(view.from - whole.from) <= 1 && Math.abs(view.to - whole.to) <= 1;
}

/** What of a state belongs into a link. */
export function writeLink(state: State): string {
  const words: string[] = [];
  const add = (name: string, text: string) => text && words.push(`${name}=${encode(text)}`);
  if (!isWhole(state.view)) add("t", RANGE.write(state.view));
  if (state.tab !== firstTab(state.info)) add("tab", state.tab);
  for (const { name, write } of PARTS) add(name, write(state));
  return `#${words.join("&")}`;
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
  const rest: Partial<State> = {};
  for (const { name, read, first } of PARTS) {
    const text = link.get(name);
    Object.assign(rest, text === null ? first : read(text));
  }
  const tab = TABS.find((one) => one === link.get("tab")) ?? null;
  return { view: RANGE.read(link.get("t") ?? "") ?? null, tab, rest };
}

/** What of a link this trace has. */
function fitting(rest: Partial<State>, { info, tracks }: State): Partial<State> {
  const below = (count: number | undefined) => (number: number) => number < (count ?? 0);
  const isTrack = below(info?.tracks);
  const isSource = below(info?.sources);
  const keep = (number: number | null | undefined, isThere: (number: number) => boolean) =>
    isNumber(number ?? undefined) && isThere(number!) ? number! : null;
  const hasZone = ({ track, zone }: ZoneRef) => {
    const listed = tracks.find((one) => one.id === track);
    // Beyond the list, nothing is known of a track yet.
    return listed ? zone < listed.zones : (info?.tracks ?? 0) > LISTED_TRACKS && isTrack(track);
  };
  const { selection, flamePath } = rest;
  return {
    ...rest,
    selection: selection && hasZone(selection) ? selection : null,
    find: keep(rest.find, (source) => source > 0 && isSource(source)),
    statsTrack: keep(rest.statsTrack, isTrack),
    op: keep(rest.op, below(info?.runs)),
    hidden: rest.hidden?.filter(isTrack) ?? [],
    pinned: rest.pinned?.filter(isTrack) ?? [],
    order: rest.order?.filter(isTrack) ?? [],
    flamePath: flamePath?.every(isSource) ? flamePath : [],
  };
}

/** Shows what a link says of a trace that is known. */
export function followLink({ view, tab, rest }: Link): void {
  const { info, run } = getState();
  const found = fitting(rest, getState());
  if (found.op !== run?.op) setState({ run: null, runZones: new Set() });
  setState({ ...found, tab: tab ?? firstTab(info), keepsScale: false, marksOpen: null });
  if (view) showRange(view.from, view.to);
  else showAll();
}

// ---- the address ----

const SETTLED_MS = 200;
/** Steps that follow each other so quickly are one. */
const ONE_STEP_MS = 1000;

/** Where one is, as opposed to how one looks at it: another place can be gone back from. */
function placeOf({ tab, selection, op, range, find, opRow, mapCore, flamePath }: State): string {
  return JSON.stringify([tab, selection, op, range, find, opRow, mapCore, flamePath]);
}

/** Keeps the address up to date, a moment after the last change. */
export function keepLink(): void {
  let timer = 0;
  let known = location.hash;
  let place = placeOf(getState());
  let movedAt = -Infinity;
  let isHandDown = false;
  const later = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(write, SETTLED_MS);
  };
  const write = () => {
    // An address that someone else has just changed is about to be read, not to be overwritten.
    if (location.hash !== known) return;
    if (isHandDown) return later();
    const link = writeLink(getState());
    const isSame = placeOf(getState()) === place;
    const isStep = !isSame && performance.now() - movedAt > ONE_STEP_MS;
    if (!isSame) movedAt = performance.now();
    place = placeOf(getState());
    if (link === (known || "#")) return;
    if (isStep) history.pushState(null, "", link);
    else history.replaceState(null, "", link);
    known = location.hash;
  };
  subscribe(later);
  // What is being dragged is not yet where it will be.
  window.addEventListener("pointerdown", () => (isHandDown = true), true);
  for (const end of ["pointerup", "pointercancel", "blur"])
    window.addEventListener(end, () => (isHandDown = false), true);
  window.addEventListener("hashchange", () => {
    known = location.hash;
    followLink(readLink(known));
    place = placeOf(getState());
  });
}
