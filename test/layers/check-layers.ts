import { posix } from "node:path";
import { type FileImports, type Import, readImports } from "./read-imports.ts";
import type { Layer } from "./table.ts";

/** Source files by path from the project's root, with `/`. */
export type Sources = Record<string, string>;

/** Every crossing, each as one line that says where, what and why. Empty when all is well. */
export function checkLayers(sources: Sources, layers: Layer[]): string[] {
  const files = new Map<string, FileImports>();
  for (const [path, text] of Object.entries(sources)) if (!isTest(path)) files.set(path, readImports(path, text));

  const faults: string[] = [];
  for (const [path, { imports, typesOnly }] of files) {
    const layer = layerOf(path, layers);
    if (!layer) {
      faults.push(`${path}: in no room of the table (test/layers/table.ts)`);
      continue;
    }
    if (roomOf(path).layer === "contract" && !typesOnly) faults.push(`${path}: contract is types only`);
    for (const one of imports) {
      const fault = one.specifier.startsWith(".") ? crossing(path, one, layer, sources) : outside(one, layer);
      if (fault) faults.push(`${path}:${one.line} imports ${one.specifier}: ${fault}`);
    }
  }
  return [...faults, ...findCycles(files)];
}

function crossing(path: string, one: Import, layer: Layer, sources: Sources): string | null {
  const target = resolve(path, one.specifier);
  // The manifest is data of the package, in no room.
  if (target === "package.json") return null;
  if (!(target in sources)) return "no such file";
  if (isTest(target)) return "only tests import tests";
  const from = roomOf(path);
  const to = roomOf(target);
  if (from.room === to.room) return null;
  if (from.layer !== to.layer && layer.may.includes(to.layer)) return null;
  if (!layer.onUse?.includes(to.layer)) return `${from.room} (level ${layer.level}) may not import ${to.room}`;
  return one.kind === "static" ? `${from.room} may load ${to.room} only by import() on use` : null;
}

function outside(one: Import, layer: Layer): string | null {
  const room = `level ${layer.level} (${layer.rooms.join(" ")})`;
  if (one.specifier.startsWith("node:")) return layer.node ? null : `${room} may import no Node module`;
  if (layer.packages === "any") return null;
  if (layer.packages === "none") return `${room} may import no package`;
  return one.kind === "static" ? `${room} may load a package only by import() on use` : null;
}

/** The room a file stands in, and the name under which the table knows it. */
function roomOf(path: string): { room: string; layer: string } {
  const [, first = "", second = "", third = "", fourth] = path.split("/");
  const room = first.replace(/\.ts$/, "");
  if (room === "stages" && second) return { room: second, layer: second };
  if (room !== "entrypoints") return { room, layer: room };
  if (second === "cli" || second === "serve") return { room: second, layer: second };
  return { room: second === "adapters" && fourth ? `adapters/${third}` : second, layer: room };
}

function layerOf(path: string, layers: Layer[]): Layer | undefined {
  const { layer } = roomOf(path);
  return layers.find((row) => row.rooms.includes(layer));
}

function findCycles(files: Map<string, FileImports>): string[] {
  const faults: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  const walk = (path: string) => {
    const start = trail.indexOf(path);
    if (start >= 0) faults.push(`import cycle: ${[...trail.slice(start), path].join(" -> ")}`);
    if (start >= 0 || done.has(path)) return;
    trail.push(path);
    for (const one of files.get(path)?.imports ?? []) {
      const target = resolve(path, one.specifier);
      if (one.specifier.startsWith(".") && files.has(target)) walk(target);
    }
    trail.pop();
    done.add(path);
  };
  for (const path of files.keys()) walk(path);
  return faults;
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

function isTest(path: string): boolean {
  return /\.(test|bench|fuzz)\.ts$/.test(path);
}
