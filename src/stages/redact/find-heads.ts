import { HEADS_BINARY } from "./heads-binary.ts";
import type { Prefilter } from "./prefilter.ts";
import { HEAD_BYTES } from "./redaction-rule.ts";
import { WINDOW_BYTES } from "./window.ts";

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
 * Tells every place from `from` on where a rule could begin. Returns where to go on: the first place whose head is not all
 * there yet but could become one, else the end.
 */
export function findHeads(
  prefilter: Prefilter,
  bytes: Uint8Array,
  from: number,
  take: (place: number) => void,
): number {
  const whole = Math.max(from, bytes.length - (HEAD_BYTES - 1));
  if (native === undefined) native = loadNative();
  const isWorthIt = whole - from >= SMALL && whole - from <= WINDOW_BYTES + HEAD_BYTES;
  if (native !== null && isWorthIt)
    findInNative(native, prefilter, bytes.subarray(from), (place) => take(place + from));
  else for (let at = from; at < whole; at++) if (maskAt(prefilter, bytes, at) !== 0) take(at);
  for (let at = whole; at < bytes.length; at++) if (maskAt(prefilter, bytes, at) !== 0) return at;
  return bytes.length;
}

/** One bit for each list of rules that could begin here; bytes that are not there yet could be any. */
export function maskAt({ masks }: Prefilter, bytes: Uint8Array, at: number): number {
  let mask = -1;
  for (let index = 0; mask !== 0 && index < HEAD_BYTES && at + index < bytes.length; index++)
    mask &= (masks[index] as Int32Array)[bytes[at + index] as number] as number;
  return mask;
}

function findInNative(
  { memory, found, find }: Native,
  prefilter: Prefilter,
  bytes: Uint8Array,
  take: (place: number) => void,
): void {
  if (loaded !== prefilter) {
    memory.set(prefilter.nibbles, 0);
    prefilter.masks.forEach((mask, index) => {
      memory.set(new Uint8Array(mask.buffer), MASKS_AT + index * 1024);
    });
    loaded = prefilter;
  }
  memory.set(bytes, DATA_AT);
  const count = find(DATA_AT, DATA_AT + bytes.length - (HEAD_BYTES - 1));
  for (let index = 0; index < count; index++) take((found[index] as number) - DATA_AT);
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
