// Where the page starts: finds its data, fills the state, shows the app.

import { render } from "preact";
import "./app.css";
import { messageOf, ServerSource } from "./api";
import type { DataSource, Source } from "./api";
import { App } from "./app";
import { titleCutTexts } from "./cut";
import { embeddedData } from "./embedded";
import { DataContext } from "./hooks";
import { listenToKeys } from "./keys";
import { followLink, keepLink, readLink } from "./link";
import { keepRun } from "./runs";
import { getState, placeAll, placeView, setState } from "./store";
import { timelineCanvas } from "./timeline";
import { keepListed, listTracks } from "./tracks";

/** Sources come in pages; there are few unless a program makes them up as it runs. */
async function loadSources(source: DataSource, known: Source[]): Promise<Source[]> {
  const sources = [...known];
  for (;;) {
    const answer = await source.sources(sources.length);
    if (source.isStatic) return answer.sources;
    sources.push(...answer.sources);
    if (answer.sources.length === 0 || sources.length >= answer.total) return sources;
  }
}

async function load(source: DataSource): Promise<void> {
  const info = await source.info();
  // While a program runs, names of sources may come after their zones.
  const known = info.live || getState().info?.live ? [] : getState().sources;
  const [sources, tracks, plots, losses, locks] = await Promise.all([
    known.length < info.sources ? loadSources(source, known) : known,
    listTracks(source, info.tracks),
    info.plots + info.allocations > 0 ? source.plots() : [],
    info.lossRecords > 0 ? source.losses() : [],
    info.locks > 0 ? source.locks({ from: 0, to: Math.max(1, info.end) }, 1) : [],
  ]);
  setState({
    info,
    sources,
    tracks: tracks.tracks,
    trackTotal: tracks.total,
    plots,
    losses,
    locks: locks.map(({ id, name }) => ({ id, name })),
  });
}

/** Another trace is at this address now; nothing of what is known or of the link fits it. */
function startAnew(): void {
  history.replaceState(null, "", location.pathname + location.search);
  location.reload();
}

/** While a capture runs the end moves; who follows sees the last stretch. */
function keepUp(source: DataSource): void {
  let isLoading = false;
  let isStale = false;
  let pauseMs = 0;
  const refresh = async () => {
    if (isLoading) {
      isStale = true;
      return;
    }
    isLoading = true;
    const before = getState().info?.end ?? 0;
    try {
      await load(source);
      pauseMs = 0;
      timelineCanvas()?.loader.outdate();
      const { follow, view, info } = getState();
      const grown = (info?.end ?? 0) - before;
      if (grown > 0 && (before <= 1 || (follow && view.from <= 0))) placeAll();
      else if (follow) placeView(view.from + grown, view.to + grown);
    } catch {
      // What was missed here is asked for again: the server may have nothing new to tell.
      setState({ connection: "lost" });
      isStale = true;
      pauseMs = Math.min(30000, Math.max(1000, pauseMs * 2));
    }
    isLoading = false;
    if (isStale) {
      isStale = false;
      window.setTimeout(() => void refresh(), Math.max(200, pauseMs));
    }
  };
  source.follow(getState().info?.live ?? false, {
    grown: (news) => {
      if (news.id !== getState().info?.id) startAnew();
      else if (news.revision !== getState().info?.revision) void refresh();
    },
    connected: (isConnected) => {
      const connection = isConnected ? "open" : "lost";
      if (getState().connection !== connection) setState({ connection });
    },
  });
}

async function start(): Promise<void> {
  const source: DataSource = embeddedData() ?? new ServerSource();
  const link = readLink(location.hash);
  // What is to be loaded depends on it.
  setState(link.rest);
  render(
    <DataContext.Provider value={source}>
      <App />
    </DataContext.Provider>,
    document.getElementById("app")!,
  );
  listenToKeys(source);
  titleCutTexts();
  try {
    await load(source);
  } catch (error) {
    setState({ error: messageOf(error) });
    return;
  }
  const { info } = getState();
  document.title = `${info?.program || info?.name || "trace"} – Strobe`;
  followLink(link);
  if (info?.live) setState({ follow: link.view === null });
  keepLink();
  keepRun(source);
  keepListed(source);
  keepUp(source);
}

// For tests: what is on the canvas, whether everything asked for has come, how long drawing takes.
Object.assign(window, {
  strobeTest: {
    zones: () => timelineCanvas()?.picture.zones ?? [],
    flags: () => timelineCanvas()?.picture.flags ?? [],
    isSettled: () => getState().info !== null && (timelineCanvas()?.isSettled ?? false),
    state: getState,
    change: setState,
    drawTimes: () => timelineCanvas()?.drawTimes ?? [],
    scrollBy: (pixels: number) => timelineCanvas()?.scrollBy(pixels),
    loadedTracks: () => timelineCanvas()?.loader.tracks.size ?? 0,
  },
});

void start();
