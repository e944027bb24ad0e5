import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readTracked } from "./tree.ts";

const TEXT = /\.(ts|tsx|mts|js|mjs|cjs|json|jsonc|json5|md|ya?ml|html|css|sh|txt|wat)$|(^|\/)(run|LICENSE|\.[a-z]+rc)$/;

/** Words are built so that this file does not hold them. Each rule: which files, what must not be there. */
const RULES: { name: string; files: RegExp; leftOut?: RegExp; pattern: RegExp }[] = [
  {
    name: "no path of one machine",
    files: /./,
    leftOut: /(^|\/)package-lock\.json$/,
    pattern: /\/(?:wor[k]|far[m]|roo[t])\//,
  },
  {
    name: "no host of a package registry",
    files: /./,
    pattern: /registry\.np[m]|np[m]js\.|de[b]ian\.(?:org|net)/i,
  },
  { name: "no address in a lock file", files: /(^|\/)package-lock\.json$/, pattern: /"resolve[d]": "http/ },
  {
    name: "no focused, skipped or pending test",
    files: /\.tsx?$/,
    pattern: /\b(?:it|test|describe)\.(?:onl[y]|ski[p]|tod[o])\(/,
  },
  {
    name: "nothing left for later",
    files: /^(src|test|dashboard|scripts|bench|examples)\//,
    pattern: /\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|not implemente[d]/,
  },
  {
    name: "no way around the type checker or the linter",
    files: /^src\/.*(?<!\.test)\.ts$/,
    pattern: /@ts-(?:ignor[e]|nochec[k]|expect-erro[r])|biome-ignor[e]|oxlint-disabl[e]|eslint-disabl[e]/,
  },
];

const MEANINGLESS = /^(utils?|helpers?|managers?|services?|common|cores?|misc|shared|lib|stuff)(\..+)?$/;

describe("tidy", () => {
  const texts = new Map<string, string>();
  let paths: string[] = [];

  beforeAll(async () => {
    paths = await readTracked();
    for (const path of paths) {
      // A file that is deleted but not yet committed is still listed.
      if (TEXT.test(path)) await readFile(path, "utf8").then((text) => texts.set(path, text), ignoreMissing);
    }
  });

  it("reads the project", () => {
    expect(texts.has("package.json")).toBe(true);
    expect(texts.has("src/errors.ts")).toBe(true);
    expect(paths.filter((path) => /(^|\/)(node_modules|dist)\//.test(path))).toEqual([]);
  });

  it.each(RULES)("$name", ({ files, leftOut, pattern }) => {
    const faults: string[] = [];
    for (const [path, text] of texts) {
      if (!files.test(path) || leftOut?.test(path)) continue;
      if (pattern.test(text)) faults.push(...linesWith(pattern, text).map((line) => `${path}:${line}`));
    }
    expect(faults).toEqual([]);
  });

  it("file and folder names say something", () => {
    expect(paths.filter((path) => path.split("/").some((name) => MEANINGLESS.test(name)))).toEqual([]);
  });

  it("source files are in kebab-case", () => {
    const sources = paths.filter((path) => /^(src|test|scripts|examples|bench)\/.*\.(ts|mjs)$/.test(path));
    expect(sources.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/.test(basename(path)))).toEqual([]);
  });

  it.each([
    ["no path of one machine", "see /wor", "k/here"],
    ["no host of a package registry", "https://registry.np", "m.org/"],
    ["no address in a lock file", '"resolve', 'd": "https://x"'],
    ["no focused, skipped or pending test", "it.onl", "y('x')"],
    ["nothing left for later", "// TOD", "O: x"],
    ["no way around the type checker or the linter", "// @ts-ignor", "e"],
  ])("the rule '%s' can fail", (name, start, end) => {
    expect(RULES.find((rule) => rule.name === name)?.pattern.test(start + end)).toBe(true);
  });
});

function linesWith(pattern: RegExp, text: string): string[] {
  return text.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${index + 1}: ${line.trim()}`] : []));
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
