// The device as a map of its cores, or of the SMs of a GPU: how busy each was, how long it waited, what it lost and what it
// moved over the network on chip, so that imbalance is seen at a glance.

import { useMemo } from "preact/hooks";
import type { DeviceMap, Flow, Lane, Plot, Transfers } from "./api";
import { heatColour, inkOn } from "./colours";
import { Field, Notice, Segments } from "./controls";
import { countOf, formatBytes, formatCount, formatPercent, formatTime } from "./format";
import { useAnswer, useData, useStore, useTheme } from "./hooks";
import { RangeChip } from "./panel_stats";
import { runName } from "./runs";
import { forgetRun, MEASURES, setState, traceEnd } from "./store";
import type { Measure } from "./store";
import { timelineCanvas } from "./timeline";

interface MeasureText {
  title: string;
  about: string;
  ofGpu?: string;
  figure: (value: number) => string;
}

const MEASURE_TEXTS: Record<Measure, MeasureText> = {
  busy: {
    title: "Busy",
    about: "the share of time in which the busiest processor of a core ran zones",
    ofGpu: "the share of time in which the busiest warp slot of an SM was in zones",
    figure: formatPercent,
  },
  kernel: {
    title: "Utilisation",
    about: "the share of time in which the busiest processor of a core ran a kernel",
    figure: formatPercent,
  },
  waiting: {
    title: "Waiting",
    about: "the share of time in which a processor of a core was in a zone named WAIT",
    ofGpu: "the share of time in which a warp slot of an SM was in a zone named WAIT",
    figure: formatPercent,
  },
  lost: {
    title: "Losses",
    about: "how much the recording lost on a core",
    ofGpu: "how much the recording lost on an SM",
    figure: formatCount,
  },
  traffic: {
    title: "NoC traffic",
    about: "bytes that a core read and wrote over the network on chip; outlined: memory",
    figure: formatBytes,
  },
};

interface Core {
  key: string;
  device: number;
  x: number;
  y: number;
  /** What people call it. */
  name: string;
  isSm: boolean;
  lanes: Lane[];
  /** What the map shows: a share of time (0 to 1), a number, or bytes. */
  value: number;
  text: string;
}

/** Columns for the SMs of each GPU: about a square, with whole rows where that is possible. */
function columnsOf(lanes: Lane[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { sm } of lanes)
    if (sm) counts.set(sm[0], Math.max(counts.get(sm[0]) ?? 0, sm[1] + 1));
  const columns = new Map<number, number>();
  for (const [device, count] of counts) {
    const least = Math.ceil(Math.sqrt(count));
    const widths = Array.from({ length: least }, (_, i) => least + i);
    columns.set(device, widths.find((width) => count % width === 0) ?? least);
  }
  return columns;
}

/** Lanes that are not of a core (queues) have no place on the map, unless there are no others. */
function coresOf(map: DeviceMap, measure: Measure): Core[] {
  const cores = new Map<string, Core>();
  const columns = columnsOf(map.lanes);
  const placed = map.lanes.filter((lane) => lane.core ?? lane.sm);
  const span = Math.max(1, map.to - map.from);
  const placeOf = (lane: Lane): [number, number, number] => {
    if (!lane.sm) return lane.core ?? [0, lane.context, 0];
    const [device, number] = lane.sm;
    const width = columns.get(device) ?? 1;
    return [device, number % width, Math.floor(number / width)];
  };
  for (const lane of placed.length > 0 ? placed : map.lanes) {
    const core = coreAt(cores, ...placeOf(lane));
    if (lane.sm) Object.assign(core, { name: `SM ${lane.sm[1]}`, isSm: true });
    core.lanes.push(lane);
    if (measure === "lost") core.value += lane.lost;
    else if (measure !== "traffic") core.value = Math.max(core.value, lane[measure] / span);
    core.text = MEASURE_TEXTS[measure].figure(core.value);
  }
  return [...cores.values()];
}

function coreAt(cores: Map<string, Core>, device: number, x: number, y: number): Core {
  const key = `${device}:${x},${y}`;
  const known = cores.get(key);
  if (known) return known;
  const name = `${x},${y}`;
  const core = { key, device, x, y, name, isSm: false, lanes: [], value: 0, text: "" };
  cores.set(key, core);
  return core;
}

/** Ends of transfers that are no cores are memory. */
function addTraffic(cores: Core[], transfers: Transfers | null): Core[] {
  const all = new Map(cores.map((core) => [core.key, { ...core, value: 0 }]));
  for (const [device, x, y, bytes] of transfers?.ends ?? [])
    coreAt(all, device, x, y).value = bytes;
  for (const core of all.values()) core.text = formatBytes(core.value);
  return [...all.values()];
}

function titleOf(core: Core): string {
  if (core.isSm) return core.name;
  return `${core.lanes.length === 0 ? "Memory" : "Core"} ${core.name}`;
}

function Grid({
  cores,
  chosen,
  choose,
}: {
  cores: Core[];
  chosen: string | null;
  choose: (key: string) => void;
}) {
  const theme = useTheme();
  const left = Math.min(...cores.map((core) => core.x));
  const top = Math.min(...cores.map((core) => core.y));
  const columns = Math.max(...cores.map((core) => core.x)) - left + 1;
  const most = Math.max(1e-9, ...cores.map((core) => core.value));
  return (
    <div
      class="core-grid"
      style={{ gridTemplateColumns: `repeat(${columns}, minmax(44px, 72px))` }}
    >
      {cores.map((core) => (
        <button
          key={core.key}
          class={`core ${chosen === core.key ? "chosen" : ""} ${core.lanes.length === 0 ? "memory" : ""}`}
          style={{
            gridColumn: core.x - left + 1,
            gridRow: core.y - top + 1,
            background: heatColour(theme, core.value / most),
            color: inkOn(heatColour(theme, core.value / most)),
          }}
          title={`${titleOf(core)}: ${core.text}`}
          onClick={() => choose(core.key)}
        >
          <small>{core.name}</small>
          {core.text}
        </button>
      ))}
    </div>
  );
}

/** Whom the core exchanged data with, the most first. */
function CoreFlows({ core, flows }: { core: Core; flows: Flow[] }) {
  const own = flows.filter(
    ([device, fromX, fromY, toX, toY]) =>
      device === core.device &&
      ((fromX === core.x && fromY === core.y) || (toX === core.x && toY === core.y)),
  );
  if (own.length === 0) return <p class="dim">No transfers of it are known.</p>;
  return (
    <ul class="flows">
      {own.slice(0, 12).map(([, fromX, fromY, toX, toY, isRead, bytes, transfers]) => (
        <li key={`${fromX},${fromY},${toX},${toY},${isRead}`}>
          <span>
            {fromX},{fromY} {isRead ? "reads from" : "writes to"}{" "}
            {toX < 0 ? "many" : `${toX},${toY}`}
          </span>
          <span class="number">{formatBytes(bytes)}</span>
          <span class="number dim">{countOf(transfers, "transfer")}</span>
        </li>
      ))}
    </ul>
  );
}

/** How much of a memory was in use over time. */
function MemoryGraph({ plot }: { plot: Plot }) {
  const data = useData();
  const info = useStore((state) => state.info);
  const width = 300;
  const height = 48;
  const answer = useAnswer(
    () => data.plot(plot.id, { from: 0, to: traceEnd() }, width),
    [plot.id],
    0,
    info?.revision,
  );
  const points = answer.data ?? [];
  const most = Math.max(1, ...points.map(([, , high]) => high));
  const x = (time: number) => (time / traceEnd()) * width;
  const y = (value: number) => height - (value / most) * (height - 2);
  const line = points
    .map(([time, , high, last]) => `H${x(time)} V${y(high)} V${y(last)}`)
    .join(" ");
  return (
    <figure class="memory-graph">
      <figcaption>
        {plot.name} <span class="dim">at most {formatBytes(most)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${plot.name} over time`}>
        <path d={`M0 ${height} ${line} H${width} V${height} Z`} />
      </svg>
    </figure>
  );
}

function CoreDetails({ core, span }: { core: Core; span: number }) {
  return (
    <div class="core-details">
      <h3>{titleOf(core)}</h3>
      {core.lanes.map((lane) => (
        <button
          key={lane.track}
          class="lane-bar"
          onClick={() => timelineCanvas()?.show(lane.track)}
          title="Show on the timeline"
        >
          <span>{lane.name}</span>
          <span class="lane-track">
            <i style={{ width: `${Math.min(100, (lane.busy / span) * 100)}%` }} />
          </span>
          <span class="number">{formatTime(lane.busy)}</span>
          <span class="number dim">{formatPercent(lane.busy / span)}</span>
          <small class="lane-note dim">
            {core.isSm ? "" : `${formatTime(lane.kernel)} in kernels · `}
            {formatTime(lane.waiting)} waiting
            {lane.lost > 0 ? ` · ${formatCount(lane.lost)} lost` : ""}
          </small>
        </button>
      ))}
    </div>
  );
}

/** What of the transfers the map does not show. */
function TrafficNote({ transfers }: { transfers: Transfers }) {
  const notes: string[] = [];
  if (transfers.unplaced > 0)
    notes.push(`when ${countOf(transfers.unplaced, "transfer")} were is not known`);
  if (transfers.skipped > 0) notes.push(`${countOf(transfers.skipped, "file")} could not be read`);
  return notes.length > 0 ? <span class="notice">{notes.join(" · ")}</span> : null;
}

/** How unequal the cores are: the busiest against the mean. */
function Balance({ cores, measure }: { cores: Core[]; measure: Measure }) {
  const values = cores.filter((core) => core.lanes.length > 0).map((core) => core.value);
  const mean = values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
  const most = Math.max(0, ...values);
  const text = MEASURE_TEXTS[measure].figure;
  return (
    <span class="dim">
      {countOf(values.length, cores[0]?.isSm ? "SM" : "core")} · mean {text(mean)} · highest{" "}
      {mean > 0 ? `${(most / mean).toFixed(2)} × mean` : "–"}
    </span>
  );
}

export function DevicePanel() {
  const data = useData();
  const range = useStore((state) => state.range);
  const info = useStore((state) => state.info);
  const filter = useStore((state) => state.mapFilter);
  const device = useStore((state) => state.mapDevice);
  const chosen = useStore((state) => state.mapCore);
  const wanted = useStore((state) => state.mapMeasure);
  const run = useStore((state) => state.run);
  const plots = useStore((state) => state.plots);
  const { revision } = info ?? {};
  const answer = useAnswer(() => data.device(range, filter), [range, filter], 150, revision);
  // No zone of a GPU stands for the kernel as a whole.
  const lanes = answer.data?.lanes ?? [];
  const isGpu = lanes.length > 0 && lanes.every((lane) => lane.sm);
  const measures = MEASURES.filter((one) =>
    one === "traffic" ? info?.transfers : one !== "kernel" || !isGpu,
  );
  const measure = measures.includes(wanted) ? wanted : "busy";
  const isTraffic = measure === "traffic";
  const transfers = useAnswer(
    () => (isTraffic ? data.transfers(run?.id ?? null, range) : null),
    [isTraffic, run?.id, range],
    150,
  );
  const all = useMemo(() => {
    const cores = answer.data ? coresOf(answer.data, measure) : [];
    return isTraffic ? addTraffic(cores, transfers.data) : cores;
  }, [answer.data, measure, transfers.data]);
  const memory = plots.filter((plot) => plot.kind === "memory");
  if ((info?.deviceZones ?? 0) === 0)
    return <div class="empty-table">This trace has no device lanes.</div>;
  const devices = [...new Set(all.map((core) => core.device))].sort((a, b) => a - b);
  const shown = device !== null && devices.includes(device) ? device : (devices[0] ?? 0);
  const cores = all.filter((core) => core.device === shown);
  const span = Math.max(1, (answer.data?.to ?? 1) - (answer.data?.from ?? 0));
  const core = cores.find((one) => one.key === chosen);
  return (
    <div class="panel-content">
      <div class="toolbar">
        {devices.length > 1 && (
          <Segments
            label="Which device"
            choices={devices.map((one) => ({ value: String(one), title: `Device ${one}` }))}
            value={String(shown)}
            onChoose={(one) => setState({ mapDevice: Number(one) })}
          />
        )}
        <Field
          label="Only zones named"
          hint="Only zones named…"
          value={filter}
          onInput={(mapFilter) => setState({ mapFilter })}
        />
        <Segments
          label="What the map shows"
          choices={measures.map((value) => {
            const { title, about, ofGpu } = MEASURE_TEXTS[value];
            return { value, title, help: (isGpu && ofGpu) || about };
          })}
          value={measure}
          onChoose={(mapMeasure) => setState({ mapMeasure })}
        />
        <RangeChip />
        {run && (
          <button class="chip" title="All ops" onClick={forgetRun}>
            {runName(run)} ×
          </button>
        )}
        <span class="spacer" />
        <Notice
          error={answer.error ?? transfers.error}
          isLoading={answer.isLoading || transfers.isLoading}
        />
        {isTraffic && transfers.data && <TrafficNote transfers={transfers.data} />}
        {cores.length > 0 && <Balance cores={cores} measure={measure} />}
      </div>
      {cores.length > 0 && (
        <div class="device-body">
          <Grid cores={cores} chosen={chosen} choose={(mapCore) => setState({ mapCore })} />
          <div class="device-side">
            {core ? (
              <>
                <CoreDetails core={core} span={span} />
                {isTraffic && <CoreFlows core={core} flows={transfers.data?.flows ?? []} />}
              </>
            ) : (
              <p class="dim">
                Colour and figure:{" "}
                {(isGpu && MEASURE_TEXTS[measure].ofGpu) || MEASURE_TEXTS[measure].about}. Click{" "}
                {isGpu ? "an SM for its warp slots" : "a core for its processors"}. One that ran no
                zone in the whole recording is not on the map.
              </p>
            )}
            {memory.slice(0, 6).map((plot) => (
              <MemoryGraph key={plot.id} plot={plot} />
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
