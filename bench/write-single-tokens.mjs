// Writes src/stages/measure/single-tokens.ts: how many tokens a character is by itself, the most of o200k, cl100k and
// ai-tokenizer's claude vocabulary. No text needs more tokens than its characters do one by one.
//   node bench/write-single-tokens.mjs
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "ai-tokenizer";
import * as claude from "ai-tokenizer/encoding/claude";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";

const RANGES = [
  [0xa0, 0xeff],
  [0x1e00, 0x1fff],
  [0x2000, 0x2bff],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xfe00, 0xffef],
];
const claudeCounter = new Tokenizer({ ...claude, special_tokens: {} });
const plain = { disallowedSpecial: new Set() };
const counters = [
  (text) => countO200k(text, plain),
  (text) => countCl100k(text, plain),
  (text) => claudeCounter.encode(text).length,
];
const rows = RANGES.map(([from, to]) => {
  const bits = new Uint8Array(Math.ceil((to - from + 1) / 4));
  for (let unit = from; unit <= to; unit++) {
    const tokens = Math.max(...counters.map((count) => count(String.fromCharCode(unit))));
    bits[(unit - from) >> 2] |= (4 - tokens) << (2 * ((unit - from) & 3));
  }
  return `  [${from}, ${to}, "${Buffer.from(bits).toString("base64")}"],`;
});
writeFileSync(
  fileURLToPath(new URL("../src/stages/measure/single-tokens.ts", import.meta.url)),
  `// Written by bench/write-single-tokens.mjs.

/** Ranges of UTF-16 units, and as base64 two bits for each of their units: four less its tokens by itself. */
export const singleTokens: readonly [from: number, to: number, bits: string][] = [
${rows.join("\n")}
];
`,
);
