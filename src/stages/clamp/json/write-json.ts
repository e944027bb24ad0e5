import type { Gap } from "../../../contract/cut.ts";
import { counted } from "../../../values.ts";
import { decode } from "../fit.ts";
import {
  isGroup,
  isMember,
  type JsonEntry,
  type JsonGone,
  type JsonGroup,
  type JsonMember,
  type JsonNode,
  type JsonSkip,
  type JsonText,
} from "./json-node.ts";

/** The text of a plan, and which part of the source it shows. */
export interface WrittenJson {
  text: string;
  keptBytes: number;
  keptLines: number;
  gaps: Gap[];
  /** What each gap's note says. */
  notes: string[];
  /** True if the source itself has a text that looks like a note of ours. */
  isQuoting: boolean;
  /** Objects are written as rows of values. */
  hasRows: boolean;
}

/** Matches a text that could be taken for a note of ours. */
const LIKE_OURS = /\.\.\. \[.* (?:omitted|rows of values)/;
const NAME = /^[A-Za-z_$][\w$]*$/;
/** A longer path is shortened at its start. */
const MAX_PATH_CHARS = 120;

/** How a plan is written. */
interface Form {
  /** Each value of the outermost group is on a line of its own. */
  isMultiline: boolean;
  /** What our notes carry. */
  tag: string;
  /** Objects of a list that have the same keys are written as rows of values, and their keys once before them. */
  withRows?: boolean;
}

/** Writes a plan without white space. */
export function writeJson(root: JsonNode, form: Form): WrittenJson {
  const writer = new JsonWriter(form);
  writer.value(root, "$", 0);
  return {
    text: writer.text.join(""),
    keptBytes: writer.keptBytes,
    keptLines: writer.keptLines,
    gaps: writer.gaps,
    notes: writer.notes,
    isQuoting: writer.isQuoting,
    hasRows: writer.hasRows,
  };
}

class JsonWriter {
  readonly text: string[] = [];
  keptBytes = 0;
  keptLines = 0;
  readonly gaps: Gap[] = [];
  readonly notes: string[] = [];
  isQuoting = false;
  hasRows = false;
  readonly #isMultiline: boolean;
  readonly #tag: string;
  readonly #withRows: boolean;
  #lastLine = 0;

  constructor({ isMultiline, tag, withRows = false }: Form) {
    this.#isMultiline = isMultiline;
    this.#tag = tag;
    this.#withRows = withRows;
  }

  value(node: JsonNode, path: string, depth: number): void {
    if (isGroup(node)) this.#group(node, path, depth);
    else if (node.kind === "scalar") this.#source(node.bytes, node.line);
    else if (node.kind === "text") this.#string(node);
    else this.#gone(node);
  }

  #group(group: JsonGroup, path: string, depth: number): void {
    const isLines = group.kind === "lines";
    const ownLines = isLines || (this.#isMultiline && depth === 0);
    const header = this.#withRows ? headerOf(group) : null;
    if (!isLines) this.#structure(group.kind === "object" ? "{" : "[", group.line);
    if (header !== null) this.#header(header, isLines ? "" : ",", ownLines ? "\n" : "");
    group.entries.forEach((entry, index) => {
      if (index > 0 && !isLines) this.#structure(",", 0);
      if (ownLines && (index > 0 || !isLines || header !== null)) this.text.push("\n");
      if (!isMember(entry)) this.#skip(entry, group.kind, path);
      else if (header !== null && hasKeys(entry, header)) this.#row(entry.node as JsonGroup, `${path}[${entry.index}]`);
      else this.#member(entry, group, path, isLines ? depth : depth + 1);
    });
    if (ownLines && !isLines && group.entries.length > 0) this.text.push("\n");
    if (!isLines) this.#structure(group.kind === "object" ? "}" : "]", group.toLine);
  }

  /** Writes what the rows of a list are, and their keys, which are none of its elements. */
  #header(keys: readonly JsonKey[], comma: string, line: string): void {
    this.hasRows = true;
    const note = JSON.stringify(`... [objects as rows of values: their keys come first${this.#tag}]`);
    const names = `[${keys.map(({ bytes }) => this.#quote(bytes)).join(",")}]`;
    this.text.push(comma === "" ? "" : line, note, comma, line, names, comma);
  }

  /** Writes the values of an object. */
  #row({ entries, line, toLine }: JsonGroup, path: string): void {
    this.#structure("[", line);
    (entries as JsonMember[]).forEach(({ key, node }, index) => {
      if (index > 0) this.#structure(",", 0);
      this.value(node, `${path}${pathStep(decode((key as JsonKey).bytes))}`, 1);
    });
    this.#structure("]", toLine);
  }

  #member({ index, key, node }: JsonMember, group: JsonGroup, path: string, depth: number): void {
    if (key === null) {
      // A single value outside any other is the document itself.
      const inner = group.kind === "lines" && group.count === 1 ? path : `${path}[${index}]`;
      this.value(node, inner, group.kind === "lines" && group.count > 1 ? depth + 1 : depth);
      return;
    }
    const text = this.#source(key.bytes, key.line);
    this.#structure(":", 0);
    this.value(node, `${path}${pathStep(text)}`, depth);
  }

  #skip({ index, count, from, to, line, toLine }: JsonSkip, kind: JsonGroup["kind"], path: string): void {
    const last = index + count - 1;
    if (kind === "object") {
      const which = count === 1 ? `${index + 1}` : `${index + 1} to ${last + 1}`;
      const key = this.#note(`${counted(count, "key")} omitted: ${which}`, gap(from, to, line, toLine));
      this.text.push(JSON.stringify(key), ":", JSON.stringify(shortPath(path)));
      return;
    }
    const place = shortPath(path);
    const which = count === 1 ? `${place}[${index}]` : `${place}[${index}] to ${place}[${last}]`;
    const note = this.#note(`${counted(count, "element")} omitted: ${which}`, gap(from, to, line, toLine));
    this.text.push(JSON.stringify(note));
  }

  #string({ head, tail, from, to, line }: JsonText): void {
    if (tail === null) {
      this.#source(head, line);
      return;
    }
    const bytes = to - from - head.length - tail.length;
    this.#source(head, line);
    const left = gap(from + head.length, to - tail.length, line, line);
    this.text.push(`${this.#note(`${counted(bytes, "byte")} omitted`, left)} ...`);
    this.#source(tail, line);
  }

  #gone({ what, count, from, to, line, toLine }: JsonGone): void {
    const inside =
      what === "object" ? `${counted(count, "key")}, ` : what === "array" ? `${counted(count, "element")}, ` : "";
    const size = counted(to - from, "byte");
    this.text.push(`"${this.#note(`${what} omitted: ${inside}${size}`, gap(from, to, line, toLine))}"`);
  }

  /** Notes a gap and returns our words for it. */
  #note(said: string, left: Gap): string {
    this.gaps.push(left);
    this.notes.push(said);
    return `... [${said}${this.#tag}]`;
  }

  /** Writes bytes of the source as they are. */
  #source(bytes: Uint8Array, line: number): string {
    const text = this.#quote(bytes);
    this.#keep(bytes.length, line);
    this.text.push(text);
    return text;
  }

  /** Decodes bytes of the source that are about to be written. */
  #quote(bytes: Uint8Array): string {
    const text = decode(bytes);
    if (!this.isQuoting && text.includes("... [") && LIKE_OURS.test(text)) this.isQuoting = true;
    return text;
  }

  /** Commas and colons have no line of their own. */
  #structure(text: string, line: number): void {
    this.#keep(1, line);
    this.text.push(text);
  }

  #keep(bytes: number, line: number): void {
    this.keptBytes += bytes;
    if (line <= this.#lastLine) return;
    this.#lastLine = line;
    this.keptLines++;
  }
}

type JsonKey = NonNullable<JsonMember["key"]>;

/** Fewer objects are easier to read with their keys. */
const FEWEST_ROWS = 4;

/** The keys that stand before the objects of a list if those are written as rows; null if none are. */
function headerOf({ kind, entries }: JsonGroup): readonly JsonKey[] | null {
  // A list in the list would be taken for a row.
  if (kind === "object" || entries.some((entry) => isMember(entry) && entry.node.kind === "array")) return null;
  const objects = entries.filter((entry) => isMember(entry) && entry.node.kind === "object");
  const header = keysOf(objects[objects.length >> 1]);
  const rows = header === null || header.length === 0 ? 0 : objects.filter((entry) => hasKeys(entry, header)).length;
  return rows < FEWEST_ROWS ? null : header;
}

/** The keys of an object of which every member is held; null for another entry. */
function keysOf(entry: JsonEntry | undefined): readonly JsonKey[] | null {
  if (entry === undefined || !isMember(entry) || entry.node.kind !== "object") return null;
  const keys = entry.node.entries.map((member) => (isMember(member) ? member.key : null));
  return keys.every((key) => key !== null) ? keys : null;
}

function hasKeys(entry: JsonEntry, header: readonly JsonKey[]): entry is JsonMember {
  const keys = keysOf(entry);
  return keys?.length === header.length && keys.every(({ bytes }, at) => isEqual(bytes, header[at] as JsonKey));
}

function isEqual(first: Uint8Array, { bytes }: JsonKey): boolean {
  return first.length === bytes.length && first.every((byte, at) => byte === bytes[at]);
}

function gap(from: number, to: number, fromLine: number, toLine: number): Gap {
  return { fromLine, toLine, lines: 0, bytes: to - from, chars: to - from, noted: true };
}

function pathStep(quoted: string): string {
  const name = quoted.slice(1, -1);
  return NAME.test(name) ? `.${name}` : `[${quoted}]`;
}

function shortPath(path: string): string {
  return path.length <= MAX_PATH_CHARS ? path : `...${path.slice(-MAX_PATH_CHARS).toWellFormed()}`;
}
