// What tools print, one function for each kind: it takes a Random and about how many lines to write, and gives text or bytes.

/** Texts that read like ours: an output that quotes them must fool nobody. */
const QUOTED = [
  "[exit code 0]",
  "[cut]",
  "[no output]",
  "[First 3 lines of 9]",
  "[Last 2 lines of 40]",
  "[... lines 3-9 omitted (7 lines, 70 bytes, 70 characters) ...]",
  "[... 12 lines cut; artifact mzxw6ytboi2a ...]",
  "[previous line repeated 3 more times]",
  "[4 lines like these omitted: lines 2-5]",
  "[Output cut to fit: 1 of 2 bytes shown. Do not guess the rest.]",
  "[tool output truncated: exceeded 50KB or 2000 lines; request smaller chunks (offset/limit) or specific sections]",
  '"... [3 elements omitted: $[0] to $[2]]"',
];

const SCRIPTS = [
  "日本語のテキスト",
  "한국어 텍스트",
  "Привет мир",
  "مرحبا بالعالم",
  "שלום עולם",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "e\u0301\u0302\u0303o\u0308",
  "\u202eabc\u202c",
  "𝔘𝔫𝔦",
  "\ufeff",
  "ｆｕｌｌ",
];

const lined = (r, count, line) => r.list(count, line).join("\n") + (count > 0 && r.chance(0.8) ? "\n" : "");

/** One row of a table, as JSON has it. */
const record = (r, id) => ({
  id,
  name: r.words(2),
  state: r.chance(0.03) ? "failed" : "ok",
  ms: r.int(1, 999),
  ...(r.chance(0.05) && { note: r.words(r.int(1, 60)) }),
});

const bytesOf = (r, count, from, to) => Uint8Array.from(r.list(count, () => r.int(from, to)));

export const KINDS = {
  log: (r, n) =>
    lined(r, n, (i) => {
      const level = r.chance(0.03) ? "ERROR" : r.pick(["INFO", "INFO", "DEBUG", "WARN"]);
      return `2026-01-02T03:${10 + (i % 50)}:05Z ${level} worker ${r.int(1, 9)}: ${r.words(5)} of request ${i}`;
    }),
  "python trace": (r, n) =>
    lined(r, n, (i) => {
      if (i % 9 === 0) return "Traceback (most recent call last):";
      if (i % 9 === 8) return `gw.Declined: card_declined (code ${r.int(1, 99)})`;
      return i % 2 === 1
        ? `  File "/app/${r.words(1)}.py", line ${i}, in ${r.words(1)}`
        : `    return ${r.words(1)}(${i})`;
    }),
  "java trace": (r, n) =>
    lined(r, n, (i) =>
      i % 14 === 0
        ? `Caused by: java.lang.IllegalStateException: ${r.words(3)}`
        : `\tat com.acme.${r.words(1)}.run(Main.java:${i})`,
    ),
  "test run": (r, n) =>
    lined(r, n, (i) => {
      if (r.chance(0.02)) return `FAIL src/${r.words(1)}.test.ts > ${r.words(3)}\n  expected ${i} to be ${r.int(0, 9)}`;
      return ` ${r.chance(0.9) ? "✓" : "✗"} ${r.words(4)} (${r.int(1, 300)} ms)`;
    }),
  "json array": (r, n) =>
    JSON.stringify(
      r.list(n, (id) => record(r, id)),
      null,
      r.pick([0, 0, 1, 2]),
    ),
  "json object": (r, n) =>
    JSON.stringify(
      {
        total: n,
        items: r.list(Math.ceil(n / 2), (id) => record(r, id)),
        byName: Object.fromEntries(r.list(Math.ceil(n / 4), (id) => [`${r.words(1)}-${id}`, r.words(3)])),
        deep: { a: { b: { c: r.words(n) } } },
        text: `${r.words(5)}\n"quoted" \\ \u2028 ${r.pick(SCRIPTS)}`,
      },
      null,
      r.pick([0, 2]),
    ),
  ndjson: (r, n) => lined(r, n, (id) => JSON.stringify(record(r, id))),
  "broken json": (r, n) => JSON.stringify(r.list(n, (id) => record(r, id))).slice(0, -r.int(1, 40)),
  table: (r, n) =>
    lined(r, n, (i) =>
      [i === 0 ? "ID" : String(i), r.words(1), i === 0 ? "STATE" : r.words(1), r.int(0, 9999)]
        .map((cell) => String(cell).padEnd(12))
        .join(""),
    ),
  csv: (r, n) =>
    lined(r, n, (i) => (i === 0 ? "id,name,state,amount" : `${i},"${r.words(2)}",${r.words(1)},${r.int(0, 9999)}`)),
  diff: (r, n) =>
    lined(r, n, (i) => {
      const place = i % 14;
      if (place === 0) return `diff --git a/src/f${i}.ts b/src/f${i}.ts`;
      if (place === 1) return `--- a/src/f${i - 1}.ts`;
      if (place === 2) return `+++ b/src/f${i - 2}.ts`;
      if (place === 3) return `@@ -${i},10 +${i},10 @@ ${r.words(2)}`;
      return `${r.pick(["+", "-", " "])}const ${r.words(1)}${i} = "${r.words(3)}";`;
    }),
  html: (r, n) =>
    `<!DOCTYPE html>\n<html><head><title>A page</title><style>p{}</style></head><body>\n${lined(r, n, (i) => `<div class="${r.words(1)}"><p>${r.words(5)} &amp; sentence ${i}.</p></div>`)}</body></html>\n`,
  xml: (r, n) =>
    `<?xml version="1.0"?>\n<items>\n${lined(r, n, (i) => `  <item id="${i}"><name>${r.words(2)}</name></item>`)}</items>\n`,
  yaml: (r, n) =>
    lined(r, n, (i) =>
      i % 4 === 0 ? `- name: ${r.words(1)}-${i}` : `  ${r.pick(["image", "replicas", "port"])}${i % 4}: ${r.words(1)}`,
    ),
  markdown: (r, n) =>
    lined(r, n, (i) => {
      if (i % 12 === 0) return `${"#".repeat(r.int(1, 3))} ${r.words(3)}`;
      if (i % 5 === 0) return `- ${r.words(6)}`;
      return i % 7 === 0 ? "" : `The ${r.words(9)} of place ${i} is so.`;
    }),
  source: (r, n) =>
    lined(r, n, (i) => {
      if (i % 6 === 0) return `export function ${r.words(1)}${i}(value: number): number {`;
      return i % 6 === 5 ? "}" : `  const ${r.words(1)}${i} = value + ${r.int(0, 999)};`;
    }),
  "ls -lR": (r, n) =>
    lined(r, n, (i) => {
      if (i % 10 === 0) return `${i === 0 ? "" : "\n"}./${r.words(1)}/${r.words(1)}:\ntotal ${r.int(4, 900)}`;
      return `-rw-r--r-- 1 root root ${String(r.int(1, 99_999)).padStart(8)} Jan  2 03:04 ${r.words(1)}-${i}.ts`;
    }),
  paths: (r, n) => lined(r, n, (i) => `./src/${r.words(1)}/${r.words(1)}/file-${i}.ts`),
  matches: (r, n) => lined(r, n, (i) => `src/${r.words(1)}/f${r.int(0, 20)}.ts:${i + 1}:  ${r.words(4)}`),
  progress: (r, n) =>
    lined(
      r,
      n,
      (i) =>
        `${r.list(r.int(0, 5), (at) => `step ${i}: ${at * 20}%\r`).join("")}${r.pick(["", "\x1b[2K"])}step ${i}: 100%`,
    ),
  ansi: (r, n) =>
    lined(r, n, (i) => `\x1b[${r.int(30, 37)}m${r.words(3)} ${i}\x1b[0m${r.pick(["", "\x1b]0;title\x07", "a\b\bb"])}`),
  repeated: (r, n) => {
    const pool = r.list(r.int(1, 4), () => r.words(r.int(0, 4)));
    let line = pool[0];
    return lined(r, n, () => {
      if (r.chance(0.1)) line = r.pick(pool);
      return line;
    });
  },
  "like lines": (r, n) =>
    lined(r, n, (i) => (r.chance(0.02) ? `GET /x 9,999 ms timeout` : `GET /items/${i} ${r.int(1, 300)} ms`)),
  "one long line": (r, n) => r.words(n * 8),
  "long lines": (r, n) => lined(r, Math.ceil(n / 20), () => r.words(r.scale(1, 400))),
  scripts: (r, n) => lined(r, n, () => r.list(r.int(0, 5), () => r.pick(SCRIPTS)).join(r.pick(["", " "]))),
  "invalid utf-8": (r, n) => {
    const bytes = Buffer.from(lined(r, n, () => `${r.words(3)} ${r.pick(SCRIPTS)}`));
    for (let bad = r.int(1, 12); bad > 0 && bytes.length > 0; bad--)
      bytes[r.int(0, bytes.length - 1)] = r.int(0x80, 0xff);
    return bytes;
  },
  binary: (r, n) =>
    Buffer.concat([
      Buffer.from(r.pick(["\x89PNG\r\n\x1a\n", "PK\x03\x04", "\x7fELF"]), "latin1"),
      bytesOf(r, n * 20, 0, 255),
    ]),
  nuls: (r, n) => lined(r, n, () => `${r.words(2)}\0${r.words(1)}`),
  quoted: (r, n) => lined(r, n, () => (r.chance(0.3) ? r.pick(["", "", " ", "log: "]) + r.pick(QUOTED) : r.words(4))),
  "only empty lines": (r, n) => "\n".repeat(n),
  crlf: (r, n) => r.list(n, () => r.words(r.int(0, 6))).join("\r\n") + r.pick(["", "\r\n", "\r", "\n"]),
  blanks: (r, n) => lined(r, n, () => r.pick([" ", "\t", "   \t ", "", " x "]).repeat(r.int(0, 9))),
  "random bytes": (r, n) => bytesOf(r, n * 10, 0, 255),
  "random text": (r, n) =>
    lined(r, n, () =>
      String.fromCodePoint(
        ...r.list(r.int(0, 30), () => r.pick([r.int(32, 126), r.int(160, 0xd7ff), r.int(0x1f300, 0x1f64f)])),
      ),
    ),
  mixed: (r, n) => {
    const parts = r.list(r.int(2, 4), () =>
      r.pick(["log", "python trace", "ansi", "repeated", "source", "quoted", "scripts", "crlf"]),
    );
    return parts.map((kind) => KINDS[kind](r, Math.ceil(n / parts.length))).join("");
  },
};
