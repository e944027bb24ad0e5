import type { WireEdit, WireMedia } from "../contract/wire.ts";
import { isRecord, type JsonRecord, tried } from "../values.ts";
import { countMedium, type Medium } from "./media.ts";
import { jsonChars } from "./record.ts";

/** What a block of a result's content is for a model. A block that is "other" is kept and never changed. */
export type Part = { text: string } | { medium: Medium } | "other" | "malformed";

/** Says how a format writes the content of a result. Content is a text, one block, or a list of blocks. */
export interface ContentShape {
  look(block: JsonRecord): Part;
  put(block: JsonRecord, text: string): JsonRecord;
  /** Returns a new block that holds a text. */
  say(text: string): JsonRecord;
  /** Returns what remains of a block whose text was moved to another block. If it is absent, nothing remains. */
  drop?(block: JsonRecord): JsonRecord;
  /** True if the format does not allow content to be missing. */
  needed?: boolean;
  /** A field, such as a cache breakpoint, that moves to the block that replaces its block. */
  carried?: string;
}

/** What the content of a result holds. */
export interface Content {
  texts: string[];
  media: WireMedia;
  /** The characters of blocks that are neither text nor media. */
  otherChars: number;
  malformed: number;
}

/** Reads content. Counts what cannot be read. */
export function readContent(content: unknown, shape: ContentShape): Content {
  const found: Content = { texts: [], media: { count: 0, bytes: 0 }, otherChars: 0, malformed: 0 };
  if (typeof content === "string") found.texts.push(content);
  else if (Array.isArray(content)) for (const block of content) readBlock(block, shape, found);
  else if (content !== undefined || shape.needed) readBlock(content, shape, found);
  return found;
}

function readBlock(block: unknown, shape: ContentShape, found: Content): void {
  const part = lookAt(block, shape);
  if (part === "malformed") found.malformed += 1;
  else if (part === "other") found.otherChars += charsOf(block);
  else if ("text" in part) found.texts.push(part.text);
  else countMedium(found.media, part.medium);
}

/** Returns content with an edit made, or the same object if the edit changes nothing. */
export function writeContent(content: unknown, edit: WireEdit, shape: ContentShape): unknown {
  const { texts } = edit;
  if (typeof content === "string") return texts === undefined || texts.length === 0 ? content : texts.join("\n");
  if (content === undefined) {
    return texts === undefined || texts.length === 0 || shape.needed ? content : [shape.say(texts.join("\n"))];
  }
  if (!Array.isArray(content)) {
    const part = lookAt(content, shape);
    if (typeof part !== "object" || !isRecord(content)) return content;
    if ("text" in part) return writeBlocks([content], edit, shape)[0];
    // If the format allows one block alone, it also allows text.
    if (edit.mediaText !== undefined) return [...(texts ?? []), edit.mediaText].join("\n");
    return texts === undefined || texts.length === 0 ? content : [shape.say(texts.join("\n")), content];
  }
  const blocks = writeBlocks(content, edit, shape);
  return blocks.length === content.length && blocks.every((block, at) => block === content[at]) ? content : blocks;
}

function writeBlocks(blocks: readonly unknown[], edit: WireEdit, shape: ContentShape): unknown[] {
  const parts = blocks.map((block) => lookAt(block, shape));
  const count = parts.filter((part) => typeof part === "object" && "text" in part).length;
  const texts = edit.texts ?? [];
  const each = texts.length === count;
  const one = texts.length > 0 && !each ? texts.join("\n") : null;
  const written: unknown[] = one !== null && count === 0 ? [shape.say(one)] : [];
  let met = 0;
  let first = -1;
  for (const [at, part] of parts.entries()) {
    const block = blocks[at];
    if (typeof part !== "object" || !isRecord(block)) written.push(block);
    else if ("text" in part) {
      const text = each ? texts[met] : met === 0 ? (one ?? undefined) : undefined;
      met += 1;
      if (text !== undefined) {
        if (one !== null) first = written.length;
        written.push(text === part.text ? block : shape.put(block, text));
      } else if (one === null) written.push(block);
      else {
        const rest = shape.drop?.(block);
        if (rest !== undefined) written.push(rest);
        written[first] = carry(block, written[first], shape);
      }
    } else written.push(edit.mediaText === undefined ? block : carry(block, shape.say(edit.mediaText), shape));
  }
  return written;
}

function carry(from: JsonRecord, to: unknown, { carried }: ContentShape): unknown {
  if (carried === undefined || from[carried] === undefined || !isRecord(to)) return to;
  return { ...to, [carried]: from[carried] };
}

function lookAt(block: unknown, shape: ContentShape): Part {
  return (isRecord(block) ? tried(() => shape.look(block)) : null) ?? "malformed";
}

function charsOf(block: unknown): number {
  return tried(() => jsonChars(block)) ?? 0;
}

/** Makes the most common shape, `{ type: "text", text }`. `mediumIn` says which blocks are media. */
export function typedShape(mediumIn: (block: JsonRecord) => Medium | null, carried?: string): ContentShape {
  return {
    look(block) {
      if (block.type === "text") return typeof block.text === "string" ? { text: block.text } : "malformed";
      const medium = mediumIn(block);
      return medium === null ? (typeof block.type === "string" ? "other" : "malformed") : { medium };
    },
    put: (block, text) => ({ ...block, text }),
    say: (text) => ({ type: "text", text }),
    ...(carried === undefined ? {} : { carried }),
  };
}
