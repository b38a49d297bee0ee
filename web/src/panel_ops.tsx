// The ops report: what each operation cost, what bounds it, what to try.

import { useMemo } from "preact/hooks";
import type { Op, OpGroup, OpsReport, Run } from "./api";
import { Field, Notice, Segments, Stamp } from "./controls";
import { countOf, formatPercent, formatTime } from "./format";
import { useAnswer, useData, useExactAnswer, useStore, useTheme } from "./hooks";
import { runName, showRun, showRunOnDevice } from "./runs";
import { GROUPINGS, setState } from "./store";
import type { Grouping } from "./store";
import { Table } from "./table";
import type { Column } from "./table";

type OpColumn = Column<Op> & { isOptional?: boolean };

const missing = -Infinity;

function number(
  key: keyof Op & string,
  title: string,
  digits: number,
  unit: string,
  isOptional = false,
): OpColumn {
  return {
    key,
    title,
    isOptional,
    value: (op) => (op[key] as number | null) ?? missing,
    show: (op) => {
      const value = op[key] as number | null;
      return value === null ? "" : `${value.toFixed(digits)}${unit}`;
    },
  };
}

const COLUMNS: OpColumn[] = [
  { key: "id", title: "ID", width: "64px", value: (op) => op.id },
  {
    key: "op_code",
    title: "Op",
    isText: true,
    width: "minmax(240px, 3fr)",
    value: (op) => op.op_code,
  },
  {
    key: "bound",
    title: "Bound",
    isText: true,
    width: "80px",
    value: (op) => op.bound ?? "",
    show: (op) =>
      op.bound ? <span class={`bound ${op.bound.toLowerCase()}`}>{op.bound}</span> : "",
  },
  number("total_percent", "Total %", 1, " %"),
  { ...number("device_time_us", "Device time", 1, " µs"), width: "minmax(92px, 1fr)" },
  number("gap_us", "Gap", 1, " µs"),
  number("cores", "Cores", 0, "", true),
  number("dram_gb_per_s", "DRAM", 0, " GB/s", true),
  number("dram_percent", "DRAM %", 1, " %"),
  number("tflops", "FLOPs", 1, " T", true),
  number("flops_percent", "FLOPs %", 1, " %"),
  number("utilisation_percent", "Util %", 1, " %", true),
  {
    key: "math_fidelity",
    title: "Fidelity",
    isText: true,
    isOptional: true,
    width: "minmax(120px, 1.2fr)",
    value: (op) => op.math_fidelity ?? "",
  },
];

/** Those that are asked for and known, in the order of the table; the op itself is always there. */
function chooseColumns(keys: string[] | null): OpColumn[] {
  const known = COLUMNS.filter((column) => keys?.includes(column.key));
  return COLUMNS.filter((column) =>
    known.length > 0 ? column.key === "op_code" || known.includes(column) : !column.isOptional,
  );
}

function ColumnChoice({ shown }: { shown: OpColumn[] }) {
  const choose = (columns: OpColumn[]) =>
    setState({ opColumns: columns.map((column) => column.key) });
  const turn = (column: OpColumn) =>
    choose(COLUMNS.filter((one) => shown.includes(one) !== (one === column)));
  return (
    <details class="choice">
      <summary>Columns</summary>
      <div class="choice-list">
        {COLUMNS.map((column) => (
          <label key={column.key} class="check">
            <input
              type="checkbox"
              checked={shown.includes(column)}
              disabled={column.key === "op_code"}
              onChange={() => turn(column)}
            />
            {column.title}
          </label>
        ))}
        <div class="button-row">
          <button class="button" onClick={() => choose(COLUMNS)}>
            All
          </button>
          <button class="button" onClick={() => setState({ opColumns: null })}>
            Usual
          </button>
        </div>
      </div>
    </details>
  );
}

/** More rows than a call takes arguments are no reason to fail; never 0, so that one can divide. */
function highest<T>(rows: T[], value: (row: T) => number): number {
  return rows.reduce((most, row) => Math.max(most, value(row)), 1e-9);
}

/** Device time by kind of op, by category, or by where the first input lies. */
function groupOps(
  report: OpsReport,
  grouping: Grouping,
): { name: string; us: number; count: number }[] {
  if (grouping !== "memory") {
    const key =
      grouping === "op" ? (group: OpGroup) => group.group : (group: OpGroup) => group.category;
    return addUp(report.summary.map((group) => [key(group), group.device_time_us, group.op_count]));
  }
  const ops = report.ops.filter((op) => !op.is_signpost && !op.is_host_op);
  return addUp(
    ops.map((op) => [
      op.input_0_memory?.replace(/^DEV_\d+_/, "").toLowerCase() ?? "unknown",
      op.device_time_us ?? 0,
      1,
    ]),
  );
}

function addUp(parts: [name: string, us: number, count: number][]) {
  const sums = new Map<string, { name: string; us: number; count: number }>();
  for (const [name, us, count] of parts) {
    const sum = sums.get(name) ?? { name, us: 0, count: 0 };
    sum.us += us;
    sum.count += count;
    sums.set(name, sum);
  }
  return [...sums.values()].sort((a, b) => b.us - a.us);
}

function SummaryBar({ report, grouping }: { report: OpsReport; grouping: Grouping }) {
  const theme = useTheme();
  const groups = groupOps(report, grouping);
  const total = Math.max(
    1e-9,
    groups.reduce((sum, group) => sum + group.us, 0),
  );
  return (
    <div class="summary-bar" role="img" aria-label={`Device time by ${grouping}`}>
      {groups.map((group, i) => (
        <div
          key={group.name}
          style={{
            flexGrow: group.us / total,
            background: theme.palette[i % theme.palette.length]!,
          }}
          title={`${group.name}: ${group.us.toFixed(0)} µs in ${group.count} ops (${formatPercent(group.us / total)})`}
        >
          {group.us / total > 0.07 ? group.name : ""}
        </div>
      ))}
    </div>
  );
}

function Verdict({ report }: { report: OpsReport }) {
  return (
    <div class="verdict">
      <p>{report.verdict.where_the_time_went}</p>
      <p>
        <strong>Biggest opportunity</strong> {report.verdict.biggest_opportunity}
      </p>
      <p>
        <strong>What to do first</strong> {report.verdict.what_to_do_first}
      </p>
    </div>
  );
}

/** From a row of the report to what ran for it. */
function Kernels({ row }: { row: number }) {
  const data = useData();
  const answer = useExactAnswer(() => data.runs(row), [row]);
  const run = answer.data?.runs[0];
  if (!answer.data) return null;
  if (!run) return <p class="dim">The trace has no kernels of it.</p>;
  return (
    <div class="button-row">
      <button class="button" onClick={() => void showRun(data, run.op)}>
        Show its {countOf(run.kernels, "kernel")}
      </button>
      <button class="button" onClick={() => showRunOnDevice(run)}>
        On the map
      </button>
    </div>
  );
}

function Advice({ op }: { op: Op }) {
  return (
    <div class="advice">
      <h3>{op.op_code}</h3>
      <p class="dim">
        ID {op.id} · {op.input_0_memory ?? "no input"} · {op.math_fidelity ?? "no fidelity"}
      </p>
      <Kernels row={op.id} />
      {(op.advice ?? []).length === 0 && <p class="dim">Nothing to suggest for this one.</p>}
      <ul>
        {(op.advice ?? []).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

const RUN_COLUMNS: Column<Run>[] = [
  { key: "id", title: "ID", width: "90px", value: (run) => run.id },
  { key: "name", title: "Op", isText: true, width: "minmax(240px, 3fr)", value: runName },
  { key: "device", title: "Device", width: "70px", value: (run) => run.device },
  {
    key: "time",
    title: "Device time",
    value: (run) => run.to - run.from,
    show: (run) => formatTime(run.to - run.from),
  },
  { key: "kernels", title: "Kernels", width: "90px", value: (run) => run.kernels },
  {
    key: "from",
    title: "Start",
    width: "minmax(124px, 1fr)",
    value: (run) => run.from,
    show: (run) => <Stamp time={run.from} />,
  },
];

function OpFilter() {
  const filter = useStore((state) => state.opFilter);
  return <Field label="Filter ops" value={filter} onInput={(opFilter) => setState({ opFilter })} />;
}

/** Without a report, the runs that the trace itself knows of. */
function Runs() {
  const data = useData();
  const info = useStore((state) => state.info);
  const chosen = useStore((state) => state.run);
  const filter = useStore((state) => state.opFilter);
  const sort = useStore((state) => state.opSort);
  const answer = useAnswer(() => data.runs(null), [], 0, info?.revision);
  const runs = (answer.data?.runs ?? []).filter((run) =>
    runName(run).toLowerCase().includes(filter.toLowerCase()),
  );
  const most = highest(runs, (run) => run.to - run.from);
  return (
    <div class="panel-content">
      <div class="toolbar">
        <OpFilter />
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading && !answer.data} />
        <span class="dim">
          {countOf(answer.data?.total ?? 0, "run")} · no ops report: `strobe report` makes one
        </span>
      </div>
      <Table
        columns={RUN_COLUMNS}
        rows={runs}
        rowKey={(run) => run.op}
        first={{ key: "time", isDown: true }}
        sort={sort}
        onSort={(opSort) => setState({ opSort })}
        part={(run) => (run.to - run.from) / most}
        selected={chosen?.op ?? null}
        onSelect={(run) => void showRun(data, run.op)}
        empty={answer.data ? "No op is called like this." : ""}
      />
    </div>
  );
}

export function OpsPanel() {
  const data = useData();
  const info = useStore((state) => state.info);
  const filter = useStore((state) => state.opFilter);
  const chosen = useStore((state) => state.opRow);
  const grouping = useStore((state) => state.opGrouping);
  const sort = useStore((state) => state.opSort);
  const chosenColumns = useStore((state) => state.opColumns);
  const answer = useAnswer(() => (info?.ops ? data.ops() : null), [info?.ops]);
  const report = answer.data;
  const ops = useMemo(
    () =>
      (report?.ops ?? []).filter((op) => op.op_code.toLowerCase().includes(filter.toLowerCase())),
    [report, filter],
  );
  const columns = useMemo(() => chooseColumns(chosenColumns), [chosenColumns]);
  if (!info?.ops && (info?.runs ?? 0) > 0) return <Runs />;
  if (!info?.ops && info?.live)
    return <div class="empty-table">Which ops were run is told when the recording has ended.</div>;
  if (!info?.ops)
    return (
      <div class="empty-table">
        There is no ops report with this trace. `strobe view FOLDER` takes the one in the folder,
        `--ops PATH` names one.
      </div>
    );
  const op = ops.find((one) => one.id === chosen);
  const most = highest(ops, (one) => one.total_percent ?? 0);
  return (
    <div class="panel-content">
      <div class="toolbar">
        <OpFilter />
        <Segments
          label="Summary"
          choices={GROUPINGS.map((value) => ({ value, title: `by ${value}` }))}
          value={grouping}
          onChoose={(opGrouping) => setState({ opGrouping })}
        />
        <ColumnChoice shown={columns} />
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading && !report} />
        {report && (
          <span class="dim">
            {countOf(report.totals.device_ops, "device op")} ·{" "}
            {report.totals.device_time_us.toFixed(0)} µs · {report.architecture}
          </span>
        )}
      </div>
      {report && (
        <>
          <SummaryBar report={report} grouping={grouping} />
          <div class="ops-body">
            <Table
              columns={columns}
              rows={ops}
              rowKey={(row) => row.id}
              first={{ key: "total_percent", isDown: true }}
              sort={sort}
              onSort={(opSort) => setState({ opSort })}
              part={(row) => (row.total_percent ?? 0) / most}
              selected={chosen}
              onSelect={(row) => setState({ opRow: row.id })}
              empty="No op is called like this."
            />
            <aside class="ops-side">{op ? <Advice op={op} /> : <Verdict report={report} />}</aside>
          </div>
        </>
      )}
    </div>
  );
}
