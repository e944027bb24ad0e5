import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { checkLayers, type Sources } from "./layers/check-layers.ts";
import { LAYERS, printLayers } from "./layers/table.ts";
import { readTree } from "./tree.ts";

describe("layers", () => {
  it("every import in src goes in the direction of the table", async () => {
    const sources: Sources = {};
    for (const path of await readTree("src")) {
      if (path.endsWith(".ts")) sources[path] = await readFile(path, "utf8");
    }
    expect(Object.keys(sources).length).toBeGreaterThan(5);
    expect(checkLayers(sources, LAYERS)).toEqual([]);
  });

  it("ARCHITECTURE.md shows the table (vitest -u writes it)", async () => {
    const page = await readFile("ARCHITECTURE.md", "utf8");
    const between = /(<!-- layers:start[^>]*-->\n)[^]*?(<!-- layers:end -->)/;
    expect(page).toMatch(between);
    const shown = page.replace(between, (_all, start, end) => `${start}\n${printLayers(LAYERS)}\n\n${end}`);
    await expect(shown).toMatchFileSnapshot("../ARCHITECTURE.md");
  });
});

describe("checkLayers", () => {
  const check = (sources: Sources) => checkLayers(sources, LAYERS);
  const contract = { "src/contract/size.ts": "export interface Size { bytes: number }" };

  it("accepts imports that go down", () => {
    const sources: Sources = {
      ...contract,
      "src/errors.ts": "export class SpillwayError extends Error {}",
      "src/stages/measure/count.ts": 'import type { Size } from "../../contract/size.ts"; export const count = 1;',
      "src/stages/clamp/clamp.ts": 'import { count } from "../measure/count.ts"; export const clamp = count;',
      "src/stages.ts": 'export { clamp } from "./stages/clamp/clamp.ts";',
      "src/spillway.ts": 'import "node:stream"; export { clamp } from "./stages/clamp/clamp.ts";',
      "src/config/index.ts":
        'import "zod"; import { SpillwayError } from "../errors.ts"; export const load = SpillwayError;',
      "src/index.ts":
        'import type { load } from "./config/index.ts"; export { clamp } from "./spillway.ts"; export const later = () => import("./config/index.ts");',
      "src/entrypoints/cli/main.ts":
        'import "commander"; import "../mcp/proxy.ts"; await import("../../config/index.ts");',
      "src/entrypoints/mcp/proxy.ts": 'import "../../spillway.ts";',
      "src/stages/clamp/clamp.test.ts":
        'import "vitest"; import "../../testing/index.ts"; import "../../config/index.ts";',
      "src/testing/index.ts": 'export { clamp } from "../stages/clamp/clamp.ts";',
    };
    expect(check(sources)).toEqual([]);
  });

  it("names the file, the line and both rooms of a crossing", () => {
    const sources = {
      "src/stages/clamp/clamp.ts": "export const clamp = 1;",
      "src/stages/measure/count.ts":
        '// first line\nimport { clamp } from "../clamp/clamp.ts";\nexport const count = clamp;',
    };
    expect(check(sources)).toEqual([
      "src/stages/measure/count.ts:2 imports ../clamp/clamp.ts: measure (level 1) may not import clamp",
    ]);
  });

  it.each([
    ["import type", 'import type { A } from "../clamp/clamp.ts";'],
    ["export from", 'export { A } from "../clamp/clamp.ts";'],
    ["export type from", 'export type { A } from "../clamp/clamp.ts";'],
    ["export all", 'export * from "../clamp/clamp.ts";'],
    ["import for effect", 'import "../clamp/clamp.ts";'],
    ["import()", 'export const a = () => import("../clamp/clamp.ts");'],
    ["an import type node", 'export type A = import("../clamp/clamp.ts").A;'],
    ["require", 'const a = require("../clamp/clamp.ts");'],
    ["import equals", 'import a = require("../clamp/clamp.ts");'],
  ])("sees a crossing by %s", (_way, text) => {
    const faults = check({ "src/stages/clamp/clamp.ts": "export type A = 1;", "src/stages/fold/fold.ts": text });
    expect(faults).toEqual([expect.stringContaining("fold (level 1) may not import clamp")]);
  });

  it.each([
    [
      "a sibling stage of the same level",
      "src/stages/mark/mark.ts",
      "../measure/count.ts",
      "mark (level 1) may not import measure",
    ],
    [
      "a stage from an entrypoint",
      "src/entrypoints/mcp/proxy.ts",
      "../../stages/measure/count.ts",
      "mcp (level 7) may not import measure",
    ],
    [
      "one entrypoint from another",
      "src/entrypoints/mcp/proxy.ts",
      "../gateway/server.ts",
      "mcp (level 7) may not import gateway",
    ],
    [
      "one adapter from another",
      "src/entrypoints/adapters/a/index.ts",
      "../b/index.ts",
      "adapters/a (level 7) may not import adapters/b",
    ],
    ["config from index at load", "src/index.ts", "./config/index.ts", "index may load config only by import() on use"],
    [
      "drivers from the command at load",
      "src/entrypoints/cli/main.ts",
      "../../drivers/counter.ts",
      "cli may load drivers only by import() on use",
    ],
    [
      "storage from the meeting place",
      "src/spillway.ts",
      "./storage/memory.ts",
      "spillway (level 5) may not import storage",
    ],
    ["a test", "src/stages/measure/measure.ts", "./count.test.ts", "only tests import tests"],
    ["a file that is not there", "src/stages/measure/measure.ts", "./gone.ts", "no such file"],
    ["a Node module from a stage", "src/stages/measure/measure.ts", "node:buffer", "may import no Node module"],
    ["a package from a stage", "src/stages/measure/measure.ts", "zod", "may import no package"],
    ["a package from the library at load", "src/index.ts", "zod", "may load a package only by import() on use"],
  ])("refuses %s", (_what, path, specifier, message) => {
    const others = [
      "src/stages/measure/count.ts",
      "src/stages/measure/count.test.ts",
      "src/entrypoints/gateway/server.ts",
      "src/entrypoints/adapters/b/index.ts",
      "src/config/index.ts",
      "src/drivers/counter.ts",
      "src/storage/memory.ts",
    ];
    const sources: Sources = Object.fromEntries(others.map((other) => [other, "export {};"]));
    sources[path] = `import ${JSON.stringify(specifier)};`;
    expect(check(sources)).toEqual([expect.stringContaining(message)]);
  });

  it("refuses anything in contract that is left when types are erased", () => {
    expect(check({ "src/contract/size.ts": "export const zero = 0;" })).toEqual([
      "src/contract/size.ts: contract is types only",
    ]);
  });

  it.each(["src/helper.ts", "src/stages/helper.ts", "src/elsewhere/file.ts"])("knows no room for %s", (path) => {
    expect(check({ [path]: "export {};" })).toEqual([expect.stringContaining("in no room")]);
  });

  it("finds a cycle between files, types and import() included, and prints its way once", () => {
    const sources = {
      "src/stages/fold/a.ts": 'import type { B } from "./b.ts"; export type A = B;',
      "src/stages/fold/b.ts": 'export { c } from "./c.ts"; export type B = 1;',
      "src/stages/fold/c.ts": 'export const c = () => import("./a.ts");',
      "src/stages/fold/d.ts": 'import "./a.ts";',
    };
    expect(check(sources)).toEqual([
      "import cycle: src/stages/fold/a.ts -> src/stages/fold/b.ts -> src/stages/fold/c.ts -> src/stages/fold/a.ts",
    ]);
  });
});
