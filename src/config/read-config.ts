import { type FileHandle, open } from "node:fs/promises";
import { basename, extname } from "node:path";
import { SpillwayError } from "../errors.ts";
import { grouped } from "../values.ts";
import { ConfigFault, type ConfigNode, printable } from "./config-node.ts";

/** Reads a config file into a tree. `dropped` names the sections of another program's config that were taken out. */
export async function readConfig(
  path: string,
  maxBytes: number,
): Promise<{ root: ConfigNode; dropped: ConfigFault | null }> {
  const root = await parseText(await readText(path, maxBytes), path);
  return { root, dropped: dropOtherSections(root, path) };
}

/** The parser is loaded for the file's format only. */
async function parseText(text: string, path: string): Promise<ConfigNode> {
  const extension = extname(path).toLowerCase();
  const isJson = extension.startsWith(".json") || (!/^\.ya?ml$/.test(extension) && /^\s*(\{|\/[/*])/.test(text));
  if (isJson) {
    const { parseJson } = await import("./parse-json.ts");
    return parseJson(text);
  }
  const { parseYaml } = await import("./parse-yaml.ts");
  return parseYaml(text);
}

async function readText(path: string, maxBytes: number): Promise<string> {
  let bytes: Uint8Array;
  try {
    const file = await open(path, "r");
    bytes = await readAtMost(file, maxBytes + 1).finally(() => file.close());
  } catch (error) {
    throw new SpillwayError("bad-config", `cannot read config ${printable(path)}: ${reason(error)}`, { cause: error });
  }
  if (bytes.length > maxBytes) {
    throw new ConfigFault({ line: 1, column: 1 }, `a config file here has at most ${grouped(maxBytes)} bytes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigFault({ line: 1, column: 1 }, "this is not UTF-8 text");
  }
}

// By hand: a config may come through a pipe (`--config <(...)`), whose size nobody knows.
async function readAtMost(file: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(maxBytes);
  let filled = 0;
  while (filled < maxBytes) {
    const { bytesRead } = await file.read(buffer, filled, maxBytes - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function reason(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOENT") return "no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "no permission";
  return error instanceof Error ? error.message : String(error);
}

/** The sections of OpenClaw's config that we read. Its `tools` and `commands` are not ours. */
const READ = ["agent", "agents", "models"];
/** Sections that only OpenClaw's config has. */
const ITS_OWN = ["gateway", "channels", "wizard", "bindings", "cron", "skills", "plugins"];

/**
 * Takes out of OpenClaw's config what we do not read, and names it. Returns null if the file is none, or has nothing else.
 * A file is known by its name, or by a section that only that program has.
 */
function dropOtherSections(root: ConfigNode, path: string): ConfigFault | null {
  if (root.kind !== "map") return null;
  const isIts =
    /^(openclaw|clawdbot|moltbot)\b/i.test(basename(path)) ||
    (READ.some((key) => root.entries.has(key)) && ITS_OWN.some((key) => root.entries.has(key)));
  if (!isIts) return null;
  const others = [...root.entries.keys()].filter((key) => !READ.includes(key));
  for (const key of others) root.entries.delete(key);
  if (others.length === 0) return null;
  return new ConfigFault(root.at, `this is OpenClaw's config; not read: ${others.map(printable).join(", ")}`);
}
