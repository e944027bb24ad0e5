import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import {
  addEntry,
  ConfigFault,
  type ConfigNode,
  type Position,
  printable,
  printableLine,
  TreeBounds,
} from "./config-node.ts";

/** Reads YAML 1.2 into a tree with positions. */
export function parseYaml(text: string): ConfigNode {
  const lineCounter = new LineCounter();
  // Keys are compared by addEntry: the package compares each with each.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: "error" });
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault) {
    const at = positionAt(fault.pos[0]);
    const line = printableLine(text, at);
    const hint = /^"\s*\*/.test(line) ? "; quote a key that begins with *" : "";
    throw new ConfigFault(at, `${readable(fault.message)}${hint}; the line is ${line}`);
  }

  // The package searches the whole document for each alias; one walk finds them all.
  const anchors = new Map<string, Node>();
  const aliased = new Map<Node, Node | undefined>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) aliased.set(node, anchors.get(node.source));
      else if (node.anchor) anchors.set(node.anchor, node);
    },
  });

  const bounds = new TreeBounds();
  const placeOf = (node: Node) => positionAt(node.range?.[0] ?? 0);

  function convert(given: unknown, parentAt: Position): ConfigNode {
    const node = given as Node | null;
    if (!node) return { kind: "scalar", at: parentAt, value: null };
    const at = placeOf(node);
    return bounds.inside(at, () => {
      if (isAlias(node)) {
        const target = aliased.get(node);
        if (!target) throw new ConfigFault(at, `no anchor &${printable(node.source)} stands before this alias`);
        return convert(target, at);
      }
      if (isScalar(node)) return { kind: "scalar", at, value: node.value };
      if (isSeq(node)) return { kind: "list", at, items: node.items.map((item) => convert(item, at)) };
      if (!isMap(node)) throw new ConfigFault(at, "this is not a value");
      const entries = new Map<string, { at: Position; node: ConfigNode }>();
      for (const { key, value } of node.items) {
        if (!isScalar(key)) throw new ConfigFault(at, "a key must be a plain text");
        const keyAt = placeOf(key);
        addEntry(entries, String(key.value), keyAt, convert(value, keyAt));
      }
      return { kind: "map", at, entries };
    });
  }
  return convert(document.contents, { line: 1, column: 1 });
}

function readable(message: string): string {
  if (message.includes("call stack")) return "nested too deeply";
  if (message.includes("multiple documents")) return "a config file holds one document, without a second `---`";
  return printable(message.replace(/[`"]/g, "'")).replace(/^"|"$/g, "");
}
