import { SKIM_BINARY } from "./skim-binary.ts";

type Word = { value: number };

/** Native code that passes over entries; its words are those of `Skim`, counted from where its bytes begin. */
export interface NativeSkim {
  /** Where bytes are put, and how they are numbered. */
  data: Uint8Array;
  dataAt: number;
  /** Three words for each border: position, breaks and count. */
  borders: Int32Array;
  words: Record<
    "nest" | "isString" | "isEscaped" | "isLines" | "isDone" | "breaks" | "count" | "last" | "least" | "told",
    Word
  >;
  skim(at: number, end: number): number;
}

const DATA_AT = 8192;
let native: NativeSkim | null | undefined;

/** Null where WebAssembly or its SIMD is not to be had. */
export function nativeSkim(): NativeSkim | null {
  if (native === undefined) native = loadNative();
  return native;
}

function loadNative(): NativeSkim | null {
  try {
    const binary = Uint8Array.from(atob(SKIM_BINARY), (char) => char.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary));
    const { buffer } = exports.memory as WebAssembly.Memory;
    return {
      data: new Uint8Array(buffer, DATA_AT),
      dataAt: DATA_AT,
      borders: new Int32Array(buffer, 0, DATA_AT / 4),
      words: exports as Record<keyof NativeSkim["words"], WebAssembly.Global>,
      skim: exports.skim as NativeSkim["skim"],
    };
  } catch {
    return null;
  }
}

/** For tests: forces one way of passing over, or undoes that. */
export function useNativeSkim(wanted: boolean): boolean {
  native = wanted ? loadNative() : null;
  return native !== null;
}
