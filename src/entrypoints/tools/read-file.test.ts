import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Limits } from "../../contract/limits.ts";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { boundedTools, openRoots } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-read-"));
afterAll(() => rmSync(folder, { recursive: true }));
const LINES = 3000;
const LONG = Array.from({ length: LINES }, (_, i) => `line ${i + 1}`).join("\n");
const step = (i: number) => `export function step${i}() {\n  return ${i};\n}\n`;
const PRETTY = JSON.stringify({ rows: Array.from({ length: 900 }, (_, id) => ({ id, name: "n" })) }, null, 2);
const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);
write("long.txt", LONG);
write("run.log", `${LONG}\nError: it broke here\n${LONG}\n`);
write("steps.ts", Array.from({ length: 400 }, (_, i) => step(i)).join(""));
write("pretty.json", PRETTY);
write("small.json", '{\n  "b" : 1,   "a": [ 1,2 ]\n}');
write("empty.txt", "");
mkdirSync(join(folder, "a"));

const open = async (limits?: Limits) => {
  const spillway = await createSpillway({
    store: memoryStore(),
    ledger: null,
    env: {},
    reader: { by: "tool", recall: "recall", search: "search" },
    ...(limits && { policy: { tools: { read_file: { limits } } } }),
  });
  const tool = boundedTools({ spillway, roots: await openRoots([folder]), only: ["read_file"] })[0];
  return async (args: object) => (await tool?.call(args)) ?? { text: "", isError: true };
};
const call = await open();
const text = async (args: object) => (await call(args)).text;

test("gives the lines that were asked for and says of how many", async () => {
  expect(await text({ path: "long.txt", start_line: 10, end_line: 12 })).toBe(
    `line 10\nline 11\nline 12\n[lines 10-12 of ${LINES}]`,
  );
  expect(await text({ path: "long.txt", start_line: LINES })).toBe(
    `line ${LINES}\n[lines ${LINES}-${LINES} of ${LINES}]`,
  );
  expect(await text({ path: "long.txt", start_line: -2 })).toBe(
    `line ${LINES - 1}\nline ${LINES}\n[lines ${LINES - 1}-${LINES} of ${LINES}]`,
  );
  expect(await text({ path: "long.txt", start_line: -9999, end_line: 1 })).toBe(`line 1\n[lines 1-1 of ${LINES}]`);
  expect(await text({ path: "long.txt", offset: 5, limit: 2 })).toBe(`line 5\nline 6\n[lines 5-6 of ${LINES}]`);
  expect(await text({ path: "long.txt", start_line: 4000, end_line: 4001 })).toBe(
    `[the file has ${LINES} lines; asked for 4000-4001]`,
  );
  expect(await call({ path: "long.txt", start_line: 5, end_line: 4 })).toMatchObject({ isError: true });
});

test("a long file comes in pages that are numbered as the file's lines and add up to it", async () => {
  let read = "";
  for (let next = 1, pages = 0; next > 0; pages++) {
    expect(pages).toBeLessThan(8);
    const page = await text({ path: "long.txt", start_line: next });
    expect(page.split("\n").length).toBeLessThanOrEqual(500);
    const [note, first, last, more] = /\n\[lines (\d+)-(\d+) of 3000(?:; next: start_line (\d+))?\]$/.exec(page) ?? [];
    expect(Number(first)).toBe(next);
    const lines = page.slice(0, -(note as string).length).split("\n");
    expect(lines).toHaveLength(Number(last) - next + 1);
    expect(lines[0]).toBe(`line ${next}`);
    read += `${lines.join("\n")}\n`;
    next = Number(more ?? 0);
  }
  expect(read).toBe(`${LONG}\n`);
});

test("a range that is too long says where to go on", async () => {
  const shown = await text({ path: "long.txt", start_line: 1000, end_line: 2900 });
  expect(shown).toMatch(/\n\[lines 1000-1498 of 3000; next: start_line 1499\]$/);
});

test("JSON is shown as it is on disk, a page of it too", async () => {
  expect(await text({ path: "small.json" })).toBe('{\n  "b" : 1,   "a": [ 1,2 ]\n}');
  const page = await text({ path: "pretty.json" });
  expect(PRETTY.startsWith(page.slice(0, page.lastIndexOf("\n[")))).toBe(true);
  expect(page.length).toBeGreaterThan(5000);
});

test("a line of any length is read in parts that add up to it", async () => {
  const line = `{"rows":"${"\u00e4\u{1f600}x".repeat(30_000)}"}`;
  write("line.json", `${line}\nnext\n`);
  let read = "";
  let column = 1;
  for (let pages = 0; column > 0; pages++) {
    expect(pages).toBeLessThan(20);
    const page = await text({ path: "line.json", start_line: 1, start_column: column });
    expect(page.length).toBeLessThanOrEqual(50_000);
    const [note, from, to, all, next] =
      /\n\[line 1 of 2, columns (\d+)-(\d+) of (\d+); next: start_line 1, start_column (\d+)\]$/.exec(page) ?? [];
    if (note === undefined) {
      expect(page).toMatch(/"\}\nnext\n\[lines 1-2 of 2, from column \d+ on\]$/);
      read += page.slice(0, page.indexOf("\n"));
      break;
    }
    expect(Number(from)).toBe(column);
    expect(Number(all)).toBe(Buffer.byteLength(line));
    expect(Number(next)).toBe(Number(to) + 1);
    read += page.slice(0, -note.length);
    column = Number(next);
  }
  expect(read).toBe(line);
  // A place inside a character begins with the next one.
  expect(await text({ path: "line.json", start_column: 11, end_line: 1 })).toMatch(/^\u{1f600}x/u);
});

test("an empty file and one that is no text are told", async () => {
  expect(await call({ path: "empty.txt" })).toEqual({ text: "[the file is empty]", isError: false });
  expect(await text({ path: "empty.txt", start_line: 4 })).toBe("[the file is empty]");
  write("image.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\0\0\0\0", "latin1"));
  for (const args of [{ path: "image.png" }, { path: "image.png", start_line: 2 }]) {
    expect(await text(args)).toBe("[no text, so it is not shown: PNG image, 15 bytes]");
  }
});

test("UTF-16 is read as text, with its lines", async () => {
  const words = "erste Zeile\r\nzweite \u00e4\u{1f600}\r\n";
  write("le.txt", Buffer.from(`\ufeff${words}`, "utf16le"));
  write("be.txt", Buffer.from(`\ufeff${words}`, "utf16le").swap16());
  for (const path of ["le.txt", "be.txt"]) {
    expect(await text({ path })).toBe(words);
    expect(await text({ path, start_line: 2 })).toBe("zweite \u00e4\u{1f600}\r\n[lines 2-2 of 2]");
  }
});

test("bytes that are no UTF-8 show as U+FFFD, also at the end", async () => {
  write("latin.txt", Buffer.from("caf\xe9 au lait\nna\xefve\n\xe9", "latin1"));
  expect(await text({ path: "latin.txt" })).toBe("caf\ufffd au lait\nna\ufffdve\n\ufffd");
});

test("a long source file says what is defined behind the page", async () => {
  const shown = await text({ path: "steps.ts" });
  expect(shown.split("\n").length).toBeLessThanOrEqual(500);
  const [outline = "", last] =
    /\[defined in the lines left out:\n[^]*\n\[lines 1-(\d+) of 1200; [^\n]*\]$/.exec(shown) ?? [];
  const rows = outline.match(/^ {2}\d+: .*$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) {
    const [, line, number] = /^ {2}(\d+): export function step(\d+)\(\) \{$/.exec(row) ?? [];
    expect(Number(line)).toBe(Number(number) * 3 + 1);
    expect(Number(line)).toBeGreaterThan(Number(last));
  }
  expect(outline).toMatch(/\n {2}and \d+ more\]\n/);
});

test("of a long log the lines that matter are shown; the marker's id, given as id, reads the rest", async () => {
  const shown = await text({ path: "run.log" });
  expect(shown).toContain("Error: it broke here");
  expect(shown.split("\n").length).toBeLessThanOrEqual(500);
  const id = /recall\(\{"id":"(\w+)"/.exec(shown)?.[1];
  expect(await text({ id, start_line: 1500, end_line: 1501 })).toContain("line 1500\nline 1501\n");
  expect(await text({ id, start_line: -1 })).toContain(`line ${LINES}\n`);
});

test("without limits a file comes whole, and a very large one in pages of whole lines", async () => {
  const spillway = await createSpillway({ store: null, ledger: null, env: {}, policy: "off" });
  const [readFile] = boundedTools({ spillway, roots: await openRoots([folder]), only: ["read_file"] });
  expect((await readFile?.call({ path: "long.txt" }))?.text).toBe(LONG);
  const row = `${"x".repeat(999)}\n`;
  write("huge.txt", row.repeat(9000));
  const page = (await readFile?.call({ path: "huge.txt" }))?.text ?? "";
  const [note, last] = /\[lines 1-(\d+) of 9000; next: start_line \d+\]$/.exec(page) ?? [];
  expect(page).toBe(`${row.repeat(Number(last))}${note}`);
});

test("limits smaller than a note hold all the same", async () => {
  for (const limits of [{ maxChars: 100 }, { maxLines: 3 }, { maxBytes: 9 }, { maxTokens: 10 }, { maxChars: 0 }]) {
    const small: Limits = limits;
    const read = await open(small);
    for (const args of [
      { path: "small.json" },
      { path: "long.txt", start_line: 2, end_line: 900 },
      { path: "steps.ts" },
      { path: "run.log" },
      { path: "empty.txt" },
      { path: "line.json", start_column: 7 },
    ]) {
      const shown = (await read(args)).text;
      expect(shown.length).toBeLessThanOrEqual(small.maxChars ?? small.maxBytes ?? Infinity);
      expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(small.maxLines ?? Infinity);
      expect(shown.length).toBeLessThanOrEqual((small.maxTokens ?? Infinity) * 8);
    }
  }
});
