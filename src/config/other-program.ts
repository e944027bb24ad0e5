import { basename } from "node:path";
import { ConfigFault, printable } from "./config-fault.ts";
import type { ConfigNode } from "./config-node.ts";

/** The sections of OpenClaw's config that we read. Its `tools` and `commands` are not ours. */
const READ = ["agent", "agents", "models"];
/** Sections that only OpenClaw's config has. */
const ITS_OWN = ["gateway", "channels", "wizard", "bindings", "cron", "skills", "plugins"];

/**
 * Takes out of OpenClaw's config what we do not read, and names it. Returns null if the file is none, or has nothing else.
 * A file is known by its name, or by a section that only that program has.
 */
export function dropOtherSections(root: ConfigNode, path: string): ConfigFault | null {
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
