// Small things that panels are made of.

import { stampGroups } from "./format";
import { LONGEST_TEXT } from "./link";

/** Where a text is typed that a list is filtered by. */
export function Field(props: {
  label: string;
  /** What stands in it while it is empty; the label without. */
  hint?: string;
  value: string;
  onInput: (text: string) => void;
  isWide?: boolean;
}) {
  return (
    <input
      class={props.isWide ? "field wide" : "field"}
      placeholder={props.hint ?? props.label}
      aria-label={props.label}
      value={props.value}
      maxLength={LONGEST_TEXT}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  );
}

/** What a panel says while it has nothing to show. */
export function Notice({ error, isLoading }: { error: string | null; isLoading: boolean }) {
  if (error) return <div class="notice error">{error}</div>;
  return isLoading ? <div class="notice">Counting…</div> : null;
}

/** A moment in the trace. What sets the groups of digits apart is not text, so that what is copied
 * is a number. */
export function Stamp({ time }: { time: number }) {
  const [seconds, ...groups] = stampGroups(time);
  return (
    <span class="stamp" title={`${Math.round(time)} ns`}>
      {seconds}
      {groups.map((group, i) => (
        <i key={i}>{group}</i>
      ))}{" "}
      s
    </span>
  );
}

/** One of a few, as buttons side by side. */
export function Segments<T extends string>(props: {
  label: string;
  choices: readonly { value: T; title: string; help?: string | undefined }[];
  value: T;
  onChoose: (value: T) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.choices.map(({ value, title, help }) => (
        <button
          key={value}
          class={value === props.value ? "on" : ""}
          aria-pressed={value === props.value}
          title={help ?? `${props.label}: ${title}`}
          onClick={() => props.onChoose(value)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** Zones of the host or of devices. */
export function HostOrDevice(props: { isDevice: boolean; onChoose: (isDevice: boolean) => void }) {
  return (
    <Segments
      label="Which zones"
      choices={[
        { value: "host", title: "Host", help: "Zones of threads" },
        { value: "device", title: "Device", help: "Zones of device lanes" },
      ]}
      value={props.isDevice ? "device" : "host"}
      onChoose={(value) => props.onChoose(value === "device")}
    />
  );
}
