// Messages and signposts: a list to filter and to jump from.

import { useMemo } from "preact/hooks";
import type { Message } from "./api";
import { fromTrace } from "./colours";
import { Field, Notice, Stamp } from "./controls";
import { countOf, formatCount } from "./format";
import { useAnswer, useData, useStore } from "./hooks";
import { RangeChip } from "./panel_stats";
import { setState, SEVERITIES, showTime } from "./store";
import type { Severity } from "./store";
import { Table } from "./table";
import type { Column } from "./table";

const LISTED = 2000;

export function MessagesPanel() {
  const data = useData();
  const range = useStore((state) => state.range);
  const tracks = useStore((state) => state.tracks);
  const info = useStore((state) => state.info);
  const filter = useStore((state) => state.messageFilter);
  const severity = useStore((state) => state.messageSeverity);
  const sort = useStore((state) => state.messageSort);
  const least = SEVERITIES.indexOf(severity);
  const answer = useAnswer(
    () => data.messages({ range, filter, severity: least }, LISTED),
    [range, filter, least],
    100,
    info?.revision,
  );
  const columns = useMemo<Column<Message>[]>(
    () => [
      {
        key: "time",
        title: "Time",
        width: "130px",
        value: (message) => message.time,
        show: (message) => <Stamp time={message.time} />,
      },
      {
        key: "severity",
        title: "Severity",
        isText: true,
        width: "90px",
        value: (message) => message.severity,
        show: (message) => SEVERITIES[message.severity] ?? String(message.severity),
      },
      {
        key: "text",
        title: "Message",
        isText: true,
        width: "minmax(240px, 5fr)",
        value: (message) => message.text,
        show: (message) => (
          <>
            <i
              class="swatch"
              style={message.colour === 0xffffffff ? {} : { background: fromTrace(message.colour) }}
            />
            {message.text}
          </>
        ),
      },
      {
        key: "track",
        title: "Thread",
        isText: true,
        width: "minmax(110px, 1fr)",
        value: (message) => tracks.find((track) => track.id === message.track)?.name ?? "",
      },
    ],
    [tracks],
  );
  const matched = answer.data?.matched ?? 0;
  return (
    <div class="panel-content">
      <div class="toolbar">
        <Field
          label="Filter messages"
          value={filter}
          onInput={(messageFilter) => setState({ messageFilter })}
        />
        <select
          class="field"
          aria-label="Least severity"
          title="Messages of this severity and above"
          value={severity}
          onChange={(event) => setState({ messageSeverity: event.currentTarget.value as Severity })}
        >
          {SEVERITIES.map((one, i) => (
            <option key={one} value={one}>
              {i === 0 ? "all severities" : i + 1 < SEVERITIES.length ? `${one} and above` : one}
            </option>
          ))}
        </select>
        <RangeChip />
        <span class="spacer" />
        <Notice error={answer.error} isLoading={answer.isLoading} />
        <span class="dim">
          {matched > LISTED ? `the first ${formatCount(LISTED)} of ` : ""}
          {countOf(matched, "message")}
        </span>
      </div>
      <Table
        columns={columns}
        rows={answer.data?.messages ?? []}
        rowKey={(message) => message.id}
        first={{ key: "time", isDown: false }}
        sort={sort}
        onSort={(messageSort) => setState({ messageSort })}
        onSelect={(message) => showTime(message.time)}
        empty={answer.isLoading || !answer.data ? "" : "No messages here."}
      />
    </div>
  );
}
