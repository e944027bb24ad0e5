import { readdir } from "node:fs/promises";
import { counted } from "../../values.ts";
import { admitFitting, type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { escaped, nameFolders } from "./roots.ts";
import { listFiles, SKIPPED_WORDS } from "./run-rg.ts";

const MOST_FOUND = 100_000;
const USUAL_FOUND = 100;

/** `list_directory`: what stands in one folder. */
export function listDirectoryTool(place: ToolPlace): BoundedTool {
  const { roots } = place;
  const tool = "list_directory";
  return boundedTool(
    {
      name: tool,
      description: "Lists one folder: folders first, each with a slash, then files. Hidden ones too.",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string", description: `a folder, ${nameFolders(roots)}` } },
      },
    },
    async (args) => {
      const folders = await roots.findFolders(args.text("path"));
      const [folder] = folders;
      if (folder === undefined || folders.length > 1) {
        const names = folders.map((each) => `${roots.show(each)}/`);
        return admitFitting(place, { tool }, names.length, (rows) =>
          [...names.slice(0, rows), `[${shownOf(rows, names.length, "folder")}, in ${escaped(roots.base)}]`].join("\n"),
        );
      }
      const names = await namesIn(folder);
      return admitFitting(place, { tool }, names.length, (rows) => {
        if (names.length === 0) return "[the folder is empty]";
        const note =
          rows === names.length ? [] : [`[${shownOf(rows, names.length, "name")}; find_files finds the others]`];
        return [...names.slice(0, rows), ...note].join("\n");
      });
    },
  );
}

function shownOf(rows: number, total: number, word: string): string {
  return `${rows === total ? "" : `the first ${rows} of `}${counted(total, word)}`;
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = (isFolder: boolean) =>
    entries
      .filter((entry) => entry.isDirectory() === isFolder)
      .map((entry) => {
        const kind = isFolder ? "/" : entry.isFile() ? "" : entry.isSymbolicLink() ? " (link)" : " (no plain file)";
        return `${escaped(entry.name)}${kind}`;
      })
      .toSorted();
  return [...names(true), ...names(false)];
}

/** `find_files`: files by their names. */
export function findFilesTool(place: ToolPlace): BoundedTool {
  const { roots } = place;
  const tool = "find_files";
  return boundedTool(
    {
      name: tool,
      description: `Finds files by name: a glob such as **/*.test.ts, or a part of the path. Leaves out ${SKIPPED_WORDS}.`,
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          path: { type: "string", description: `a folder, ${nameFolders(roots)}` },
          max_results: { type: "integer", default: USUAL_FOUND },
          include_ignored: { type: "boolean", description: "also what is left out otherwise" },
        },
        required: ["pattern"],
      },
    },
    async (args, signal) => {
      const pattern = args.requiredText("pattern");
      const most = args.count("max_results", USUAL_FOUND, MOST_FOUND);
      const paths = await roots.findAll(args.text("path"));
      const includeIgnored = args.flag("include_ignored");
      const isGlob = /[*?[\]{}]/.test(pattern);
      const { files, isPartial } = await listFiles(
        roots,
        { paths, includeIgnored, glob: isGlob ? pattern : undefined },
        signal,
      );
      const part = pattern.toLowerCase();
      const found = files
        .map(roots.show)
        .filter((path) => isGlob || path.toLowerCase().includes(part))
        .toSorted((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
      const late = isPartial ? "; not all files were looked at" : "";
      return admitFitting(place, { tool }, Math.min(most, found.length), (rows) => {
        const left = includeIgnored ? "" : `; left out: ${SKIPPED_WORDS} (include_ignored: true)`;
        const note = found.length === 0 ? `no file has such a name${left}` : shownOf(rows, found.length, "file");
        return [...found.slice(0, rows), `[${note}${late}]`].join("\n");
      });
    },
  );
}

function depthOf(path: string): number {
  return path.split("/").length;
}
