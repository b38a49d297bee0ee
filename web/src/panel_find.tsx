// Find zone: one source, how long its calls took, and the calls to jump to.

import { useMemo } from "preact/hooks";
import type { Call, Stats } from "./api";
import { Field, Notice, Segments, Stamp } from "./controls";
import { formatCount, formatTime } from "./format";
import { Histogram } from "./histogram";
import { useAnswer, useData, useStore } from "./hooks";
import { trackLabel } from "./layout";
import { RangeChip, SourceName } from "./panel_stats";
import { ORDERS, setState, showAround } from "./store";
import type { Order, Sort } from "./store";
import { Table } from "./table";
import type { Column } from "./table";
import { timelineCanvas } from "./timeline";

/** Selects a zone and brings it to the screen. */
export function jumpTo(track: number, zone: number, start: number, end: number): void {
  setState({ selection: { track, zone } });
  showAround(start, end);
  timelineCanvas()?.show(track, zone);
}

export function Figures({ stats }: { stats: Stats }) {
  const figures: [string, string][] = [
    ["count", formatCount(stats.count)],
    ["total", formatTime(stats.total)],
    ["self", formatTime(stats.self)],
    ["mean", formatTime(stats.mean)],
    ["median", formatTime(stats.median)],
    ["p99", formatTime(stats.p99)],
    ["min", formatTime(stats.min)],
    ["max", formatTime(stats.max)],
    ["σ", formatTime(stats.deviation)],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-figure={name}>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

function Picker() {
  const sources = useStore((state) => state.sources);
  const text = useStore((state) => state.pickText);
  const found = useMemo(() => {
    const part = text.toLowerCase();
    const all = sources.map(([name, file], id) => ({ id, name, file }));
    return all.filter((one) => one.id > 0 && one.name.toLowerCase().includes(part)).slice(0, 60);
  }, [text, sources]);
  return (
    <div class="panel-content">
      <div class="toolbar">
        <Field
          label="Zone name"
          hint="Which zone? Type a part of its name"
          value={text}
          onInput={(pickText) => setState({ pickText })}
          isWide
        />
      </div>
      <div class="pick-list">
        {found.map((one) => (
          <button key={one.id} onClick={() => setState({ find: one.id })}>
            <SourceName source={one.id} />
            <span class="dim">{one.file}</span>
          </button>
        ))}
        {found.length === 0 && <div class="empty-table">No zone is called like this.</div>}
      </div>
    </div>
  );
}

const ORDER_TITLES: Record<Order, string> = {
  longest: "longest calls",
  shortest: "shortest calls",
  time: "first calls",
};

/** As the server has them. */
const ORDER_SORTS: Record<Order, Sort> = {
  longest: { key: "duration", isDown: true },
  shortest: { key: "duration", isDown: false },
  time: { key: "start", isDown: false },
};

export function FindPanel() {
  const data = useData();
  const find = useStore((state) => state.find);
  const range = useStore((state) => state.range);
  const tracks = useStore((state) => state.tracks);
  const info = useStore((state) => state.info);
  const selection = useStore((state) => state.selection);
  const scale = useStore((state) => state.findScale);
  const isLogCount = useStore((state) => state.findCounts === "log");
  const order = useStore((state) => state.findOrder);
  const sort = useStore((state) => state.findSort);
  const answer = useAnswer(
    () =>
      find === null ? null : data.find({ source: find, range, bins: 80, scale, order, count: 500 }),
    [find, range, scale, order],
    60,
    info?.revision,
  );
  const names = useMemo(() => new Map(tracks.map((track) => [track.id, track])), [tracks]);
  const columns = useMemo<Column<Call>[]>(() => {
    const name = (id: number) => {
      const track = names.get(id);
      return track ? trackLabel(track) : String(id);
    };
    return [
      {
        key: "duration",
        title: "Duration",
        value: (call) => call[3],
        show: (call) => formatTime(call[3]),
      },
      {
        key: "start",
        title: "Start",
        value: (call) => call[2],
        width: "minmax(124px, 1fr)",
        show: (call) => <Stamp time={call[2]} />,
      },
      {
        key: "track",
        title: "Track",
        isText: true,
        width: "minmax(110px, 1.5fr)",
        value: (call) => name(call[0]),
      },
    ];
  }, [names]);
  if (find === null) return <Picker />;
  const found = answer.data?.source === find ? answer.data : null;
  const chosen = found?.calls.find(
    (call) => selection && call[0] === selection.track && call[1] === selection.zone,
  );
  return (
    <div class="panel-content">
      <div class="toolbar">
        <button
          class="chip active"
          onClick={() => setState({ find: null })}
          title="Choose another zone"
        >
          <SourceName source={find} /> ✕
        </button>
        <RangeChip />
        <Segments
          label="Scale of the histogram"
          choices={[
            { value: "linear", title: "Linear time" },
            { value: "log", title: "Log time" },
          ]}
          value={scale}
          onChoose={(findScale) => setState({ findScale })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isLogCount}
            onChange={() => setState({ findCounts: isLogCount ? "linear" : "log" })}
          />
          log counts
        </label>
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading} />
        <select
          class="field"
          value={order}
          aria-label="Which calls"
          onChange={(event) =>
            setState({ findOrder: event.currentTarget.value as Order, findSort: null })
          }
        >
          {ORDERS.map((one) => (
            <option key={one} value={one}>
              {ORDER_TITLES[one]}
            </option>
          ))}
        </select>
      </div>
      {found && (
        <div class="find-body">
          <div class="find-left">
            <Figures stats={found} />
            <Histogram
              edges={found.edges}
              counts={found.counts}
              mark={chosen?.[3]}
              isLogCount={isLogCount}
              height={130}
            />
          </div>
          <Table
            columns={columns}
            rows={found.calls}
            rowKey={(call) => `${call[0]}.${call[1]}`}
            first={ORDER_SORTS[order]}
            sort={sort}
            onSort={(findSort) => setState({ findSort })}
            selected={selection ? `${selection.track}.${selection.zone}` : null}
            onSelect={(call) => jumpTo(call[0], call[1], call[2], call[2] + call[3])}
            empty="No calls in the selection."
          />
        </div>
      )}
    </div>
  );
}
