import type { Limits } from "../../contract/limits.ts";
import type { ReceiptCut } from "../../contract/receipt.ts";
import type { LinesRead, TextFile } from "../../drivers/text-file.ts";
import { READ_BACK_TOOLS } from "../../recall/index.ts";
import { type NoteRoom, roomWithin } from "./admit-with-note.ts";
import {
  type Arguments,
  admitFitting,
  type BoundedTool,
  boundedTool,
  fitsLimits,
  type ToolPlace,
} from "./bounded-tool.ts";
import { nameFolders } from "./roots.ts";

/** Larger source files are usually generated. */
const MAX_OUTLINE_BYTES = 512 * 1024;
/** A page where no limit is set. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const MAX_CHAR_BYTES = 4;
const TO_END = Number.MAX_SAFE_INTEGER;
/** In such a file, the lines that tell what went wrong matter more than its start. */
const LOG = /\.(log|out|err)(\.\d+)?$/i;

/** Lines of a file, from 1, both included, and the byte of the first line from which on it is wanted. */
interface Wanted {
  from: number;
  to: number;
  column: number;
}

const about = { tool: "read_file" };

/** `read_file`: a file or some of its lines; an artifact too. */
export function readFileTool(place: ToolPlace): BoundedTool {
  const { roots, spillway } = place;
  return boundedTool(
    {
      name: "read_file",
      description:
        "Reads a text file as it is on disk, or lines start_line to end_line (from 1, both included; -20 means the last 20). A long one comes in pages: the text ends with where to go on and what a source file defines behind it. Of a long .log the lines that matter are shown. With id instead of path: a saved tool output.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: nameFolders(roots) },
          start_line: { type: "integer" },
          end_line: { type: "integer" },
          start_column: { type: "integer", description: "goes on inside a long line, in bytes from 1" },
          id: { type: "string", description: "a saved output's id" },
        },
      },
    },
    async (args, signal) => {
      const id = args.text("id");
      if (id !== undefined) return recallLines(place, args, id);
      const path = await roots.find(args.requiredText("path"));
      const { openTextFile, readLines } = await import("../../drivers/text-file.ts");
      const file = await openTextFile(path);
      try {
        const { limits, strategy, summarize, off } = spillway.resolve("read_file");
        const wanted = wantedLines(args);
        const isWhole = wanted.from === 1 && wanted.to === TO_END && wanted.column === 1;
        if (file.binary !== null) {
          return admitFitting(
            place,
            about,
            0,
            () => `[no text, so it is not shown: ${file.binary}, ${file.bytes} bytes]`,
          );
        }
        const isLog = strategy === "auto" && LOG.test(path);
        if (isWhole && (strategy !== "auto" || summarize || isLog)) {
          const request = { ...about, session: place.session, output: file.chunks() };
          return (await spillway.admit(isLog ? { ...request, strategy: "signal" } : request)).text;
        }
        if (wanted.from < 0) {
          const none = { fromLine: TO_END, toLine: TO_END, fromColumn: 1, maxBytes: 0 };
          wanted.from = Math.max(1, (await readLines(file, none, signal)).lines + wanted.from + 1);
        }
        if (wanted.to < wanted.from) {
          throw new Error(`end_line must not be before start_line; got ${wanted.from}-${wanted.to}`);
        }
        const { from: fromLine, to: toLine, column: fromColumn } = wanted;
        const read = await readLines(
          file,
          { fromLine, toLine, fromColumn, maxBytes: pageBytes(off ? {} : limits) },
          signal,
        );
        return await admitPage(place, read, wanted, () => (isWhole ? outlineOf(file, path) : Promise.resolve([])));
      } finally {
        await file.close();
      }
    },
    ["limit"],
  );
}

async function recallLines(place: ToolPlace, args: Arguments, id: string) {
  const recall = READ_BACK_TOOLS[0] as (typeof READ_BACK_TOOLS)[number];
  const { from, to } = wantedLines(args);
  if (from < 0) return recall.call(place.spillway, { id, tail: -from });
  return recall.call(place.spillway, from === 1 && to === TO_END ? { id } : { id, lines: [from, to] });
}

function wantedLines(args: Arguments): Wanted {
  const from = args.count("start_line", 1, TO_END, -TO_END) || 1;
  const limit = args.count("limit", TO_END, TO_END);
  const usual = from > 0 && limit < TO_END - from ? Math.max(from, from + limit - 1) : TO_END;
  const column = args.count("start_column", 1, TO_END) || 1;
  return { from, to: args.count("end_line", usual, TO_END), column };
}

/** The most bytes that limits could let through. */
function pageBytes({ maxBytes = Infinity, maxChars = Infinity }: Limits): number {
  return Math.min(maxBytes, maxChars * MAX_CHAR_BYTES, MAX_PAGE_BYTES);
}

async function outlineOf(file: TextFile, path: string): Promise<OutlineRow[]> {
  if (file.bytes > MAX_OUTLINE_BYTES) return [];
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk.slice());
  return readOutline(path, Buffer.concat(chunks).toString());
}

/** Shows as many whole lines as fit, as they are on disk; of a line that is too long by itself its start. */
async function admitPage(
  place: ToolPlace,
  read: LinesRead,
  { from, to, column }: Wanted,
  loadOutline: () => Promise<readonly OutlineRow[]>,
): Promise<string> {
  const total = `${read.lines}${read.isCounted ? "" : " or more"}`;
  if (read.lines === 0) return admitFitting(place, about, 0, () => "[the file is empty]");
  if (from > read.lines) {
    const asked = to === TO_END ? `from ${from} on` : `${from}-${to}`;
    return admitFitting(place, about, 0, () => `[the file has ${total} lines; asked for ${asked}]`);
  }
  const rows = read.text.split(/(?<=\n)/);
  // The last row may be a part of its line. By itself it is still worth showing.
  if (read.isCut && rows.length > 1) rows.pop();
  const lastWanted = Math.min(to, read.lines);
  const room = roomWithin(place.spillway.resolve("read_file").limits, OUTLINE_ROOM);
  let outline: readonly OutlineRow[] = [];
  const write = (count: number) => {
    const last = from + count - 1;
    const cuts = [{ fromLine: last + 1, toLine: lastWanted, bytes: 0 }];
    const isAll = last === lastWanted && !read.isCut;
    const isPlain = isAll && from === 1 && to === TO_END && column === 1;
    const start = column > 1 ? `, from column ${column} on` : "";
    const next = isAll ? "" : `; next: start_line ${last + 1}`;
    const note = isPlain ? "" : `[lines ${from}-${last} of ${total}${start}${next}]`;
    return joined(rows.slice(0, count).join(""), isAll ? "" : outlineNote(outline, cuts, 0, room), note);
  };
  if (!read.isCut && (await fitsLimits(place, about, write(rows.length)))) {
    return admitFitting(place, about, rows.length, write);
  }
  outline = await loadOutline();
  const isLineCut = read.isCut && rows.length === 1 && !read.text.endsWith("\n");
  if (!isLineCut && (rows.length === 0 || (await fitsLimits(place, about, write(1))))) {
    return admitFitting(place, about, rows.length, write);
  }
  const line = (rows[0] ?? "").replace(/\r?\n$/, "");
  return admitFitting(place, about, line.length, (count) => {
    // A pair of surrogates is not split.
    const part = line.slice(0, count).replace(/[\ud800-\udbff]$/, "");
    const end = column + Buffer.byteLength(part) - 1;
    const next = `start_line ${from}, start_column ${end + 1}`;
    return joined(
      part,
      "",
      `[line ${from} of ${total}, columns ${column}-${end} of ${read.firstLineBytes}; next: ${next}]`,
    );
  });
}

function joined(...parts: string[]): string {
  return parts
    .filter((part) => part !== "")
    .reduce((text, part) => (text.endsWith("\n") ? `${text}${part}` : `${text}\n${part}`), "")
    .replace(/^\n/, "");
}

/** A line that defines something. */
interface OutlineRow {
  line: number;
  text: string;
}

const OUTLINE_ROOM: NoteRoom = { chars: 4000, lines: 60, tokens: 2000 };
/** Room for the words around it. */
const FRAME_CHARS = 60;
const FRAME_LINES = 2;
const CHARS_A_TOKEN = 2;

/** What a source file defines; empty if its language is not known or there is no parser. */
async function readOutline(path: string, source: string): Promise<OutlineRow[]> {
  try {
    const { isKnownFile, loadNameReader } = await import("../../drivers/repo-map/read-names.ts");
    if (!isKnownFile(path)) return [];
    return (await (await loadNameReader()).readText(source, path))?.definitions ?? [];
  } catch {
    return []; // the parser is an optional package
  }
}

/** The rows whose lines were cut, as many as there is room for. `before` counts the lines that stand before the output's first. */
function outlineNote(rows: readonly OutlineRow[], cuts: readonly ReceiptCut[], before: number, room: NoteRoom): string {
  const omitted = rows.filter(({ line }) =>
    cuts.some(({ fromLine, toLine }) => line - before >= fromLine && line - before <= toLine),
  );
  let left = Math.min(room.chars, room.tokens * CHARS_A_TOKEN) - FRAME_CHARS;
  const shown: string[] = [];
  for (const { line, text } of omitted) {
    const row = `  ${line}: ${text}`;
    left -= Buffer.byteLength(row) + 1;
    if (left < 0 || shown.length >= room.lines - FRAME_LINES) break;
    shown.push(row);
  }
  if (shown.length === 0) return "";
  const more = omitted.length - shown.length;
  return ["[defined in the lines left out:", ...shown, more > 0 ? `  and ${more} more]` : "]"].join("\n");
}
