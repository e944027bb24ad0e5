import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readPage } from "../../docs/read-page.ts";

const root = resolve(import.meta.dirname, "../../..");
const PAGE = "docs/guide/frameworks.md";
const EXAMPLES = join(root, "examples/frameworks");

/** A folder in which the frameworks are found, and the built Spillway by its name. */
const folder = mkdtempSync(join(import.meta.dirname, ".recipes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/spillway"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

const recipes = readPage(PAGE, readFileSync(join(root, PAGE), "utf8")).fences.filter(({ tags }) =>
  tags.includes("frameworks"),
);
const examples = readdirSync(EXAMPLES).filter((name) => name.endsWith(".ts"));

it("recipes and examples compile under strict rules, without a cast", () => {
  for (const { line, text } of recipes) writeFileSync(join(folder, `line-${line}.ts`), text);
  for (const name of examples) copyFileSync(join(EXAMPLES, name), join(folder, name));
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  expect(files.length).toBe(recipes.length + examples.length);
  const rules =
    "--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck --module nodenext";
  const flags = `${rules} --target es2023 --erasableSyntaxOnly --types node --typeRoots ${join(root, "node_modules/@types")}`;
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, ...flags.split(" "), ...files], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(stdout).toBe("");
  for (const { text } of recipes) expect(text).not.toMatch(/ as (?!\w+,? (from|\}))|ts-ignore|ts-expect|: any/);
});

it.each(recipes.map(({ line, text }) => [`${PAGE}:${line}`, text]))(
  "%s changes three lines and one more at most",
  (_, text) => {
    const marked = (mark: RegExp) => text.split("\n").filter((line) => mark.test(line)).length;
    expect(marked(/\/\/ clamp$/)).toBeGreaterThan(0);
    expect(marked(/\/\/ clamp$/)).toBeLessThanOrEqual(3);
    expect(marked(/\/\/ read back$/)).toBeLessThanOrEqual(1);
  },
);

describe("examples", () => {
  it.each(examples)("%s runs, and checks itself", (name) => {
    copyFileSync(join(EXAMPLES, name), join(folder, name));
    const env = { ...process.env, SPILLWAY_DIR: join(folder, "data"), NO_COLOR: "1" };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, basename(name))], {
      encoding: "utf8",
      env,
      timeout: 240_000,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok: /m);
  });
});
