import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { encodeText } from "./encode-text.ts";
import { newScan, scanBytes, scannedLines } from "./scan.ts";

/** The size of a text in every unit. */
export function measureText(text: string, counter: TokenCounter): Size {
  const scan = newScan();
  for (const bytes of encodeText(text)) scanBytes(scan, bytes);
  return { bytes: scan.bytes, chars: text.length, lines: scannedLines(scan), tokens: counter.count(text) };
}
