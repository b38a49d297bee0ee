// Colours. Zones take theirs from a palette that people with any kind of colour vision can tell
// apart (after Paul Tol's and Okabe and Ito's): neighbours differ in lightness as well as in hue.
// The same name has the same colour everywhere and every time.

import type { Source } from "./api";

export interface Theme {
  isDark: boolean;
  background: string;
  surface: string;
  raised: string;
  line: string;
  faintLine: string;
  text: string;
  dimText: string;
  accent: string;
  accentFill: string;
  zoneText: string;
  loss: string;
  hover: string;
  palette: string[];
  hostBusy: string;
  deviceBusy: string;
}

const LIGHT_PALETTE = [
  "#8fbbe8",
  "#f2b880",
  "#8fd0b5",
  "#e39cb5",
  "#c9c66a",
  "#b3a5e0",
  "#86cbd6",
  "#e8a08f",
  "#b5cf8a",
  "#d3b5d6",
  "#d9b98a",
  "#a9b8c9",
];

const DARK_PALETTE = [
  "#5b93cc",
  "#d08b45",
  "#4fa585",
  "#bf6a89",
  "#a09c3c",
  "#8373c4",
  "#4a9dab",
  "#c4705c",
  "#7fa04b",
  "#a37aa8",
  "#a8834c",
  "#75889d",
];

export const LIGHT: Theme = {
  isDark: false,
  background: "#ffffff",
  surface: "#f7f8fa",
  raised: "#ffffff",
  line: "#dfe3e8",
  faintLine: "#eef0f3",
  text: "#1c2430",
  dimText: "#697586",
  accent: "#0b66d6",
  accentFill: "rgba(11, 102, 214, 0.10)",
  zoneText: "#17202b",
  loss: "#b42318",
  hover: "rgba(23, 32, 43, 0.18)",
  palette: LIGHT_PALETTE,
  hostBusy: "#8fbbe8",
  deviceBusy: "#f2b880",
};

export const DARK: Theme = {
  isDark: true,
  background: "#12161c",
  surface: "#181d25",
  raised: "#1e242e",
  line: "#2b333f",
  faintLine: "#1f2630",
  text: "#e3e8ef",
  dimText: "#8c98a9",
  accent: "#5aa7ff",
  accentFill: "rgba(90, 167, 255, 0.14)",
  zoneText: "#0d1117",
  loss: "#ff7b6b",
  hover: "rgba(255, 255, 255, 0.28)",
  palette: DARK_PALETTE.map((colour) => lighten(colour, 0.16)),
  hostBusy: "#5b93cc",
  deviceBusy: "#d08b45",
};

function channels(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function lighten(colour: string, by: number): string {
  const mixed = channels(colour).map((channel) => Math.round(channel + (255 - channel) * by));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** FNV-1a: spreads names that differ in one letter. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 0x01000193);
  }
  return value >>> 0;
}

/** Colours of the trace have blue in the highest byte. */
export function fromTrace(colour: number): string {
  const red = colour & 255;
  const green = (colour >> 8) & 255;
  const blue = (colour >> 16) & 255;
  return `rgb(${red}, ${green}, ${blue})`;
}

const slots = new Map<string, number>();

export function nameColour(theme: Theme, name: string): string {
  let slot = slots.get(name);
  if (slot === undefined) {
    slot = hash(name) % theme.palette.length;
    slots.set(name, slot);
  }
  return theme.palette[slot]!;
}

export function sourceColour(theme: Theme, source: Source | undefined): string {
  if (!source) return theme.palette[theme.palette.length - 1]!;
  return source[3] !== 0 ? fromTrace(source[3]) : nameColour(theme, source[0]);
}

/** A sequential scale from nothing to all, in one hue: lightness alone tells. */
export function heatColour(theme: Theme, part: number): string {
  const clipped = Math.min(1, Math.max(0, part));
  const lightness = theme.isDark ? 16 + 50 * clipped : 95 - 52 * clipped;
  return `hsl(212 ${25 + 45 * clipped}% ${lightness}%)`;
}
