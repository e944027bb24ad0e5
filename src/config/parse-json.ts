import { parse, type ValueNode } from "@humanwhocodes/momoa";
import {
  addEntry,
  ConfigFault,
  type ConfigNode,
  type Position,
  printable,
  printableLine,
  TreeBounds,
} from "./config-node.ts";

/** Reads JSON5 (so JSON and JSON with comments too) into a tree with positions. */
export function parseJson(text: string): ConfigNode {
  const bounds = new TreeBounds();

  function convert(node: ValueNode): ConfigNode {
    const { line, column } = node.loc.start;
    const at: Position = { line, column };
    return bounds.inside(at, () => {
      if (node.type === "Array") return { kind: "list", at, items: node.elements.map(({ value }) => convert(value)) };
      if (node.type !== "Object") return { kind: "scalar", at, value: scalar(node) };
      const entries = new Map<string, { at: Position; node: ConfigNode }>();
      for (const { name, value } of node.members) {
        const key = name.type === "Identifier" ? name.name : name.value;
        const { line: keyLine, column: keyColumn } = name.loc.start;
        addEntry(entries, key, { line: keyLine, column: keyColumn }, convert(value));
      }
      return { kind: "map", at, entries };
    });
  }
  return convert(parseText(text));
}

function parseText(text: string): ValueNode {
  try {
    return parse(text, { mode: "json5" }).body;
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigFault({ line: 1, column: 1 }, "nested too deeply");
    const { line = 1, column = 1, message } = error as { line?: number; column?: number; message: string };
    const at = { line, column };
    throw new ConfigFault(at, `${tidy(message)}; the line is ${printableLine(text, at)}`);
  }
}

// "Unexpected token Comma found. (1:7)": the place is told by us.
function tidy(message: string): string {
  return printable(message.replace(/ found\. \(\d+:\d+\)$/, "").replace(/["`]/g, "'")).replace(/^"|"$/g, "");
}

function scalar(node: Exclude<ValueNode, { type: "Array" | "Object" }>): unknown {
  switch (node.type) {
    case "Null":
      return null;
    case "NaN":
      return Number.NaN;
    case "Infinity":
      return node.sign === "-" ? -Infinity : Infinity;
    default:
      return node.value;
  }
}
