import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runInNewContext } from "node:vm";
import { type BuildOptions, build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";

// Bundles dist/, as applications do, with no setting for Spillway's sake. Webpack and Next are in test/frameworks.
const folder = mkdtempSync(join(tmpdir(), "spillway-bundled-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An application's folder: with the packages that Spillway brings, or alone with its bundle. */
const withPackages = join(folder, "with-packages");
const alone = join(folder, "alone");
for (const place of [withPackages, alone]) mkdirSync(place);
symlinkSync(resolve("node_modules"), join(withPackages, "node_modules"));

const hasSqlite = hasBuiltIn();

function hasBuiltIn(): boolean {
  const probe = 'process.exit("columns" in require("node:sqlite").StatementSync.prototype ? 0 : 1)';
  return spawnSync(process.execPath, ["-e", probe], { stdio: "ignore" }).status === 0;
}

async function bundle(place: string, file: string, options: BuildOptions): Promise<string> {
  const outfile = join(place, file);
  const { warnings } = await build({
    entryPoints: ["test/bundled/main.mjs"],
    bundle: true,
    platform: "node",
    outfile,
    logLevel: "silent",
    ...options,
  });
  expect(warnings).toEqual([]);
  return outfile;
}

interface Told {
  shownChars: number;
  saved: string;
  faults: string[];
  found: number | null;
  read: string | null;
  told: string[];
}

/** Runs a bundle with 20 MB of output, which a thread writes, kept in a folder that no code names. */
function run(file: string, options: object = {}): { app: Told; warnings: string[] } {
  const env = { ...process.env, SPILLWAY_DIR: `${file}-data`, NODE_OPTIONS: "" };
  const ran = spawnSync(process.execPath, [file, JSON.stringify({ lines: 40_000, ...options })], {
    encoding: "utf8",
    env,
  });
  expect(ran.status, ran.stderr).toBe(0);
  const warnings = ran.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("(Use `node"));
  return { app: JSON.parse(ran.stdout), warnings };
}

const FORMS: [form: string, file: string, options: BuildOptions][] = [
  ["ES modules", "app.mjs", { format: "esm" }],
  ["CommonJS", "app.cjs", { format: "cjs" }],
  ["names kept in minified code", "small.mjs", { format: "esm", minify: true, keepNames: true }],
];

describe("an application bundled by esbuild", () => {
  it.each(FORMS)("keeps a large output and finds in it: %s", async (_form, file, options) => {
    const { app, warnings } = run(await bundle(withPackages, file, options));
    const shownChars = expect.any(Number);
    expect(app).toEqual({ shownChars, saved: "yes", faults: [], found: 100, read: "line 150", told: [] });
    expect(app.shownChars).toBeLessThan(50_000);
    expect(warnings).toEqual([]);
  });

  it.each(FORMS)("says once what is missing beside it: %s", async (_form, file, options) => {
    const { app, warnings } = run(await bundle(alone, file, options));
    if (hasSqlite) {
      expect(app).toMatchObject({ saved: "yes", found: 100 });
      expect(warnings).toEqual([expect.stringMatching(/SpillwayWarning: searches take longer: .*@vscode\/ripgrep/)]);
    } else {
      expect(app).toMatchObject({ saved: "no", found: null });
      expect(app.faults).toEqual(expect.arrayContaining([expect.stringContaining("@photostructure/sqlite")]));
      expect(warnings).toEqual([
        expect.stringMatching(/SpillwayWarning: outputs cannot be saved: .*Node 22\.16.*@photostructure\/sqlite/),
      ]);
    }
  });

  it("tells the logger rather than the process, where there is one", async () => {
    const { app, warnings } = run(await bundle(alone, "logged.mjs", { format: "esm" }), { lines: 1000, logs: true });
    expect(app.told).toContainEqual(
      expect.stringMatching(hasSqlite ? /ripgrep/ : /^outputs cannot be saved: .*sqlite/),
    );
    expect(warnings).toEqual([]);
  });

  it("keeps outputs in memory for tools of this process, and says so", async () => {
    const reader = { by: "tool", recall: "recall", search: "search" };
    const { app, warnings } = run(await bundle(alone, "tools.mjs", { format: "esm" }), { lines: 1000, reader });
    expect(app).toMatchObject({ saved: "yes", found: 100 });
    if (!hasSqlite) expect(warnings[0]).toMatch(/SpillwayWarning: outputs are kept in this process's memory only: /);
    expect(warnings.at(-1)).toMatch(/searches take longer/);
  });

  it("contains no optional or native package, and asks for none", async () => {
    const { metafile } = await build({
      entryPoints: ["dist/index.js", "dist/extend.js", "dist/tools.js"],
      bundle: true,
      platform: "node",
      format: "esm",
      outdir: "bundle",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    const asked = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(asked.length).toBeGreaterThan(100);
    expect(asked.filter((path) => /tokenizer|fast-check|photostructure|ripgrep/.test(path))).toEqual([]);
  });
});

describe("for browsers and edge runtimes", () => {
  /** What such a place has beside the language itself. */
  const globals = { TextEncoder, TextDecoder, atob };

  async function runBundled(code: string): Promise<unknown> {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: "." },
      bundle: true,
      platform: "browser",
      format: "iife",
      globalName: "bundled",
      write: false,
      logLevel: "silent",
    });
    return runInNewContext(`${outputFiles[0]?.text}; bundled.result`, { ...globals });
  }

  it("spillway/stages clamps, redacts and counts", async () => {
    const result = await runBundled(`
      import { clampText, compileRules, defaultRules, estimateCounter, forDisplay, startRedact } from "spillway/stages";
      const log = Array.from({ length: 5000 }, (_, index) => "line " + index).join("\\n");
      const { text, receipt } = clampText(log, { maxLines: 20 }, { fold: true });
      const shown = [];
      const redact = startRedact(defaultRules, (bytes) => void shown.push(new TextDecoder().decode(bytes)));
      redact.add(new TextEncoder().encode("AKIAIOSFODNN7EXAMPLE and text"));
      redact.end();
      export const result = {
        lines: text.split("\\n").length,
        total: receipt.total.lines,
        redacted: shown.join(""),
        tokens: estimateCounter.count("two words"),
        view: forDisplay("text"),
      };
    `);
    expect(result).toMatchObject({ total: 5000, view: "text" });
    const { lines, redacted, tokens } = result as { lines: number; redacted: string; tokens: number };
    expect(lines).toBeLessThanOrEqual(20);
    expect(redacted).not.toContain("AKIAIOSFODNN7EXAMPLE");
    expect(tokens).toBeGreaterThan(1);
  });

  it("spillway/wire and spillway/overflow read messages and refusals", async () => {
    const result = await runBundled(`
      import { detectWire } from "spillway/wire";
      import { classify } from "spillway/overflow";
      const refusal = { status: 400, error: { code: "context_length_exceeded", message: "too long" } };
      export const result = {
        wire: detectWire([{ role: "tool", tool_call_id: "1", content: "text" }])?.name,
        kind: classify(refusal).kind,
      };
    `);
    expect(result).toEqual({ wire: "openai-chat", kind: "context-overflow" });
  });
});

describe("require", () => {
  const asking = ["-e", 'console.log(typeof require("spillway").createSpillway)'];
  const canRequire = "require_module" in process.features;

  it.runIf(canRequire)("gives the library where Node can require ES modules", () => {
    expect(spawnSync(process.execPath, asking, { encoding: "utf8" }).stdout).toBe("function\n");
  });

  it("fails elsewhere with the advice to use import()", () => {
    const flags = canRequire ? ["--no-experimental-require-module"] : [];
    const { stderr } = spawnSync(process.execPath, [...flags, ...asking], { encoding: "utf8" });
    expect(stderr).toMatch(/require\(\) of ES Module .*not supported[^]*dynamic import\(\)[^]*ERR_REQUIRE_ESM/);
  });
});
