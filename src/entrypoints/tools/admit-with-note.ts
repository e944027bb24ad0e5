import type { AdmitRequest } from "../../admit/admit-request.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { Spillway } from "../../spillway.ts";
import { mapLimits } from "../../values.ts";

/** The room that our note after an output may take. */
export interface NoteRoom {
  chars: number;
  lines: number;
  tokens: number;
}

/** A note is one line. */
export const LINE_ROOM: NoteRoom = { chars: 240, lines: 1, tokens: 120 };
/** The largest share of the limits that a note may take. The rest is for the output. */
const MAX_SHARE = 0.25;
/** Characters for each token of a note. It is low, so that a note is never counted as shorter than it is. */
const CHARS_A_TOKEN = 2;

/** Admits an output and adds a note after it. Both together are within the tool's limits. A note without room is left out. */
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

/** The text with the note after it, if there is room for the note. */
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
    // A note is ASCII, except for a few names in it.
    chars: share(wanted.chars, maxBytes, maxChars),
    lines: share(wanted.lines, maxLines),
    tokens: share(wanted.tokens, maxTokens),
  };
}

/** The limits less the note's room. */
export function withRoom(limits: Limits, room: NoteRoom): Limits {
  return mapLimits(limits, (limit, unit) => limit - { bytes: room.chars, ...room }[unit]);
}
