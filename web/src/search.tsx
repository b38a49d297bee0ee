// Search everywhere: zones and what is written on them, tracks, messages, in one box.

import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { formatStamp } from "./format";
import { useAnswer, useData } from "./hooks";
import { jumpTo } from "./panel_find";
import { findSource } from "./panel_stats";
import { setState, showTime } from "./store";
import { timelineCanvas } from "./timeline";

interface Hit {
  key: string;
  kind: string;
  text: string;
  note: string;
  open: () => void;
}

/** What is found, and whether that is the answer to this text and not to one typed before. */
function useHits(text: string): { hits: Hit[]; isCurrent: boolean; error: string | null } {
  const data = useData();
  const answer = useAnswer(() => (text ? data.search(text) : null), [text], 80);
  const isCurrent = !answer.isLoading;
  const found = answer.data;
  const { error } = answer;
  if (!found) return { hits: [], isCurrent, error };
  const hits: Hit[] = [
    ...found.sources.map(({ id, source }) => ({
      key: `s${id}`,
      kind: "zone",
      text: source[0] || "???",
      note: source[1] ? `${source[1]}:${source[2]}` : "",
      open: () => findSource(id),
    })),
    ...found.zones.map(({ zone, text: note }) => ({
      key: `z${zone.track}.${zone.zone}`,
      kind: "text",
      text: zone.name,
      note,
      open: () => jumpTo(zone.track, zone.zone, zone.start, zone.end ?? zone.start),
    })),
    ...found.tracks.map((track) => ({
      key: `t${track.id}`,
      kind: "track",
      text: track.name,
      note: "",
      open: () => timelineCanvas()?.show(track.id),
    })),
    ...found.messages.map((message) => ({
      key: `m${message.id}`,
      kind: "message",
      text: message.text,
      note: formatStamp(message.time),
      open: () => {
        showTime(message.time);
        setState({ tab: "messages" });
      },
    })),
  ];
  return { hits, isCurrent, error };
}

export function SearchBox() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  /** Enter came before the answer. */
  const [isWaiting, setWaiting] = useState(false);
  const { hits, isCurrent, error } = useHits(text.trim());
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    setState({ search: false });
    hit.open();
  };
  useEffect(() => {
    if (isWaiting && isCurrent) open(hits[0]);
  }, [isWaiting, isCurrent]);
  const pressed = (event: KeyboardEvent) => {
    const isTyped = input.current?.value === text; // a letter may be on its way
    if (event.key === "ArrowDown") setChosen(Math.min(hits.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(0, chosen - 1));
    else if (event.key === "Enter" && isCurrent && isTyped) open(hits[chosen]);
    else if (event.key === "Enter") setWaiting(true);
    else if (event.key === "Escape") setState({ search: false });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Dialog label="Search" kind="search" onClose={() => setState({ search: false })}>
      <input
        ref={input}
        placeholder="Search zones, their texts, tracks, messages"
        aria-label="Search"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setWaiting(false);
        }}
        onKeyDown={pressed}
      />
      <div class="hits">
        {hits.map((hit, i) => (
          <button
            key={hit.key}
            ref={(button) => {
              if (i === chosen) button?.scrollIntoView({ block: "nearest" });
            }}
            class={i === chosen ? "chosen" : ""}
            onClick={() => open(hit)}
          >
            <span class="hit-kind">{hit.kind}</span>
            <span class="label-text">{hit.text}</span>
            <span class="dim">{hit.note}</span>
          </button>
        ))}
        {text && hits.length === 0 && isCurrent && (
          <p class="dim pad">{error ?? "Nothing is called like this."}</p>
        )}
        {!text && <p class="dim pad">↑ ↓ to choose, Enter to open, Esc to close</p>}
      </div>
    </Dialog>
  );
}
