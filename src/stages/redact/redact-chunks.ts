import { startRedact } from "./redact.ts";
import type { RedactionRule } from "./redaction-rule.ts";

/** What came out, one character for each byte, and what `end` said. */
export interface Redacted {
  text: string;
  count: number;
  bytes: number;
}

/** For tests: feeds bytes in chunks that end at the given places; each chunk is overwritten after its call. */
export function redactChunks(rules: readonly RedactionRule[], bytes: Uint8Array, ends: number[]): Redacted {
  let text = "";
  const redact = startRedact(rules, (part) => {
    for (let at = 0; at < part.length; at += 4096) text += String.fromCharCode(...part.subarray(at, at + 4096));
  });
  let from = 0;
  for (const end of [...ends, bytes.length].toSorted((one, other) => one - other)) {
    const chunk = bytes.slice(from, end);
    redact.add(chunk);
    chunk.fill(88);
    from = Math.max(from, Math.min(end, bytes.length));
  }
  return { ...redact.end(), text };
}

/** The same in one chunk. */
export function redactAll(rules: readonly RedactionRule[], bytes: Uint8Array): Redacted {
  return redactChunks(rules, bytes, []);
}
