import type { Saved } from "../contract/receipt.ts";
import { type Access, recallLine } from "../stages/mark/access.ts";
import type { Weight } from "../stages/prune/weight.ts";
import type { PrepareParts } from "./parts.ts";

/** What was kept of a result that is not shown whole. */
export interface KeptResult {
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
  kept: KeptResult | null;
  weight: Weight;
}

/** The line that says where a result is which is no longer shown whole. Empty if nobody kept it. */
export async function keptLine(
  kept: KeptResult | null,
  tool: string,
  session: string | null,
  { access, accessTo }: Pick<PrepareParts, "access" | "accessTo">,
): Promise<string> {
  return recallLine(keepingOf(kept, kept === null ? access : await accessTo({ id: kept.id, session, tool })));
}

/** How a reader gets at what was kept. */
export function keepingOf(kept: KeptResult | null, access: Access) {
  return kept === null ? { saved: "no" as const, savedBytes: 0, id: null, access } : { ...kept, access };
}
