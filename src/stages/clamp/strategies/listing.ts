import { decode } from "../fit.ts";
import { RareLines } from "../ranked/rare-lines.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";
import { tellsTrouble } from "./matches.ts";

const RANKS = 14;
/** Files of a rare mode, owner or size may take this share of the room. */
const RARE = 1;
const RARE_SHARE = 0.3;
const LONG_CELLS = 5;
const LOOK_BYTES = 1000;
/** Files of one folder in the first step of its depth; each further step has twice as many. */
const FIRST_FILES = 4;
/** So many lines that tell of trouble come before all others; further ones are ranked like the rest. */
const MOST_TROUBLES = 20;

/** Keeps a listing or a tree: what is higher before what is deeper, some of every folder before all of one. */
export const listing: KindStrategy = {
  name: "listing",
  exact: true,
  kinds: [{ name: "listing", order: 70, is: isListing }],
  start: (request) => {
    let base = Number.POSITIVE_INFINITY;
    let folder = "";
    let inFolder = 0;
    let step: TreeStep = 4;
    let troubles = 0;
    let cells: readonly string[] | null = null;
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => (rank === 0 ? "trouble" : rank === RARE ? "rare" : rank === 2 ? "top" : `${rank - 2} deep`),
      headShare: 0.6,
      share: (rank) => (rank === RARE ? RARE_SHARE : 1),
      late: {
        rank: RARE,
        holder: (mostBytes) =>
          new RareLines(mostBytes, () => (cells === null ? null : { values: [...cells.entries()] })),
      },
      rank(bytes) {
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        // Mode, links, owner, group and size.
        cells = LONG.test(line) && !line.startsWith("total") ? line.split(/\s+/, LONG_CELLS) : null;
        if (tellsTrouble(line) && troubles++ < MOST_TROUBLES) return 0;
        step = treeStep(line) ?? step;
        const { depth, parent } = listedDepth(line, step);
        base = Math.min(base, depth);
        if (parent !== folder) inFolder = 0;
        folder = parent;
        const further = Math.floor(Math.log2(1 + inFolder++ / FIRST_FILES));
        return Math.min(RANKS - 1, 2 + depth - base + further);
      },
    });
  },
};

/** How deep a line of a listing stands, and in which folder. */
interface Listed {
  depth: number;
  parent: string;
}

/** What trees draw before a name: bars and spaces, then a branch. */
const BRANCHES = /^([│| \u00a0]*)[├└`+|][─-]{1,2}(┬?) /;

/** Columns that each level of a tree takes. */
type TreeStep = 2 | 4;

/** The step of a tree of which this is a line; null where the line does not tell. */
function treeStep(line: string): TreeStep | null {
  const drawn = BRANCHES.exec(line);
  if (drawn === null) return null;
  const before = (drawn[1] as string).length;
  return drawn[2] === "┬" || before % 4 === 2 ? 2 : null;
}

/** Reads a path, a line of a tree or an indented name. */
function listedDepth(line: string, step: TreeStep): Listed {
  const drawn = BRANCHES.exec(line);
  if (drawn !== null) {
    const before = (drawn[1] as string).length;
    return { depth: 1 + Math.ceil(before / step), parent: `drawn ${before}` };
  }
  const text = line.trimEnd();
  // The head of a folder in `ls -R`.
  if (text.endsWith(":") && !text.includes(" ")) return { depth: 0, parent: text };
  const indent = text.length - text.trimStart().length;
  const path = text.trim().replace(/\/+$/, "");
  const slash = path.lastIndexOf("/");
  if (slash === -1 || path.includes(" ")) return { depth: Math.floor(indent / 2), parent: `indent ${indent}` };
  return { depth: path.split("/").length - 1, parent: path.slice(0, slash) };
}

const SHARE = 0.9;
const TREE = /^(?:[│| \u00a0]*)(?:├─[─┬]|└─[─┬]|\|-- |`-- |\+-- )/;
const LONG = /^(?:[-dlcbps][rwxsStT-]{9}[.+@]? |total \d+$)/;
const FOLDER = /^[^\s:]+:$/;
// No part holds a slash, so that there is only one way to read a line. Else a crafted line takes very long.
const PATH = /^(?:\.{0,2}\/)?[^\s:;,(){}<>="'|/]+(?:\/[^\s:;,(){}<>="'|/]+)+\/?$/;
const NAME = /^\s*[^\s:;,(){}<>="'|]+\/?$/;

/** Names of files: a tree, `ls -l`, `ls -R`, `find`, or a list of names where the tool lists. */
function isListing({ lines, tool, command }: KindSample): boolean {
  if (lines.length < 5) return false;
  const share = (is: (line: string) => boolean) => shareOfLines(lines, is);
  if (share((line) => TREE.test(line)) >= 0.7) return true;
  if (share((line) => LONG.test(line) || FOLDER.test(line)) >= SHARE) return true;
  if (share((line) => PATH.test(line)) >= SHARE) return true;
  const lists =
    tool === "list_directory" ||
    tool === "get_repo_structure" ||
    /^(?:ls|dir|tree|find|fd|git ls-files)\b/.test(command);
  return lists && share((line) => NAME.test(line) || FOLDER.test(line)) >= 0.7;
}
