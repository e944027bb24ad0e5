import { join, relative } from "node:path";
import type { Rolldown, UserConfig } from "tsdown";
import { collectLicenses } from "./scripts/collect-licenses.mjs";

const shared = {
  format: "esm",
  platform: "node",
  target: "node20",
  fixedExtension: false,
  outDir: "dist",
  logLevel: "warn",
  checks: { pluginTimings: false },
} satisfies UserConfig;

/** Packages that the library carries: they are megabytes as installed, and of each a small part is used. */
const CARRIED = [/^kysely(\/|$)/, /^zod(\/|$)/];

/** What applications import: readable, with types and maps; other dependencies stay outside and are shared with the application. */
const library = {
  ...shared,
  name: "library",
  // For Node alone, what the bundler adds would import node:module, which no browser has.
  platform: "neutral",
  entry: {
    index: "src/index.ts",
    extend: "src/extend.ts",
    stages: "src/stages.ts",
    overflow: "src/overflow.ts",
    fetch: "src/entrypoints/fetch/index.ts",
    "adapters/ai": "src/entrypoints/adapters/ai.ts",
    "adapters/langchain": "src/entrypoints/adapters/langchain.ts",
    "adapters/openai-agents": "src/entrypoints/adapters/openai-agents.ts",
    "adapters/mastra": "src/entrypoints/adapters/mastra.ts",
    "adapters/pi": "src/entrypoints/adapters/pi.ts",
    "adapters/anthropic": "src/entrypoints/adapters/anthropic.ts",
    "adapters/claude-agent-sdk": "src/entrypoints/hook/claude-agent-sdk.ts",
    tools: "src/entrypoints/tools/index.ts",
    testing: "src/testing/index.ts",
    wire: "src/wire/index.ts",
  },
  dts: true,
  deps: { neverBundle: [/^node:/, "fast-check"], onlyBundle: CARRIED },
  outputOptions: { chunkFileNames: "chunks/[name]-[hash].js" },
} satisfies UserConfig;

/**
 * The command carries its dependencies: with a config file there, reading a few files starts about twice as fast as a walk
 * through node_modules. What is behind import() in the source stays in files of its own.
 */
const cli = {
  ...shared,
  name: "cli",
  format: "cjs",
  entry: { cli: "src/entrypoints/cli/start.ts" },
  dts: false,
  minify: true,
  // What the library loads on use, some commands need at once. It may then be in their file.
  checks: { ...shared.checks, ineffectiveDynamicImport: false },
  // ai-tokenizer is the user's to install (an optional peer, megabytes of tables); momoa's package has no license file to
  // pass on; the last three find their machine code beside themselves.
  deps: {
    alwaysBundle: /./,
    neverBundle: [/^ai-tokenizer(\/|$)/, "@humanwhocodes/momoa", "@photostructure/sqlite", "@vscode/ripgrep"],
    onlyBundle: false,
  },
  outputOptions: {
    // By its content, since what V8 made of it is kept under that name.
    chunkFileNames: "cli/[name]-[hash].cjs",
    // What every start needs, the search for a config file included, in as few files as can be: each costs a millisecond.
    codeSplitting: {
      groups: [{ name: "base", test: isNeededAtStart }],
    },
  },
  plugins: [collectLicenses(), withoutChildren(), requireAtOnce()],
} satisfies UserConfig;

/** Rooms and files that only some commands need. */
const LATER = [
  // It has an import(), and code with one cannot be kept compiled.
  /^load-package\.ts/,
  /^config\/(?!(index|load-config|find-config|config-fault)\.ts)/,
  /^(storage|drivers|recall|prepare|histories|wire|call|exchange|summarize|testing)\//,
  /^stages\/(redact|prune|guard|cap|recover)\//,
  /^entrypoints\/(?!cli\/)/,
  /^entrypoints\/cli\/((start|keep-compiled)\.ts|(run|transcripts|init)\/|commands\/(?!clamp\.ts)|(serve-mcp|read-recorded)\.ts)/,
  /^(admit\/model-view|spillway\/seal)\.ts/,
];

/** What every start needs. */
function isNeededAtStart(id: string): boolean {
  if (/rolldown|\/commander\//.test(id)) return true;
  const path = relative(join(import.meta.dirname, "src"), id).replaceAll("\\", "/");
  return !path.startsWith("..") && !LATER.some((pattern) => pattern.test(path));
}

/** commander can start programs for commands, which ours never does; loading what that takes costs 4 ms of each start. */
function withoutChildren(): Rolldown.Plugin {
  return {
    name: "without-children",
    resolveId: (source, importer) =>
      source === "node:child_process" && importer?.includes("/commander/") ? "\0no-children" : null,
    load: (id) => (id === "\0no-children" ? "module.exports = {};" : null),
  };
}

/** From CommonJS, `import()` starts Node's other loader, which takes longer than what it loads here. */
function requireAtOnce(): Rolldown.Plugin {
  return {
    name: "require-at-once",
    transform: (code, id) =>
      id.endsWith("src/load-package.ts")
        ? code.replace(/import\([^]*?name\)/, 'name === "@photostructure/sqlite" ? require(name) : import(name)')
        : null,
    renderChunk: (code) =>
      code.replaceAll(/\bimport\((["'`])(node:[\w/]+)\1\)/g, "Promise.resolve().then(()=>require('$2'))"),
  };
}

export default [library, cli] satisfies UserConfig[];
