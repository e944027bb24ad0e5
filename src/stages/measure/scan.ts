/** Counts of the bytes that were scanned so far. `state` says how far into a character they end. */
export interface Scan {
  bytes: number;
  breaks: number;
  /** Complete UTF-16 units so far. If the text ends here, use `scannedChars`. */
  chars: number;
  state: number;
  /** The number of bytes above 127. 0 means ASCII. */
  high: number;
  /** True if the last byte was a line break, or if there was no byte yet. */
  atLineStart: boolean;
}

/** Returns a scan of no bytes. */
export function newScan(): Scan {
  return { bytes: 0, breaks: 0, chars: 0, state: 0, high: 0, atLineStart: true };
}

/** Returns the lines of a text that ends here. A line break at the end adds none. */
export function scannedLines(scan: Scan): number {
  return scan.breaks + (scan.atLineStart ? 0 : 1);
}

/** Returns the UTF-16 units of a text that ends here. An incomplete character counts as one U+FFFD. */
export function scannedChars(scan: Scan): number {
  return scan.chars + (scan.state === 0 ? 0 : 1);
}

/**
 * Adds bytes to a scan. It uses WebAssembly, which is ten times as fast as a loop in JavaScript, so that counting never
 * slows a pipe down.
 */
export function scanBytes(scan: Scan, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const loaded = bytes.length < SMALL ? null : nativeFor(bytes.length);
  if (loaded === null) scanInScript(scan, bytes);
  else scanInNative(scan, bytes, loaded);
  scan.bytes += bytes.length;
  scan.atLineStart = bytes[bytes.length - 1] === 10;
}

/** If there are fewer bytes, the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 48;

function scanInScript(scan: Scan, bytes: Uint8Array): void {
  let { breaks, chars, state, high } = scan;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 10) breaks++;
    high += byte >> 7;
    const step = STEPS[(state << 4) | (CLASSES[byte] as number)] as number;
    chars += (step >> 4) & 3;
    state = step & 15;
  }
  scan.breaks = breaks;
  scan.chars = chars;
  scan.state = state;
  scan.high = high;
}

/** How many bytes of an output's start decide whether it is text. */
export const SAMPLE_BYTES = 8192;

/** Counts the bytes of an output's start that no text has: control characters, and bytes that are not UTF-8. */
export function strangeBytes(sample: Uint8Array): number {
  const loaded = nativeFor(sample.length);
  if (loaded !== null && sample.length <= loaded.memory.length - DATA_AT) {
    loaded.memory.set(sample, DATA_AT);
    return loaded.strange(DATA_AT, DATA_AT + sample.length);
  }
  let count = 0;
  let state = 0;
  for (let at = 0; at < sample.length; at++) {
    const byte = sample[at] as number;
    const step = STEPS[(state << 4) | (CLASSES[byte] as number)] as number;
    count += (step >> 6) + (CONTROLS[byte] ?? 0);
    state = step & 15;
  }
  return count;
}

interface Native {
  memory: Uint8Array;
  /** The memory that takes the bytes to count. */
  data: Uint8Array;
  /**
   * The breaks, the chars, the state, the high bytes, and whether there was a control character that texts rarely have.
   */
  results: Int32Array;
  scan(at: number, end: number, state: number): void;
  strange(at: number, end: number): number;
}

let native: Native | null | undefined;

const DATA_AT = 1024;

/** Compiling the native code takes as long as counting this many bytes without it. */
const WORTH_LOADING_BYTES = 16_384;

let askedBytes = 0;

function nativeFor(bytes: number): Native | null {
  if (native !== undefined) return native;
  askedBytes += bytes;
  if (askedBytes >= WORTH_LOADING_BYTES) native = loadNative();
  return native ?? null;
}

function takeResults(scan: Scan, results: Int32Array): void {
  scan.breaks += results[0] as number;
  scan.chars += results[1] as number;
  scan.state = results[2] as number;
  scan.high += results[3] as number;
}

function scanInNative(scan: Scan, bytes: Uint8Array, native: Native): void {
  const { memory } = native;
  const room = memory.length - DATA_AT;
  for (let at = 0; at < bytes.length; at += room) {
    const slice = bytes.length <= room ? bytes : bytes.subarray(at, at + room);
    memory.set(slice, DATA_AT);
    native.scan(DATA_AT, DATA_AT + slice.length, scan.state);
    takeResults(scan, native.results);
  }
}

/**
 * Adds a whole text to a scan. Encodes it directly into native memory, so that nothing is copied. Returns the strange
 * bytes at its start, as `strangeBytes` counts them. If native code is not available or not worth it, does nothing and
 * returns null.
 */
export function scanText(scan: Scan, text: string): number | null {
  const native = nativeFor(text.length);
  if (native === null) return null;
  const { memory } = native;
  let strange = 0;
  const mostChars = Math.floor((memory.length - DATA_AT) / 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + mostChars, text.length);
    if (end < text.length && splitsPair(text, end)) end--;
    const part = at === 0 && end === text.length ? text : text.slice(at, end);
    const { written } = encoder.encodeInto(part, native.data);
    native.scan(DATA_AT, DATA_AT + written, scan.state);
    scan.bytes += written;
    takeResults(scan, native.results);
    // Encoded text is valid UTF-8, so only control characters can be strange.
    if (at === 0 && native.results[4] !== 0)
      strange = native.strange(DATA_AT, DATA_AT + Math.min(written, SAMPLE_BYTES));
    scan.atLineStart = memory[DATA_AT + written - 1] === 10;
    at = end;
  }
  return strange;
}

const encoder = new TextEncoder();

/** scan.wat, compiled: scripts/compile-wat.mjs writes it here. */
const SCAN_BINARY =
  "AGFzbQEAAAABEgNgAXsBf2ADf39/AGACf38BfwMEAwABAgUDAQAFBxsDBm1lbW9yeQIABHNjYW4AAQdzdHJhbmdlAAIK8gYDIwEBeyAA/X39fyEBIAH9GwAgAf0bAWogAf0bAiAB/RsDamoLlQUEBn8DewJ/BHsCQANAAkADQCACIABBwABqIAFLcg0BIAD9AAQAIQ4gAP0ABBAhDyAA/QAEICEQIAD9AAQwIREgDiAP/VAgECAR/VD9UP1kDQEgCyAOQQr9D/0jIA9BCv0P/SP9biAQQQr9D/0jIBFBCv0P/SP9bv1u/XEhCyAKIA4gD/13IBAgEf13/XdBB/0P/SYgDkEO/Q/9cSAPQQ79D/1x/XcgEEEO/Q/9cSARQQ79D/1x/Xf9d0ES/Q/9Jv1Q/VAhCiAEQcAAaiEEIABBwABqIQAgDEEBaiEMIAxBPEkNACADIAsQAGohA/0MAAAAAAAAAAAAAAAAAAAAACELQQAhDAwACwsgACABTw0BIABBEGohBiACRSAGIAFNcQRAIAD9AAQAIQkgCf1kRQRAIAMgCUEK/Q/9I/1kaWohAyAEQRBqIQQgCiAJQQf9D/0m/VAhCiAKIAlBDv0P/XFBEv0P/Sb9UCEKIAYhAAwCCwsgBiABSwRAIAEhBgsgACENAkADQCACIABBBGogAUtyDQEgACgCACEIIAhB/wFxIQcgCEHwgYMGcUHggYIERw0BIAdB4AFGIAdB7QFGcg0BIARBAWohBCAFQQNqIQUgAEEDaiEADAALCyAAIA1HDQADQCAALQAAIQcgAkUgACANR3EgB0HwAXFB4AFGcQ0BIAMgB0EKRmohAyAKIAdBIEkgB0EHa0EGS3H9D/1QIQogBSAHQQd2aiEFIAJBBHQgBy0AAHItAIACIQggBCAIQQR2QQNxaiEEIAhBD3EhAiAAQQFqIQAgACAGSQ0ACwwACwsgAyALEABqIQNBwAMgAzYCAEHEAyAENgIAQcgDIAI2AgBBzAMgBTYCAEHQAyAK/VM2AgALtAECBX8BewJAA0AgACABTw0BIABBEGohBCACRSAEIAFNcQRAIAD9AAQAIQcgB/1kRSAHQR/9D/0oIAdBB/0P/XFBB/0P/Sb9UP1jcQRAIAQhAAwCCwsgBCABSwRAIAEhBAsDQCAALQAAIQUgBUEgSQRAIAMgBS0AoANqIQMLIAJBBHQgBS0AAHItAIACIQYgAyAGQQZ2aiEDIAZBD3EhAiAAQQFqIQAgACAESQ0ACwwACwsgAws=";

/**
 * Returns null if WebAssembly or its SIMD is not available, as in some edge runtimes. The loop in JavaScript gives the
 * same counts.
 */
function loadNative(): Native | null {
  try {
    const binary = Uint8Array.from(atob(SCAN_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const memory = new Uint8Array((exports.memory as WebAssembly.Memory).buffer);
    memory.set(CLASSES, 0);
    memory.set(STEPS, 256);
    memory.set(CONTROLS, 416);
    const data = memory.subarray(DATA_AT);
    const results = new Int32Array(memory.buffer, 448, 5);
    return {
      memory,
      data,
      results,
      scan: exports.scan as Native["scan"],
      strange: exports.strange as Native["strange"],
    };
  } catch {
    return null;
  }
}

/** Forces one way of counting, for tests. Returns true if native code is used. */
export function useNativeScan(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}

// The tables below read UTF-8 as the WHATWG decoder does: an invalid stretch counts as one U+FFFD, and its last byte is
// read again.

/**
 * The number of states. 0: between characters. 1 and 2: that many bytes are missing. 3, 8 and 9: inside four bytes. 4
 * to 7: after E0, ED, F0 and F4.
 */
const STATES = 10;

/** Ranges of bytes that every state treats alike, by their last byte. */
const CLASS_ENDS: [last: number, name: number][] = [
  [0x7f, 0],
  [0x8f, 1],
  [0x9f, 2],
  [0xbf, 3],
  [0xc1, 11],
  [0xdf, 4],
  [0xe0, 5],
  [0xec, 6],
  [0xed, 7],
  [0xef, 6],
  [0xf0, 8],
  [0xf3, 9],
  [0xf4, 10],
  [0xff, 11],
];

/** The state to which each class leads from state 0. Other classes are complete or invalid by themselves. */
const LEADS: Record<number, number> = { 4: 1, 5: 4, 6: 2, 7: 5, 8: 6, 9: 3, 10: 7 };

/**
 * For each state: the continuation classes that it takes, the next state, and the UTF-16 units that are complete then.
 */
const CONTINUES: Record<number, [classes: number[], next: number, chars: number]> = {
  1: [[1, 2, 3], 0, 1],
  2: [[1, 2, 3], 1, 0],
  3: [[1, 2, 3], 8, 0],
  4: [[3], 1, 0],
  5: [[1, 2], 1, 0],
  6: [[2, 3], 8, 0],
  7: [[1], 8, 0],
  8: [[1, 2, 3], 9, 0],
  9: [[1, 2, 3], 0, 2],
};

/** Maps a byte to its class. */
const CLASSES: Uint8Array = new Uint8Array(256);
/**
 * Maps state * 16 + class to the next state, plus 16 times the UTF-16 units that it completes, plus 64 times the
 * invalid stretches that it ends.
 */
const STEPS: Uint8Array = new Uint8Array(STATES * 16);

let byte = 0;
for (const [last, name] of CLASS_ENDS) while (byte <= last) CLASSES[byte++] = name;

for (let state = 0; state < STATES; state++) {
  for (let name = 0; name < 12; name++) {
    const continues = CONTINUES[state];
    const lead = LEADS[name];
    // A byte that begins no sequence is complete (ASCII) or invalid by itself. If a character was broken off before it,
    // one U+FFFD comes first.
    const fresh = lead ?? (name === 0 ? 16 : 16 | 64);
    if (continues === undefined) STEPS[state * 16 + name] = fresh;
    else if (continues[0].includes(name)) STEPS[state * 16 + name] = (continues[2] << 4) | continues[1];
    else STEPS[state * 16 + name] = fresh + 16 + 64;
  }
}

/** Holds 1 for control characters that no terminal uses in text. */
const CONTROLS: Uint8Array = Uint8Array.from({ length: 32 }, (_, byte) =>
  byte < 7 || (byte > 13 && byte !== 27) ? 1 : 0,
);

const CHUNK_CHARS = 1 << 16;

/**
 * Yields a string as UTF-8 in bounded chunks. A lone surrogate becomes U+FFFD. The next chunk overwrites the buffer, so
 * use each chunk before you ask for more.
 */
export function* encodeText(text: string): Generator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(text.length, CHUNK_CHARS) * 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + CHUNK_CHARS, text.length);
    if (end < text.length && splitsPair(text, end)) end--;
    const { written } = encoder.encodeInto(at === 0 && end === text.length ? text : text.slice(at, end), buffer);
    yield buffer.subarray(0, written);
    at = end;
  }
}

/** Returns true if `at` is between the two halves of a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** Returns true if a text ends with the first half of a surrogate pair: the other half may come in the next piece. */
export function endsInHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}

/** The first bytes that identify a format. `at` is their offset. */
const FORMATS: [name: string, bytes: string, at?: number][] = [
  ["PNG image", "\x89PNG\r\n\x1a\n"],
  ["JPEG image", "\xff\xd8\xff"],
  ["GIF image", "GIF87a"],
  ["GIF image", "GIF89a"],
  ["WebP image", "WEBP", 8],
  ["PDF document", "%PDF-"],
  ["ZIP archive", "PK\x03\x04"],
  ["gzip data", "\x1f\x8b"],
  ["bzip2 data", "BZh"],
  ["xz data", "\xfd7zXZ\x00"],
  ["Zstandard data", "\x28\xb5\x2f\xfd"],
  ["7-Zip archive", "7z\xbc\xaf\x27\x1c"],
  ["tar archive", "ustar", 257],
  ["ELF executable", "\x7fELF"],
  ["Mach-O executable", "\xcf\xfa\xed\xfe"],
  ["Windows executable", "MZ\x90\x00"],
  ["WebAssembly module", "\x00asm"],
  ["Java class", "\xca\xfe\xba\xbe"],
  ["SQLite database", "SQLite format 3\x00"],
  ["MP4 media", "ftyp", 4],
  ["Ogg media", "OggS"],
  ["WAVE audio", "WAVE", 8],
  ["WOFF font", "wOF"],
  ["UTF-16 text", "\xff\xfe"],
  ["UTF-16 text", "\xfe\xff"],
];

/** If a text happens to begin like a format, its share of strange bytes is below this. */
const STRANGE_SHARE = 0.01;

/**
 * If the share of bytes that no text has is above this, an output is binary. Names that are separated by NUL stay below
 * it.
 */
const BINARY_SHARE = 0.1;

/**
 * Text in an older encoding, such as Latin-1, has no control characters and a smaller share of bytes that are not
 * UTF-8, unless it is short.
 */
const OLD_TEXT_SHARE = 0.3;
const OLD_TEXT_BYTES = 16;

/** Names the format of a binary output by its start. Returns null if the output is text. */
export function describeBinary(sample: Uint8Array): string | null {
  const strange = strangeBytes(sample);
  if (strange === 0) return startsWith(sample, "%PDF-", 0) ? "PDF document" : null;
  const format = FORMATS.find(([, bytes, at]) => startsWith(sample, bytes, at ?? 0));
  if (format !== undefined && strange > sample.length * STRANGE_SHARE) return format[0];
  if (strange <= sample.length * BINARY_SHARE) return null;
  const isOldText = strange <= Math.max(OLD_TEXT_BYTES, sample.length * OLD_TEXT_SHARE);
  return isOldText && !sample.some((byte) => CONTROLS[byte] === 1) ? null : "binary data";
}

function startsWith(sample: Uint8Array, bytes: string, at: number): boolean {
  if (sample.length < at + bytes.length) return false;
  for (let i = 0; i < bytes.length; i++) if (sample[at + i] !== bytes.charCodeAt(i)) return false;
  return true;
}
