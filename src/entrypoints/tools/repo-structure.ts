import { sep } from "node:path";
import { counted } from "../../values.ts";
import { admitFitting, type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { escaped, nameFolders } from "./roots.ts";
import { listFiles, SKIPPED_WORDS } from "./run-rg.ts";

const MOST_DEPTH = 100;
const MOST_FILES = 100_000;
/** A tree is drawn again for each try to fit it. More rows than this fit no limits. */
const MOST_ROWS = 20_000;

/** `get_repo_structure`: a tree of folders and files, the upper levels first. */
export function repoStructureTool(place: ToolPlace): BoundedTool {
  const { roots } = place;
  const tool = "get_repo_structure";
  const { options } = place.spillway.resolve(tool);
  const usual = { depth: options.maxDepth ?? 3, files: options.maxFiles ?? 500 };
  return boundedTool(
    {
      name: tool,
      description: `Shows folders and files as a tree, upper levels first; a folder that is not shown whole has its number of files. Leaves out ${SKIPPED_WORDS}.`,
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: `a folder, ${nameFolders(roots)}` },
          max_depth: { type: "integer", default: usual.depth },
          max_files: { type: "integer", default: usual.files },
          include_ignored: { type: "boolean", description: "also what is left out otherwise" },
        },
      },
    },
    async (args, signal) => {
      const folders = await roots.findFolders(args.text("path"));
      const depth = args.count("max_depth", usual.depth, MOST_DEPTH);
      const most = args.count("max_files", usual.files, MOST_FILES);
      const walk = { paths: folders, includeIgnored: args.flag("include_ignored") };
      const { files, isPartial } = await listFiles(roots, walk, signal);
      files.sort();
      const trees = folders.map((folder) => growTree(roots.show(folder), folder, files));
      const rows = breadthFirst(trees, depth, most).slice(0, MOST_ROWS);
      return admitFitting(place, { tool }, rows.length, (count) => {
        const shown = new Set(rows.slice(0, count));
        const fileCount = rows.slice(0, count).filter(({ nodes }) => nodes === null).length;
        const more = isPartial ? "; there are more than could be listed" : "";
        const note =
          fileCount === files.length ? "" : `[${fileCount} of ${counted(files.length, "file")} shown${more}]`;
        return [...trees.flatMap((tree) => drawTree(tree, shown).lines), note].filter((line) => line !== "").join("\n");
      });
    },
  );
}

interface TreeNode {
  name: string;
  depth: number;
  /** Its place among the files, or among the folders, of its folder. */
  index: number;
  /** Null for a file. */
  nodes: Map<string, TreeNode> | null;
  /** Files in it, at any depth. */
  files: number;
  /** How many files and folders it holds itself. */
  own: { files: number; folders: number };
}

function newNode(name: string, depth: number, index: number, nodes: TreeNode["nodes"]): TreeNode {
  return { name, depth, index, nodes, files: 0, own: { files: 0, folders: 0 } };
}

/** Makes a tree of the sorted paths that lie in a folder. */
function growTree(name: string, folder: string, paths: readonly string[]): TreeNode {
  const root = newNode(name, 0, 0, new Map());
  const before = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  for (const path of paths) {
    if (!path.startsWith(before)) continue;
    const parts = path.slice(before.length).split(sep);
    let at = root;
    for (const [index, part] of parts.entries()) {
      at.files++;
      const isFile = index === parts.length - 1;
      let next = at.nodes?.get(part);
      if (next === undefined) {
        next = newNode(
          escaped(part),
          at.depth + 1,
          isFile ? at.own.files++ : at.own.folders++,
          isFile ? null : new Map(),
        );
        at.nodes?.set(part, next);
      }
      at = next;
    }
  }
  return root;
}

/**
 * The nodes in the order in which they are shown: level by level, folders before files, and of each folder the first file
 * before the second of any other.
 */
function breadthFirst(trees: readonly TreeNode[], maxDepth: number, maxFiles: number): TreeNode[] {
  const order: TreeNode[] = [];
  let files = 0;
  let level: TreeNode[] = [...trees];
  for (let depth = 1; depth <= maxDepth && level.length > 0; depth++) {
    const nodes = level.flatMap((node) => [...(node.nodes?.values() ?? [])]).toSorted((a, b) => a.index - b.index);
    level = nodes.filter((node) => node.nodes !== null);
    order.push(...level);
    for (const node of nodes) if (node.nodes === null && files++ < maxFiles) order.push(node);
  }
  return order;
}

/** Draws what is shown of a tree. A folder of which something is not shown says how many files it has. */
function drawTree(node: TreeNode, shown: ReadonlySet<TreeNode>): { lines: string[]; files: number } {
  const indent = "  ".repeat(node.depth);
  if (node.nodes === null) return { lines: [`${indent}${node.name}`], files: 1 };
  const drawn = [...node.nodes.values()]
    .filter((each) => shown.has(each))
    .toSorted((a, b) => Number(a.nodes === null) - Number(b.nodes === null))
    .map((each) => drawTree(each, shown));
  const files = drawn.reduce((sum, each) => sum + each.files, 0);
  const count = files === node.files ? "" : ` (${counted(node.files, "file")})`;
  return { lines: [`${indent}${node.name}/${count}`, ...drawn.flatMap(({ lines }) => lines)], files };
}
