import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { runRg } from "./run-rg.ts";

const MOST_DEPTH = 100;
const MOST_FILES = 100_000;

/** `list_directory`: what stands in one folder. */
export function listDirectoryTool(place: ToolPlace): BoundedTool {
  return boundedTool(
    {
      name: "list_directory",
      description: "Lists one folder: folders first, each with a slash, then files.",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    },
    async (args) => {
      const folder = await place.roots.find(args.text("path") ?? ".");
      const entries = await readdir(folder, { withFileTypes: true });
      const names = (isFolder: boolean) =>
        entries
          .filter((entry) => entry.isDirectory() === isFolder)
          .map(({ name }) => (isFolder ? `${name}/` : name))
          .toSorted();
      const text = [...names(true), ...names(false)].join("\n");
      return (await place.spillway.admit({ tool: "list_directory", session: place.session, output: text })).text;
    },
  );
}

/** `get_repo_structure`: a tree of folders and files, without what .gitignore leaves out. */
export function repoStructureTool(place: ToolPlace): BoundedTool {
  const { options } = place.spillway.resolve("get_repo_structure");
  const usual = { depth: options.maxDepth ?? 3, files: options.maxFiles ?? 500 };
  return boundedTool(
    {
      name: "get_repo_structure",
      description: "Shows folders and files as a tree, without those that .gitignore names.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          max_depth: { type: "integer", default: usual.depth },
          max_files: { type: "integer", default: usual.files },
        },
      },
    },
    async (args, signal) => {
      const folder = await place.roots.find(args.text("path") ?? ".");
      const depth = args.count("max_depth", usual.depth, MOST_DEPTH);
      const most = args.count("max_files", usual.files, MOST_FILES);
      const { shown, total, deeper } = await listTree(folder, depth, most, signal);
      const left = total - Math.min(total, most);
      const notes = [
        ...(left > 0 ? [`[showing the first ${most} of ${total} files]`] : []),
        ...(deeper > 0 ? [`[${deeper} more files lie deeper than ${depth} folders]`] : []),
      ];
      const text = [`${place.roots.show(folder)}/`, ...shown, ...notes].join("\n");
      return (await place.spillway.admit({ tool: "get_repo_structure", session: place.session, output: text })).text;
    },
  );
}

async function listTree(
  folder: string,
  depth: number,
  most: number,
  signal: AbortSignal | undefined,
): Promise<{ shown: string[]; total: number; deeper: number }> {
  const shown: string[] = [];
  const told = new Set<string>();
  let total = 0;
  let deeper = 0;
  await runRg(["--files", "--hidden", "--glob=!.git", "--sort=path", folder], folder, signal, (line) => {
    const parts = relative(folder, line).split(sep);
    for (let level = 1; level < parts.length && level <= depth; level++) {
      const path = join(...parts.slice(0, level));
      if (told.has(path) || total >= most) continue;
      told.add(path);
      shown.push(`${"  ".repeat(level)}${parts[level - 1]}/`);
    }
    if (parts.length > depth) return void deeper++;
    if (total++ < most) shown.push(`${"  ".repeat(parts.length)}${parts.at(-1)}`);
  });
  return { shown, total, deeper };
}
