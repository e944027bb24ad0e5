/** How deep a line of a listing stands, and in which folder. */
export interface Listed {
  depth: number;
  parent: string;
}

/** What trees draw before a name. */
const BRANCHES = /^(?:(?:[│|]|\u00a0| )[ \u00a0]{2,3})*(?:[├└|`+][─-]{1,2} ?)?/;

/** Reads a path, a line of a tree or an indented name. */
export function listedDepth(line: string): Listed {
  const drawn = BRANCHES.exec(line)?.[0] ?? "";
  if (/[│├└|`+]/.test(drawn)) return { depth: Math.ceil(drawn.length / 4), parent: `drawn ${drawn.length}` };
  const text = line.trimEnd();
  // The head of a folder in `ls -R`.
  if (text.endsWith(":") && !text.includes(" ")) return { depth: 0, parent: text };
  const indent = text.length - text.trimStart().length;
  const path = text.trim().replace(/\/+$/, "");
  const slash = path.lastIndexOf("/");
  if (slash === -1 || path.includes(" ")) return { depth: Math.floor(indent / 2), parent: `indent ${indent}` };
  return { depth: path.split("/").length - 1, parent: path.slice(0, slash) };
}
