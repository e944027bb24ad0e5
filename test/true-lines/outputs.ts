/** An output, and every line that may be shown of it, in order. */
export interface KnownOutput {
  bytes: Uint8Array;
  lines: string[];
  /** What its receipt must call it. */
  kind: string;
}

/** Writes an output of about `count` lines with numbers from `random`, which gives 0 to 1. */
type WriteOutput = (count: number, random: () => number) => KnownOutput;

/** The same numbers for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Every kind of output. No line of theirs looks like a marker. */
export const OUTPUTS: Record<string, WriteOutput> = {
  log: (count, random) =>
    lined("log", count, (n) => {
      const level = random() < 0.002 ? "ERROR" : "INFO";
      return `2026-01-02T03:04:05Z ${level} worker ${whole(random, 9)}: ${words(random, 6)} of request ${n}`;
    }),
  diff: (count, random) =>
    lined("diff", count, (n) => {
      const place = n % 14;
      if (place === 0) return `diff --git a/src/f${n}.ts b/src/f${n}.ts`;
      if (place === 1) return `--- a/src/f${n - 1}.ts`;
      if (place === 2) return `+++ b/src/f${n - 2}.ts`;
      if (place === 3) return `@@ -${n},10 +${n},10 @@ ${words(random, 2)}`;
      return `${"+- "[whole(random, 2)]}const ${words(random, 1)}${n} = "${words(random, 3)}";`;
    }),
  matches: (count, random) =>
    lined("matches", count, (n) => `src/${words(random, 1)}/f${whole(random, 90)}.ts:${n + 1}:  ${words(random, 4)}`),
  listing: (count, random) =>
    lined("listing", count, (n) => `./src/${words(random, 1)}/${words(random, 1)}/file-${n}.ts`),
  table: (count, random) =>
    lined("table", count, (n) => {
      if (n === 0) return "id,name,state,amount";
      return `${n},${words(random, 1)} ${n},${random() < 0.001 ? "failed" : "done"},${whole(random, 9999)}`;
    }),
  source: (count, random) =>
    lined("source", count, (n) => {
      const place = n % 6;
      if (place === 0) return `export function ${words(random, 1)}${n}(value: number): number {`;
      return place === 5 ? "}" : `  const ${words(random, 1)}${n} = value + ${whole(random, 999)};`;
    }),
  json(count, random) {
    const elements = Array.from({ length: count }, (_, id) => ({ id, name: `${words(random, 3)} ${id}` }));
    const text = JSON.stringify(elements, null, random() < 0.5 ? 2 : 0);
    const lines = elements.map((element, at) => `${JSON.stringify(element)}${at < count - 1 ? "," : ""}`);
    return { bytes: encode(text), lines: ["[", ...lines, "]"], kind: "json" };
  },
  "JSON lines": (count, random) =>
    lined("json", count, (id) => JSON.stringify({ id, name: `${words(random, 3)} ${id}` })),
  html(count, random) {
    const sentences = Array.from({ length: count }, (_, n) => `${words(random, 5)} in sentence ${n}.`);
    const body = sentences.map((sentence) => `<div class="${words(random, 1)}"><p>${sentence}</p></div>\n`).join("");
    const page = `<!DOCTYPE html>\n<html><head><title>A page</title></head><body>\n${body}</body></html>\n`;
    const lines = ["# A page", "", ...sentences.flatMap((sentence) => [sentence, ""])];
    return { bytes: encode(page), lines, kind: "html" };
  },
  binary(count, random) {
    const bytes = new Uint8Array(count * 40);
    for (let at = 0; at < bytes.length; at++) bytes[at] = whole(random, 255);
    return { bytes, lines: [], kind: "binary" };
  },
  prose: (count, random) =>
    lined("prose", count, (n) => `The ${words(random, 9)} of place ${n} is an ${words(random, 2)}, and so it stays.`),
  progress(count, random) {
    const lines = Array.from({ length: count }, (_, n) => `${words(random, 2)} step ${n}: done`);
    const text = lines.map((line, n) => `step ${n}: 10%\rstep ${n}: 60%\r\x1b[2K\x1b[32m${line}\x1b[0m\n`).join("");
    return { bytes: encode(text), lines, kind: "log" };
  },
};

const WORDS = "alpha build cache delta every first given house index joint known later month never order place".split(
  " ",
);

function words(random: () => number, count: number): string {
  return Array.from({ length: count }, () => WORDS[whole(random, WORDS.length - 1)]).join(" ");
}

/** From 0 to `most`. */
function whole(random: () => number, most: number): number {
  return Math.floor(random() * (most + 1));
}

function lined(kind: string, count: number, line: (n: number) => string): KnownOutput {
  const lines = Array.from({ length: count }, (_, n) => line(n));
  return { bytes: encode(`${lines.join("\n")}\n`), lines, kind };
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
