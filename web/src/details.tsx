// The selected zone: its figures, what is around and inside it, who started it.

import { useEffect } from "preact/hooks";
import type { Run, Zone, ZoneDetails } from "./api";
import { Stamp } from "./controls";
import { countOf, formatCount, formatPercent, formatTime } from "./format";
import { Histogram } from "./histogram";
import { useAnswer, useData, useExactAnswer, useStore } from "./hooks";
import { Icon } from "./icons";
import { trackLabel } from "./layout";
import { Figures, jumpTo } from "./panel_find";
import { findSource, SourceName } from "./panel_stats";
import { runName, showRow, showRun, showRunOnDevice } from "./runs";
import { deselect, getState, setState, showAround, showTime } from "./store";
import { clamp, Splitter, timelineCanvas } from "./timeline";

function length(zone: Zone): number {
  return (zone.end ?? getState().info?.end ?? zone.start) - zone.start;
}

function ZoneLink({ zone, whole }: { zone: Zone; whole: number }) {
  return (
    <button
      class="zone-link"
      title={`${zone.name || "???"}: jump to it`}
      style={{ "--part": `${clamp((length(zone) / Math.max(1, whole)) * 100, 0, 100)}%` }}
      onClick={() => jumpTo(zone.track, zone.zone, zone.start, zone.start + length(zone))}
    >
      <span class="label-text">{zone.name || "???"}</span>
      <span class="number">{formatTime(length(zone))}</span>
    </button>
  );
}

/** Children of one source as one line, the longest first. */
function groupChildren(children: Zone[]) {
  const groups = new Map<number, { longest: Zone; count: number; total: number }>();
  for (const child of children) {
    const group = groups.get(child.source) ?? { longest: child, count: 0, total: 0 };
    group.count++;
    group.total += length(child);
    if (length(child) > length(group.longest)) group.longest = child;
    groups.set(child.source, group);
  }
  return [...groups.values()].sort((a, b) => b.total - a.total);
}

function Inside({ details }: { details: ZoneDetails }) {
  const whole = length(details.zone);
  if (details.childCount === 0) return null;
  return (
    <section>
      <h4>Inside ({formatCount(details.childCount)})</h4>
      {groupChildren(details.children).map((group) => (
        <button
          key={group.longest.source}
          class="zone-link"
          style={{ "--part": `${clamp((group.total / Math.max(1, whole)) * 100, 0, 100)}%` }}
          title={`${group.longest.name || "???"}: jump to the longest of them`}
          onClick={() => {
            const zone = group.longest;
            jumpTo(zone.track, zone.zone, zone.start, zone.start + length(zone));
          }}
        >
          <span class="label-text">
            {group.count > 1 ? `${formatCount(group.count)} × ` : ""}
            {group.longest.name || "???"}
          </span>
          <span class="number">{formatTime(group.total)}</span>
        </button>
      ))}
      {details.childCount > details.children.length && (
        <p class="dim">Of the first {formatCount(details.children.length)}.</p>
      )}
    </section>
  );
}

function Siblings({ details }: { details: ZoneDetails }) {
  const data = useData();
  const { source } = details.zone;
  const revision = useStore((state) => state.info?.revision);
  const answer = useExactAnswer(
    () => data.find({ source, range: null, bins: 48, scale: "log", order: "longest", count: 0 }),
    [source],
    100,
    revision,
  );
  if (!answer.data || answer.data.count < 2) return null;
  const duration = length(details.zone);
  const ratio = duration / Math.max(1, answer.data.median);
  return (
    <section>
      <h4>All calls of it</h4>
      <Histogram
        edges={answer.data.edges}
        counts={answer.data.counts}
        mark={duration}
        height={56}
      />
      <p class="dim">
        This one took {ratio.toFixed(2)} × the median ({formatTime(answer.data.median)}).
      </p>
      <Figures stats={answer.data} />
    </section>
  );
}

function Launch({ details }: { details: ZoneDetails }) {
  const { issue } = details;
  if (!issue) return null;
  return (
    <section>
      <h4>Started by</h4>
      {issue.zone ? (
        <ZoneLink zone={issue.zone} whole={0} />
      ) : (
        <button class="zone-link" title="Go there" onClick={() => showTime(issue.time)}>
          <span class="label-text">a command</span>
          <span class="number">
            <Stamp time={issue.time} />
          </span>
        </button>
      )}
      <p class="dim">{formatTime(details.zone.start - issue.time)} before it began</p>
    </section>
  );
}

/** The op that a device zone was run for. */
function OpOf({ details }: { details: ZoneDetails }) {
  const data = useData();
  const hasReport = useStore((state) => state.info?.ops ?? false);
  const { op } = details;
  if (!op) return null;
  return (
    <section data-part="op">
      <h4>Op</h4>
      <RunLink run={op} />
      <div class="button-row">
        <button class="button" onClick={() => void showRun(data, op.op)}>
          Its kernels
        </button>
        <button class="button" onClick={() => showRunOnDevice(op)}>
          On the map
        </button>
        {hasReport && op.row !== undefined && (
          <button class="button" onClick={() => showRow(op)}>
            In the report
          </button>
        )}
      </div>
    </section>
  );
}

function RunLink({ run }: { run: Run }) {
  const data = useData();
  return (
    <button
      class="zone-link"
      title={`${runName(run)}: op ${run.id} on device ${run.device}: ${countOf(run.kernels, "kernel")}`}
      onClick={() => void showRun(data, run.op)}
    >
      <span class="label-text">{runName(run)}</span>
      <span class="number">{formatTime(run.to - run.from)}</span>
    </button>
  );
}

/** What a host zone had devices do. */
function Asked({ details }: { details: ZoneDetails }) {
  const { asked, askedCount } = details;
  if (!asked || !askedCount) return null;
  return (
    <section data-part="asked">
      <h4>Started on devices ({formatCount(askedCount)})</h4>
      {asked.slice(0, 12).map((run) => (
        <RunLink key={run.op} run={run} />
      ))}
      {askedCount > 12 && <p class="dim">The first 12 are shown.</p>}
    </section>
  );
}

function Stack({ details }: { details: ZoneDetails }) {
  if (!details.stack?.length) return null;
  return (
    <section data-part="stack">
      <h4>Call stack</h4>
      <ol class="stack">
        {details.stack.map(([name, file, line, isInlined], i) => (
          <li key={i} title={file ? `${file}:${line}` : ""}>
            <span class={isInlined ? "dim" : ""}>{name || "???"}</span>
            {file && (
              <span class="dim path">
                {file.split("/").pop()}:{line}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Head({ details }: { details: ZoneDetails }) {
  const sources = useStore((state) => state.sources);
  const tracks = useStore((state) => state.tracks);
  const { zone } = details;
  const source = sources[zone.source];
  const track = tracks.find((one) => one.id === zone.track);
  const isOpen = zone.end === undefined;
  return (
    <>
      <h3 class="zone-title">
        <SourceName source={zone.source} />
      </h3>
      {zone.name !== source?.[0] && <p>{zone.name}</p>}
      {details.text && <p class="zone-text">{details.text}</p>}
      <dl class="pairs">
        <dt>{isOpen ? "So far" : "Duration"}</dt>
        <dd data-figure="duration">{formatTime(length(zone))}</dd>
        {details.self !== undefined && (
          <>
            <dt>Self</dt>
            <dd data-figure="self">
              {formatTime(details.self)}{" "}
              <span class="dim">{formatPercent(details.self / Math.max(1, length(zone)))}</span>
            </dd>
          </>
        )}
        <dt>Start</dt>
        <dd data-figure="start">
          <Stamp time={zone.start} />
        </dd>
        <dt>Track</dt>
        <dd>{track ? trackLabel(track) : zone.track}</dd>
        {track?.uncertainty !== undefined && (
          <>
            <dt>Clock</dt>
            <dd>± {formatTime(track.uncertainty)}</dd>
          </>
        )}
        {source?.[1] && (
          <>
            <dt>Source</dt>
            <dd class="path">
              {source[1]}:{source[2]}
            </dd>
          </>
        )}
        {(details.values ?? []).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

export function Details() {
  const data = useData();
  const selection = useStore((state) => state.selection);
  const info = useStore((state) => state.info);
  const width = useStore((state) => state.detailWidth);
  const answer = useAnswer(
    () => (selection && info ? data.zone(selection.track, selection.zone) : null),
    // What a link says is looked at once the trace is known.
    [selection?.track, selection?.zone, info === null],
    0,
    info?.revision,
  );
  const details = answer.data;
  useEffect(() => setState({ selected: details }), [details]);
  useEffect(() => {
    const issue = selection ? details?.issue : undefined;
    const link =
      details && issue?.track !== undefined
        ? {
            fromTrack: issue.track,
            fromTime: issue.time,
            toTrack: details.zone.track,
            toTime: details.zone.start,
          }
        : null;
    timelineCanvas()?.setLink(link);
  }, [details, selection]);
  if (!selection) return null;
  return (
    <aside class="details" style={{ width: `${width}px` }} aria-label="Selected zone">
      <Splitter
        direction="column"
        label="Width of the details"
        onMove={(by) => setState({ detailWidth: clamp(getState().detailWidth - by, 220, 640) })}
      />
      <div class="details-head">
        <span>Zone</span>
        <button class="icon-button" title="Close (Esc)" aria-label="Close" onClick={deselect}>
          <Icon name="close" />
        </button>
      </div>
      <div class="details-body" aria-busy={answer.isLoading}>
        {answer.error && <p class="notice error">{answer.error}</p>}
        {details && (
          <>
            <Head details={details} />
            <div class="button-row">
              <button
                class="button"
                onClick={() =>
                  showAround(details.zone.start, details.zone.start + length(details.zone))
                }
              >
                Zoom to it
              </button>
              <button class="button" onClick={() => findSource(details.zone.source)}>
                Find all
              </button>
              <button
                class="button"
                onClick={() =>
                  setState({
                    range: {
                      from: details.zone.start,
                      to: details.zone.start + Math.max(1, length(details.zone)),
                    },
                  })
                }
              >
                Select its time
              </button>
            </div>
            <OpOf details={details} />
            <Launch details={details} />
            <Asked details={details} />
            {details.parents.length > 0 && (
              <section>
                <h4>Around it</h4>
                {details.parents.map((zone) => (
                  <ZoneLink key={zone.zone} zone={zone} whole={length(zone)} />
                ))}
              </section>
            )}
            <Inside details={details} />
            <Stack details={details} />
            <Siblings details={details} />
          </>
        )}
      </div>
    </aside>
  );
}
