import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-explain-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const passing = Array.from({ length: 900 }, (_, index) => `ok ${index} - part ${index} works`).join("\n");
const log = `${passing}\n\nFAIL src/parse.test.ts\n  AssertionError: expected 3 to equal 4\n    at src/parse.ts:41:12\n\n${passing}\n`;
const clamp = (...more: string[]) =>
  spawnSync(
    process.execPath,
    [
      CLI,
      "clamp",
      "--strategy",
      "signal",
      "--max-chars",
      "3000",
      "--exit-code",
      "1",
      "--no-fold",
      "--explain",
      ...more,
    ],
    { input: log, cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH, HOME: folder }, timeout: 240_000 },
  );

it("clamp --explain says on standard error what is kept and omitted, and why", () => {
  const { stdout, stderr, status } = clamp("-q");
  expect(status).toBe(0);
  expect(stdout).toContain("AssertionError: expected 3 to equal 4");
  expect(stdout).not.toContain("score");
  expect(stderr).toMatch(/^kept {4}lines [\d,]+-[\d,]+, for line 90[23]: it looks like a failure \(.+\)$/m);
  expect(stderr).toMatch(/^omitted lines [\d,]+-[\d,]+: /m);
});

it("clamp --explain calls what somebody is after by that name, and no failure", () => {
  for (const strategy of ["signal", "outline"]) {
    const { stdout, stderr } = clamp("-q", "--focus", "works 412", "--strategy", strategy);
    expect(stdout).toContain("ok 412 - part 412 works");
    expect(stderr).toMatch(/^kept {4}lines? [^:]+: it is in focus, as you asked.*\n +ok 412 - part 412 works/m);
  }
});

it("explain has each line once, also where a note in what is shown stands for lines", () => {
  const modules = Array.from({ length: 5001 }, (_, at) => `[build] compiled module ${at + 1} of 5001`);
  modules[3000] = "src/parser.ts(88,14): error TS2345: Argument of type 'string' is not assignable to type 'Token'.";
  const cli = (args: string[], input = "") =>
    spawnSync(process.execPath, [CLI, ...args], {
      input,
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: folder, SPILLWAY_DIR: join(folder, "data") },
      timeout: 240_000,
    }).stdout;
  const shown = cli(["run", "--", "cat"], `${modules.join("\n")}\n`);
  const said = cli(["explain", "last"]);
  const rows = [...said.matchAll(/^(kept|omitted) +lines? ([\d,]+)(?:-([\d,]+))?(?:, for line [\d,]+)?: (.+)$/gm)].map(
    ([, what, from = "", to = from, why]) => ({
      what,
      from: Number(from.replaceAll(",", "")),
      to: Number(to.replaceAll(",", "")),
      why,
    }),
  );
  let next = 1;
  for (const { what, from, to } of rows) {
    expect(from).toBe(next);
    for (const line of [from, to])
      expect([line, shown.includes(`${modules[line - 1]}\n`)]).toEqual([line, what === "kept"]);
    next = to + 1;
  }
  expect(next).toBe(5002);
  expect(shown).toContain("lines like these omitted");
  expect(rows.map(({ what }) => what)).toEqual(["kept", "omitted", "kept", "omitted", "kept"]);
  expect(rows[1]?.why).toBe("these lines are like those beside them");
  expect(said).not.toContain("score");
});

it("clamp --explain --json puts the same into the receipt", () => {
  const { stdout, stderr, status } = clamp("--json");
  expect(status).toBe(0);
  expect(stderr).toBe("");
  const { explained } = JSON.parse(stdout).receipt;
  expect(explained.map(({ shown }: { shown: boolean }) => shown)).toContain(false);
  const failure = explained.find(({ kind }: { kind: string }) => kind === "failure");
  expect(failure).toMatchObject({ shown: true, line: expect.any(String), score: expect.any(Number) });
  expect(failure.features.length).toBeGreaterThan(0);
  // Every line is in exactly one of them.
  const bounds = explained.flatMap(({ fromLine, toLine }: { fromLine: number; toLine: number }) => [
    fromLine - 1,
    toLine,
  ]);
  expect(bounds[0]).toBe(0);
  expect(bounds.at(-1)).toBe(1806 - 1);
  for (let at = 1; at < bounds.length - 1; at += 2) expect(bounds[at + 1]).toBe(bounds[at]);
});
