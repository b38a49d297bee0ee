// The device as a map of its cores: how busy each was, so that imbalance is seen at a glance.

import { useMemo, useState } from "preact/hooks";
import type { DeviceMap, Lane } from "./api";
import { heatColour } from "./colours";
import { formatCount, formatPercent, formatTime } from "./format";
import { useAnswer, useData, useStore, useTheme } from "./hooks";
import { RangeChip } from "./panel_stats";
import { setState } from "./store";
import { Notice } from "./table";
import { timelineCanvas } from "./timeline";

interface Core {
  key: string;
  device: number;
  x: number;
  y: number;
  lanes: Lane[];
  /** Of the busiest processor. */
  busy: number;
  zones: number;
}

/** Lanes that are not of a core (queues) have no place on the map, unless there are no others. */
function coresOf(map: DeviceMap): Core[] {
  const cores = new Map<string, Core>();
  const placed = map.lanes.filter((lane) => lane.core);
  for (const lane of placed.length > 0 ? placed : map.lanes) {
    const [device, x, y] = lane.core ?? [0, lane.context, 0];
    const key = `${device}:${x},${y}`;
    const core = cores.get(key) ?? { key, device, x, y, lanes: [], busy: 0, zones: 0 };
    core.lanes.push(lane);
    core.busy = Math.max(core.busy, lane.busy);
    core.zones += lane.zones;
    cores.set(key, core);
  }
  return [...cores.values()];
}

function Grid({
  cores,
  span,
  chosen,
  choose,
}: {
  cores: Core[];
  span: number;
  chosen: string | null;
  choose: (key: string) => void;
}) {
  const theme = useTheme();
  const left = Math.min(...cores.map((core) => core.x));
  const top = Math.min(...cores.map((core) => core.y));
  const columns = Math.max(...cores.map((core) => core.x)) - left + 1;
  const busiest = Math.max(1, ...cores.map((core) => core.busy));
  return (
    <div
      class="core-grid"
      style={{ gridTemplateColumns: `repeat(${columns}, minmax(44px, 72px))` }}
    >
      {cores.map((core) => (
        <button
          key={core.key}
          class={`core ${chosen === core.key ? "chosen" : ""} ${core.busy / busiest > 0.55 ? "hot" : ""}`}
          style={{
            gridColumn: core.x - left + 1,
            gridRow: core.y - top + 1,
            background: heatColour(theme, core.busy / busiest),
          }}
          title={`Core ${core.x},${core.y}: ${formatTime(core.busy)} busy, ${formatCount(core.zones)} zones`}
          onClick={() => choose(core.key)}
        >
          <small>
            {core.x},{core.y}
          </small>
          {formatPercent(core.busy / span)}
        </button>
      ))}
    </div>
  );
}

function CoreDetails({ core, span }: { core: Core; span: number }) {
  const show = (lane: Lane) => {
    setState({ filter: "" });
    timelineCanvas()?.reveal(lane.track);
  };
  return (
    <div class="core-details">
      <h3>
        Core {core.x},{core.y}
      </h3>
      {core.lanes.map((lane) => (
        <button
          key={lane.track}
          class="lane-bar"
          onClick={() => show(lane)}
          title="Show on the timeline"
        >
          <span>{lane.name}</span>
          <span class="lane-track">
            <i style={{ width: `${Math.min(100, (lane.busy / span) * 100)}%` }} />
          </span>
          <span class="number">{formatTime(lane.busy)}</span>
          <span class="number dim">{formatPercent(lane.busy / span)}</span>
        </button>
      ))}
    </div>
  );
}

/** How unequal the cores are: the busiest against the mean. */
function Balance({ cores, span }: { cores: Core[]; span: number }) {
  const busy = cores.map((core) => core.busy);
  const mean = busy.reduce((sum, one) => sum + one, 0) / Math.max(1, busy.length);
  const most = Math.max(...busy);
  return (
    <span class="dim">
      {formatCount(cores.length)} cores · mean {formatPercent(mean / span)} · busiest{" "}
      {mean > 0 ? `${(most / mean).toFixed(2)} × mean` : "–"}
    </span>
  );
}

export function DevicePanel() {
  const data = useData();
  const range = useStore((state) => state.range);
  const info = useStore((state) => state.info);
  const [filter, setFilter] = useState("");
  const [device, setDevice] = useState<number | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const answer = useAnswer(() => data.device(range, filter), [range, filter, info?.revision], 150);
  const all = useMemo(() => (answer.data ? coresOf(answer.data) : []), [answer.data]);
  if ((info?.deviceZones ?? 0) === 0)
    return <div class="empty-table">This trace has no device lanes.</div>;
  const devices = [...new Set(all.map((core) => core.device))].sort((a, b) => a - b);
  const shown = device ?? devices[0] ?? 0;
  const cores = all.filter((core) => core.device === shown);
  const span = Math.max(1, (answer.data?.to ?? 1) - (answer.data?.from ?? 0));
  const core = cores.find((one) => one.key === chosen);
  return (
    <div class="panel-content">
      <div class="toolbar">
        {devices.length > 1 && (
          <div class="segments">
            {devices.map((number) => (
              <button
                key={number}
                class={number === shown ? "on" : ""}
                onClick={() => setDevice(number)}
              >
                Device {number}
              </button>
            ))}
          </div>
        )}
        <input
          class="field"
          placeholder="Only zones named… (MATMUL, WAIT)"
          aria-label="Only zones named"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <RangeChip />
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading && !answer.data} />
        {cores.length > 0 && <Balance cores={cores} span={span} />}
      </div>
      {cores.length > 0 && (
        <div class="device-body">
          <Grid cores={cores} span={span} chosen={chosen} choose={setChosen} />
          {core ? (
            <CoreDetails core={core} span={span} />
          ) : (
            <p class="dim pad">
              Colour and figure: the share of time in which the busiest processor of a core ran
              zones. Click a core for its processors.
            </p>
          )}
        </div>
      )}
    </div>
  );
}
