import { startRedact } from "../src/stages/redact/redact.ts";
import type { RedactionRule } from "../src/stages/redact/redaction-rule.ts";
import { lent } from "../src/testing/arbitrary.ts";

/** The redacted text, with one character for each byte, and what `end` returned. */
export interface Redacted {
  text: string;
  count: number;
  bytes: number;
}

/** Redacts bytes in chunks that end at the given places. Each chunk is overwritten after its call. */
export function redactChunks(rules: readonly RedactionRule[], bytes: Uint8Array, ends: number[]): Redacted {
  let text = "";
  const redact = startRedact(rules, (part) => {
    for (let at = 0; at < part.length; at += 4096) text += String.fromCharCode(...part.subarray(at, at + 4096));
  });
  const borders = [0, ...ends.filter((end) => end < bytes.length), bytes.length].toSorted((one, other) => one - other);
  const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
  for (const chunk of lent(chunks)) redact.add(chunk);
  return { ...redact.end(), text };
}

/** The same in one chunk. */
export function redactAll(rules: readonly RedactionRule[], bytes: Uint8Array): Redacted {
  return redactChunks(rules, bytes, []);
}
