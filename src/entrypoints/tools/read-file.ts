import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Limits } from "../../contract/limits.ts";
import { READ_BACK_TOOLS } from "../../recall/index.ts";
import { admitWithNote, LINE_ROOM, type NoteRoom } from "./admit-with-note.ts";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { OUTLINE_ROOM, type OutlineRow, outlineNote, readOutline } from "./outline.ts";

const CHUNK_BYTES = 256 * 1024;
const LINE_BREAK = 10;
/** Larger source files are usually generated. */
const MAX_OUTLINE_BYTES = 512 * 1024;
const NO_ROOM: NoteRoom = { chars: 0, lines: 0, tokens: 0 };

/** `read_file`: a file or some of its lines; an artifact too. */
export function readFileTool(place: ToolPlace): BoundedTool {
  return boundedTool(
    {
      name: "read_file",
      description:
        "Reads a text file, or only lines start_line to end_line (from 1, both included). A long file is shortened; the text says which lines are left out and what a source file defines there. With id instead of path: a saved tool output.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          start_line: { type: "integer" },
          end_line: { type: "integer" },
          id: { type: "string", description: "a saved output's id" },
        },
      },
    },
    async (args) => {
      const from = args.count("start_line", 1, Number.MAX_SAFE_INTEGER) || 1;
      const to = args.count("end_line", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
      const isWhole = from === 1 && to === Number.MAX_SAFE_INTEGER;
      const id = args.text("id");
      if (id !== undefined) {
        const recall = READ_BACK_TOOLS[0] as (typeof READ_BACK_TOOLS)[number];
        return recall.call(place.spillway, isWhole ? { id } : { id, lines: [from, to] });
      }
      if (to < from) throw new Error(`end_line must not be before start_line; got ${from}-${to}`);
      const path = await place.roots.find(args.requiredText("path"));
      const file = await openFile(path);
      try {
        const { limits } = place.spillway.resolve("read_file");
        const rows = await outlineIfLong(file, path, limits);
        const range = { from, to, lines: 0 };
        const output = isWhole ? chunksOf(file) : linesOf(file, range);
        return await admitWithNote(
          place,
          { tool: "read_file", output },
          ({ cuts }, room) => {
            const which = isWhole ? "" : rangeNote(range);
            const { length } = which;
            const left = { chars: room.chars - length - 1, lines: room.lines - 1, tokens: room.tokens - length };
            return [outlineNote(rows, cuts, from - 1, left), which].filter((note) => note !== "").join("\n");
          },
          rows.length > 0 ? OUTLINE_ROOM : isWhole ? NO_ROOM : LINE_ROOM,
        );
      } finally {
        await file.close();
      }
    },
  );
}

function rangeNote({ from, to, lines }: { from: number; to: number; lines: number }): string {
  const last = Math.min(to, lines);
  return last < from ? `[the file has ${lines} lines; asked for ${from}-${to}]` : `[lines ${from}-${last} of ${lines}]`;
}

/** What a source file defines, if it is too long to be shown whole. */
async function outlineIfLong(file: FileHandle, path: string, limits: Limits): Promise<OutlineRow[]> {
  const { maxBytes = Infinity, maxChars = Infinity, maxLines = Infinity } = limits;
  const { size } = await file.stat();
  // A file with no more bytes than the allowed lines cannot be too long.
  if (size > MAX_OUTLINE_BYTES || size <= Math.min(maxBytes, maxChars, maxLines)) return [];
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(file)) chunks.push(chunk);
  const source = Buffer.concat(chunks).toString();
  const isLong = size > maxBytes || source.length > maxChars || source.split("\n").length > maxLines;
  return isLong ? readOutline(path, source) : [];
}

/** Opens plain files only. Reading a pipe or a device might never end, or have an effect. */
async function openFile(path: string): Promise<FileHandle> {
  // Opened without waiting, since opening a pipe that nobody writes to would never return.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  const status = await file.stat();
  if (status.isFile()) return file;
  await file.close();
  throw new Error(
    status.isDirectory() ? "this is a folder: use list_directory" : "this is no plain file, so it is not read",
  );
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The wanted lines; `range.lines` is the count of all lines. */
async function* linesOf(
  file: FileHandle,
  range: { from: number; to: number; lines: number },
): AsyncGenerator<Uint8Array> {
  let line = 1;
  let isOpen = false;
  for await (const chunk of chunksOf(file)) {
    let start = 0;
    while (start < chunk.length) {
      const breakAt = chunk.indexOf(LINE_BREAK, start);
      const end = breakAt === -1 ? chunk.length : breakAt + 1;
      if (line >= range.from && line <= range.to) yield chunk.subarray(start, end);
      isOpen = breakAt === -1;
      if (!isOpen) line++;
      start = end;
    }
  }
  range.lines = isOpen ? line : line - 1;
}
