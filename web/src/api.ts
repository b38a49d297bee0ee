// What the server answers, and where answers come from: a server, or the page itself.

import { readSpans } from "./spans";
import type { SpansDocument } from "./spans";

export interface Range {
  from: number;
  to: number;
}

export interface Context {
  name: string;
  type: number;
  calibrated: boolean;
  period: number;
  clocks: number;
  markers: number;
  uncertainty?: number;
}

/** What a page has to know to stay true. */
export interface News {
  /** What is shown: another one is another trace. */
  id: string;
  revision: number;
  live: boolean;
  end: number;
}

export interface Info extends News {
  name: string;
  strobe: string;
  program: string;
  capture: string;
  host: string;
  damage: string;
  /** It was shown while it grew, and grows no more. */
  ended: boolean;
  recordedAt: number;
  processId: number;
  resolution: number;
  format?: string;
  fileBytes?: number;
  zones: number;
  deviceZones: number;
  tracks: number;
  sources: number;
  messages: number;
  plots: number;
  locks: number;
  allocations: number;
  lossRecords: number;
  lost: number;
  contexts: Context[];
  contextCount: number;
  frameSets: { name: string; count: number }[];
  crash?: { time: number; message: string };
  /** What the report says of clocks, the profiler's own cost, completeness. */
  facts: { name: string; text: string }[];
  /** What there is more of than is shown, in words. */
  limits: string[];
  /** Runs of ops that the trace has kernels of. */
  runs: number;
  ops: boolean;
  transfers: boolean;
  /** Of a page without a server that holds a stretch of the trace only: which, and its zones. */
  part?: Range & { zones: number };
}

export interface Track {
  id: number;
  kind: "thread" | "fiber" | "lane";
  name: string;
  group: string;
  thread: number;
  zones: number;
  depth: number;
  core?: [device: number, x: number, y: number];
  sm?: [device: number, number: number];
  context?: number;
  uncertainty?: number;
  tooDeep?: number;
  from?: number;
  to?: number;
}

export interface Tracks {
  tracks: Track[];
  matched: number;
  total: number;
}

export type Source = [name: string, file: string, line: number, colour: number, function: string];

const namesakes = new WeakMap<Source[], Set<string>>();

const placeOf = ([name, file, line]: Source) => `${name}\n${file}\n${line}`;

/** What tells a source from others of the same name and place: its function, such as the op that
 * the firmware ran for; empty where nothing has to. */
export function distinctionOf(sources: Source[], number: number): string {
  const source = sources[number];
  if (!source) return "";
  let shared = namesakes.get(sources);
  if (!shared) {
    const seen = new Set<string>();
    shared = new Set(sources.map(placeOf).filter((place) => seen.size === seen.add(place).size));
    namesakes.set(sources, shared);
  }
  return shared.has(placeOf(source)) ? source[4] : "";
}

export interface Zone {
  track: number;
  zone: number;
  source: number;
  start: number;
  end?: number;
  name: string;
}

/** A run of an op on a device. */
export interface Run {
  op: number;
  id: number;
  device: number;
  name: string;
  from: number;
  to: number;
  kernels: number;
  /** Of the ops report, where it has one. */
  row?: number;
}

export interface RunDetails {
  run: Run;
  issue?: Issue;
  zones: Zone[];
}

/** Where and when the host gave a command. */
export interface Issue {
  time: number;
  track?: number;
  zone?: Zone;
}

export type StackFrame = [name: string, file: string, line: number, isInlined: boolean];

export interface ZoneDetails {
  zone: Zone;
  text?: string;
  parents: Zone[];
  /** The zones before and after it in its row. */
  previous?: Zone;
  next?: Zone;
  self?: number;
  childCount: number;
  children: Zone[];
  issue?: Issue;
  op?: Run;
  /** Runs that were asked for while a host zone was open: the first of them, and how many. */
  asked?: Run[];
  askedCount?: number;
  stack?: StackFrame[];
  values?: [name: string, value: number][];
}

export interface Stats {
  count: number;
  total: number;
  self: number;
  mean: number;
  median: number;
  p99: number;
  min: number;
  max: number;
  deviation: number;
}

export interface StatsRow extends Stats {
  source: number;
}

export type Call = [track: number, zone: number, start: number, duration: number];

export interface Found extends Stats {
  source: number;
  devices: boolean;
  edges: number[];
  counts: number[];
  sums: number[];
  calls: Call[];
}

export interface Message {
  id: number;
  time: number;
  text: string;
  colour: number;
  severity: number;
  track?: number;
  count?: number;
}

export interface Plot {
  id: number;
  name: string;
  points: number;
  kind: "plot" | "memory";
  format: "number" | "bytes" | "percent";
  steps: boolean;
}

export type PlotPoint = [time: number, low: number, high: number, last: number];
export type Frame = [first: number, count: number, start: number, end: number];

/** When a lock was held: 1, or 2 while somebody waited for it. */
export type LockSpan = [start: number, end: number, state: number, count: number];

export interface Lock {
  id: number;
  name: string;
  threads: number;
  spans: LockSpan[];
}

/** From the core that asked to the other end (-1: many), what it read or wrote. */
export type Flow = [
  device: number,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
  isRead: number,
  bytes: number,
  transfers: number,
];

export interface Transfers {
  files: number;
  /** Files that could not be read. */
  skipped: number;
  bytes: number;
  transfers: number;
  /** Transfers that a range leaves out because nobody knows when they were. */
  unplaced: number;
  /** Bytes at both ends of all transfers; ends that are no cores are memory. */
  ends: [device: number, x: number, y: number, bytes: number][];
  /** The largest ones. */
  flows: Flow[];
  flowCount: number;
}

export interface Loss {
  from: number;
  to: number;
  count: number;
  cause: string;
  thread?: number;
  text: string;
}

/** A path of the flame graph: parent is 1 + the place of its node in the list, 0 for none. */
export type FlameNode = [
  parent: number,
  source: number,
  count: number,
  total: number,
  self: number,
];

export interface Lane {
  track: number;
  context: number;
  name: string;
  core?: [device: number, x: number, y: number];
  sm?: [device: number, number: number];
  busy: number;
  kernel: number;
  waiting: number;
  zones: number;
  lost: number;
}

export interface DeviceMap extends Range {
  lanes: Lane[];
}

export interface SearchResults {
  sources: { id: number; source: Source }[];
  tracks: { id: number; name: string }[];
  messages: Message[];
  zones: { zone: Zone; text: string }[];
}

export interface Overview {
  host: number[];
  device: number[];
}

export interface StatsQuestion {
  range: Range | null;
  track: number | null;
  devices: boolean;
  filter: string;
}

export interface FindQuestion {
  source: number;
  range: Range | null;
  bins: number;
  scale: "linear" | "log";
  order: "longest" | "shortest" | "time";
  count: number;
}

export interface MessagesQuestion {
  range: Range | null;
  filter: string;
  /** The least one. */
  severity: number;
}

export interface Messages {
  messages: Message[];
  matched: number;
}

/** Who wants to know what becomes of the trace and of the server. */
export interface Follower {
  grown(news: News): void;
  connected(isConnected: boolean): void;
}

/** The server answered, and what it said is no. */
export class Refusal extends Error {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Where the page gets its data. Every question can fail with an Error that can be shown. */
export interface DataSource {
  /** The page needs no server. */
  readonly isStatic: boolean;
  info(): Promise<Info>;
  tracks(filter: string): Promise<Tracks>;
  track(id: number): Promise<Track | undefined>;
  sources(first: number): Promise<{ sources: Source[]; total: number }>;
  zones(range: Range, width: number, tracks: number[]): Promise<SpansDocument>;
  overview(width: number): Promise<Overview>;
  zone(track: number, zone: number): Promise<ZoneDetails>;
  stats(question: StatsQuestion): Promise<{ rows: StatsRow[]; matched: number }>;
  find(question: FindQuestion): Promise<Found>;
  flame(range: Range | null, devices: boolean): Promise<{ nodes: FlameNode[]; paths: number }>;
  messages(question: MessagesQuestion, count: number): Promise<Messages>;
  flags(range: Range, width: number): Promise<Message[]>;
  plots(): Promise<Plot[]>;
  plot(plot: number, range: Range, width: number): Promise<PlotPoint[]>;
  frames(set: number, range: Range, width: number): Promise<Frame[]>;
  losses(): Promise<Loss[]>;
  search(text: string): Promise<SearchResults>;
  device(range: Range | null, filter: string): Promise<DeviceMap>;
  ops(): Promise<OpsReport>;
  /** Runs of ops one after the other; the one of a row of the report, if that is named. */
  runs(row: number | null): Promise<{ runs: Run[]; total: number }>;
  run(op: number): Promise<RunDetails>;
  locks(range: Range, width: number): Promise<Lock[]>;
  /** Of the op that the host calls so, or of all; in a range, or at all times. */
  transfers(id: number | null, range: Range | null): Promise<Transfers>;
  follow(isLive: boolean, follower: Follower): void;
}

export interface Op {
  id: number;
  device: number | null;
  op_code: string;
  global_call_count: number | null;
  is_signpost: boolean;
  is_host_op: boolean;
  bound: string | null;
  total_percent: number | null;
  device_time_us: number | null;
  gap_us: number | null;
  cores: number | null;
  dram_gb_per_s: number | null;
  dram_percent: number | null;
  tflops: number | null;
  flops_percent: number | null;
  utilisation_percent: number | null;
  math_fidelity: string | null;
  input_0_memory: string | null;
  advice?: string[];
}

export interface OpGroup {
  group: string;
  category: string;
  op_count: number;
  device_time_us: number;
  total_percent: number;
}

/** The report as `strobe perf --json` writes it. */
export interface OpsReport {
  architecture: string;
  complete: boolean;
  totals: { device_ops: number; host_ops: number; device_time_us: number; gap_us: number };
  verdict: { where_the_time_went: string; biggest_opportunity: string; what_to_do_first: string };
  summary: OpGroup[];
  ops: Op[];
}

type Parameters = Record<string, string | number | boolean | null | undefined>;

/** Answers from the server that sent the page. */
export class ServerSource implements DataSource {
  readonly isStatic = false;
  private readonly token = new URLSearchParams(location.search).get("token");

  private address(path: string, parameters: Parameters): string {
    const query = new URLSearchParams();
    if (this.token) query.set("token", this.token);
    for (const [name, value] of Object.entries(parameters)) {
      if (value === null || value === undefined || value === "") continue;
      query.set(name, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
    }
    const text = query.toString();
    return text ? `api/${path}?${text}` : `api/${path}`;
  }

  private async ask(path: string, parameters: Parameters): Promise<Response> {
    // Why nothing came is a browser's own wording, and different in each.
    const response = await fetch(this.address(path, parameters)).catch(() => {
      throw new Error("the server does not answer");
    });
    if (response.ok) return response;
    const answer = (await response.json().catch(() => ({}))) as { error?: string };
    throw new Refusal(answer.error ?? `the server answered ${response.status}`);
  }

  private async json<T>(path: string, parameters: Parameters = {}): Promise<T> {
    return (await this.ask(path, parameters)).json() as Promise<T>;
  }

  info(): Promise<Info> {
    return this.json("info");
  }
  tracks(filter: string): Promise<Tracks> {
    return this.json("tracks", { filter, count: 10000 });
  }
  async track(id: number): Promise<Track | undefined> {
    return (await this.json<Tracks>("tracks", { first: id, count: 1 })).tracks[0];
  }
  sources(first: number): Promise<{ sources: Source[]; total: number }> {
    return this.json("sources", { first, count: 20000 });
  }
  async zones(range: Range, width: number, tracks: number[]): Promise<SpansDocument> {
    const answer = await this.ask("zones", { ...whole(range), width, tracks: tracks.join(",") });
    return readSpans(await answer.arrayBuffer());
  }
  overview(width: number): Promise<Overview> {
    return this.json("overview", { width });
  }
  zone(track: number, zone: number): Promise<ZoneDetails> {
    return this.json("zone", { track, zone });
  }
  stats(question: StatsQuestion): Promise<{ rows: StatsRow[]; matched: number }> {
    const { range, ...rest } = question;
    return this.json("stats", { ...whole(range), ...rest });
  }
  find(question: FindQuestion): Promise<Found> {
    const { range, ...rest } = question;
    return this.json("find", { ...whole(range), ...rest });
  }
  flame(range: Range | null, devices: boolean): Promise<{ nodes: FlameNode[]; paths: number }> {
    return this.json("flame", { ...whole(range), devices });
  }
  messages(question: MessagesQuestion, count: number): Promise<Messages> {
    const { range, ...rest } = question;
    return this.json("messages", { ...whole(range), ...rest, count });
  }
  async flags(range: Range, width: number): Promise<Message[]> {
    const answer = await this.json<{ messages: Message[] }>("messages", { ...whole(range), width });
    return answer.messages;
  }
  async plots(): Promise<Plot[]> {
    return (await this.json<{ plots: Plot[] }>("plots")).plots;
  }
  async plot(plot: number, range: Range, width: number): Promise<PlotPoint[]> {
    const parameters = { plot, ...whole(range), width };
    return (await this.json<{ points: PlotPoint[] }>("plot", parameters)).points;
  }
  async frames(set: number, range: Range, width: number): Promise<Frame[]> {
    const parameters = { set, ...whole(range), width };
    return (await this.json<{ frames: Frame[] }>("frames", parameters)).frames;
  }
  async losses(): Promise<Loss[]> {
    return (await this.json<{ losses: Loss[] }>("losses", { count: 2000 })).losses;
  }
  search(text: string): Promise<SearchResults> {
    return this.json("search", { text });
  }
  device(range: Range | null, filter: string): Promise<DeviceMap> {
    return this.json("device", { ...whole(range), filter });
  }
  ops(): Promise<OpsReport> {
    return this.json("ops");
  }
  runs(row: number | null): Promise<{ runs: Run[]; total: number }> {
    return this.json("runs", { row, count: 10000 });
  }
  run(op: number): Promise<RunDetails> {
    return this.json("run", { op });
  }
  async locks(range: Range, width: number): Promise<Lock[]> {
    return (await this.json<{ locks: Lock[] }>("locks", { ...whole(range), width })).locks;
  }
  transfers(id: number | null, range: Range | null): Promise<Transfers> {
    return this.json("noc", { id, ...whole(range) });
  }

  /**
   * A trace that grows tells of itself; of one that does not, only whether the server is there is
   * asked now and then. Browsers give a server six connections for all their pages, so none is held
   * by a page that is not looked at.
   */
  follow(isLive: boolean, follower: Follower): void {
    let events: EventSource | null = null;
    const listen = () => {
      events?.close();
      events = null;
      if (document.hidden || !isLive) return;
      events = new EventSource(this.address("events", {}));
      events.onerror = () => follower.connected(false);
      events.onmessage = (event) => {
        const news = JSON.parse(event.data as string) as News;
        follower.connected(true);
        follower.grown(news);
        isLive = news.live;
        if (!isLive) events?.close();
      };
    };
    const ask = async () => {
      if (document.hidden || isLive) return;
      try {
        const news = await this.json<News>("news");
        follower.connected(true);
        follower.grown(news);
      } catch (error) {
        follower.connected(error instanceof Refusal);
      }
    };
    listen();
    document.addEventListener("visibilitychange", () => {
      listen();
      void ask();
    });
    window.setInterval(() => void ask(), ASK_EVERY_MS);
  }
}

const ASK_EVERY_MS = 3000;

/** The API takes whole nanoseconds. */
function whole(range: Range | null): { from?: number; to?: number } {
  if (!range) return {};
  const from = Math.floor(range.from);
  return { from, to: Math.max(from + 1, Math.ceil(range.to)) };
}
