import type { Receipt } from "../contract/receipt.ts";
import type { Extent, Size } from "../contract/size.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { AdmissionRequest } from "./admission.ts";

/** One receipt for several texts that shared a budget. */
export function joinReceipts(request: AdmissionRequest, receipts: readonly Receipt[], shown: Size): Receipt {
  const cut = receipts.filter((receipt) => receipt.saved !== null);
  const cuts = receipts.flatMap((receipt, block) => receipt.cuts.map((one) => ({ ...one, block })));
  const artifacts = cut.flatMap((receipt) => receipt.artifact ?? []);
  const faults = receipts.flatMap((receipt) => receipt.faults ?? []);
  const redactions = receipts.flatMap((receipt) => receipt.storedRedactions ?? []);
  const original = receipts.find((receipt) => receipt.original !== undefined)?.original;
  const summaries = receipts.filter((receipt) => receipt.summarized);
  const named = summaries[0] ?? largest(cut) ?? alike(receipts);
  const maxCuts = NUMBERS.receiptCuts.default;
  return {
    tool: request.tool,
    session: request.session,
    call: request.call,
    strategy: named?.strategy ?? request.strategy.name,
    ...(named?.kind !== undefined && { kind: named.kind }),
    total: sum(receipts, "total"),
    kept: sum(receipts, "kept"),
    folded: sum(receipts, "folded"),
    redacted: sum(receipts, "redacted"),
    omitted: sum(receipts, "omitted"),
    shown,
    estimated: request.counter.exact ? [] : ["tokens"],
    limits: request.limits,
    cutBy: receipts.find((receipt) => receipt.cutBy !== null)?.cutBy ?? null,
    cuts: cuts.slice(0, maxCuts),
    moreCuts: Math.max(0, cuts.length - maxCuts) + receipts.reduce((all, { moreCuts }) => all + moreCuts, 0),
    artifact: artifacts[0] ?? null,
    sha256: cut.find((receipt) => receipt.sha256 !== null)?.sha256 ?? null,
    saved: cut.length === 0 ? null : leastSaved(cut),
    savedBytes: receipts.reduce((all, receipt) => all + receipt.savedBytes, 0),
    exitCode: request.exitCode,
    ...(redactions.length > 0 ? { storedRedactions: redactions.reduce(addRedactions) } : {}),
    ...(artifacts.length > 1 ? { artifacts } : {}),
    ...(original !== undefined && { original }),
    ...summaryOf(summaries),
    ...(faults.length > 0 ? { faults } : {}),
  };
}

/** The receipt of the most bytes: its text is what was chosen for. */
function largest(receipts: readonly Receipt[]): Receipt | undefined {
  return receipts.toSorted((one, other) => other.total.bytes - one.total.bytes)[0];
}

/** Any of them, if all were treated alike. */
function alike(receipts: readonly Receipt[]): Receipt | undefined {
  const [first, ...others] = receipts;
  return others.every(({ strategy, kind }) => strategy === first?.strategy && kind === first.kind) ? first : undefined;
}

/** What summarised texts say together; nothing where there are none. */
function summaryOf(receipts: readonly Receipt[]): Partial<Receipt> {
  const model = receipts[0]?.summaryModel;
  if (model === undefined) return {};
  const originalChars = receipts.reduce((all, receipt) => all + (receipt.originalChars ?? 0), 0);
  return { summarized: true, summaryModel: model, originalChars };
}

/** Both counts together. */
export function addRedactions(one: Redactions, other: Redactions): Redactions {
  return { count: one.count + other.count, bytes: one.bytes + other.bytes };
}

type Redactions = NonNullable<Receipt["storedRedactions"]>;

function sum(receipts: readonly Receipt[], part: "total" | "kept" | "folded" | "redacted" | "omitted"): Extent {
  const all = { bytes: 0, lines: 0 };
  for (const receipt of receipts) {
    all.bytes += receipt[part].bytes;
    all.lines += receipt[part].lines;
  }
  return all;
}

const SAVED_ORDER = ["no", "partial", "local", "yes"] as const;

function leastSaved(receipts: readonly Receipt[]): Receipt["saved"] {
  return SAVED_ORDER.find((saved) => receipts.some((receipt) => receipt.saved === saved)) ?? null;
}
