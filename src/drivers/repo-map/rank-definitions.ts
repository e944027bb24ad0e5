import type { Definition, FileNames } from "./read-names.ts";

/** A definition, and how much the other code uses it. */
export interface RankedDefinition extends Definition {
  path: string;
  /** Higher ones come first, whatever the score. */
  group: number;
  score: number;
}

const ROUNDS = 20;
const DAMPING = 0.85;
/** A file's use of its own names, and a test's of any, says less than one by another part of the program. */
const OWN_WEIGHT = 0.1;
const TEST_WEIGHT = 0.1;
const TEST =
  /(^|\/)(tests?|__tests__|specs?|e2e|fixtures?|testdata|__mocks__)\/|[._-](test|spec)s?\.\w+$|(^|\/)(test_[^/]*|conftest)\.py$|Tests?\.java$/;

/**
 * Ranks definitions: first those that other files can use, then the others, then those of tests. In each group, definitions
 * that much-used files use come first. The same files always give the same order.
 */
export function rankDefinitions(files: readonly FileNames[]): RankedDefinition[] {
  const definers = new Map<string, number[]>();
  files.forEach(({ definitions }, index) => {
    for (const name of new Set(definitions.map((each) => each.name))) {
      definers.set(name, [...(definers.get(name) ?? []), index]);
    }
  });
  const edges = files.map((file, index) => edgesOf(file, index, definers));
  const ranks = rankFilesByUse(edges);
  const uses = new Map<string, number>();
  edges.forEach((edge, from) => {
    for (const { to, name, share } of edge) {
      const key = `${to}\0${name}`;
      uses.set(key, (uses.get(key) ?? 0) + (ranks[from] ?? 0) * share);
    }
  });
  const ranked = files.flatMap(({ path, definitions }, index) =>
    definitions.map((definition) => ({
      ...definition,
      path,
      group: TEST.test(path) ? 0 : definition.isPublic ? 2 : 1,
      // A definition that nobody uses still counts a little, by the rank of its file.
      score: (uses.get(`${index}\0${definition.name}`) ?? 0) + (ranks[index] ?? 0) / (100 * definitions.length),
    })),
  );
  return ranked.toSorted(
    (a, b) => b.group - a.group || b.score - a.score || compare(a.path, b.path) || a.line - b.line,
  );
}

interface Edge {
  to: number;
  name: string;
  /** How much of its rank the file hands on here. All that it hands on is 1 at most. */
  share: number;
}

function edgesOf({ path, references }: FileNames, from: number, definers: Map<string, number[]>): Edge[] {
  const edges = [...references].flatMap(([name, count]) => {
    const places = definers.get(name) ?? [];
    // A name that many files define says little, so the weight is shared among them. The square root keeps frequent
    // uses from counting too much.
    return places.map((to) => ({ to, name, share: Math.sqrt(count) / places.length }));
  });
  const all = edges.reduce((sum, { share }) => sum + share, 0);
  const trust = TEST.test(path) ? TEST_WEIGHT : 1;
  for (const edge of edges) edge.share *= (edge.to === from ? OWN_WEIGHT : 1) * (trust / all);
  return edges;
}

/** The rank of each file. A file hands its rank on to those that it uses; what it does not hand on goes to all alike. */
function rankFilesByUse(edges: readonly Edge[][]): number[] {
  const count = edges.length;
  let ranks = Array.from({ length: count }, () => 1 / count);
  for (let round = 0; round < ROUNDS; round++) {
    const next = Array.from({ length: count }, () => 0);
    let rest = 1;
    edges.forEach((edge, from) => {
      for (const { to, share } of edge) {
        const given = DAMPING * (ranks[from] ?? 0) * share;
        next[to] = (next[to] ?? 0) + given;
        rest -= given;
      }
    });
    ranks = next.map((rank) => rank + rest / count);
  }
  return ranks;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Writes definitions file by file, each with its line number. The file of the best comes first. */
export function drawMap(ranked: readonly RankedDefinition[]): { text: string; files: number } {
  const files = new Map<string, RankedDefinition[]>();
  for (const definition of ranked) {
    const known = files.get(definition.path);
    if (known === undefined) files.set(definition.path, [definition]);
    else known.push(definition);
  }
  const blocks = [...files].map(([path, definitions]) =>
    [`${path}:`, ...definitions.toSorted((a, b) => a.line - b.line).map(row)].join("\n"),
  );
  return { text: blocks.join("\n"), files: files.size };
}

function row({ line, text }: RankedDefinition): string {
  return `  ${line}: ${text}`;
}
