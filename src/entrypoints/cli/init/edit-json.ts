import { type ArrayNode, type ObjectNode, parse, type ValueNode } from "@humanwhocodes/momoa";
import { isRecord } from "../../../values.ts";

/** A step into a value: a key of an object, or a place in a list. */
export type Step = string | number;

/** A JSON text that is changed in places: comments, blanks, line breaks and a byte order mark stay as they are. */
export class JsonText {
  readonly #bom: string;
  readonly #mode: { mode: "json" | "jsonc"; allowTrailingCommas: boolean };
  #text: string;

  /** Throws if the text holds no object. An empty text is an empty object. */
  constructor(text: string, { hasComments }: { hasComments: boolean }) {
    this.#bom = text.startsWith("\ufeff") ? "\ufeff" : "";
    this.#mode = { mode: hasComments ? "jsonc" : "json", allowTrailingCommas: hasComments };
    const body = text.slice(this.#bom.length);
    this.#text = body.trim() === "" ? "{}\n" : body;
    if (!isRecord(this.value())) throw new Error("it holds no object");
  }

  toString(): string {
    return this.#bom + this.#text;
  }

  value(...path: Step[]): unknown {
    const node = this.#find(path);
    return node === null ? undefined : plain(node);
  }

  /** Where the value at a path stands in the text; null if there is none. */
  range(...path: Step[]): [number, number] | null {
    const node = this.#find(path);
    if (node === null) return null;
    const [start, end] = rangeOf(node);
    return [start + this.#bom.length, end + this.#bom.length];
  }

  /** Adds a value after the others of the list or the object at a path. Lists and objects on the way are made. */
  add(path: readonly Step[], value: unknown): void {
    const parent = path.slice(0, -1);
    const node = this.#find(parent);
    const key = path.at(-1);
    // A number stands for the end of a list.
    if (node === null) return this.add(parent, typeof key === "number" ? [value] : { [String(key)]: value });
    const { at, text } = this.#insertion(node, typeof key === "string" ? key : null, value);
    this.#splice(at, at, text);
  }

  /** Takes out what stands at a path. */
  remove(path: readonly Step[]): void {
    const node = this.#find(path.slice(0, -1));
    if (node?.type !== "Object" && node?.type !== "Array") return;
    const items = itemsOf(node);
    const key = path.at(-1);
    const index = node.type === "Object" ? node.members.findIndex(({ name }) => keyOf(name) === key) : Number(key);
    const [before, item, after] = [items[index - 1], items[index], items[index + 1]];
    if (item === undefined) return;
    const [start, end] = rangeOf(item);
    if (before !== undefined) return this.#splice(rangeOf(before)[1], end, "");
    if (after !== undefined) return this.#splice(start, rangeOf(after)[0], "");
    const [open, close] = rangeOf(node);
    const rest = this.#text.slice(end, close - 1);
    this.#splice(open + 1, rest.trim() === "" ? close - 1 : end, "");
  }

  #find(path: readonly Step[]): ValueNode | null {
    let node: ValueNode | undefined = parse(this.#text, { ...this.#mode, ranges: true }).body;
    for (const step of path) {
      if (node?.type === "Object") node = node.members.findLast(({ name }) => keyOf(name) === step)?.value;
      else if (node?.type === "Array" && typeof step === "number") node = node.elements[step]?.value;
      else return null;
    }
    return node ?? null;
  }

  #insertion(node: ValueNode, key: string | null, value: unknown): { at: number; text: string } {
    if (node.type !== "Object" && node.type !== "Array")
      throw new Error(`a value stands where a list or an object was expected`);
    const entry = (text: string) => (key === null ? text : `${JSON.stringify(key)}: ${text}`);
    const [open, close] = rangeOf(node);
    const last = itemsOf(node).at(-1);
    const inside = this.#text.slice(open, last === undefined ? close : rangeOf(last)[1]);
    if (last !== undefined && !inside.includes("\n"))
      return { at: rangeOf(last)[1], text: `, ${entry(JSON.stringify(value))}` };
    const lineBreak = this.#text.includes("\r\n") ? "\r\n" : "\n";
    const unit = /^([ \t]+)\S/m.exec(this.#text)?.[1] ?? "  ";
    const outer = this.#indentAt(open);
    const indent = last === undefined ? outer + unit : this.#indentAt(rangeOf(last)[0]);
    const printed = entry(JSON.stringify(value, null, unit)).replaceAll("\n", lineBreak + indent);
    if (last !== undefined) return { at: rangeOf(last)[1], text: `,${lineBreak}${indent}${printed}` };
    const isOpen = /^[ \t]*\r?\n/.test(this.#text.slice(open + 1, close));
    return { at: open + 1, text: `${lineBreak}${indent}${printed}${isOpen ? "" : lineBreak + outer}` };
  }

  /** The blanks at the beginning of a line. */
  #indentAt(at: number): string {
    const start = this.#text.lastIndexOf("\n", at - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(start))?.[0] ?? "";
  }

  #splice(start: number, end: number, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
  }
}

function rangeOf({ range }: { range?: [number, number] | undefined }): [number, number] {
  if (range === undefined) throw new Error("the parser gave no ranges");
  return range;
}

/** Where each member or element begins and ends. */
function itemsOf(node: ObjectNode | ArrayNode): { range: [number, number] }[] {
  return node.type === "Object"
    ? node.members.map(({ name, value }) => ({ range: [rangeOf(name)[0], rangeOf(value)[1]] }))
    : node.elements.map(({ value }) => ({ range: rangeOf(value) }));
}

function keyOf(name: ObjectNode["members"][number]["name"]): string {
  return name.type === "String" ? name.value : name.name;
}

function plain(node: ValueNode): unknown {
  if (node.type === "Object")
    return Object.fromEntries(node.members.map(({ name, value }) => [keyOf(name), plain(value)]));
  if (node.type === "Array") return node.elements.map(({ value }) => plain(value));
  return node.type === "Null" || !("value" in node) ? null : node.value;
}
