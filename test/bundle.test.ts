import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { describe, expect, it } from "vitest";

const MAX_GZIP_BYTES = 64 * 1024;

/** What `import` of an entry loads at once: its own file and those it imports statically, not what waits behind import(). */
async function loadedBy(entry: string, platform: "node" | "browser"): Promise<{ inputs: string[]; gzipBytes: number }> {
  const result = await build({
    entryPoints: { entry },
    bundle: true,
    splitting: true,
    format: "esm",
    platform,
    target: "es2022",
    minify: true,
    metafile: true,
    write: false,
    outdir: "bundle",
    logLevel: "silent",
  });
  const outputs = staticallyLoaded("bundle/entry.js", result.metafile);
  const files = result.outputFiles.filter(({ path }) => outputs.some((output) => path.endsWith(output)));
  return {
    inputs: outputs.flatMap((output) => Object.keys(result.metafile.outputs[output]?.inputs ?? {})).sort(),
    gzipBytes: files.reduce((sum, file) => sum + gzipSync(file.contents).length, 0),
  };
}

function staticallyLoaded(output: string, metafile: Metafile, seen = new Set<string>()): string[] {
  if (seen.has(output)) return [];
  seen.add(output);
  for (const one of metafile.outputs[output]?.imports ?? []) {
    if (one.kind === "import-statement" && !one.external) staticallyLoaded(one.path, metafile, seen);
  }
  return [...seen];
}

describe("bundle", () => {
  it("importing the library loads no dependency and stays small", async () => {
    const { inputs, gzipBytes } = await loadedBy("src/index.ts", "node");
    expect(inputs).toContain("src/index.ts");
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
    expect(gzipBytes).toBeGreaterThan(100);
    expect(gzipBytes).toBeLessThan(MAX_GZIP_BYTES);
  });

  it("importing spillway/extend loads no dependency either", async () => {
    const { inputs } = await loadedBy("src/extend.ts", "node");
    expect(inputs).toContain("src/storage/stores/memory.ts");
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
  });

  it("spillway/stages bundles for a browser: no Node module, no dependency", async () => {
    const { inputs, gzipBytes } = await loadedBy("src/stages.ts", "browser");
    expect(inputs).toContain("src/stages.ts");
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
    // Its functions do not wait, so all strategies are in it.
    expect(gzipBytes).toBeLessThan(2 * MAX_GZIP_BYTES);
  });

  it("spillway/wire bundles for a browser: no Node module, no dependency, and nothing of the rest", async () => {
    const { inputs, gzipBytes } = await loadedBy("src/wire/index.ts", "browser");
    expect(inputs.filter((path) => !/^src\/(wire\/|values\.ts)/.test(path))).toEqual([]);
    expect(gzipBytes).toBeLessThan(MAX_GZIP_BYTES / 4);
  });

  it("spillway/overflow bundles for a browser: no Node module, no dependency, and little of the rest", async () => {
    const { inputs, gzipBytes } = await loadedBy("src/overflow.ts", "browser");
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
    expect(gzipBytes).toBeLessThan(MAX_GZIP_BYTES / 4);
  });

  it("spillway/testing loads no tokenizer until a fake provider is started", async () => {
    const { inputs } = await loadedBy("src/testing/index.ts", "node");
    expect(inputs).toContain("src/testing/fake-provider/start-fake-provider.ts");
    expect(inputs.filter((path) => path.includes("tokenizer/"))).toEqual([]);
  });

  it("the command loads config, storage and drivers only when it needs them", async () => {
    const { inputs } = await loadedBy("src/entrypoints/cli/main.ts", "node");
    expect(inputs).toContain("src/entrypoints/cli/main.ts");
    expect(
      inputs.filter((path) => /^src\/(config|storage|drivers)\/|node_modules\/(?!commander\/)/.test(path)),
    ).toEqual([]);
  });
});
