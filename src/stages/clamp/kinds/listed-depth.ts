/** How deep a line of a listing stands, and in which folder. */
export interface Listed {
  depth: number;
  parent: string;
}

/** What trees draw before a name: bars and spaces, then a branch. */
const BRANCHES = /^([│| \u00a0]*)[├└`+|][─-]{1,2}(┬?) /;

/** Columns that each level of a tree takes. */
export type TreeStep = 2 | 4;

/** The step of a tree of which this is a line; null where the line does not tell. */
export function treeStep(line: string): TreeStep | null {
  const drawn = BRANCHES.exec(line);
  if (drawn === null) return null;
  const before = (drawn[1] as string).length;
  return drawn[2] === "┬" || before % 4 === 2 ? 2 : null;
}

/** Reads a path, a line of a tree or an indented name. */
export function listedDepth(line: string, step: TreeStep): Listed {
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
