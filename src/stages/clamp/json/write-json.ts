import type { Gap } from "../../../contract/cut.ts";
import { counted } from "../../../values.ts";
import { decode } from "../fit.ts";
import {
  isGroup,
  isMember,
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
}

/** Matches a text that could be taken for a note of ours. */
const LIKE_OURS = /\.\.\. \[.* omitted/;
const NAME = /^[A-Za-z_$][\w$]*$/;
/** A longer path is shortened at its start. */
const MAX_PATH_CHARS = 120;

/** Writes a plan without white space. If `isMultiline`, each value of the outermost group is on a line of its own. */
export function writeJson(root: JsonNode, isMultiline: boolean, tag: string): WrittenJson {
  const writer = new JsonWriter(isMultiline, tag);
  writer.value(root, "$", 0);
  return {
    text: writer.text.join(""),
    keptBytes: writer.keptBytes,
    keptLines: writer.keptLines,
    gaps: writer.gaps,
    notes: writer.notes,
    isQuoting: writer.isQuoting,
  };
}

class JsonWriter {
  readonly text: string[] = [];
  keptBytes = 0;
  keptLines = 0;
  readonly gaps: Gap[] = [];
  readonly notes: string[] = [];
  isQuoting = false;
  readonly #isMultiline: boolean;
  readonly #tag: string;
  #lastLine = 0;

  constructor(isMultiline: boolean, tag: string) {
    this.#isMultiline = isMultiline;
    this.#tag = tag;
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
    if (!isLines) this.#structure(group.kind === "object" ? "{" : "[", group.line);
    group.entries.forEach((entry, index) => {
      if (index > 0 && !isLines) this.#structure(",", 0);
      if (ownLines && (index > 0 || !isLines)) this.text.push("\n");
      if (isMember(entry)) this.#member(entry, group, path, isLines ? depth : depth + 1);
      else this.#skip(entry, group.kind, path);
    });
    if (ownLines && !isLines && group.entries.length > 0) this.text.push("\n");
    if (!isLines) this.#structure(group.kind === "object" ? "}" : "]", group.toLine);
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
    const text = decode(bytes);
    if (!this.isQuoting && text.includes("... [") && LIKE_OURS.test(text)) this.isQuoting = true;
    this.#keep(bytes.length, line);
    this.text.push(text);
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
