// Statistics per source, of the whole trace or of what is selected.

import { useMemo } from "preact/hooks";
import { distinctionOf } from "./api";
import type { StatsRow } from "./api";
import { sourceColour } from "./colours";
import { Field, HostOrDevice, Notice } from "./controls";
import { countOf, formatCount, formatPercent, formatStamp, formatTime } from "./format";
import { useAnswer, useData, useStore, useTheme } from "./hooks";
import { trackLabel } from "./layout";
import { isOfDevices, setState } from "./store";
import { Table } from "./table";
import type { Column } from "./table";

export function findSource(source: number): void {
  setState({ find: source, tab: "find" });
}

function Place({ source }: { source: number }) {
  const sources = useStore((state) => state.sources);
  const [, file, line] = sources[source] ?? ["", "", 0];
  const place = file ? `${file}:${line}` : "–";
  // Of a long path the end tells more than the beginning.
  return (
    <span class="dim place" title={place}>
      <bdi>{place}</bdi>
    </span>
  );
}

export function SourceName({ source }: { source: number }) {
  const theme = useTheme();
  const sources = useStore((state) => state.sources);
  const distinction = distinctionOf(sources, source);
  return (
    <>
      <i class="swatch" style={{ background: sourceColour(theme, sources[source]) }} />
      {sources[source]?.[0] || "???"}
      {distinction && <span class="dim"> {distinction}</span>}
    </>
  );
}

function time(key: keyof StatsRow, title: string, help: string): Column<StatsRow> {
  return { key, title, help, value: (row) => row[key], show: (row) => formatTime(row[key]) };
}

export function RangeChip() {
  const range = useStore((state) => state.range);
  if (!range) return <span class="dim">whole trace</span>;
  return (
    <button
      class="chip active"
      title={`${formatStamp(range.from)} to ${formatStamp(range.to)}: back to the whole trace`}
      onClick={() => setState({ range: null })}
    >
      selection of {formatTime(range.to - range.from)} ✕
    </button>
  );
}

export function StatsPanel() {
  const data = useData();
  const range = useStore((state) => state.range);
  const tracks = useStore((state) => state.tracks);
  const sources = useStore((state) => state.sources);
  const info = useStore((state) => state.info);
  const filter = useStore((state) => state.statsFilter);
  const devices = useStore((state) => isOfDevices(state.statsDevices, state.info));
  const track = useStore((state) => state.statsTrack);
  const sort = useStore((state) => state.statsSort);
  const answer = useAnswer(
    () => data.stats({ range, track, devices, filter }),
    [range, track, devices, filter],
    120,
    info?.revision,
  );
  const rows = answer.data?.rows ?? [];
  const total = useMemo(() => rows.reduce((sum, row) => sum + row.self, 0), [rows]);
  const columns = useMemo<Column<StatsRow>[]>(
    () => [
      {
        key: "name",
        title: "Name",
        isText: true,
        width: "minmax(180px, 2.4fr)",
        value: (row) => sources[row.source]?.[0] ?? "",
        show: (row) => <SourceName source={row.source} />,
      },
      {
        key: "count",
        title: "Count",
        value: (row) => row.count,
        show: (row) => formatCount(row.count),
      },
      time("total", "Total", "Sum of durations"),
      time("self", "Self", "Without what ran inside"),
      {
        key: "part",
        title: "Self %",
        value: (row) => row.self,
        show: (row) => formatPercent(row.self / total),
      },
      time("mean", "Mean", "Sort by Mean"),
      time("median", "Median", "Half are at most this long"),
      time("p99", "p99", "99 % are at most this long"),
      time("min", "Min", "Sort by Min"),
      time("max", "Max", "Sort by Max"),
      time("deviation", "σ", "Standard deviation"),
      {
        key: "place",
        title: "Source",
        isText: true,
        width: "minmax(120px, 1.4fr)",
        value: (row) => sources[row.source]?.[1] ?? "",
        show: (row) => <Place source={row.source} />,
      },
    ],
    [sources, total],
  );
  const remedies = [range && "widen the selection", filter && "clear the filter"].filter(Boolean);
  const remedy = remedies.length > 0 ? ` You may ${remedies.join(" or ")}.` : "";
  return (
    <div class="panel-content">
      <div class="toolbar">
        <Field
          label="Filter by name"
          value={filter}
          onInput={(statsFilter) => setState({ statsFilter })}
        />
        <HostOrDevice
          isDevice={devices}
          onChoose={(statsDevices) => setState({ statsDevices, statsTrack: null })}
        />
        <select
          class="field"
          aria-label="Track"
          value={track ?? ""}
          onChange={({ currentTarget: { value } }) =>
            setState({ statsTrack: value === "" ? null : Number(value) })
          }
        >
          <option value="">all tracks</option>
          {tracks
            .filter((one) => (one.kind === "lane") === devices)
            .slice(0, 500)
            .map((one) => (
              <option key={one.id} value={one.id}>
                {trackLabel(one)}
              </option>
            ))}
        </select>
        <RangeChip />
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading} />
        <span class="dim">{countOf(rows.length, "source")}</span>
      </div>
      <Table
        columns={columns}
        rows={rows}
        rowKey={(row) => row.source}
        first={{ key: "total", isDown: true }}
        sort={sort}
        onSort={(statsSort) => setState({ statsSort })}
        part={(row) => (total > 0 ? row.self / total : 0)}
        onSelect={(row) => findSource(row.source)}
        empty={answer.isLoading || !answer.data ? "" : `No zones here.${remedy}`}
      />
    </div>
  );
}
