// The flame graph: where the time went, by path. Width is time, depth is nesting.

import { useMemo } from "preact/hooks";
import type { FlameNode } from "./api";
import { inkOn, sourceColour } from "./colours";
import { HostOrDevice, Notice } from "./controls";
import { formatCount, formatPercent, formatTime } from "./format";
import { useAnswer, useData, useStore, useTheme } from "./hooks";
import { findSource, RangeChip, SourceName } from "./panel_stats";
import { isOfDevices, setState } from "./store";

interface Box {
  node: FlameNode;
  number: number;
  depth: number;
  left: number;
  width: number;
}

const ROW_HEIGHT = 20;
/** Boxes narrower than this part of the whole cannot be seen. */
const NARROWEST = 0.0004;
/** And in narrower ones than this no name can be read. */
const NARROWEST_LABEL = 0.015;

/** Lays the paths out below `root` (0: all), heaviest first. */
function layOut(nodes: FlameNode[], root: number): Box[] {
  const children: number[][] = Array.from({ length: nodes.length + 1 }, () => []);
  nodes.forEach(([parent], i) => children[parent]!.push(i + 1));
  const totalOf = (number: number) => nodes[number - 1]![3];
  const boxes: Box[] = [];
  const place = (number: number, depth: number, left: number, scale: number) => {
    const width = totalOf(number) * scale;
    if (width < NARROWEST) return;
    boxes.push({ node: nodes[number - 1]!, number, depth, left, width });
    placeAll(children[number]!, depth + 1, left, scale);
  };
  const placeAll = (numbers: number[], depth: number, left: number, scale: number) => {
    for (const number of numbers.sort((a, b) => totalOf(b) - totalOf(a))) {
      place(number, depth, left, scale);
      left += totalOf(number) * scale;
    }
  };
  const roots = root === 0 ? children[0]! : [root];
  const all = roots.reduce((sum, number) => sum + totalOf(number), 0);
  placeAll(roots, 0, 0, 1 / Math.max(1, all));
  return boxes;
}

/** The node that a path of sources leads to; 0: none. */
function nodeOf(nodes: FlameNode[], path: number[]): number {
  let found = 0;
  for (const source of path) {
    const at = nodes.findIndex((node) => node[0] === found && node[1] === source);
    if (at < 0) return 0;
    found = at + 1;
  }
  return found;
}

function pathOf(nodes: FlameNode[], number: number): number[] {
  const path: number[] = [];
  for (let at = number; at > 0; at = nodes[at - 1]![0]) path.unshift(nodes[at - 1]![1]);
  return path;
}

const HEAVIEST = 20;

/** Sources by the time that they took themselves, below a node (0: all). */
function heaviest(nodes: FlameNode[], root: number): { source: number; self: number }[] {
  const isInside: boolean[] = [];
  const sums = new Map<number, number>();
  // Parents stand before their children.
  nodes.forEach(([parent, source, , , self], i) => {
    isInside[i] = root === 0 || i + 1 === root || (isInside[parent - 1] ?? false);
    if (isInside[i]) sums.set(source, (sums.get(source) ?? 0) + self);
  });
  return [...sums]
    .map(([source, self]) => ({ source, self }))
    .sort((a, b) => b.self - a.self)
    .slice(0, HEAVIEST);
}

function Heaviest({ nodes, root }: { nodes: FlameNode[]; root: number }) {
  const rows = useMemo(() => heaviest(nodes, root), [nodes, root]);
  const most = Math.max(1, rows[0]?.self ?? 1);
  return (
    <aside class="heaviest" aria-label="Heaviest zones">
      <h3>Most time of their own</h3>
      {rows.map(({ source, self }) => (
        <button
          key={source}
          class="zone-link"
          title="Find this zone"
          style={{ "--part": `${(self / most) * 100}%` }}
          onClick={() => findSource(source)}
        >
          <span class="label-text">
            <SourceName source={source} />
          </span>
          <span class="number">{formatTime(self)}</span>
        </button>
      ))}
    </aside>
  );
}

export function FlamePanel() {
  const data = useData();
  const theme = useTheme();
  const range = useStore((state) => state.range);
  const sources = useStore((state) => state.sources);
  const info = useStore((state) => state.info);
  const devices = useStore((state) => isOfDevices(state.flameDevices, state.info));
  const path = useStore((state) => state.flamePath);
  const { revision } = info ?? {};
  const answer = useAnswer(() => data.flame(range, devices), [range, devices], 120, revision);
  const nodes = answer.data?.nodes ?? [];
  const root = useMemo(() => nodeOf(nodes, path), [nodes, path]);
  const boxes = useMemo(() => layOut(nodes, root), [nodes, root]);
  const rows = boxes.reduce((deepest, box) => Math.max(deepest, box.depth + 1), 0);
  const name = (source: number) => sources[source]?.[0] || "???";
  return (
    <div class="panel-content">
      <div class="toolbar">
        <HostOrDevice
          isDevice={devices}
          onChoose={(flameDevices) => setState({ flameDevices, flamePath: [] })}
        />
        <RangeChip />
        {root !== 0 && (
          <button
            class="chip active"
            title="Back to all"
            onClick={() => setState({ flamePath: [] })}
          >
            {name(nodes[root - 1]?.[1] ?? 0)} ✕
          </button>
        )}
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading} />
        <span class="dim">Click to look inside, double-click to find the zone</span>
      </div>
      {answer.data && nodes.length === 0 && !answer.isLoading && (
        <div class="empty-table">No zones here.{range ? " Widen the selection." : ""}</div>
      )}
      <div class="flame-row">
        <div class="flame">
          <div class="flame-body" style={{ height: `${rows * ROW_HEIGHT}px` }}>
            {boxes.map((box) => (
              <div
                key={box.number}
                class={`flame-box ${box.width > NARROWEST_LABEL ? "labelled" : ""}`}
                style={{
                  left: `${box.left * 100}%`,
                  width: `calc(${box.width * 100}% - 1px)`,
                  top: `${box.depth * ROW_HEIGHT}px`,
                  background: sourceColour(theme, sources[box.node[1]]),
                  color: inkOn(sourceColour(theme, sources[box.node[1]])),
                }}
                title={`${name(box.node[1])}\n${formatTime(box.node[3])} (${formatPercent(box.width)}), self ${formatTime(box.node[4])}, ${formatCount(box.node[2])} calls`}
                onClick={() =>
                  setState({ flamePath: box.number === root ? [] : pathOf(nodes, box.number) })
                }
                onDblClick={() => findSource(box.node[1])}
                role="button"
                tabIndex={box.width > NARROWEST_LABEL ? 0 : -1}
                onKeyDown={({ key, currentTarget }) => key === "Enter" && currentTarget.click()}
              >
                {box.width > NARROWEST_LABEL ? name(box.node[1]) : ""}
              </div>
            ))}
          </div>
        </div>
        {nodes.length > 0 && <Heaviest nodes={nodes} root={root} />}
      </div>
    </div>
  );
}
