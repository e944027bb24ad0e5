import { existsSync, readdirSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** The folder that agents are installed in, each under its name and version; `.ci/run` keeps one outside of the clone. */
const { SPILLWAY_AGENTS: place = "" } = process.env;

/** The words that start an agent, whose files stand under the folder of its package; the reason if it is not installed. */
export function findAgent(pack: string, files: readonly string[]): { words: string[] } | { why: string } {
  if (place === "") return { why: "SPILLWAY_AGENTS names no folder" };
  const parent = join(place, dirname(pack));
  const name = pack.slice(pack.lastIndexOf("/") + 1);
  const versions = existsSync(parent) ? readdirSync(parent).filter((each) => each.startsWith(`${name}@`)) : [];
  const modules = join(parent, versions.sort().at(-1) ?? name, "node_modules");
  const words = files.map((file) => (isAbsolute(file) ? file : join(modules, file)));
  const missing = words.find((word) => !existsSync(word));
  return missing === undefined ? { words } : { why: `there is no ${missing}` };
}
