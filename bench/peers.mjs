// Other agents' ways to shorten a tool's output, called as they ship. Imported by file: several hide them from their
// package's entry, and an entry would load megabytes that have nothing to do with the measured function.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MODULES = fileURLToPath(new URL("./node_modules/", import.meta.url));
const PACKAGES = {
  pi: "@mariozechner/pi-coding-agent",
  gemini: "@google/gemini-cli-core",
  cline: "@cline/core",
  qwen: "@qwen-code/qwen-code",
  tokenjuice: "tokenjuice",
  "context-chef": "context-chef",
  "openai-agents": "@openai/agents-core",
};

/** True when `npm ci --prefix bench` installed this peer. */
export function hasPeer(peer) {
  return existsSync(join(MODULES, PACKAGES[peer], "package.json"));
}

/** The address of a file in a peer's package. */
export function peerFile(peer, path) {
  return pathToFileURL(join(MODULES, PACKAGES[peer], path)).href;
}

function version(peer) {
  return JSON.parse(readFileSync(new URL(peerFile(peer, "package.json")), "utf8")).version;
}

/** Qwen ships one bundle in chunks named by hash: the chunk is found by what it holds. */
function qwenChunk() {
  const folder = join(MODULES, PACKAGES.qwen, "chunks");
  const chunk = readdirSync(folder).find(
    (name) => name.endsWith(".js") && readFileSync(join(folder, name), "utf8").includes("function truncateToolOutput("),
  );
  if (chunk === undefined) {
    throw new Error("no chunk of qwen-code holds truncateToolOutput");
  }
  return `chunks/${chunk}`;
}

/** Each `load` gives `(text, limits) => { text, totalLines }`, or a promise of it; totalLines is null where not told. */
const CALLS = [
  {
    peer: "pi",
    name: "truncateTail",
    async load() {
      const { truncateTail } = await import(peerFile("pi", "dist/core/tools/truncate.js"));
      return (text, limits) => {
        const { content, totalLines } = truncateTail(text, limits);
        return { text: content, totalLines };
      };
    },
  },
  {
    peer: "pi",
    name: "truncateHead",
    async load() {
      const { truncateHead } = await import(peerFile("pi", "dist/core/tools/truncate.js"));
      return (text, limits) => {
        const { content, totalLines } = truncateHead(text, limits);
        return { text: content, totalLines };
      };
    },
  },
  {
    peer: "qwen",
    name: "truncateToolOutput",
    note: "splits lines, saves to a file",
    async load(workDir) {
      const { truncateToolOutput } = await import(peerFile("qwen", qwenChunk()));
      const folder = mkdtempSync(join(workDir, "qwen-"));
      const config = { storage: { getProjectTempDir: () => folder }, getUsageStatisticsEnabled: () => false };
      return async (text, limits) => {
        const shown = { threshold: limits.maxBytes, lines: limits.maxLines };
        const { content } = await truncateToolOutput(config, "bench", text, shown, "bench");
        return { text: content, totalLines: null };
      };
    },
  },
  {
    peer: "gemini",
    name: "formatTruncatedToolOutput",
    note: "slices",
    async load() {
      const { formatTruncatedToolOutput } = await import(peerFile("gemini", "dist/src/utils/fileUtils.js"));
      return (text, limits) => ({
        text: formatTruncatedToolOutput(text, "output.txt", limits.maxBytes),
        totalLines: null,
      });
    },
  },
  {
    peer: "cline",
    name: "truncateCommandOutput",
    note: "slices",
    async load() {
      const { truncateCommandOutput } = await import(peerFile("cline", "dist/index.js"));
      return (text, limits) => ({ text: truncateCommandOutput(text, { maxChars: limits.maxBytes }), totalLines: null });
    },
  },
  {
    peer: "tokenjuice",
    isTimed: false,
    // 50 KB of a CI log took it 1.5 s of CPU, 200 KB 104 s.
    mostChars: 50_000,
    name: "reduceExecution",
    note: "rules by the command, which it is told",
    async load() {
      const { reduceExecution } = await import(peerFile("tokenjuice", "dist/core/reduce.js"));
      return async (text, limits, { command = "", exitCode = null } = {}) => {
        const input = { toolName: "exec", command, exitCode: exitCode ?? 1, stdout: text };
        const { inlineText } = await reduceExecution(input, { maxInlineChars: limits.maxBytes });
        return { text: inlineText, totalLines: null };
      };
    },
  },
  {
    peer: "context-chef",
    isTimed: false,
    name: "Offloader",
    note: "the end, in whole lines",
    async load(workDir) {
      const { Offloader } = await import(peerFile("context-chef", "dist/index.mjs"));
      const offloader = new Offloader({ storageDir: workDir });
      return (text, limits) => {
        const tailChars = Math.max(0, limits.maxBytes - OFFLOAD_NOTE_CHARS);
        return { text: offloader.offload(text, { threshold: limits.maxBytes, tailChars }).content, totalLines: null };
      };
    },
  },
  {
    peer: "openai-agents",
    isTimed: false,
    name: "truncateOutput",
    note: "of its sandbox; its trimmer of tool outputs is in Python only",
    async load() {
      const { truncateOutput } = await import(peerFile("openai-agents", "dist/sandbox/shared/output.mjs"));
      return (text, limits) => ({ text: truncateOutput(text, Math.floor(limits.maxBytes / 4)).text, totalLines: null });
    },
  },
];

/** About what context-chef's note on an offloaded text takes. */
const OFFLOAD_NOTE_CHARS = 120;

/** Every peer's call, installed or not. */
export const peerCalls = CALLS.map(({ peer, name, note = "", load, isTimed = true, mostChars = Infinity }) => ({
  id: `${peer} ${name}`,
  label: hasPeer(peer) ? `${peer} ${version(peer)} ${name}` : `${peer} ${name}`,
  note,
  installed: hasPeer(peer),
  /** False if it takes minutes for the largest texts: then only what it keeps is compared. */
  isTimed,
  mostChars,
  load,
}));
