import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpillway, type Spillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { type BoundedTool, boundedTools, openRoots, type Roots } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-tools-"));
const inside = join(folder, "inside");
const LINES = 3000;
let roots: Roots;
let spillway: Spillway;
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
  spillway = await createSpillway({
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
    for (const name of ["read_file", "list_directory", "get_repo_structure", "repo_map", "find_files"]) {
      expect(await call(name, name === "find_files" ? { path, pattern: "x" } : { path }), name).toMatchObject({
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

  test("device files and pipes stop no tool, within the roots too", { timeout: 240_000 }, async () => {
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

describe("several folders", () => {
  const base = join(folder, "several");
  let both: BoundedTool[] = [];
  beforeAll(async () => {
    for (const path of ["app/src", "lib/src", "other"]) mkdirSync(join(base, path), { recursive: true });
    writeFileSync(join(base, "app", "src", "main.ts"), "export const main = needle;\n");
    writeFileSync(join(base, "app", "same.txt"), "of app needle\n");
    writeFileSync(join(base, "lib", "same.txt"), "of lib needle\n");
    writeFileSync(join(base, "lib", "src", "lib.ts"), "export const lib = needle;\n");
    writeFileSync(join(base, "other", "no.txt"), "needle\n");
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const several = await openRoots([join(base, "app"), join(base, "lib"), join(base, "lib", "src")]);
    both = boundedTools({ spillway, roots: several });
  });
  const ask = async (name: string, args: object = {}) => {
    const answer = await both.find((tool) => tool.name === name)?.call(args);
    if (answer === undefined) throw new Error(`no tool ${name}`);
    return answer;
  };

  test("are named in every description of a path and listed where no folder is named", async () => {
    for (const { name, inputSchema } of both) {
      const { path } = inputSchema.properties as { path?: { description: string } };
      if (path !== undefined) expect(path.description, name).toContain("folders app, lib, relative to ");
    }
    expect((await ask("list_directory")).text).toBe(`app/\nlib/\n[2 folders, in ${realpathSync(base)}]`);
  });

  test("a relative path is found in each of them, and every answer shows one form of it", async () => {
    expect((await ask("read_file", { path: "src/lib.ts" })).text).toContain("const lib");
    expect((await ask("read_file", { path: "app/src/main.ts" })).text).toContain("const main");
    expect((await ask("read_file", { path: join(base, "lib/src/lib.ts") })).text).toContain("const lib");
    const found = (await ask("search_files", { pattern: "needle", show_context: 0 })).text;
    expect(found.match(/^\S+(?= \()/gm)).toEqual(["app/same.txt", "app/src/main.ts", "lib/same.txt", "lib/src/lib.ts"]);
    expect((await ask("find_files", { pattern: "same" })).text).toBe("app/same.txt\nlib/same.txt\n[2 files]");
    expect((await ask("get_repo_structure")).text).toBe(
      "app/\n  src/\n    main.ts\n  same.txt\nlib/\n  src/\n    lib.ts\n  same.txt",
    );
    expect((await ask("repo_map")).text).toMatch(/^(app\/src\/main|lib\/src\/lib)\.ts:$/m);
  });

  test("a name that several folders have is told with all of them, and what is between them is outside", async () => {
    expect(await ask("read_file", { path: "same.txt" })).toEqual({
      text: '"same.txt" is in several folders; say which: app/same.txt, lib/same.txt',
      isError: true,
    });
    // What an answer shows means that file, also where another folder has a file of that name in it.
    mkdirSync(join(base, "app", "lib"));
    writeFileSync(join(base, "app", "lib", "same.txt"), "of app/lib\n");
    expect((await ask("read_file", { path: "lib/same.txt" })).text).toBe("of lib needle\n");
    rmSync(join(base, "app", "lib"), { recursive: true });
    for (const path of ["other/no.txt", "../other/no.txt", base]) {
      expect(await ask("read_file", { path }), path).toMatchObject({ isError: true });
    }
  });

  test("folders that share only the root are shown by their whole paths", async () => {
    const far = await openRoots([join(base, "app"), "/dev"]);
    expect(far.show(join(realpathSync(base), "app", "same.txt"))).toBe(join(realpathSync(base), "app", "same.txt"));
    await expect(openRoots([join(base, "app", "same.txt")])).rejects.toThrow("is no folder");
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

  test("numbers and flags in quotes count, and what is neither is told", async () => {
    expect(await text("read_file", { path: "long.txt", start_line: "7", end_line: "7" })).toBe(
      `line 7\n[lines 7-7 of ${LINES}]`,
    );
    expect(await text("search_files", { pattern: "NEEDLE", ignore_case: "true" })).toContain("needle");
    expect(await text("search_files", { pattern: "NEEDLE", ignore_case: "no" })).toBe(
      'ignore_case must be true or false; got "no"',
    );
  });

  test.each([
    ["read_file", { file_path: "a/one.ts" }],
    ["read_file", { filePath: "a/one.ts" }],
    ["read_file", { path: "a/one.ts", file_path: "a/one.ts" }],
    ["read_file", { path: "a/one.ts", start_line: null }],
    ["read_file", { path: "a/one.ts", offset: 1, limit: 1 }],
    ["repo_map", { repo_path: "a", max_tokens: 100 }],
    ["search_files", { query: "ONE", ignoreCase: true, maxResults: 3 }],
    ["search_files", { pattern: "ONE", "-i": true, "-C": 0 }],
    ["find_files", { glob: "**/one.*" }],
  ])("%s takes %j as other agents spell it", async (name, args) => {
    const { text: answer, isError } = await call(name, args);
    expect(isError).toBe(false);
    expect(answer).toContain("one");
  });

  test("an unknown argument is refused with the nearest name, one that is given twice too", async () => {
    expect(await call("read_file", { path: "a/one.ts", strat_line: 3 })).toEqual({
      text: 'there is no argument "strat_line" (did you mean start_line?); there are path, start_line, end_line, start_column, id, limit',
      isError: true,
    });
    expect(await text("recall", { id: "mzxw6ytboi2a", haed: 3 })).toContain("did you mean head?");
    expect(await text("read_file", { path: "a/one.ts", file_path: "long.txt" })).toContain("path was given twice");
    expect(await text("list_directory", { zzzzzzzz: 1 })).toBe('there is no argument "zzzzzzzz"; there are path');
  });

  test("recall and search take the same spellings", async () => {
    const long = Array.from({ length: 4000 }, (_, i) => `row ${i}`).join("\n");
    const { receipt } = await spillway.admit({ tool: "x", output: long });
    for (const flag of ["ignoreCase", "ignore_case"]) {
      const { text: found } = await call("search", { id: receipt.artifact, pattern: "ROW 3999", [flag]: true });
      expect(found, flag).toContain("row 3999");
    }
  });
});

describe("what the system refuses", () => {
  test("is said in words, never by a code", async () => {
    symlinkSync("loop", join(inside, "loop"));
    for (const [name, args] of [
      ["list_directory", { path: "long.txt" }],
      ["list_directory", { path: "long.txt/x" }],
      ["read_file", { path: "long.txt/x/y" }],
      ["read_file", { path: `${"x".repeat(300)}/y` }],
      ["read_file", { path: "loop" }],
      ["get_repo_structure", { path: "long.txt" }],
      ["search_files", { pattern: "x", path: "long.txt/x" }],
      ["find_files", { pattern: "x", path: "none" }],
    ] as const) {
      const answer = await call(name, args);
      expect(answer.isError, name).toBe(true);
      expect(answer.text, name).not.toMatch(/\bE[A-Z]{3,}\b|errno|syscall/);
      expect(answer.text, name).toMatch(/there is no|is no folder/);
    }
    rmSync(join(inside, "loop"));
  });

  test("also where it comes as an error of the system", async () => {
    const broken: Roots = {
      ...roots,
      find: async () => {
        throw Object.assign(new Error("EIO: i/o error, open '/secret/place'"), {
          errno: -5,
          code: "EIO",
          syscall: "open",
        });
      },
    };
    const [readFile] = boundedTools({ spillway, roots: broken });
    expect(await readFile?.call({ path: "x" })).toEqual({
      text: "this cannot be read: the system gave an error",
      isError: true,
    });
  });

  test("a mistyped name is told with the nearest one", async () => {
    expect(await text("read_file", { path: "a/on.ts" })).toBe('there is no "a/on.ts"; did you mean a/one.ts?');
  });
});

describe("list_directory, find_files and get_repo_structure", () => {
  test("folders first, each with a slash; what is no plain file is told", async () => {
    const shown = (await text("list_directory", { path: "." })).split("\n");
    expect(shown.slice(0, 2)).toEqual([".git/", "a/"]);
    expect(shown).toEqual(expect.arrayContaining(["long.txt", "link-out (link)", "pipe (no plain file)"]));
  });

  test("an empty folder and a full one are told", async () => {
    mkdirSync(join(inside, "ignored", "empty"), { recursive: true });
    for (let i = 0; i < 250; i++) writeFileSync(join(inside, "ignored", `a-name-that-is-long-${i}`), "");
    expect(await text("list_directory", { path: "ignored/empty" })).toBe("[the folder is empty]");
    const shown = (await text("list_directory", { path: "ignored" })).split("\n");
    expect(shown).toHaveLength(100);
    expect(shown.at(-1)).toBe("[the first 99 of 251 names; find_files finds the others]");
    rmSync(join(inside, "ignored"), { recursive: true });
  });

  test("find_files finds by a glob or a part of the path, without what is ignored", async () => {
    expect(await text("find_files", { pattern: "*.ts" })).toBe(
      "a/one.ts\na/b/two.ts\na/b/c/three.ts\na/b/c/d/four.ts\n[4 files]",
    );
    expect(await text("find_files", { pattern: "B/T" })).toBe("a/b/two.ts\n[1 file]");
    expect(await text("find_files", { pattern: "*.ts", max_results: 1 })).toBe("a/one.ts\n[the first 1 of 4 files]");
    expect(await text("find_files", { pattern: "ignored" })).toMatch(
      /^\[no file has such a name; left out: .*gitignore/,
    );
    expect(await text("find_files", { pattern: "ignored", include_ignored: true })).toBe("ignored.txt\n[1 file]");
  });

  test("what no .gitignore names is left out too, unless it is asked for", async () => {
    for (const name of ["node_modules", "dist", ".venv", "__pycache__"]) {
      mkdirSync(join(inside, name, "deep"), { recursive: true });
      writeFileSync(join(inside, name, "deep", "found.ts"), "// needle of others\nexport function others() {}\n");
    }
    for (const [name, args] of [
      ["search_files", { pattern: "of others" }],
      ["search_files", { pattern: "of others", glob: "*.ts" }],
      ["find_files", { pattern: "found.ts" }],
      ["get_repo_structure", {}],
      ["repo_map", {}],
    ] as const) {
      expect(await text(name, args), name).not.toMatch(/(dist|node_modules|\.venv|__pycache__)\//);
    }
    expect(await text("search_files", { pattern: "of others", path: "dist" })).toContain("dist/deep/found.ts (1)");
    expect(await text("search_files", { pattern: "of others", include_ignored: true })).toContain("in 4 files]");
    for (const name of ["node_modules", "dist", ".venv", "__pycache__"])
      rmSync(join(inside, name), { recursive: true });
  });

  test("a tree without what is ignored, three folders deep; folders that are not shown whole have counts", async () => {
    const shown = await text("get_repo_structure");
    expect(shown).toContain("  a/ (4 files)\n    b/ (3 files)\n      c/ (2 files)\n      two.ts\n    one.ts\n");
    expect(shown).not.toMatch(/ignored\.txt|HEAD|three\.ts/);
    expect(shown).toMatch(/\n\[\d+ of \d+ files shown\]$/);
    expect(await text("get_repo_structure", { max_depth: 5 })).toContain("four.ts");
  });

  test("the upper levels come first, and every folder before any is shown whole", async () => {
    const wide = join(inside, "wide");
    for (const name of ["a", "b", "c"]) {
      mkdirSync(join(wide, name, "deep"), { recursive: true });
      for (let i = 0; i < 20; i++) writeFileSync(join(wide, name, `f${i}`), "");
      writeFileSync(join(wide, name, "deep", "deeper"), "");
    }
    writeFileSync(join(wide, "z-top"), "");
    expect(await text("get_repo_structure", { path: "wide", max_files: 4 })).toBe(
      [
        "wide/ (64 files)",
        ...["a", "b", "c"].flatMap((name) => [`  ${name}/ (21 files)`, "    deep/ (1 file)", "    f0"]),
        "  z-top",
        "[4 of 64 files shown]",
      ].join("\n"),
    );
    rmSync(wide, { recursive: true });
  });
});

describe("search_files", () => {
  test("counts every matching line, file by file, and leaves ignored files out", async () => {
    expect(await text("search_files", { pattern: "needle", show_context: 0 })).toBe(
      "a/b/two.ts (2)\n1:// needle here\n5:needle\na/one.ts (1)\n2:// needle\n[3 matching lines in 2 files]",
    );
    expect(await text("search_files", { pattern: "needle", show_context: 1, path: "a/b" })).toBe(
      "a/b/two.ts (2)\n1:// needle here\n2-x\n--\n4-z\n5:needle\n[2 matching lines in 1 file]",
    );
  });

  test("rows are spread over the files, and the counts stay true however many are shown", async () => {
    expect(await text("search_files", { pattern: "needle|line", show_context: 1, max_results: 3 })).toBe(
      [
        "a/b/two.ts (1 of 2)",
        "1:// needle here",
        "2-x",
        "a/one.ts (1)",
        "1-export const one = 1;",
        "2:// needle",
        `long.txt (1 of ${LINES})`,
        "1:line 1",
        `[3 shown, from 3 files, of 3,003 matching lines in 3 files; narrow it by path, glob or pattern]`,
      ].join("\n"),
    );
    const more = await text("search_files", { pattern: "needle|line", show_context: 0, max_results: 10 });
    expect(more).toContain(`a/b/two.ts (2)\n`);
    expect(more).toContain(`long.txt (7 of ${LINES})\n1:line 1\n`);
    expect(await text("search_files", { pattern: "needle|line", max_results: 0 })).toBe(
      `a/b/two.ts (2)\na/one.ts (1)\nlong.txt (${LINES})\n[3,003 matching lines in 3 files]`,
    );
  });

  test("the note tells of what is shown, also where limits leave less than was asked for", async () => {
    const shown = await text("search_files", { pattern: "^line", show_context: 0, max_results: 1000 });
    const rows = shown.split("\n").filter((row) => /^\d+:/.test(row)).length;
    expect(shown.split("\n").length).toBeLessThanOrEqual(300);
    expect(rows).toBeGreaterThan(290);
    expect(shown).toContain(`long.txt (${rows} of ${LINES})`);
    expect(shown).toContain(`\n[${rows} shown, from 1 file, of 3,000 matching lines in 1 file;`);
    expect(shown).not.toContain("omitted");
  });

  test("a long line is shown around its match, with the column to read on from", async () => {
    const long = `${"a".repeat(100_000)}needle-in-\u00e4hay${"b".repeat(100_000)}`;
    writeFileSync(join(inside, "line.min.js"), `first\n${long}\nlast\n`);
    const shown = await text("search_files", { pattern: "needle-in", path: "line.min.js", show_context: 1 });
    expect(shown.length).toBeLessThan(600);
    expect(shown).toMatch(/\n2:\[\.\.\.\]a+needle-in-\u00e4hayb+\[\.\.\.\] \[column 100001\]\n3-last\n/);
    const read = await text("read_file", { path: "line.min.js", start_line: 2, start_column: 100_001, end_line: 2 });
    expect(read).toMatch(/^needle-in-/);
    rmSync(join(inside, "line.min.js"));
  });

  test("literal, case and glob", async () => {
    expect(await text("search_files", { pattern: "= 1;", literal: true })).toContain("one = 1");
    expect(await text("search_files", { pattern: "NEEDLE" })).toMatch(/^\[no line matches; left out: .*\]$/);
    expect(await text("search_files", { pattern: "NEEDLE", ignore_case: true, glob: "one.*" })).toContain(
      "[1 matching line in 1 file]",
    );
  });

  test("a wrong pattern is told; one that looks like a flag is a pattern", async () => {
    expect(await call("search_files", { pattern: "(" })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^regex parse error/),
    });
    expect(await call("search_files", { pattern: "a\nb" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("one line"),
    });
    expect(await text("search_files", { pattern: "--files" })).toContain("[no line matches");
  });
});

test("names that hold line breaks or hidden characters are escaped, and read as they are shown", async () => {
  const name = 'odd\n[no line matches]\u202e".txt';
  writeFileSync(join(inside, name), "needle in odd\n");
  const quoted = JSON.stringify(name).replace("\u202e", "\\u202e");
  for (const [tool, args] of [
    ["list_directory", {}],
    ["find_files", { pattern: "odd*" }],
    ["get_repo_structure", {}],
    ["search_files", { pattern: "in odd" }],
  ] as const) {
    const shown = await text(tool, args);
    expect(shown, tool).toContain(quoted);
    expect(shown, tool).not.toContain("\u202e");
  }
  expect(await text("read_file", { path: quoted })).toBe("needle in odd\n");
  expect(await text("read_file", { path: name })).toBe("needle in odd\n");
  rmSync(join(inside, name));
});

test("repo_map says how much of the code its map shows, and which files it could not be made of", async () => {
  const repo = join(folder, "repo");
  mkdirSync(repo);
  const map = async () => {
    const made = boundedTools({ spillway, roots: await openRoots([repo]), only: ["repo_map"] });
    return (await made[0]?.call({}))?.text.split("\n").at(-1);
  };
  writeFileSync(join(repo, "main.ts"), "export function main() {}\n");
  expect(await map()).toBe("[1 of 1 definition, in 1 of 1 source file]");
  writeFileSync(join(repo, "made.ts"), "x;\n".repeat(200_000));
  writeFileSync(join(repo, "notes.txt"), "");
  expect(await map()).toBe(
    "[1 of 1 definition, in 1 of 2 source files; skipped: 1 file too large to be written by hand, 1 file in other languages (.txt)]",
  );
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
