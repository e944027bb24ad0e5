import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { AdmitRequest, Spillway } from "../../spillway.ts";

/** What a note of ours behind an output may take. */
export interface NoteRoom {
  chars: number;
  lines: number;
  tokens: number;
}

/** One line. */
export const LINE_ROOM: NoteRoom = { chars: 240, lines: 1, tokens: 120 };
/** A note never takes more than this of the limits: the output is what was asked for. */
const MAX_SHARE = 0.25;
/** Of the words of a note: no fewer, so that it is not taken for shorter than it is. */
const CHARS_A_TOKEN = 2;

/** Admits an output with room for a note behind it: both together are within the tool's limits. One without room is left out. */
export async function admitWithNote(
  { spillway, session }: { spillway: Spillway; session?: string | undefined },
  request: AdmitRequest & { tool: string },
  note: (receipt: Receipt, room: NoteRoom) => string,
  wanted: NoteRoom = LINE_ROOM,
): Promise<string> {
  const { limits } = spillway.resolve(request.tool);
  const room = roomWithin(limits, wanted);
  const { text, receipt } = await spillway.admit({ session, ...request, limits: withRoom(limits, room) });
  return withNote(text, note(receipt, room), room);
}

/** A text with a note behind it, if there is room for it. */
export function withNote(text: string, note: string, room: NoteRoom): string {
  const isRoom =
    note.length < room.chars &&
    note.split("\n").length <= room.lines &&
    Math.ceil(note.length / CHARS_A_TOKEN) <= room.tokens;
  if (note === "" || !isRoom) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${note}`;
}

/** The room that limits leave a note. */
export function roomWithin({ maxBytes, maxChars, maxLines, maxTokens }: Limits, wanted: NoteRoom): NoteRoom {
  const share = (most: number, ...limits: (number | undefined)[]) =>
    Math.floor(Math.min(most, ...limits.map((limit) => (limit ?? Infinity) * MAX_SHARE)));
  return {
    // A note is ASCII but for names in it, which are few.
    chars: share(wanted.chars, maxBytes, maxChars),
    lines: share(wanted.lines, maxLines),
    tokens: share(wanted.tokens, maxTokens),
  };
}

/** Limits without a note's room. */
export function withRoom(limits: Limits, room: NoteRoom): Limits {
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  return {
    ...(maxBytes !== undefined && { maxBytes: maxBytes - room.chars }),
    ...(maxChars !== undefined && { maxChars: maxChars - room.chars }),
    ...(maxLines !== undefined && { maxLines: maxLines - room.lines }),
    ...(maxTokens !== undefined && { maxTokens: maxTokens - room.tokens }),
  };
}
