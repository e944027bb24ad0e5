import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { estimateCounter } from "./estimate-tokens.ts";
import { encodeText, newScan, scanBytes, scannedChars, scannedLines, scanText } from "./scan.ts";

/** Returns the size of a text in every unit; tokens are counted when somebody reads them. */
export function measureText(text: string, counter: TokenCounter = estimateCounter): Size {
  const scan = newScan();
  if (scanText(scan, text) === null) for (const bytes of encodeText(text)) scanBytes(scan, bytes);
  return lazySize(text, { bytes: scan.bytes, lines: scannedLines(scan) }, counter);
}

/**
 * Returns the size of a text, and counts tokens only when somebody reads them, because that takes ten times as long as
 * the rest.
 */
export function lazySize(text: string, { bytes, lines }: Pick<Size, "bytes" | "lines">, counter: TokenCounter): Size {
  let tokens: number | undefined;
  return {
    bytes,
    chars: text.length,
    lines,
    get tokens() {
      tokens ??= counter.count(text);
      return tokens;
    },
  };
}

/** Measures a text as it comes. */
export interface Measuring {
  /** Adds text or bytes, in pieces of any size. Reads bytes only during the call. */
  add(chunk: string | Uint8Array): void;
  end(): Size;
}

/**
 * Tokens are counted in stretches of about this many characters. A stretch ends at the end of a line if there is one.
 */
const STRETCH_CHARS = 16_384;

/**
 * Measures a text that comes in pieces, in bounded memory. Bytes, chars and lines are exact. Tokens are counted in
 * stretches and summed, which differs from a count of the whole by at most a thousandth.
 */
export function startMeasure(counter: TokenCounter): Measuring {
  const scan = newScan();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let waiting = "";
  let half = "";
  let tokens = 0;

  function addBytes(bytes: Uint8Array): void {
    scanBytes(scan, bytes);
    waiting += decoder.decode(bytes, { stream: true });
    while (waiting.length >= STRETCH_CHARS) countStretch();
  }

  function countStretch(): void {
    const lineEnd = waiting.lastIndexOf("\n", STRETCH_CHARS - 1) + 1;
    const end = lineEnd > 0 ? lineEnd : STRETCH_CHARS - (isHigh(waiting, STRETCH_CHARS - 1) ? 1 : 0);
    tokens += counter.count(waiting.slice(0, end));
    waiting = waiting.slice(end);
  }

  return {
    add(chunk) {
      if (typeof chunk !== "string") return addBytes(chunk);
      // A surrogate pair may come in two pieces.
      const text = half + chunk;
      half = isHigh(text, text.length - 1) ? text.slice(-1) : "";
      for (const bytes of encodeText(half === "" ? text : text.slice(0, -1))) addBytes(bytes);
    },
    end() {
      for (const bytes of encodeText(half)) addBytes(bytes);
      half = "";
      waiting += decoder.decode();
      if (waiting !== "") tokens += counter.count(waiting);
      waiting = "";
      return { bytes: scan.bytes, chars: scannedChars(scan), lines: scannedLines(scan), tokens };
    },
  };
}

function isHigh(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}
