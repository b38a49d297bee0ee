// Answers from the page itself: what `strobe view --static` wrote into it. All zones of the page
// are here one by one, so every question is answered by going through them.

import type {
  Call,
  DataSource,
  DeviceMap,
  FindQuestion,
  FlameNode,
  Found,
  Frame,
  Info,
  Lock,
  Loss,
  Message,
  Messages,
  MessagesQuestion,
  OpsReport,
  Overview,
  Plot,
  PlotPoint,
  Range,
  Run,
  RunDetails,
  SearchResults,
  Source,
  Stats,
  StatsQuestion,
  StatsRow,
  Track,
  Tracks,
  Transfers,
  Zone,
  ZoneDetails,
} from "./api";
import { FLAG_OPEN, readSpans } from "./spans";
import type { SpansDocument, TrackSpans } from "./spans";

interface PageData extends Range {
  info: Info;
  tracks: Tracks;
  sources: { sources: Source[]; total: number };
  messages: { messages: Message[]; matched: number };
  losses: { losses: Loss[] };
  overview: Overview;
  plots: { plots: Plot[] };
  runs: { runs: Run[]; total: number };
  locks: { locks: Lock[] };
  ops?: OpsReport;
  transfers?: Transfers;
  [numbered: string]: unknown;
}

/** A zone with its place in the nesting. */
interface Node {
  span: number;
  parent: Node | null;
  inside: number;
}

/** What of a zone counts in statistics. */
interface Counted {
  span: number;
  duration: number;
  self: number;
}

function decode(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

/** As sb_trace_stats does: the lower median, the smallest that 99 % do not exceed. */
function statsOf(durations: number[], selves: number): Stats {
  const sorted = [...durations].sort((a, b) => a - b);
  const count = sorted.length;
  const total = sorted.reduce((sum, one) => sum + one, 0);
  const mean = count > 0 ? total / count : 0;
  const squares = sorted.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return {
    count,
    total,
    self: selves,
    mean,
    median: sorted[Math.floor((count - 1) / 2)] ?? 0,
    p99: sorted[Math.max(0, Math.ceil(count * 0.99) - 1)] ?? 0,
    min: sorted[0] ?? 0,
    max: sorted[count - 1] ?? 0,
    deviation: count > 1 ? Math.sqrt(squares / (count - 1)) : 0,
  };
}

export class EmbeddedSource implements DataSource {
  readonly isStatic = true;
  private readonly spans = new Map<number, TrackSpans>();
  private readonly texts = new Map<number, string>();
  private readonly nesting = new Map<number, Node[]>();

  constructor(private readonly data: PageData) {
    for (let i = 0; typeof data[`zones${i}`] === "string"; i++) {
      const document = readSpans(decode(data[`zones${i}`] as string));
      for (const track of document.tracks) this.spans.set(track.track, track);
      for (const [number, text] of document.texts) this.texts.set(number, text);
    }
  }

  async info(): Promise<Info> {
    const { info, from, to } = this.data;
    const whole = { ...info, live: false };
    if (from <= 0 && to >= info.end) return whole;
    let zones = 0;
    for (const spans of this.spans.values()) zones += spans.length;
    return { ...whole, part: { from, to, zones } };
  }
  async tracks(filter: string): Promise<Tracks> {
    const part = filter.toLowerCase();
    const tracks = this.data.tracks.tracks.filter((track) =>
      track.name.toLowerCase().includes(part),
    );
    return { ...this.data.tracks, tracks, matched: tracks.length };
  }
  async track(id: number): Promise<Track | undefined> {
    return this.data.tracks.tracks.find((track) => track.id === id);
  }
  async sources(): Promise<{ sources: Source[]; total: number }> {
    return this.data.sources;
  }
  async zones(_range: Range, _width: number, tracks: number[]): Promise<SpansDocument> {
    const found = tracks.flatMap((id) => this.spans.get(id) ?? []);
    return { tracks: found, texts: this.texts, isCut: false };
  }
  async overview(): Promise<Overview> {
    return this.data.overview;
  }

  // ---- zones ----

  private name(spans: TrackSpans, i: number): string {
    return this.texts.get(spans.name[i]!) ?? this.data.sources.sources[spans.source[i]!]?.[0] ?? "";
  }

  private zoneAt(spans: TrackSpans, i: number): Zone {
    const zone: Zone = {
      track: spans.track,
      zone: spans.zone[i]!,
      source: spans.source[i]!,
      start: spans.start[i]!,
      name: this.name(spans, i),
    };
    if ((spans.flags[i]! & FLAG_OPEN) === 0) zone.end = spans.end[i]!;
    return zone;
  }

  /** The zones of a track, outer before inner: that is the order of their numbers. */
  private nodes(spans: TrackSpans): Node[] {
    const known = this.nesting.get(spans.track);
    if (known) return known;
    const order = Array.from({ length: spans.length }, (_, i) => i);
    order.sort((a, b) => spans.zone[a]! - spans.zone[b]!);
    const path: Node[] = [];
    const nodes = order.map((span) => {
      const depth = spans.depth[span]!;
      path.length = Math.min(path.length, depth);
      const parent = path[depth - 1] ?? null;
      const node: Node = { span, parent, inside: 0 };
      if (parent) parent.inside += spans.end[span]! - spans.start[span]!;
      path[depth] = node;
      return node;
    });
    this.nesting.set(spans.track, nodes);
    return nodes;
  }

  async zone(track: number, zone: number): Promise<ZoneDetails> {
    const spans = this.spans.get(track);
    const node = spans && this.nodes(spans).find((one) => spans.zone[one.span] === zone);
    if (!spans || !node) throw new Error("this zone is not in the page");
    const parents: Zone[] = [];
    for (let outer = node.parent; outer; outer = outer.parent)
      parents.push(this.zoneAt(spans, outer.span));
    const children = this.nodes(spans).filter((one) => one.parent === node);
    const details: ZoneDetails = {
      zone: this.zoneAt(spans, node.span),
      parents,
      self: spans.end[node.span]! - spans.start[node.span]! - node.inside,
      childCount: children.length,
      children: children.slice(0, 200).map((child) => this.zoneAt(spans, child.span)),
    };
    // Rows stand one behind the other, in order of start.
    for (const [name, beside] of [
      ["previous", node.span - 1],
      ["next", node.span + 1],
    ] as const)
      if (spans.depth[beside] === spans.depth[node.span])
        details[name] = this.zoneAt(spans, beside);
    const text = this.texts.get(spans.text[node.span]!);
    if (text) details.text = text;
    const op = this.runAt(track, details.zone);
    if (op) details.op = op;
    return details;
  }

  /** The run that was on the zone's device then. */
  private runAt(track: number, zone: Zone): Run | undefined {
    const device = this.data.tracks.tracks.find((one) => one.id === track)?.core?.[0];
    return this.data.runs.runs.find(
      (run) => run.device === device && run.from <= zone.start && run.to >= zone.start,
    );
  }

  // ---- figures ----

  private *wanted(devices: boolean | null, only: number | null): Generator<[Track, TrackSpans]> {
    for (const track of this.data.tracks.tracks) {
      const spans = this.spans.get(track.id);
      if (!spans || (only !== null && track.id !== only)) continue;
      if (only !== null || devices === null || (track.kind === "lane") === devices)
        yield [track, spans];
    }
  }

  /** Zones that ended and touch the range: their parts in it, whole and without what is inside. */
  private counted(spans: TrackSpans, range: Range | null): Counted[] {
    const counted = new Map<Node, Counted>();
    for (const node of this.nodes(spans)) {
      const i = node.span;
      const start = spans.start[i]!;
      const end = spans.end[i]!;
      if ((spans.flags[i]! & FLAG_OPEN) !== 0) continue;
      if (range && (start >= range.to || end < range.from || (end === range.from && start < end)))
        continue;
      const from = Math.max(start, range?.from ?? start);
      const duration = Math.min(end, range?.to ?? end) - from;
      counted.set(node, { span: i, duration, self: duration });
      const outer = node.parent && counted.get(node.parent);
      if (outer) outer.self -= duration;
    }
    return [...counted.values()];
  }

  async stats(question: StatsQuestion): Promise<{ rows: StatsRow[]; matched: number }> {
    const { range, devices, track, filter } = question;
    const sums = new Map<number, { durations: number[]; self: number }>();
    for (const [, spans] of this.wanted(devices, track)) {
      for (const { span, duration, self } of this.counted(spans, range)) {
        const source = spans.source[span]!;
        const sum = sums.get(source) ?? { durations: [], self: 0 };
        sum.durations.push(duration);
        sum.self += self;
        sums.set(source, sum);
      }
    }
    const part = filter.toLowerCase();
    const rows = [...sums]
      .filter(([source]) => this.sourceName(source).toLowerCase().includes(part))
      .map(([source, sum]) => ({ source, ...statsOf(sum.durations, sum.self) }));
    return { rows, matched: rows.length };
  }

  private sourceName(source: number): string {
    return this.data.sources.sources[source]?.[0] ?? "";
  }

  async find(question: FindQuestion): Promise<Found> {
    const { source, range, bins, scale, order, count } = question;
    const calls: Call[] = [];
    let self = 0;
    let devices = false;
    for (const [track, spans] of this.wanted(null, null)) {
      for (const zone of this.counted(spans, range)) {
        if (spans.source[zone.span] !== source) continue;
        self += zone.self;
        devices = track.kind === "lane";
        calls.push([track.id, spans.zone[zone.span]!, spans.start[zone.span]!, zone.duration]);
      }
    }
    const stats = statsOf(
      calls.map((call) => call[3]),
      self,
    );
    const level = (duration: number) => (scale === "log" ? Math.log(duration + 1) : duration);
    const value = (at: number) => (scale === "log" ? Math.exp(at) - 1 : at);
    const low = level(stats.min);
    const width = (level(stats.max) - low) / bins;
    const counts = new Array<number>(bins).fill(0);
    const totals = new Array<number>(bins).fill(0);
    for (const call of calls) {
      const bin = width > 0 ? Math.min(bins - 1, Math.floor((level(call[3]) - low) / width)) : 0;
      counts[bin]!++;
      totals[bin]! += call[3];
    }
    if (order === "longest") calls.sort((a, b) => b[3] - a[3]);
    else if (order === "shortest") calls.sort((a, b) => a[3] - b[3]);
    else calls.sort((a, b) => a[2] - b[2]);
    const edges = Array.from({ length: bins + 1 }, (_, i) => value(low + i * width));
    return { source, devices, ...stats, edges, counts, sums: totals, calls: calls.slice(0, count) };
  }

  async flame(
    range: Range | null,
    devices: boolean,
  ): Promise<{ nodes: FlameNode[]; paths: number }> {
    const nodes: FlameNode[] = [];
    const paths = new Map<string, number>();
    for (const [, spans] of this.wanted(devices, null)) {
      const placed = new Map<Node, number>();
      for (const node of this.nodes(spans)) {
        const parent = node.parent ? (placed.get(node.parent) ?? 0) : 0;
        const source = spans.source[node.span]!;
        const key = `${parent}.${source}`;
        const place = paths.get(key) ?? nodes.push([parent, source, 0, 0, 0]);
        paths.set(key, place);
        placed.set(node, place);
        const from = Math.max(spans.start[node.span]!, range?.from ?? -Infinity);
        const to = Math.min(spans.end[node.span]!, range?.to ?? Infinity);
        const length = Math.max(0, to - from);
        const entry = nodes[place - 1]!;
        if (to > from) entry[2]++;
        entry[3] += length;
        entry[4] += length;
        if (parent > 0) nodes[parent - 1]![4] -= length;
      }
    }
    return { nodes, paths: nodes.length };
  }

  async device(range: Range | null, filter: string): Promise<DeviceMap> {
    const part = filter.toLowerCase();
    const { from, to } = range ?? this.data;
    const map: DeviceMap = { from, to, lanes: [] };
    for (const [track, spans] of this.wanted(true, null)) {
      const named = (text: string) => (i: number) =>
        this.sourceName(spans.source[i]!).toLowerCase().includes(text);
      const isBusy = part ? named(part) : (i: number) => spans.depth[i] === 0;
      const isKernel = (i: number) => this.sourceName(spans.source[i]!).endsWith("-KERNEL");
      const busy = this.timeIn(spans, { from, to }, isBusy);
      const lane = {
        track: track.id,
        context: track.context ?? 0,
        name: track.name,
        busy: busy.time,
        zones: busy.zones,
        kernel: this.timeIn(spans, { from, to }, isKernel).time,
        waiting: this.timeIn(spans, { from, to }, named("wait")).time,
        lost: this.lostOn(track, { from, to }),
      };
      const { core, sm } = track;
      map.lanes.push({ ...lane, ...(core && { core }), ...(sm && { sm }) });
    }
    return map;
  }

  /** Time in zones of a kind, counted once where they are nested, and their number. */
  private timeIn(spans: TrackSpans, range: Range, isWanted: (i: number) => boolean) {
    let time = 0;
    let zones = 0;
    let countedTo = -Infinity;
    for (const { span: i } of this.nodes(spans)) {
      if (!isWanted(i)) continue;
      const begin = Math.max(spans.start[i]!, range.from, countedTo);
      const end = Math.min(spans.end[i]!, range.to);
      if (spans.start[i]! < range.to && spans.end[i]! > range.from) zones++;
      if (end > begin) time += end - begin;
      countedTo = Math.max(countedTo, end);
    }
    return { time, zones };
  }

  private lostOn(track: Track, range: Range): number {
    return this.data.losses.losses
      .filter((loss) => loss.thread === track.thread)
      .filter((loss) => loss.from < range.to && (loss.to < 0 || loss.to >= range.from))
      .reduce((sum, loss) => sum + Math.max(1, loss.count), 0);
  }

  // ---- the rest ----

  async messages(question: MessagesQuestion, count: number): Promise<Messages> {
    const { range, filter, severity } = question;
    const part = filter.toLowerCase();
    const { messages } = this.data.messages;
    const found = messages.filter(
      (message) =>
        message.severity >= severity &&
        message.text.toLowerCase().includes(part) &&
        (!range || (message.time >= range.from && message.time < range.to)),
    );
    return { messages: found.slice(0, count), matched: found.length };
  }
  /** As the server does it: those that fall on one pixel are the first of them. */
  async flags(range: Range, width: number): Promise<Message[]> {
    const { messages } = await this.messages({ range, filter: "", severity: 0 }, Infinity);
    const grain = (range.to - range.from) / width;
    const flags: Message[] = [];
    for (const message of messages) {
      const last = flags[flags.length - 1];
      if (last && message.time < last.time + grain) last.count = (last.count ?? 1) + 1;
      else flags.push({ ...message });
    }
    return flags;
  }
  async plots(): Promise<Plot[]> {
    return this.data.plots.plots;
  }
  async plot(plot: number): Promise<PlotPoint[]> {
    return (this.data[`plot${plot}`] as { points: PlotPoint[] } | undefined)?.points ?? [];
  }
  async frames(set: number): Promise<Frame[]> {
    return (this.data[`frames${set}`] as { frames: Frame[] } | undefined)?.frames ?? [];
  }
  async losses(): Promise<Loss[]> {
    return this.data.losses.losses;
  }
  async search(text: string): Promise<SearchResults> {
    const part = text.toLowerCase();
    const has = (name: string) => name.toLowerCase().includes(part);
    const sources = this.data.sources.sources.map((source, id) => ({ id, source }));
    return {
      sources: sources.filter(({ id, source }) => id > 0 && has(source[0])).slice(0, 20),
      tracks: this.data.tracks.tracks.filter((track) => has(track.name)).slice(0, 20),
      messages: (await this.messages({ range: null, filter: text, severity: 0 }, 20)).messages,
      zones: this.zonesWith(part),
    };
  }
  private zonesWith(part: string): { zone: Zone; text: string }[] {
    const found: { zone: Zone; text: string }[] = [];
    for (const spans of this.spans.values()) {
      for (let i = 0; i < spans.length && found.length < 20; i++) {
        const text = this.texts.get(spans.text[i]!) ?? "";
        const name = this.texts.get(spans.name[i]!) ?? "";
        if (text.toLowerCase().includes(part) || name.toLowerCase().includes(part))
          found.push({ zone: this.zoneAt(spans, i), text });
      }
    }
    return found;
  }

  async runs(row: number | null): Promise<{ runs: Run[]; total: number }> {
    const { from, to } = this.data;
    const held = this.data.runs.runs.filter((run) => run.to > from && run.from < to);
    const runs = row === null ? held : held.filter((run) => run.row === row);
    return { runs, total: held.length };
  }
  /** The outermost zones on the device of the run while it was. */
  async run(op: number): Promise<RunDetails> {
    const run = this.data.runs.runs.find((one) => one.op === op);
    if (!run) throw new Error("this run is not in the page");
    const zones: Zone[] = [];
    for (const [track, spans] of this.wanted(true, null)) {
      if (track.core?.[0] !== run.device) continue;
      for (let i = 0; i < spans.length; i++)
        if (spans.depth[i] === 0 && spans.start[i]! >= run.from && spans.end[i]! <= run.to)
          zones.push(this.zoneAt(spans, i));
    }
    return { run, zones };
  }
  async locks(): Promise<Lock[]> {
    return this.data.locks.locks;
  }
  async transfers(): Promise<Transfers> {
    if (!this.data.transfers) throw new Error("no transfers are in this page");
    return this.data.transfers;
  }
  async ops(): Promise<OpsReport> {
    if (!this.data.ops) throw new Error("no ops report is in this page");
    return this.data.ops;
  }
  follow(): void {
    // Nothing grows in a page without a server.
  }
}

/** The data in the page, if it carries some. */
export function embeddedData(): EmbeddedSource | null {
  const element = document.getElementById("strobe-data");
  return element?.textContent
    ? new EmbeddedSource(JSON.parse(element.textContent) as PageData)
    : null;
}
