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
  dimText: "#5b6777",
  accent: "#0a5cc2",
  accentFill: "rgba(10, 92, 194, 0.10)",
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
  dimText: "#9ca8b8",
  accent: "#5aa7ff",
  accentFill: "rgba(90, 167, 255, 0.14)",
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

/** How light a colour is to the eye, from 0 to 1; the formula is that of WCAG. */
function luminance(parts: number[]): number {
  const [red, green, blue] = parts.map((channel) => {
    const part = channel / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

const INK = "#10151c";
const PAPER = "#ffffff";
/** Where both are equally well read. */
const MIDDLE = 0.19;

const inks = new Map<string, string>();

/** What can be read on a colour, "#rrggbb" or "rgb(r, g, b)". */
export function inkOn(colour: string): string {
  let ink = inks.get(colour);
  if (ink === undefined) {
    const parts = colour.startsWith("#")
      ? channels(colour)
      : (colour.match(/\d+/g) ?? []).map(Number);
    ink = luminance(parts) > MIDDLE ? INK : PAPER;
    if (inks.size > 5000) inks.clear();
    inks.set(colour, ink);
  }
  return ink;
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
  const lightness = (theme.isDark ? 16 + 50 * clipped : 95 - 52 * clipped) / 100;
  const saturation = (25 + 45 * clipped) / 100;
  const channel = (shift: number) => {
    const at = (shift + 212 / 30) % 12;
    const reach = saturation * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return `rgb(${channel(0)}, ${channel(8)}, ${channel(4)})`;
}
