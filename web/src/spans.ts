// The spans of tracks as the server packs them: columns in one buffer, looked at in place.
// The layout is described in src/view/view_zones.c.

const MAGIC = 0x315a4253;
const HEADER_BYTES = 32;
const TRACK_BYTES = 16;

/** What is drawn of one track. Spans stand row by row, in order of start within a row. */
export interface TrackSpans {
  track: number;
  rows: number;
  length: number;
  start: Float64Array;
  end: Float64Array;
  /** Sum of the durations of the zones in a span. */
  busy: Float64Array;
  source: Uint32Array;
  /** The number of the zone; of several, of the longest. */
  zone: Uint32Array;
  /** How many zones a span stands for. */
  count: Uint32Array;
  depth: Uint32Array;
  flags: Uint32Array;
  name: Uint32Array;
  text: Uint32Array;
  colour: Uint32Array;
}

export const FLAG_OPEN = 1;

export interface SpansDocument {
  tracks: TrackSpans[];
  texts: Map<number, string>;
  isCut: boolean;
}

function readTexts(buffer: ArrayBuffer, offset: number, size: number): Map<number, string> {
  const json = new TextDecoder().decode(new Uint8Array(buffer, offset, size));
  const entries = Object.entries(JSON.parse(json) as Record<string, string>);
  return new Map(entries.map(([number, text]) => [Number(number), text]));
}

/** Reads one track at an offset; its columns follow each other. */
function readTrack(buffer: ArrayBuffer, offset: number): TrackSpans {
  const head = new Uint32Array(buffer, offset, 4);
  const length = head[1]!;
  let at = offset + TRACK_BYTES;
  const reals = () => {
    const column = new Float64Array(buffer, at, length);
    at += length * 8;
    return column;
  };
  const words = () => {
    const column = new Uint32Array(buffer, at, length);
    at += length * 4;
    return column;
  };
  // The order of these is the order in the buffer.
  return {
    track: head[0]!,
    rows: head[2]!,
    length,
    start: reals(),
    end: reals(),
    busy: reals(),
    source: words(),
    zone: words(),
    count: words(),
    depth: words(),
    flags: words(),
    name: words(),
    text: words(),
    colour: words(),
  };
}

function spansBytes(length: number): number {
  return TRACK_BYTES + length * 56;
}

export function readSpans(buffer: ArrayBuffer): SpansDocument {
  const head = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  if (head[0] !== MAGIC) throw new Error("the server sent zones in a form this page does not know");
  const tracks: TrackSpans[] = [];
  let offset = HEADER_BYTES;
  for (let i = 0; i < head[1]!; i++) {
    const track = readTrack(buffer, offset);
    tracks.push(track);
    offset += spansBytes(track.length);
  }
  return { tracks, texts: readTexts(buffer, head[3]!, head[4]!), isCut: (head[2]! & 1) !== 0 };
}
