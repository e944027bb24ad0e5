import type { ReceiptCut } from "../../contract/receipt.ts";
import type { NoteRoom } from "./admit-with-note.ts";

/** A line that defines something. */
export interface OutlineRow {
  line: number;
  text: string;
}

/** Room for an outline. */
export const OUTLINE_ROOM: NoteRoom = { chars: 4000, lines: 60, tokens: 2000 };
/** Room for the words around it. */
const FRAME_CHARS = 60;
const FRAME_LINES = 2;
const CHARS_A_TOKEN = 2;

/** What a source file defines; empty if its language is not known or there is no parser. */
export async function readOutline(path: string, source: string): Promise<OutlineRow[]> {
  try {
    const { isKnownFile, loadNameReader } = await import("../../drivers/repo-map/read-names.ts");
    if (!isKnownFile(path)) return [];
    return (await (await loadNameReader()).readText(source, path))?.definitions ?? [];
  } catch {
    return []; // the parser is an optional package
  }
}

/** The rows whose lines were cut, as many as there is room for. `before` counts the lines that stand before the output's first. */
export function outlineNote(
  rows: readonly OutlineRow[],
  cuts: readonly ReceiptCut[],
  before: number,
  room: NoteRoom,
): string {
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
