import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join, posix, sep } from "node:path";
import { promisify } from "node:util";

const LEFT_OUT = new Set([".git", "node_modules", "dist", "coverage"]);

/** Files under a folder of the project, as sorted paths from its root with `/`. A folder that is not there has none. */
export async function readTree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    if (LEFT_OUT.has(entry.name)) continue;
    const path = posix.join(folder.split(sep).join("/"), entry.name);
    if (entry.isDirectory()) found.push(...(await readTree(join(folder, entry.name))));
    else if (entry.isFile()) found.push(path);
  }
  return found.sort();
}

/** Every file that is or may be committed. Outside a git work tree: every file there is. */
export async function readTracked(): Promise<string[]> {
  try {
    const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    const { stdout } = await promisify(execFile)("git", list, { maxBuffer: 1 << 26 });
    return stdout.split("\0").filter(Boolean).sort();
  } catch {
    return readTree(".");
  }
}
