import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import type { Strategy } from "../../../contract/strategy.ts";
import { lent } from "../../../testing/arbitrary.ts";
import { estimateCounter } from "../../measure/estimate-tokens.ts";
import { startClamp } from "../clamp.ts";
import { strategies } from "./index.ts";

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");
const LIMITS = { maxChars: 3000, maxLines: 80 };

describe("strategies for kinds", () => {
  it("auto says which strategy it chose and for what, and leaves an output within its limits alone", () => {
    const { receipt } = clampText(JSON.stringify(Array.from({ length: 900 }, (_, id) => ({ id }))), LIMITS);
    expect(receipt).toMatchObject({ strategy: "json", kind: "json" });
    expect(clampText("[1,  2]", LIMITS)).toMatchObject({ text: "[1,  2]", receipt: { strategy: "auto" } });
  });

  it.each([
    ["a table", `id,name,state\n${lines(900, (n) => `${n},name ${n},ok`)}`],
    ["JSON", JSON.stringify(Array.from({ length: 900 }, (_, id) => ({ id })))],
    ["search results", lines(900, (n) => `src/file${n % 30}.ts:${n}: const a = ${n};`)],
  ])("keeps why a command failed though its output began as %s", (_, start) => {
    const end = `\nFAIL src/price.test.ts\nAssertionError: expected 3 to equal 4\n${lines(300, (n) => `ok ${n}`)}`;
    const failed = clampText(start + end, LIMITS, { tool: "run_command", exitCode: 1 });
    expect(failed.text).toContain("AssertionError: expected 3 to equal 4");
    expect(failed.receipt.strategy).toBe("signal");
    expect(clampText(start, LIMITS, { tool: "run_command", exitCode: 1 }).receipt.strategy).not.toBe("signal");
  });

  it("keeps the line that tells of a failure in an output of no known kind", () => {
    const rows = lines(9000, (n) => (n === 4500 ? "FATAL: disk quota exceeded" : `row ${n} is fine ${n * 7}`));
    const { text, receipt } = clampText(rows, LIMITS, { tool: "mcp__store__report" });
    expect(receipt).toMatchObject({ kind: "unknown", strategy: "signal" });
    expect(text).toContain("FATAL: disk quota exceeded");
    const quiet = clampText(rows.replace(/FATAL.*/, "row 4500 is fine 31500"), LIMITS, { tool: "mcp__store__report" });
    expect(quiet.receipt).toMatchObject({ kind: "unknown", strategy: "head-tail" });
  });

  it("table keeps the header, the first and the last rows", () => {
    const { text, receipt } = clampText(`id,name,state\n${lines(900, (n) => `${n},name ${n},ok`)}`, LIMITS);
    expect(receipt).toMatchObject({ strategy: "table", kind: "table" });
    expect(text).toContain("id,name,state\n0,name 0,ok\n1,name 1,ok\n");
    expect(text).toContain("899,name 899,ok\n[Output cut");
    expect(text).toMatch(/\[\.\.\. lines \d+-\d+ omitted \(\d+ lines/);
  });

  it("table keeps rows with a rare value in a column of few values", () => {
    const row = (n: number) =>
      `web-${String(n).padEnd(7)}${n === 433 ? "0/1     Evicted" : "1/1     Running"}   ${n % 30}d`;
    const { text, receipt } = clampText(`NAME       READY   STATUS    AGE\n${lines(900, row)}`, { maxChars: 1200 });
    expect(receipt.strategy).toBe("table");
    expect(text).toContain(`NAME       READY   STATUS    AGE\n${row(0)}\n`);
    expect(text).toContain(`omitted ...]\n${row(433)}\n[...`);
    expect(text).toContain(`${row(899)}\n[Output cut`);
  });

  it("table takes the rules around the names for its header, and those between its rows for rows", () => {
    const rule = "+-----+----------+-------+";
    const header = `${rule}\n| id  | name     | state |\n${rule}\n`;
    const row = (n: number) => `| ${String(n).padEnd(3)} | name ${String(n).padEnd(3)} | ok    |`;
    const source = `${header}${lines(900, (n) => (n % 9 === 8 ? rule : row(n)))}`;
    for (const maxChars of [120, 140, 160, 180, 240, 400]) {
      const { text, receipt } = clampText(source, { maxChars }, { focus: '"name 613"' });
      expect(receipt.strategy).toBe("table");
      expect(text.startsWith(header)).toBe(true);
      if (maxChars >= 180) expect(text).toContain(`${row(613)}\n`);
      expect(text.split(rule).length - 1).toBeLessThanOrEqual(4);
    }
  });

  it("table shows no rare rows where values come as often as each other", () => {
    const { receipt } = clampText(`id,name,state\n${lines(900, (n) => `${n},name ${n % 7},${n % 3}`)}`, LIMITS);
    expect(receipt.cuts).toHaveLength(1);
  });

  it("table does not cut within a record of several lines", () => {
    const record = (n: number) => `${n},"one, ${n}\ntwo ""${n}""\nthree",${n % 5}`;
    for (let maxChars = 900; maxChars < 960; maxChars++) {
      const { text, receipt } = clampText(`id,note,sum\n${lines(400, record)}`, { maxChars });
      expect(receipt.strategy).toBe("table");
      const [before, after] = text.split(/\n\[\.\.\. .*\n/);
      expect(before).toMatch(/\nthree",\d$/);
      expect(after).toMatch(/^(?:\[Last .*\n)?\d+,"one/);
    }
  });

  it("table is not taken in by a quote that nothing closes", () => {
    const source = `id,size,state\n${lines(900, (n) => `${n},${n === 3 ? '"open' : `${n}"`},ok`)}`;
    const { text } = clampText(source, LIMITS);
    expect(text).toContain("id,size,state\n0,0");
    expect(text).toContain('899,899",ok\n[Output cut');
  });

  it("diff names every file by one line before it shows more of any", () => {
    const file = (n: number) =>
      `diff --git a/src/f${n} b/src/f${n}\nindex 111..222 100644\n--- a/src/f${n}\n+++ b/src/f${n}\n@@ -1,0 +1,9 @@ part ${n}\n${lines(9, (at) => `+line ${at} of ${n}`)}`;
    const source = Array.from({ length: 40 }, (_, n) => file(n)).join("");
    const { text } = clampText(source, { maxChars: 3300 });
    for (let n = 0; n < 40; n++) expect(text).toContain(`diff --git a/src/f${n} b/src/f${n}\n`);
    const small = clampText(source, { maxChars: 900 }, { focus: "src/f23" }).text;
    expect(small).toContain("diff --git a/src/f23 b/src/f23\n");
  });

  it("diff names a file without a line of git's by both of its sides", () => {
    const file = (n: number) => `--- f${n}.old\n+++ f${n}.new\n@@ -1,0 +1,30 @@\n${lines(30, (at) => `+line ${at}`)}`;
    const { text } = clampText(Array.from({ length: 20 }, (_, n) => file(n)).join(""), { maxChars: 1600 });
    for (let n = 0; n < 20; n++) expect(text).toContain(`--- f${n}.old\n+++ f${n}.new\n`);
  });

  it("diff names every file and hunk before it shows bodies", () => {
    const file = (n: number) =>
      `diff --git a/f${n} b/f${n}\n--- a/f${n}\n+++ b/f${n}\n@@ -1,0 +1,60 @@ part ${n}\n${lines(60, (at) => (at === 3 ? "+-- a/not-a-header" : `+line ${at} of ${n}`))}`;
    const source = Array.from({ length: 8 }, (_, n) => file(n)).join("");
    const { text, receipt } = clampText(source, LIMITS);
    expect(receipt.strategy).toBe("diff");
    for (let n = 0; n < 8; n++) {
      expect(text).toContain(`+++ b/f${n}\n`);
      expect(text).toContain(`@@ -1,0 +1,60 @@ part ${n}\n+line 0 of ${n}\n`);
    }
  });

  it("matches names every file before it goes deep in one, and keeps the form", () => {
    const source = Array.from({ length: 20 }, (_, file) => lines(40, (n) => `src/f${file}.ts:${n}: call(${n})`)).join(
      "",
    );
    const { text, receipt } = clampText(source, LIMITS);
    expect(receipt.strategy).toBe("matches");
    for (let file = 0; file < 20; file++) expect(text).toContain(`src/f${file}.ts:0: call(0)\n`);
    for (const line of text.split("\n")) expect(line).toMatch(/^(?:src\/f\d+\.ts:\d+: call\(\d+\)|\[.*\])$/);
  });

  it("listing shows what is higher before what is deeper", () => {
    const source = Array.from(
      { length: 30 },
      (_, dir) => `./d${dir}/\n${lines(30, (n) => `./d${dir}/sub/deep/file${n}.ts`)}`,
    ).join("");
    const { text, receipt } = clampText(source, LIMITS, { tool: "find" });
    expect(receipt.strategy).toBe("listing");
    for (let dir = 0; dir < 30; dir++) expect(text).toContain(`./d${dir}/\n`);
  });

  it("listing knows a tree with two columns for each level, and what it says is amiss", () => {
    const branch = (n: number) =>
      `├─┬ top${n}@1.0.0\n│ ├─┬ mid${n}@2.0.0\n${lines(9, (at) => `│ │ ├── low${at}@${n}.0.${at}`)}${n === 11 ? "│ └── UNMET DEPENDENCY gone@^3.0.0\n" : ""}`;
    const source = `app@1.0.0\n${Array.from({ length: 30 }, (_, n) => branch(n)).join("")}`;
    const { text, receipt } = clampText(source, { maxChars: 2200 });
    expect(receipt.strategy).toBe("listing");
    for (let n = 0; n < 30; n++) expect(text).toContain(`├─┬ top${n}@1.0.0\n`);
    expect(text).toContain("│ └── UNMET DEPENDENCY gone@^3.0.0\n");
  });

  it.each([
    ["listing", lines(900, (n) => `./src/d${n % 40}/f${n}.ts`), "f613.ts", "./src/d13/f613.ts\n"],
    ["matches", lines(900, (n) => `src/d${n}.ts:${n}: call(${n})`), '"call(613)"', "src/d613.ts:613: call(613)\n"],
    ["table", `id,name,sum\n${lines(900, (n) => `${n},n${n},${n * 3}`)}`, "n613", "613,n613,1839\n"],
  ])("%s always shows a line that a call is after", (strategy, source, focus, line) => {
    const { text, receipt } = clampText(source, { maxChars: 600 }, { focus });
    expect(receipt.strategy).toBe(strategy);
    expect(text).toContain(line);
    expect(text.startsWith(source.slice(0, source.indexOf("\n")))).toBe(true);
  });

  it.each([
    ["listing", (n: number) => `./src/d${n % 40}/f${n}.ts`, "find: './keys': Permission denied"],
    ["matches", (n: number) => `src/d${n}.ts:${n}: raise Error: ${n}`, "grep: keys: Permission denied"],
  ])("%s shows what the one that wrote it says is amiss", (strategy, line, trouble) => {
    const source = lines(900, (n) => (n === 500 ? trouble : line(n)));
    const { text, receipt } = clampText(source, { maxChars: 1500 });
    expect(receipt.strategy).toBe(strategy);
    expect(text).toContain(`${trouble}\n`);
    expect(text).toContain(`${line(0)}\n`);
  });

  it("matches of which a call is after all still name every file", () => {
    const source = Array.from({ length: 20 }, (_, file) => lines(40, (n) => `src/f${file}.ts:${n}: call(${n})`)).join(
      "",
    );
    const { text } = clampText(source, LIMITS, { focus: "call" });
    for (let file = 0; file < 20; file++) expect(text).toContain(`src/f${file}.ts:0: call(0)\n`);
  });

  it("outline keeps both ends of a source file and the definitions between them, with their line numbers", () => {
    const source = Array.from(
      { length: 20 },
      (_, f) => `export function f${f}() {\n${lines(30, (n) => `  step(${n});`)}}\n`,
    ).join("");
    const { text, receipt } = clampText(source, { maxChars: 5000 }, { tool: "read_file" });
    expect(receipt).toMatchObject({ strategy: "outline", kind: "source" });
    expect(text).toContain("export function f0() {\n  step(0);\n");
    expect(text).toContain("[... lines 290-320 omitted ...]\nexport function f10() {\n");
    expect(text).toContain("  step(29);\n}\n[Output cut");
  });

  it("outline takes definitions from all over a file of which not all have room", () => {
    const source = lines(900, (n) => (n % 3 === 1 ? `export function f${n}() {` : n % 3 === 2 ? "  return 1;" : "}"));
    const { text } = clampText(source, LIMITS, { tool: "read_file" });
    const shown = [...text.matchAll(/function f(\d+)/g)].map(([, n]) => Number(n));
    for (const from of [100, 300, 500, 700]) expect(shown.some((n) => n > from && n < from + 200)).toBe(true);
  });

  it("say what each stretch of a cut is to them", () => {
    const explained = (source: string, strategy: string) => {
      const clamp = startClamp({
        strategy: strategies.find(({ name }) => name === strategy) as Strategy,
        limits: LIMITS,
        headShare: 0.3,
        fold: false,
        counter: estimateCounter,
      });
      for (const chunk of lent([new TextEncoder().encode(source)])) clamp.add(chunk);
      const { cutter } = clamp.end((text) => text);
      const none = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
      return cutter
        ?.explain?.(cutter.cut({ fixed: none, gap: none }))
        .map(({ shown, kind, line }) => ({ shown, kind, line }));
    };
    expect(explained(`id,name\n${lines(900, (n) => `${n},name ${n}`)}`, "table")).toEqual([
      { shown: true, kind: "header", line: "id,name" },
      { shown: false, kind: "row", line: "40,name 40" },
      { shown: true, kind: "row", line: "861,name 861" },
    ]);
    const list = JSON.stringify(Array.from({ length: 900 }, (_, id) => ({ id })));
    expect(explained(list, "json")).toEqual([
      { shown: true, kind: "excerpt", line: "" },
      { shown: false, kind: "left out", line: expect.stringMatching(/^\d+ elements omitted: \$\[\d+\] to \$\[\d+\]$/) },
    ]);
  });

  it("json that loses only white space says so", () => {
    const source = JSON.stringify(
      Array.from({ length: 60 }, (_, id) => ({ id, list: [id, id, id] })),
      null,
      4,
    );
    const { text, receipt } = clampText(source, LIMITS);
    expect(text).toMatch(/\n\[White space left out: [\d,]+ of [\d,]+ bytes shown\./);
    expect(receipt).toMatchObject({ omitted: { bytes: 0, lines: 0 }, cuts: [] });
  });

  it("keeps what a call is after", () => {
    const source = lines(900, (n) => `${n},name ${n},${n === 456 ? "needle" : (n * 7919).toString(36)}`);
    expect(clampText(`id,name,state\n${source}`, LIMITS).text).not.toContain("needle");
    expect(clampText(`id,name,state\n${source}`, LIMITS, { focus: "NEEDLE" }).text).toContain("456,name 456,needle\n");
    const list = JSON.stringify(
      Array.from({ length: 900 }, (_, id) => ({ id, text: id === 456 ? "a needle" : `hay ${id}` })),
    );
    expect(clampText(list, LIMITS, { focus: "/needle$/" }).text).not.toContain("needle");
    expect(clampText(list, LIMITS, { focus: "/needle/" }).text).toContain('{"id":456,"text":"a needle"}');
  });

  it("takes no longer to look at an output than it is told to, and still shows its end", () => {
    const source = `id,name,state\n${lines(300_000, (n) => `${n},name ${n},ok`)}`;
    const { text, receipt } = clampText(source, LIMITS);
    expect(receipt.strategy).toBe("table");
    expect(text).toContain("299999,name 299999,ok\n[Output cut");
    expect(text).toContain("id,name,state\n0,name 0,ok\n");
    expect(receipt.kept.lines + receipt.omitted.lines).toBe(300_001);
    expect(receipt.unscanned?.bytes).toBeGreaterThan(receipt.total.bytes - 2_097_152 - 20_000);
    expect(receipt.unscanned?.bytes).toBeLessThan(receipt.total.bytes - 2_097_152);
    const list = `[${Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"name":"name ${id}"}`).join(",\n")}]`;
    const { text: shown, receipt: told } = clampText(list, LIMITS);
    expect(shown).toContain('{"id":199999,"name":"name 199999"}');
    expect(told.unscanned?.bytes).toBeGreaterThan(0);
    expect(told.kept.bytes + told.folded.bytes + told.omitted.bytes).toBe(told.total.bytes);
  });
});
