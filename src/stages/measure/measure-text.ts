import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { encodeText } from "./encode-text.ts";
import { estimateCounter } from "./estimate-tokens.ts";
import { newScan, scanBytes, scannedLines, scanText } from "./scan.ts";

/** The size of a text in every unit. */
export function measureText(text: string, counter: TokenCounter = estimateCounter): Size {
  const scan = newScan();
  if (scanText(scan, text) === null) for (const bytes of encodeText(text)) scanBytes(scan, bytes);
  return { bytes: scan.bytes, chars: text.length, lines: scannedLines(scan), tokens: counter.count(text) };
}

/** The size of a text whose tokens are only counted when somebody reads them: that takes ten times all the rest. */
export function lazySize(text: string, { bytes, lines }: Omit<Size, "tokens">, counter: TokenCounter): Size {
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
