import type { Definition, FileNames } from "./read-names.ts";

/** A definition, and how much the other code uses it. */
export interface RankedDefinition extends Definition {
  path: string;
  score: number;
}

const ROUNDS = 20;
const DAMPING = 0.85;

/**
 * Ranks definitions. Those come first that are used by files which are used much themselves. The same files always give
 * the same order.
 */
export function rankDefinitions(files: readonly FileNames[]): RankedDefinition[] {
  const definers = new Map<string, number[]>();
  files.forEach(({ definitions }, index) => {
    for (const name of new Set(definitions.map((each) => each.name))) {
      definers.set(name, [...(definers.get(name) ?? []), index]);
    }
  });
  const edges = files.map(({ references }) => edgesOf(references, definers));
  const ranks = rankFiles(files.length, edges);
  const uses = new Map<string, number>();
  edges.forEach((edge, from) => {
    const all = edge.reduce((sum, { weight }) => sum + weight, 0);
    for (const { to, name, weight } of edge) {
      const key = `${to}\0${name}`;
      uses.set(key, (uses.get(key) ?? 0) + ((ranks[from] ?? 0) * weight) / all);
    }
  });
  const ranked = files.flatMap(({ path, definitions }, index) =>
    definitions.map((definition) => ({
      ...definition,
      path,
      // A definition that nobody uses still counts a little, by the rank of its file.
      score: (uses.get(`${index}\0${definition.name}`) ?? 0) + (ranks[index] ?? 0) / (100 * definitions.length),
    })),
  );
  return ranked.toSorted((a, b) => b.score - a.score || compare(a.path, b.path) || a.line - b.line);
}

interface Edge {
  to: number;
  name: string;
  weight: number;
}

function edgesOf(references: Map<string, number>, definers: Map<string, number[]>): Edge[] {
  return [...references].flatMap(([name, count]) => {
    const places = definers.get(name) ?? [];
    // A name that many files define says little, so the weight is shared among them. The square root keeps frequent
    // uses from counting too much.
    return places.map((to) => ({ to, name, weight: Math.sqrt(count) / places.length }));
  });
}

function rankFiles(count: number, edges: Edge[][]): number[] {
  let ranks = Array.from({ length: count }, () => 1 / count);
  for (let round = 0; round < ROUNDS; round++) {
    const next = Array.from({ length: count }, () => (1 - DAMPING) / count);
    edges.forEach((edge, from) => {
      const all = edge.reduce((sum, { weight }) => sum + weight, 0);
      const rank = ranks[from] ?? 0;
      if (all === 0) return void next.forEach((_, to) => void (next[to] = (next[to] ?? 0) + (DAMPING * rank) / count));
      for (const { to, weight } of edge) next[to] = (next[to] ?? 0) + (DAMPING * rank * weight) / all;
    });
    ranks = next;
  }
  return ranks;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A map of a repository: its text, and how many definitions and files it shows. */
export interface RepoMap {
  text: string;
  shown: number;
  files: number;
}

/** Writes the best definitions that fit, file by file, each with its line number. */
export function drawMap(ranked: readonly RankedDefinition[], maxChars: number): RepoMap {
  const files = new Map<string, RankedDefinition[]>();
  let left = maxChars;
  let shown = 0;
  for (const definition of ranked) {
    const { path } = definition;
    const cost = row(definition).length + 1 + (files.has(path) ? 0 : path.length + 2);
    // A shorter definition further down may still fit.
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
