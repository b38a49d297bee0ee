// Times and numbers for people.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

/** 1.234 ms, 12 ns: three digits after the point, as `strobe stats` prints them. */
export function formatTime(ns: number): string {
  for (const [size, unit] of UNITS) {
    if (Math.abs(ns) >= size) return `${(ns / size).toFixed(3)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

/** A moment to the nanosecond, in groups: "1.", "234", "567", "891". */
export function stampGroups(ns: number): [seconds: string, ...groups: string[]] {
  const whole = Math.abs(Math.round(ns));
  const digits = String(whole % 1e9).padStart(9, "0");
  const seconds = `${ns < 0 && whole > 0 ? "−" : ""}${Math.floor(whole / 1e9)}.`;
  return [seconds, digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)];
}

/** A moment in the trace: always in seconds and to the nanosecond, so that calls that follow each
 * other are told apart, stand aligned, and are written alike everywhere. */
export function formatStamp(ns: number): string {
  const [seconds, ...groups] = stampGroups(ns);
  return `${seconds}${groups.join("\u202f")} s`;
}

/** As short as can be: for labels where space is scarce. */
export function formatShortTime(ns: number): string {
  for (const [size, unit] of UNITS) {
    if (Math.abs(ns) >= size) return `${Number((ns / size).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

/** A time on the axis, with as many digits as neighbouring marks need to differ. */
export function formatAxisTime(ns: number, step: number): string {
  const magnitude = Math.max(Math.abs(ns), step);
  const [size, unit] = UNITS.find(([candidate]) => magnitude >= candidate) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(ns / size).toFixed(Math.min(9, digits))} ${unit}`;
}

/** Times that differ are written so that one sees it, however little they differ. */
export function formatApart(times: number[], format: (ns: number) => string): string[] {
  const texts = times.map(format);
  const span = times[times.length - 1]! - times[0]!;
  if (span < 1 || new Set(texts).size === texts.length) return texts;
  return times.map((time) => formatAxisTime(time, Math.max(1, span / 10)));
}

export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** "1 zone", "2,000 zones". */
export function countOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

export function formatPercent(part: number): string {
  if (!Number.isFinite(part)) return "–";
  // What is little is not nothing.
  if (part > 0 && part < 0.0001)
    return part < 1e-8 ? "< 0.000001 %" : `${(part * 100).toPrecision(2)} %`;
  return `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)} %`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export function formatBytes(bytes: number): string {
  let unit = 0;
  while (Math.abs(bytes) >= 1000 && unit < BYTE_UNITS.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${Number(bytes.toPrecision(3))} ${BYTE_UNITS[unit]}`;
}

export function formatValue(value: number, format: "number" | "bytes" | "percent"): string {
  if (format === "bytes") return formatBytes(value);
  if (format === "percent") return `${Number(value.toPrecision(3))} %`;
  return Number(value.toPrecision(4)).toLocaleString("en-US");
}

/** The step between marks of an axis: 1, 2 or 5 times a power of ten, at least `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5]) {
    if (power * factor >= least) return power * factor;
  }
  return power * 10;
}
