import { type Keeping, recallLine } from "../mark/access.ts";
import { quotesMarker, tagFor } from "../mark/quoted.ts";
import { counted } from "../mark/texts.ts";

/** What stands around the summary of a conversation. */
export interface CompactionMark {
  model: string;
  /** Messages that are no longer shown. */
  messages: number;
  /** The user's latest request, where it is no longer shown; cut to size. */
  request: string | null;
  keeping: Omit<Keeping, "redactions">;
}

const START = "[Summary of the conversation so far, by ";

/** A summary with the identifiers that it left out. */
export function withMissing(summary: string, missing: readonly string[]): string {
  return missing.length === 0 ? summary : `${summary}\n\nAlso named there: ${missing.join(", ")}`;
}

/** Whether a text begins as such a message does. Anybody may write that: it proves nothing. */
export function looksCompacted(text: string): boolean {
  return text.startsWith(START);
}

/** The message that stands for the older part of a conversation, in a user's place. */
export function compactionText(summary: string, mark: CompactionMark): string {
  const { model, messages, request, keeping } = mark;
  const body = [summary, ...(request === null ? [] : ["The user's latest request, word for word:", request])].join(
    "\n\n",
  );
  const tag = quotesMarker(body) ? tagFor(body) : "";
  const recall = recallLine(keeping);
  const kept = recall === "" ? "[The messages themselves were not saved]" : recall;
  return [
    `${START}${model}: it stands for ${counted(messages, "earlier message")}${tag}]`,
    body,
    `[End of the summary: what it does not say may stand in those messages${tag}]`,
    kept,
  ].join("\n");
}
