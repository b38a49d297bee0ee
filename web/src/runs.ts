// Runs of ops: from a run to its kernels on the timeline.

import { messageOf } from "./api";
import type { DataSource, Run, RunDetails, Zone } from "./api";
import { jumpTo } from "./panel_find";
import { getState, setState, subscribe } from "./store";
import type { State } from "./store";

function longest(zones: Zone[]): Zone | undefined {
  const length = (zone: Zone) => (zone.end ?? zone.start) - zone.start;
  return zones.reduce<Zone | undefined>(
    (best, zone) => (!best || length(zone) > length(best) ? zone : best),
    undefined,
  );
}

/** What is known of a run, its kernels outlined; null if that cannot be had. */
async function loadRun(data: DataSource, op: number): Promise<RunDetails | null> {
  try {
    const details = await data.run(op);
    const runZones = new Set(details.zones.map((zone) => `${zone.track}.${zone.zone}`));
    setState({ op, run: details.run, runZones });
    return details;
  } catch (error) {
    setState({ op: null, error: messageOf(error) });
    return null;
  }
}

/** Shows all kernels of a run, outlined, with the longest of them selected. */
export async function showRun(data: DataSource, op: number): Promise<void> {
  const details = await loadRun(data, op);
  const zone = details && longest(details.zones);
  if (!zone) return;
  setState({ opRow: details.run.row ?? getState().opRow });
  jumpTo(zone.track, zone.zone, details.run.from, details.run.to);
}

/** A link names a run by its number; the rest of it is asked for. */
export function keepRun(data: DataSource): void {
  const look = ({ op, run }: State) => {
    if (op !== null && op !== run?.op) void loadRun(data, op);
  };
  subscribe((state, before) => {
    if (state.op !== before.op) look(state);
  });
  look(getState());
}

/** The map of the device while a run was on it. */
export function showRunOnDevice(run: Run): void {
  setState({
    op: run.op,
    run,
    range: { from: run.from, to: Math.max(run.from + 1, run.to) },
    tab: "device",
  });
}

/** The row of the ops report. */
export function showRow(run: Run): void {
  setState({ op: run.op, run, opRow: run.row ?? null, tab: "ops" });
}

export function runName(run: Run): string {
  return run.name || `op ${run.id}`;
}
