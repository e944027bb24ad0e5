import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

// The command keeps what V8 made of its files, so that the next start need not compile them.
const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;

let cache = "";
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "spillway-compiled-"));
});
afterEach(() => rmSync(cache, { recursive: true }));

const folder = () => join(cache, "spillway");
const kept = () => readdirSync(folder()).toSorted();

function clamp(env: Record<string, string> = {}, args = ["clamp", "--quiet"]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args], {
    input: "one\ntwo\n",
    encoding: "utf8",
    timeout: 30_000,
    env: { ...process.env, XDG_CACHE_HOME: cache, ...env },
  });
  return { stdout, stderr, status };
}

const FINE = { stdout: "one\ntwo\n", stderr: "", status: 0 };

test("the first start keeps the compiled files for nobody else, the second leaves them as they are", () => {
  expect(clamp()).toEqual(FINE);
  const first = kept();
  const file = join(folder(), first.find((name) => name.includes("-base-")) ?? "");
  expect(file).toContain(`${process.version}-${process.arch}-base-`);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  const written = statSync(file);
  expect(written.mode & 0o777).toBe(0o600);
  expect(clamp()).toEqual(FINE);
  expect(kept()).toEqual(first);
  expect(statSync(file).ino).toBe(written.ino);
});

test("a damaged file is not run, and is replaced", () => {
  clamp();
  const file = join(folder(), kept()[0] ?? "");
  const good = readFileSync(file);
  const damages = [0, 8, good.length >> 2, good.length >> 1, good.length - 1].map((at) => {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ 16;
    return bad;
  });
  for (const bad of [...damages, good.subarray(0, good.length >> 1), Buffer.alloc(good.length), Buffer.alloc(0)]) {
    writeFileSync(file, bad);
    const { ino } = statSync(file);
    expect(clamp()).toEqual(FINE);
    expect(statSync(file).ino, `${bad.length} bytes`).not.toBe(ino);
  }
});

test("a folder in which others may write is not used", () => {
  mkdirSync(folder());
  chmodSync(folder(), 0o777);
  expect(clamp()).toEqual(FINE);
  expect(kept()).toEqual([]);
});

test("a place that cannot be written changes nothing", () => {
  writeFileSync(folder(), "a file");
  expect(clamp()).toEqual(FINE);
  expect(readFileSync(folder(), "utf8")).toBe("a file");
});

test("nothing is kept where that is turned off, nor of a start that only prints help", () => {
  expect(clamp({ NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual(FINE);
  expect(() => kept()).toThrow("ENOENT");
  expect(clamp({}, ["--help"]).stdout).toContain("Usage: spillway");
  expect(kept()).toEqual([]);
});

test("what was not used for a month is removed", () => {
  mkdirSync(folder(), { mode: 0o700 });
  writeFileSync(join(folder(), "old"), "");
  writeFileSync(join(folder(), "new"), "");
  utimesSync(join(folder(), "old"), 0, 0);
  clamp();
  expect(kept()).toContain("new");
  expect(kept()).not.toContain("old");
});

test("a command that loads a package says nothing of how", () => {
  for (const _ of ["first", "second"]) {
    const saved = clamp({ SPILLWAY_DIR: join(cache, "data") }, ["clamp", "--save", "--max-lines", "1", "--json"]);
    const id = JSON.parse(saved.stdout).receipt.artifact;
    const found = clamp({ SPILLWAY_DIR: join(cache, "data") }, ["search", id, "two"]);
    expect(found).toMatchObject({ stderr: "", status: 0 });
    expect(found.stdout).toContain("two");
  }
});
