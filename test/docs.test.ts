import { existsSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import builds from "../tsdown.config.ts";
import { checkLinks } from "./docs/check-links.ts";
import { checkTypes, type Subpaths } from "./docs/check-types.ts";
import { type Page, readPage, slug } from "./docs/read-page.ts";
import { matches, runShell } from "./docs/run-shell.ts";
import { readTree } from "./tree.ts";

const [library] = builds;
const SUBPATHS: Subpaths = Object.fromEntries(
  Object.entries(library?.entry ?? {}).map(([name, path]) => [
    name === "index" ? "spillway" : `spillway/${name}`,
    path,
  ]),
);

describe("docs", () => {
  const pages: Page[] = [];

  beforeAll(async () => {
    const top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].filter((path) =>
      existsSync(path),
    );
    const docs = (await readTree("docs")).filter((path) => path.endsWith(".md"));
    for (const path of [...top, ...docs]) pages.push(readPage(path, await readFile(path, "utf8")));
  });

  it("ts and js blocks compile against the source", () => {
    expect(checkTypes(pages, SUBPATHS)).toEqual([]);
  });

  it("sh run blocks run, and print what the page shows", async () => {
    const running = pages.filter((page) => page.fences.some((fence) => fence.tags.includes("run")));
    if (running.length > 0) expect(await builtAfterLastChange(), "dist is older than src: npm run build").toBe(true);
    expect(running.flatMap(runShell)).toEqual([]);
  });

  it("yaml and json5 blocks are configs that load (tagged `other`: something else)", async () => {
    const configs = pages.flatMap((page) =>
      page.fences
        .filter(({ language, tags }) => ["yaml", "json5", "jsonc"].includes(language) && !tags.includes("other"))
        .map(({ language, text, line }) => ({ language, text, place: `${page.path}:${line}` })),
    );
    const folder = await mkdtemp(join(tmpdir(), "spillway-docs-"));
    const faults: string[] = [];
    for (const { place, language, text } of configs) {
      const file = join(folder, `spillway.${language}`);
      await writeFile(file, text);
      const { loadConfig } = await import("../src/config/index.ts");
      const told = await loadConfig({ file, env: {} }).then(({ warnings }) => warnings.join("; "), String);
      if (told) faults.push(`${place}: ${told}`);
    }
    await rm(folder, { recursive: true });
    expect(faults).toEqual([]);
  });

  it("json blocks are JSON", () => {
    for (const page of pages) {
      for (const fence of page.fences) {
        if (fence.language === "json") expect(() => JSON.parse(fence.text), `${page.path}:${fence.line}`).not.toThrow();
      }
    }
  });

  it("relative links lead to files and headings that are there", () => {
    expect(checkLinks(pages)).toEqual([]);
  });
});

async function builtAfterLastChange(): Promise<boolean> {
  if (!existsSync("dist/cli.cjs")) return false;
  const sources = (await readTree("src")).filter((path) => !path.endsWith(".test.ts"));
  const lastChange = Math.max(...sources.map((path) => statSync(path).mtimeMs));
  return statSync("dist/cli.cjs").mtimeMs >= lastChange;
}

describe("the checks of the docs", () => {
  const block = (language: string, ...lines: string[]) => ["```" + language, ...lines, "```"].join("\n");

  it("name the page's own line of a type fault, one module per block unless it continues", () => {
    const page = readPage(
      "page.md",
      [
        block("ts", "const a: number = 1;"),
        block("ts", 'const a = "again";'),
        block("ts continue", "a.toUpperCase();", "a.toFixed();"),
        block("js", "const twice = (text) => text + text;", "twice(1, 2);"),
        block("ts", 'import { SpillwayError } from "spillway-errors";', 'SpillwayError.is("x") satisfies string;'),
      ].join("\n\n"),
    );
    expect(checkTypes([page], { "spillway-errors": "src/errors.ts" })).toEqual([
      expect.stringMatching(/^page\.md:11: Property 'toFixed' does not exist/),
      expect.stringMatching(/^page\.md:16: Expected 0-1 arguments, but got 2/),
      expect.stringMatching(/^page\.md:21: Type 'boolean' does not satisfy/),
    ]);
  });

  it("run commands in one folder and compare what they print", () => {
    const page = readPage(
      "page.md",
      [
        block("sh", "exit 9"),
        block("sh run", "echo one > file", "echo two >&2", "cat file"),
        block("text", "two", "one"),
        block("sh run", "cat file"),
        block("text", "three"),
        block("sh run", "cat file"),
        "Words between.",
        block("text", "three"),
        block("sh run", "false | true"),
      ].join("\n\n"),
    );
    expect(runShell(page)).toEqual([
      expect.stringMatching(/^page\.md:17: printed\none\nbut the page shows\nthree/),
      expect.stringMatching(/^page\.md:35: ended with 1/),
    ]);
  });

  it("let a line of three dots stand for any lines", () => {
    expect(matches("a\nb\nc\nd", "a\n...\nd")).toBe(true);
    expect(matches("a\nd", "a\n...\nd")).toBe(true);
    expect(matches("a\nb\nc", "a\n...\nd")).toBe(false);
    expect(matches("a... b", "a.?. b")).toBe(false);
  });

  it("find links that lead nowhere", () => {
    const text = [
      "# Top `a`, b",
      "# Twice",
      "# Twice",
      "[ok](#top-a-b) [ok](#twice-1) [ok](package.json) [ok](https://example.com/x) [ok](src#x) `[no](link)`",
      "[file](gone.md) [heading](#gone) [out](../x.md) [json](package.json#x)",
      "[definition]: gone.png",
    ].join("\n");
    expect(checkLinks([readPage("page.md", text)])).toEqual([
      "page.md:5: gone.md: no such file",
      "page.md:5: #gone: no such heading",
      "page.md:5: ../x.md: outside the project",
      "page.md:5: package.json#x: not a page of ours, so its headings are not known",
      "page.md:6: gone.png: no such file",
    ]);
    expect(slug("What `spillway clamp` does: 100 %!")).toBe("what-spillway-clamp-does-100-");
  });

  it("refuse a fence that is never closed", () => {
    expect(() => readPage("page.md", "text\n```ts\nlet a;")).toThrow("page.md:2: this fence is never closed");
  });
});
