// Runs of ops: from a run to its kernels on the timeline.

import { messageOf } from "./api";
import type { DataSource, Run, Zone } from "./api";
import { jumpTo } from "./panel_find";
import { setState } from "./store";

function longest(zones: Zone[]): Zone | undefined {
  const length = (zone: Zone) => (zone.end ?? zone.start) - zone.start;
  return zones.reduce<Zone | undefined>(
    (best, zone) => (!best || length(zone) > length(best) ? zone : best),
    undefined,
  );
}

/** Shows all kernels of a run, outlined, with the longest of them selected. */
export async function showRun(data: DataSource, op: number): Promise<void> {
  try {
    const { run, zones } = await data.run(op);
    setState({ run, runZones: new Set(zones.map((zone) => `${zone.track}.${zone.zone}`)) });
    const zone = longest(zones);
    if (zone) jumpTo(zone.track, zone.zone, run.from, run.to);
  } catch (error) {
    setState({ error: messageOf(error) });
  }
}

export function forgetRun(): void {
  setState({ run: null, runZones: new Set() });
}

/** The map of the device while a run was on it. */
export function showRunOnDevice(run: Run): void {
  setState({ run, range: { from: run.from, to: Math.max(run.from + 1, run.to) }, tab: "device" });
}

/** The row of the ops report. */
export function showRow(run: Run): void {
  setState({ run, tab: "ops" });
}

export function runName(run: Run): string {
  return run.name || `op ${run.id}`;
}
