import { HEAD_BYTES, WINDOW_BYTES } from "./bounds.ts";
import { HEADS_BINARY } from "./heads-binary.ts";
import type { Prefilter } from "./prefilter.ts";

/** Below this the copy into WebAssembly's memory costs more than it saves. */
const SMALL = 64;
const MASKS_AT = 1024;
const DATA_AT = 8192;
const FOUND_AT = 81_920;

interface Native {
  memory: Uint8Array;
  found: Int32Array;
  find(at: number, end: number): number;
}

let native: Native | null | undefined;
/** Whose tables are in the native memory. */
let loaded: Prefilter | null = null;

/**
 * Appends every place from `from` on where a rule could begin, plus `base`; at most a window of bytes. Returns where to go on: the
 * first place whose head is not all there yet but could become one, else the end.
 */
export function findHeads(prefilter: Prefilter, bytes: Uint8Array, from: number, places: number[], base = 0): number {
  const whole = bytes.length - (HEAD_BYTES - 1);
  if (whole > from) {
    if (native === undefined) native = loadNative();
    if (native === null || whole - from < SMALL || whole - from > WINDOW_BYTES + HEAD_BYTES)
      findInScript(prefilter, bytes, from, whole, places, base);
    else findInNative(prefilter, bytes, from, whole, places, base, native);
  }
  for (let at = Math.max(from, whole, 0); at < bytes.length; at++) if (maskAt(prefilter, bytes, at) !== 0) return at;
  return bytes.length;
}

/** One bit for each group of rules that could begin here; bytes that are not there yet could be any. */
export function maskAt({ masks }: Prefilter, bytes: Uint8Array, at: number): number {
  let mask = -1;
  for (let index = 0; index < HEAD_BYTES && at + index < bytes.length; index++)
    mask &= (masks[index] as Int32Array)[bytes[at + index] as number] as number;
  return mask;
}

function findInScript(
  { masks }: Prefilter,
  bytes: Uint8Array,
  from: number,
  to: number,
  places: number[],
  base: number,
): void {
  const [first, second, third, fourth] = masks as [Int32Array, Int32Array, Int32Array, Int32Array];
  for (let at = from; at < to; at++) {
    const two = (first[bytes[at] as number] as number) & (second[bytes[at + 1] as number] as number);
    if (two === 0) continue;
    if ((two & (third[bytes[at + 2] as number] as number) & (fourth[bytes[at + 3] as number] as number)) !== 0)
      places.push(at + base);
  }
}

function findInNative(
  prefilter: Prefilter,
  bytes: Uint8Array,
  from: number,
  to: number,
  places: number[],
  base: number,
  { memory, found, find }: Native,
): void {
  if (loaded !== prefilter) {
    memory.set(prefilter.nibbles, 0);
    prefilter.masks.forEach((mask, index) => {
      memory.set(new Uint8Array(mask.buffer), MASKS_AT + index * 1024);
    });
    loaded = prefilter;
  }
  memory.set(from === 0 ? bytes : bytes.subarray(from), DATA_AT);
  const count = find(DATA_AT, DATA_AT + to - from);
  const shift = from - DATA_AT + base;
  for (let index = 0; index < count; index++) places.push((found[index] as number) + shift);
}

/** Null where WebAssembly or its SIMD is not to be had: the loop finds the same places. */
function loadNative(): Native | null {
  loaded = null;
  try {
    const binary = Uint8Array.from(atob(HEADS_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const { buffer } = exports.memory as WebAssembly.Memory;
    return {
      memory: new Uint8Array(buffer),
      found: new Int32Array(buffer, FOUND_AT),
      find: exports.find as Native["find"],
    };
  } catch {
    return null;
  }
}

/** For tests: forces one way of finding, or undoes that. */
export function useNativeHeads(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
