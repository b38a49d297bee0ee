// Which tracks the page knows: the first ten thousand that the filter finds, and those that are
// named by number: of the selected zone, pinned, or shown last.

import { messageOf } from "./api";
import type { DataSource, Tracks } from "./api";
import { getState, setState, subscribe } from "./store";
import type { State } from "./store";

/** As many as are listed at once. */
export const LISTED_TRACKS = 10000;
const MOST_NAMED = 50;
/** Whoever types a filter is given time for the next letter. */
const TYPING_MS = 150;

function namedTracks({ selection, shown, pinned }: State): number[] {
  const named = [selection?.track ?? null, shown, ...pinned];
  return [...new Set(named.filter((id) => id !== null))].slice(0, MOST_NAMED);
}

function unknownTracks(state: State, tracks: { id: number }[]): number[] {
  const known = new Set(tracks.map((track) => track.id));
  return namedTracks(state).filter((id) => !known.has(id));
}

/** The tracks to know. Where all fit into one list the page filters by itself. */
export async function listTracks(source: DataSource, total: number): Promise<Tracks> {
  const list = await source.tracks(total > LISTED_TRACKS ? getState().filter : "");
  if (list.total <= LISTED_TRACKS) return list;
  const asked = unknownTracks(getState(), list.tracks).map((id) =>
    // A link may name any number.
    source.track(id).catch(() => undefined),
  );
  const named = (await Promise.all(asked)).flatMap((track) => track ?? []);
  return { ...list, tracks: [...list.tracks, ...named] };
}

function isListOld(state: State, before: State): boolean {
  if (state.filter !== before.filter) return true;
  const isNamed = (["selection", "shown", "pinned"] as const).some(
    (key) => state[key] !== before[key],
  );
  return isNamed && unknownTracks(state, state.tracks).length > 0;
}

/** Lists tracks anew when others are wanted than the page knows. */
export function keepListed(source: DataSource): void {
  let timer = 0;
  let last = 0;
  const list = async () => {
    const turn = ++last;
    try {
      const { tracks, total } = await listTracks(source, getState().info?.tracks ?? 0);
      if (turn === last) setState({ tracks, trackTotal: total });
    } catch (error) {
      setState({ error: messageOf(error) });
    }
  };
  subscribe((state, before) => {
    if ((state.info?.tracks ?? 0) <= LISTED_TRACKS || !isListOld(state, before)) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void list(), TYPING_MS);
  });
}
