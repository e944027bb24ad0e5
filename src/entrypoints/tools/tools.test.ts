import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { type BoundedTool, boundedTools, openRoots, type Roots } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-tools-"));
const inside = join(folder, "inside");
const LINES = 3000;
let roots: Roots;
let tools: BoundedTool[] = [];

beforeAll(async () => {
  mkdirSync(join(inside, "a", "b", "c", "d"), { recursive: true });
  mkdirSync(join(folder, "inside-not"));
  writeFileSync(join(folder, "secret.txt"), "a secret");
  writeFileSync(join(folder, "inside-not", "secret.txt"), "a secret");
  writeFileSync(join(inside, "long.txt"), Array.from({ length: LINES }, (_, i) => `line ${i + 1}`).join("\n"));
  writeFileSync(join(inside, "a", "one.ts"), "export const one = 1;\n// needle\n");
  writeFileSync(join(inside, "a", "b", "two.ts"), "// needle here\nx\ny\nz\nneedle\n");
  writeFileSync(join(inside, "a", "b", "c", "three.ts"), "deep\n");
  writeFileSync(join(inside, "a", "b", "c", "d", "four.ts"), "deeper\n");
  writeFileSync(join(inside, ".gitignore"), "ignored.txt\n");
  writeFileSync(join(inside, "ignored.txt"), "needle\n");
  mkdirSync(join(inside, ".git"));
  writeFileSync(join(inside, ".git", "HEAD"), "needle\n");
  symlinkSync(join(folder, "secret.txt"), join(inside, "link-out"));
  symlinkSync(folder, join(inside, "folder-out"));
  symlinkSync("a/one.ts", join(inside, "link-in"));
  symlinkSync("/dev/zero", join(inside, "device"));
  execFileSync("mkfifo", [join(inside, "pipe")]);
  const spillway = await createSpillway({
    store: memoryStore(),
    ledger: null,
    env: {},
    reader: { by: "tool", recall: "recall", search: "search" },
  });
  roots = await openRoots([inside]);
  tools = boundedTools({ spillway, roots });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const call = (name: string, args: unknown) => {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.call(args);
};
const text = async (name: string, args: object = {}) => (await call(name, args)).text;

describe("roots", () => {
  const OUT = [
    "..",
    "../secret.txt",
    "a/../../secret.txt",
    "../inside-not/secret.txt",
    join(folder, "secret.txt"),
    "/etc/passwd",
    "/",
    "link-out",
    "folder-out",
    "folder-out/secret.txt",
    "folder-out/inside/../secret.txt",
    "device",
    "/dev/zero",
    "a\0b",
    "\0",
  ];
  test.each(OUT)("%j is refused by every tool that takes a path", async (path) => {
    for (const name of ["read_file", "list_directory", "get_repo_structure", "repo_map"]) {
      expect(await call(name, { path }), name).toMatchObject({
        isError: true,
        text: expect.stringContaining("outside"),
      });
    }
    const found = await call("search_files", { pattern: "secret", path });
    expect(found).toMatchObject({ isError: true, text: expect.stringContaining("outside") });
  });

  test("what is outside is not even said to exist", async () => {
    const [there, not] = await Promise.all(
      ["../secret.txt", "../no-such.txt"].map((path) => call("read_file", { path })),
    );
    expect(there?.text.replace("secret", "no-such")).toBe(not?.text);
  });

  test("a link that stays inside is followed, and a missing file is told", async () => {
    expect(await text("read_file", { path: "link-in" })).toContain("const one");
    expect(await call("read_file", { path: "none.txt" })).toEqual({ text: 'there is no "none.txt"', isError: true });
  });

  test("a pipe and a folder are not read", async () => {
    expect(await call("read_file", { path: "pipe" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("no plain file"),
    });
    expect(await call("read_file", { path: "a" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("list_directory"),
    });
  });

  test("device files and pipes stop no tool, within the roots too", { timeout: 20_000 }, async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const devices = boundedTools({ spillway, roots: await openRoots(["/dev"]) });
    const ask = (name: string, args: object) => devices.find((tool) => tool.name === name)?.call(args);
    for (const path of ["zero", "null", "tty"]) {
      expect(await ask("read_file", { path }), path).toMatchObject({ isError: true });
      expect((await ask("search_files", { pattern: "x", path }))?.text.length, path).toBeLessThan(1000);
    }
    expect((await call("search_files", { pattern: "x", path: "pipe" })).text.length).toBeLessThan(1000);
    expect((await call("repo_map", { path: "pipe" })).text.length).toBeLessThan(1000);
  });

  test("no path whatever leads out", async () => {
    const parts = fc.array(
      fc.constantFrom("..", ".", "a", "b", "folder-out", "link-out", "", "/", "\\", "secret.txt", "~"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          parts.map((each) => each.join("/")),
          fc.string(),
        ),
        async (path) => {
          const found = await roots.find(path).catch(() => roots.folders[0] as string);
          expect(found === roots.folders[0] || found.startsWith(`${roots.folders[0]}/`)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("arguments", () => {
  test("whatever a model sends, a tool answers in words", async () => {
    const odd = [
      undefined,
      null,
      5,
      "x",
      [],
      { path: 5 },
      { path: ["a"] },
      { start_line: -1 },
      { max_depth: "x" },
      { pattern: {} },
    ];
    for (const tool of tools) {
      for (const args of odd) expect(typeof (await tool.call(args)).text, tool.name).toBe("string");
    }
  });
  test("numbers in quotes count as numbers", async () => {
    expect(await text("read_file", { path: "long.txt", start_line: "7", end_line: "7" })).toBe(
      `line 7\n[lines 7-7 of ${LINES}]`,
    );
  });
});

describe("read_file", () => {
  test("gives the lines that were asked for and says of how many", async () => {
    expect(await text("read_file", { path: "long.txt", start_line: 10, end_line: 12 })).toBe(
      `line 10\nline 11\nline 12\n[lines 10-12 of ${LINES}]`,
    );
    expect(await text("read_file", { path: "long.txt", start_line: LINES })).toBe(
      `line ${LINES}\n[lines ${LINES}-${LINES} of ${LINES}]`,
    );
    expect(await text("read_file", { path: "long.txt", start_line: 4000, end_line: 4001 })).toContain(
      `[the file has ${LINES} lines; asked for 4000-4001]`,
    );
    expect(await call("read_file", { path: "long.txt", start_line: 5, end_line: 4 })).toMatchObject({ isError: true });
  });

  test("a range that is too long is cut, with its note, to the limits of the tool", async () => {
    const shown = await text("read_file", { path: "long.txt", start_line: 2, end_line: 2900 });
    expect(shown.split("\n").length).toBeLessThanOrEqual(500);
    expect(shown.endsWith(`[lines 2-2900 of ${LINES}]`)).toBe(true);
  });

  test("a long source file is cut, and says what the lines left out define", async () => {
    const one = (i: number) => `export function step${i}() {\n  return ${i};\n}\n`;
    writeFileSync(join(inside, "steps.ts"), Array.from({ length: 400 }, (_, i) => one(i)).join(""));
    const shown = await text("read_file", { path: "steps.ts" });
    expect(shown.split("\n").length).toBeLessThanOrEqual(500);
    expect(shown.length).toBeLessThanOrEqual(50_000);
    const [outline = ""] = /\[defined in the lines left out:\n[^]*$/.exec(shown) ?? [];
    const rows = outline.split("\n").slice(1, -1);
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) {
      const [, line, number] = /^ {2}(\d+): export function step(\d+)\(\) \{$/.exec(row) ?? [];
      expect(Number(line)).toBe(Number(number) * 3 + 1);
      expect(shown.split("\n")).not.toContain(`export function step${number}() {`);
    }
    expect(outline).toMatch(/\n {2}and \d+ more\]$/);
    const part = await text("read_file", { path: "steps.ts", start_line: 301, end_line: 1200 });
    expect(part).toMatch(/\[lines 301-1200 of 1200\]$/);
    const [, line, number] = / {2}(\d+): export function step(\d+)/.exec(part.slice(part.indexOf("[defined"))) ?? [];
    expect(Number(line)).toBe(Number(number) * 3 + 1);
  });

  test("limits smaller than a note hold all the same", async () => {
    for (const limits of [{ maxChars: 100 }, { maxLines: 3 }, { maxBytes: 9 }, { maxTokens: 10 }, { maxChars: 0 }]) {
      const policy = { tools: { read_file: { limits } } };
      const small = await createSpillway({ store: null, ledger: null, env: {}, policy });
      const [readFile] = boundedTools({ spillway: small, roots });
      for (const args of [
        { path: "a/one.ts" },
        { path: "long.txt", start_line: 2, end_line: 900 },
        { path: "steps.ts" },
      ]) {
        const shown = (await readFile?.call(args))?.text ?? "";
        expect(shown.length).toBeLessThanOrEqual(limits.maxChars ?? limits.maxBytes ?? Infinity);
        expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(limits.maxLines ?? Infinity);
        expect(shown.length).toBeLessThanOrEqual((limits.maxTokens ?? Infinity) * 8);
      }
    }
  });

  test("a long file is cut; the marker's id, given as id, reads the rest", async () => {
    const shown = await text("read_file", { path: "long.txt" });
    expect(shown.split("\n").length).toBeLessThanOrEqual(500);
    const id = /recall\(\{"id":"(\w+)"/.exec(shown)?.[1];
    expect(await text("read_file", { id, start_line: 1500, end_line: 1501 })).toContain("line 1500\nline 1501\n");
  });
});

describe("list_directory and get_repo_structure", () => {
  test("folders first, each with a slash", async () => {
    const shown = (await text("list_directory", { path: "." })).split("\n");
    expect(shown.slice(0, 2)).toEqual([".git/", "a/"]);
    expect(shown).toContain("long.txt");
  });

  test("a tree without what is ignored, three folders deep, with what lies deeper counted", async () => {
    const shown = await text("get_repo_structure");
    expect(shown).toContain("    b/\n      c/");
    expect(shown).toContain("two.ts");
    expect(shown).not.toMatch(/ignored\.txt|HEAD/);
    expect(shown).not.toContain("three.ts");
    expect(shown).toContain("[2 more files lie deeper than 3 folders]");
    expect(await text("get_repo_structure", { max_depth: 5 })).toContain("four.ts");
  });

  test("max_files bounds the files and tells how many there are", async () => {
    const shown = await text("get_repo_structure", { max_depth: 9, max_files: 2 });
    expect(shown.match(/\.(ts|txt)$|\.gitignore$/gm)).toHaveLength(2);
    expect(shown).toMatch(/\[showing the first 2 of \d+ files\]/);
  });
});

describe("search_files", () => {
  test("counts every matching line, shows the first ones, and leaves ignored files out", async () => {
    const all = await text("search_files", { pattern: "needle", show_context: 0 });
    expect(all.split("\n")).toEqual([
      "a/b/two.ts:1:// needle here",
      "--",
      "a/b/two.ts:5:needle",
      "a/one.ts:2:// needle",
      "[3 matches]",
    ]);
    const first = await text("grep_search", { pattern: "needle", show_context: 1, max_results: 1 });
    expect(first).toBe("a/b/two.ts:1:// needle here\na/b/two.ts-2-x\n[showing first 1 of 3 matches]");
  });

  test("the count stays true however many are shown", async () => {
    const shown = await text("search_files", { pattern: "^line", show_context: 0, max_results: 7 });
    expect(shown.split("\n")).toHaveLength(8);
    expect(shown).toContain(`[showing first 7 of ${LINES} matches]`);
    expect(await text("search_files", { pattern: "line 30", path: "long.txt", max_results: 0 })).toMatch(
      /first 0 of 12 /,
    );
  });

  test("literal, case and glob", async () => {
    expect(await text("search_files", { pattern: "= 1;", literal: true })).toContain("one = 1");
    expect(await text("search_files", { pattern: "NEEDLE" })).toBe("[no line matches]");
    expect(await text("search_files", { pattern: "NEEDLE", ignore_case: true, glob: "one.*" })).toContain("[1 match]");
  });

  test("a wrong pattern is told; one that looks like a flag is a pattern", async () => {
    expect(await call("search_files", { pattern: "(" })).toMatchObject({ isError: true });
    expect(await text("search_files", { pattern: "--files" })).toBe("[no line matches]");
  });
});

test("only the tools that are asked for are made, and what is unknown is refused", async () => {
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const names = boundedTools({ spillway, roots, only: ["search", "recall"] }).map(({ name }) => name);
  expect(names).toEqual(["recall", "search"]);
  expect(() => boundedTools({ spillway, roots, only: ["reed_file"] })).toThrow(
    /no tool "reed_file"; known are read_file/,
  );
  expect(() => boundedTools({ spillway, roots, except: [] } as never)).toThrow(/no option "except"/);
});
