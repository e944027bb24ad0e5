import type { Cut, Gap } from "../../contract/cut.ts";
import type { Unit } from "../../contract/limits.ts";
import type { Receipt, ReceiptCut } from "../../contract/receipt.ts";
import type { Extent } from "../../contract/size.ts";

/** Everything on a receipt that is not read off the cut. */
export type ReceiptFacts = Omit<Receipt, keyof Cut | "redacted" | "cuts" | "moreCuts" | "estimated"> & {
  estimated: readonly Unit[];
};

/** A receipt for a cut, listing at most `maxCuts` gaps. `redacted` is there if secrets were replaced in what is shown. */
export function writeReceipt(facts: ReceiptFacts, cut: Cut & { redacted?: Extent }, maxCuts: number): Receipt {
  const gaps = cut.parts.filter((part): part is Gap => !("text" in part));
  const { tool, session, call, strategy, shown, estimated, limits, ...rest } = facts;
  return {
    tool,
    session,
    call,
    strategy,
    total: { bytes: cut.total.bytes, lines: cut.total.lines },
    kept: cut.kept,
    folded: cut.folded,
    redacted: cut.redacted ?? { bytes: 0, lines: 0 },
    omitted: cut.omitted,
    shown,
    estimated: [...estimated],
    limits,
    cutBy: cut.cutBy,
    cuts: gaps.slice(0, maxCuts).map(listed),
    moreCuts: Math.max(0, gaps.length - maxCuts),
    ...(cut.unscanned === undefined ? {} : { unscanned: cut.unscanned }),
    ...rest,
  };
}

function listed({ fromLine, toLine, bytes }: Gap): ReceiptCut {
  return { fromLine, toLine, bytes };
}
