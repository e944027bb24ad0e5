import type { Saved } from "../contract/receipt.ts";
import { type Access, recallLine } from "../stages/mark/access.ts";
import type { Weight } from "../stages/prune/weight.ts";
import type { PreparePorts } from "./ports.ts";

/** What was kept of a result that is not shown whole. */
export interface SavedResult {
  id: string;
  saved: Saved;
  savedBytes: number;
}

/** The form in which a result is shown instead of itself: frozen once a model may have seen it. */
export interface Form {
  /** Larger is shorter; see STEP. */
  step: number;
  /** As many as the result has, or one for all of them. */
  texts: string[];
  kept: SavedResult | null;
  weight: Weight;
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
