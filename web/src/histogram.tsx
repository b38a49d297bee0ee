// Bars of how many calls took how long.

import { formatApart, formatCount, formatShortTime, formatTime } from "./format";

interface Props {
  edges: number[];
  counts: number[];
  /** A duration to point at. */
  mark?: number | undefined;
  isLogCount?: boolean;
  height: number;
}

/** The last bin before a place that has something in it. */
function lastFilled(counts: number[], before: number): number {
  let bin = before - 1;
  while (bin > 0 && counts[bin] === 0) bin--;
  return bin;
}

export function Histogram({ edges, counts, mark, isLogCount, height }: Props) {
  const level = (count: number) => (isLogCount ? Math.log10(count + 1) : count);
  const highest = Math.max(1e-9, ...counts.map(level));
  // Edges of a logarithmic scale are rounded: what lies beyond the last one is in the last bin.
  const behind = edges.findIndex((edge, i) => i > 0 && edge >= (mark ?? 0));
  const markBin = mark === undefined ? -1 : lastFilled(counts, behind < 0 ? counts.length : behind);
  const marks = [0, Math.floor(edges.length / 2), edges.length - 1];
  const labels = formatApart(
    marks.map((i) => edges[i] ?? 0),
    formatShortTime,
  );
  const bounds = (i: number) => formatApart([edges[i]!, edges[i + 1]!], formatTime).join(" to ");
  return (
    <figure class="histogram">
      <div class="bars" style={{ height: `${height}px` }}>
        {counts.map((count, i) => (
          <div
            key={i}
            class={`histogram-bar ${i === markBin ? "marked" : ""}`}
            style={{ height: `${count > 0 ? Math.max(1.5, (level(count) / highest) * 100) : 0}%` }}
            title={`${formatCount(count)} × ${bounds(i)}`}
          />
        ))}
      </div>
      <figcaption>
        {[...new Set(labels)].map((label) => (
          <span key={label}>{label}</span>
        ))}
      </figcaption>
    </figure>
  );
}
