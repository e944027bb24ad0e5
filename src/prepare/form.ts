import type { Saved } from "../contract/receipt.ts";
import type { Wire, WireEdit, WireMedia } from "../contract/wire.ts";
import { type Access, recallLine } from "../stages/mark/access.ts";
import type { Weight } from "../stages/prune/weight.ts";
import { replaceMedia } from "../wire/blocks.ts";
import type { PreparePorts } from "./ports.ts";

/** What was kept of a result that is not shown whole. */
export interface SavedResult {
  id: string;
  saved: Saved;
  savedBytes: number;
  /** Secrets that were replaced in it; left out if there were none. */
  redactions?: { count: number };
}

/** The form in which a result is shown instead of itself: frozen once a model may have seen it. */
export interface Form {
  /** Larger is shorter; see STEP. */
  step: number;
  /** As many as the result has, or one for all of them. */
  texts: string[];
  /** Said in place of its media; they stay where this is left out. */
  mediaText?: string;
  kept: SavedResult | null;
  /** The weight of the texts and of what is said in place of media. */
  weight: Weight;
}

/** All texts of a form. What is said in place of media is said for each of them. */
export function formTexts({ texts, mediaText }: Pick<Form, "texts" | "mediaText">, { count }: WireMedia): string[] {
  return mediaText === undefined ? texts : [...texts, ...Array.from({ length: count }, () => mediaText)];
}

/** By what a message that is sent differs from the one that came. */
export interface MessageChange {
  edits: readonly WireEdit[];
  /** Said in place of media outside results; null leaves them. */
  mediaText: string | null;
}

/** The message as it is sent. */
export function writeChange(wire: Wire, message: unknown, { edits, mediaText }: MessageChange): unknown {
  const written = wire.write(message, edits);
  return mediaText === null ? written : replaceMedia(written, mediaText);
}

/** The line that says where a result is which is no longer shown whole. Empty if nobody kept it. */
export async function savedLine(
  kept: SavedResult | null,
  tool: string,
  session: string | null,
  { access, accessTo }: Pick<PreparePorts, "access" | "accessTo">,
): Promise<string> {
  return recallLine(savedCopyOf(kept, kept === null ? access : await accessTo({ id: kept.id, session, tool })));
}

/** How a reader gets at what was kept. */
export function savedCopyOf(kept: SavedResult | null, access: Access) {
  return kept === null ? { saved: "no" as const, savedBytes: 0, id: null, access } : { ...kept, access };
}
