import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
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
import { dirname, join } from "node:path";
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
    timeout: 240_000,
    env: { ...process.env, XDG_CACHE_HOME: cache, ...env },
  });
  return { stdout, stderr, status };
}

const FINE = { stdout: "one\ntwo\n", stderr: "", status: 0 };

test("the first start keeps the compiled files for nobody else, the second leaves them as they are", () => {
  expect(clamp()).toEqual(FINE);
  const first = kept();
  const file = join(folder(), first.find((name) => name.includes("-base-")) ?? "");
  expect(file).toContain(`${process.version}-${process.arch}-`);
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

test("what was kept and not used for a month is removed, and nothing else", () => {
  const [old, young] = ["v18.0.0-x64-1-base-a.cjs", "v18.0.0-x64-2-base-b.cjs"];
  mkdirSync(join(folder(), "artifacts"), { recursive: true, mode: 0o700 });
  for (const name of [old, young, "spillway.db"]) writeFileSync(join(folder(), name), "");
  for (const name of [old, "spillway.db", "artifacts"]) utimesSync(join(folder(), name), 0, 0);
  clamp();
  expect(kept()).toEqual(expect.arrayContaining([young, "spillway.db", "artifacts"]));
  expect(kept()).not.toContain(old);
});

test.runIf(process.platform === "linux")("a place where folders can never be made is given up at once", () => {
  expect(clamp({ XDG_CACHE_HOME: "/proc/nope" })).toEqual(FINE);
});

test("a file that somebody changed is compiled anew", () => {
  const own = join(cache, "own");
  cpSync(dirname(CLI), join(own, "dist"), { recursive: true });
  const run = () =>
    spawnSync(process.execPath, [join(own, "dist", "cli.cjs"), "clamp", "-q", "--max-lines", "3"], {
      input: "one\n".repeat(9) + "two\nthree\nfour\n",
      encoding: "utf8",
      timeout: 240_000,
      env: { ...process.env, XDG_CACHE_HOME: cache },
    }).stdout;
  const before = run();
  expect(run()).toBe(before);
  const folderOfChunks = join(own, "dist", "cli");
  const base = readdirSync(folderOfChunks).find((name) => name.startsWith("base-")) ?? "";
  const source = readFileSync(join(folderOfChunks, base), "utf8");
  writeFileSync(join(folderOfChunks, base), source.replaceAll("rest not saved", "REST NOT SAVED"));
  expect(before).toContain("rest not saved");
  expect(run()).toContain("REST NOT SAVED");
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
