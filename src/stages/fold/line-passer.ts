import { BYTE_CLASS, BYTE_KIND } from "./byte-class.ts";
import { END_SHAPE } from "./compare-lines.ts";
import { PASS_LINES_BINARY } from "./pass-lines-binary.ts";

/**
 * Passes over lines of a chunk that are clearly unlike their neighbours, several times faster than `compareLines`, which
 * is asked about all others. Without WebAssembly it passes over none, and the result is the same.
 */
export class LinePasser {
  /** Where the last line passed over begins and ends. */
  before = 0;
  start = 0;
  /** Where the next line ends (after its break) if it is plain and whole; 0 if that is not known. */
  nextEnd = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  /** The part of the chunk that lies in the memory that is searched. */
  private windowFrom = 0;
  private windowTo = 0;

  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.windowTo = 0;
  }

  /** The line from `before` to `start` is plain and whole. How many lines after it were passed over. */
  pass(before: number, start: number): number {
    this.before = before;
    this.start = start;
    this.nextEnd = 0;
    if (native === undefined) native = loadNative();
    if (native === null) return 0;
    if (native.user !== this || before < this.windowFrom || start >= this.windowTo) {
      this.windowFrom = before;
      this.windowTo = Math.min(this.bytes.length, before + WINDOW_BYTES);
      native.memory.set(this.bytes.subarray(this.windowFrom, this.windowTo), DATA_AT);
      native.user = this;
    }
    if (start >= this.windowTo) return 0;
    const shift = DATA_AT - this.windowFrom;
    const lines = native.pass(before + shift, start + shift, this.windowTo + shift);
    const { result } = native;
    this.before = result[0]! - shift;
    this.start = result[1]! - shift;
    if (result[2] !== 0) this.nextEnd = result[2]! - shift;
    return lines;
  }
}

interface Native {
  memory: Uint8Array;
  /** What `pass` leaves: before, start, end of the next line. */
  result: Int32Array;
  pass(before: number, start: number, end: number): number;
  /** Whose window is in the memory. */
  user: LinePasser | null;
}

const RESULT_AT = 768;
const DATA_AT = 1024;
const WINDOW_BYTES = 65_536;

let native: Native | null | undefined;

/** Null where WebAssembly or its SIMD is not to be had (some edge runtimes). */
function loadNative(): Native | null {
  try {
    const binary = Uint8Array.from(atob(PASS_LINES_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const { buffer } = exports.memory as WebAssembly.Memory;
    const memory = new Uint8Array(buffer);
    memory.set(BYTE_CLASS, 0);
    memory.set(BYTE_KIND, 256);
    memory.set(END_SHAPE, 512);
    return { memory, result: new Int32Array(buffer, RESULT_AT, 3), pass: exports.pass as Native["pass"], user: null };
  } catch {
    return null;
  }
}

/** For tests: takes native code away or gives it back; false if there is none. */
export function useNativePasser(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
