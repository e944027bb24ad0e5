import type { RankedDefinition } from "./rank-definitions.ts";

/** A map of a repository. */
export interface RepoMap {
  text: string;
  shown: number;
  files: number;
}

/** Draws the best definitions that fit, file by file, each with its line. */
export function drawMap(ranked: readonly RankedDefinition[], maxChars: number): RepoMap {
  const files = new Map<string, RankedDefinition[]>();
  let left = maxChars;
  let shown = 0;
  for (const definition of ranked) {
    const { path } = definition;
    const cost = row(definition).length + 1 + (files.has(path) ? 0 : path.length + 2);
    // A shorter one further down may still fit.
    if (cost > left) continue;
    left -= cost;
    shown++;
    files.set(path, [...(files.get(path) ?? []), definition]);
  }
  const blocks = [...files].map(([path, definitions]) =>
    [`${path}:`, ...definitions.toSorted((a, b) => a.line - b.line).map(row)].join("\n"),
  );
  return { text: blocks.join("\n"), shown, files: files.size };
}

function row({ line, text }: RankedDefinition): string {
  return `  ${line}: ${text}`;
}
