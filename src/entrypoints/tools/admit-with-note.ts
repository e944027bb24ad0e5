import type { Limits } from "../../contract/limits.ts";
import type { AdmitRequest, Spillway } from "../../spillway.ts";

/** Room for a line of our own behind an output. */
const NOTE_CHARS = 240;
const NOTE_LINES = 2;
const NOTE_TOKENS = 120;

/** Admits an output with room for a line behind it, so that both together are within the tool's limits. */
export async function admitWithNote(
  { spillway, session }: { spillway: Spillway; session?: string | undefined },
  request: AdmitRequest & { tool: string },
  note: () => string,
): Promise<string> {
  const limits = withRoomForNote(spillway.resolve(request.tool).limits);
  const { text } = await spillway.admit({ session, limits, ...request });
  const line = note().slice(0, NOTE_CHARS).toWellFormed();
  if (line === "") return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}`;
}

/** Limits with room for a line of our own. */
export function withRoomForNote({ maxBytes, maxChars, maxLines, maxTokens }: Limits): Limits {
  const less = (limit: number | undefined, room: number) =>
    limit === undefined ? undefined : Math.max(0, limit - room);
  const smaller = {
    maxBytes: less(maxBytes, NOTE_CHARS),
    maxChars: less(maxChars, NOTE_CHARS),
    maxLines: less(maxLines, NOTE_LINES),
    maxTokens: less(maxTokens, NOTE_TOKENS),
  };
  return Object.fromEntries(Object.entries(smaller).filter(([, limit]) => limit !== undefined));
}
