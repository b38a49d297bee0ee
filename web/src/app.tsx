// The page: bar, overview, timeline, details, panels.

import { useEffect } from "preact/hooks";
import type { Info } from "./api";
import { Bookmarks } from "./bookmarks";
import { Details } from "./details";
import { Dialog } from "./dialog";
import { countOf, formatTime } from "./format";
import { useStore, useTheme } from "./hooks";
import { Icon } from "./icons";
import { HANDS, KEYS } from "./keys";
import { DevicePanel } from "./panel_device";
import { FindPanel } from "./panel_find";
import { FlamePanel } from "./panel_flame";
import { InfoPanel } from "./panel_info";
import { MessagesPanel } from "./panel_messages";
import { OpsPanel } from "./panel_ops";
import { StatsPanel } from "./panel_stats";
import { SearchBox } from "./search";
import { getState, setState, showAll, TAB_NAMES, TABS } from "./store";
import type { Tab } from "./store";
import { clamp, OverviewStrip, Splitter, Timeline } from "./timeline";

const PANELS: Record<Tab, () => preact.JSX.Element | null> = {
  stats: StatsPanel,
  find: FindPanel,
  messages: MessagesPanel,
  ops: OpsPanel,
  device: DevicePanel,
  flame: FlamePanel,
  info: InfoPanel,
};

function LiveBadge() {
  const info = useStore((state) => state.info);
  const follow = useStore((state) => state.follow);
  const connection = useStore((state) => state.connection);
  if (connection === "lost")
    return (
      <span class="badge lost" role="status">
        Connection lost: showing what was loaded. Trying again…
      </span>
    );
  if (info?.ended)
    return (
      <span class="badge ended" role="status">
        Recording has ended
      </span>
    );
  if (!info?.live) return null;
  return (
    <button
      class={`badge live ${follow ? "on" : ""}`}
      title={follow ? "Stop following the end" : "Follow the end"}
      onClick={() => setState({ follow: !follow })}
    >
      <i /> Being recorded{follow ? ", following" : ""}
    </button>
  );
}

function ThemeButton() {
  const theme = useTheme();
  return (
    <button
      class="icon-button"
      title="Light or dark"
      aria-label="Light or dark"
      onClick={() => setState({ theme: theme.isDark ? "light" : "dark" })}
    >
      <Icon name={theme.isDark ? "sun" : "moon"} />
    </button>
  );
}

/** How long the trace is and how much is in it; of a page with a stretch of it, which stretch. */
function extentOf({ end, zones, deviceZones, part }: Info): string {
  if (!part) return `${formatTime(end)} · ${countOf(zones + deviceZones, "zone")}`;
  const stretch = `${formatTime(part.from)} to ${formatTime(part.to)} of ${formatTime(end)}`;
  return `${stretch} · ${countOf(part.zones, "zone")}`;
}

function Bar() {
  const info = useStore((state) => state.info);
  const measuring = useStore((state) => state.measuring);
  const marks = useStore((state) => state.bookmarks.length);
  const error = useStore((state) => state.error);
  return (
    <header class="bar">
      <span class="brand">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <rect x="2" y="4" width="3" height="12" rx="1" />
          <rect x="7" y="7" width="3" height="9" rx="1" />
          <rect x="12" y="2" width="3" height="14" rx="1" />
          <rect x="17" y="9" width="2" height="7" rx="1" />
        </svg>
        Strobe
      </span>
      {info && (
        <span class="title">
          <strong>{info.program || info.name}</strong>
          <span class="dim">
            {info.program && info.program !== info.name ? `${info.name} · ` : ""}
            {info.tracks > 0 ? extentOf(info) : info.ops ? "an ops report" : "no zones"}
          </span>
        </span>
      )}
      {info?.damage && (
        <button class="badge damaged" title={info.damage} onClick={() => setState({ tab: "info" })}>
          Incomplete
        </button>
      )}
      <LiveBadge />
      {error && (
        <button class="badge lost" title="Dismiss" onClick={() => setState({ error: null })}>
          {error} ✕
        </button>
      )}
      <span class="spacer" />
      <button
        class="search-button"
        title="Search everywhere (/)"
        onClick={() => setState({ search: true })}
      >
        <Icon name="search" /> Search <kbd>/</kbd>
      </button>
      <button
        class="icon-button"
        title="Show the whole trace (0)"
        aria-label="Show the whole trace"
        onClick={showAll}
      >
        <Icon name="fit" />
      </button>
      <button
        class={`icon-button ${measuring ? "on" : ""}`}
        title="Measure (M)"
        aria-label="Measure"
        onClick={() => setState({ measuring: !measuring, measure: null })}
      >
        <Icon name="measure" />
      </button>
      <button
        class={`icon-button ${marks > 0 ? "on" : ""}`}
        title={marks > 0 ? `${countOf(marks, "bookmark")}: name, jump, remove` : "Bookmarks (B)"}
        aria-label="Bookmarks"
        onClick={() => setState({ marksOpen: -1 })}
      >
        <Icon name="mark" />
      </button>
      <ThemeButton />
      <button
        class="icon-button"
        title="Keys (?)"
        aria-label="Keys"
        onClick={() => setState({ help: true })}
      >
        <Icon name="help" />
      </button>
    </header>
  );
}

function Help() {
  return (
    <Dialog label="Keys" kind="help" onClose={() => setState({ help: false })}>
      <h2>Keys</h2>
      <dl>
        {KEYS.map((key) => (
          <div key={key.label}>
            <dt>
              {key.label.split(" ").map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{key.help}</dd>
          </div>
        ))}
      </dl>
      <h2>Mouse and touchpad</h2>
      <dl>
        {HANDS.map(([hand, help]) => (
          <div key={hand}>
            <dt>{hand}</dt>
            <dd>{help}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Below a timeline as high as a person made it; all of the room where there is none. */
function Panels({ isAlone }: { isAlone: boolean }) {
  const tab = useStore((state) => state.tab);
  const height = useStore((state) => state.panelHeight);
  const isLoaded = useStore((state) => state.info !== null);
  const Panel = PANELS[tab];
  return (
    <section
      class={isAlone ? "panels alone" : "panels"}
      style={isAlone ? {} : { height: `min(${height}px, 100vh - 220px)` }}
    >
      <Splitter
        direction="row"
        label="Height of the tabs"
        onMove={(by) =>
          setState({
            panelHeight: clamp(getState().panelHeight - by, 34, window.innerHeight - 220),
          })
        }
      />
      <nav class="tabs" role="tablist">
        {TABS.map((one, i) => (
          <button
            key={one}
            role="tab"
            aria-selected={tab === one}
            class={tab === one ? "on" : ""}
            title={`${TAB_NAMES[one]} (${i + 1})`}
            onClick={() => setState({ tab: one })}
          >
            {TAB_NAMES[one]}
          </button>
        ))}
      </nav>
      {isLoaded && <Panel />}
    </section>
  );
}

export function App() {
  const theme = useTheme();
  const help = useStore((state) => state.help);
  const search = useStore((state) => state.search);
  const marksOpen = useStore((state) => state.marksOpen !== null);
  const labelWidth = useStore((state) => state.labelWidth);
  const hasTrace = useStore(({ info }) => !info || info.tracks > 0 || !info.ops);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme.isDark ? "dark" : "light";
  }, [theme]);
  return (
    <main class="app">
      <Bar />
      {hasTrace && (
        <div class="overview-row" style={{ paddingLeft: `${labelWidth}px` }}>
          <OverviewStrip />
        </div>
      )}
      <div class={hasTrace ? "middle" : "middle absent"}>
        <Timeline />
        <Details />
      </div>
      <Panels isAlone={!hasTrace} />
      {help && <Help />}
      {search && <SearchBox />}
      {marksOpen && <Bookmarks />}
    </main>
  );
}
