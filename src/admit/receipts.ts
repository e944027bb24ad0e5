import type { Cut, Gap } from "../contract/cut.ts";
import type { Limits, Unit } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Extent, Size } from "../contract/size.ts";
import { headTail } from "../stages/clamp/strategies/edges.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { counted, grouped, LIMIT_OF } from "../values.ts";

/** What every receipt of a request says alike. */
interface Subject {
  tool: string;
  session: string | null;
  call: string | null;
  limits: Limits;
  exitCode: number | null;
  counter: { exact: boolean };
}

/** Where every byte and line of the source went. */
type Account = Pick<
  Receipt,
  "total" | "kept" | "folded" | "redacted" | "omitted" | "cutBy" | "cuts" | "moreCuts" | "unscanned"
>;

/** What neither the request nor the account says. */
type Facts = Partial<Omit<Receipt, keyof Account | keyof Subject | "estimated">> & Pick<Receipt, "strategy" | "shown">;

/** The one place where a receipt is made. */
export function newReceipt(subject: Subject, { strategy, kind, shown, ...facts }: Facts, account: Account): Receipt {
  const { tool, session, call, limits, exitCode, counter } = subject;
  const { total, kept, folded, redacted, omitted, cutBy, cuts, moreCuts, unscanned } = account;
  return {
    tool,
    session,
    call,
    strategy,
    ...(kind === undefined ? {} : { kind }),
    total,
    kept,
    folded,
    redacted,
    omitted,
    shown,
    estimated: counter.exact ? [] : ["tokens"],
    limits,
    cutBy,
    cuts,
    moreCuts,
    ...(unscanned === undefined ? {} : { unscanned }),
    artifact: null,
    sha256: null,
    saved: null,
    savedBytes: 0,
    exitCode,
    ...facts,
  };
}

const nothing = (): Extent => ({ bytes: 0, lines: 0 });

/** The account of a text that is shown whole. */
export function wholeAccount({ bytes, lines }: Extent): Account {
  return {
    total: { bytes, lines },
    kept: { bytes, lines },
    folded: nothing(),
    redacted: nothing(),
    omitted: nothing(),
    cutBy: null,
    cuts: [],
    moreCuts: 0,
  };
}

/** The account of a cut. `redacted` is there if secrets were replaced in what is shown. */
export function cutAccount(cut: Cut & { redacted?: Extent }): Account {
  const gaps = cut.parts.filter((part): part is Gap => !("text" in part));
  const maxCuts = NUMBERS.receiptCuts.default;
  return {
    total: { bytes: cut.total.bytes, lines: cut.total.lines },
    kept: cut.kept,
    folded: cut.folded,
    redacted: cut.redacted ?? nothing(),
    omitted: cut.omitted,
    cutBy: cut.cutBy,
    cuts: gaps.slice(0, maxCuts).map(({ fromLine, toLine, bytes }) => ({ fromLine, toLine, bytes })),
    moreCuts: Math.max(0, gaps.length - maxCuts),
    ...(cut.unscanned === undefined ? {} : { unscanned: cut.unscanned }),
  };
}

/**
 * The receipt of a text that came in UTF-16, in bytes of the source. Of each part the share is that of the text as UTF-8;
 * what rounding leaves is counted as kept, so that the parts add up.
 */
export function inUtf16(receipt: Receipt, sourceBytes: number): Receipt {
  const { total, folded, redacted, omitted, cuts } = receipt;
  const scaled = <T extends { bytes: number }>(part: T): T => ({
    ...part,
    bytes: Math.round((part.bytes * sourceBytes) / Math.max(1, total.bytes)),
  });
  const parts = { folded: scaled(folded), redacted: scaled(redacted), omitted: scaled(omitted) };
  const rest = sourceBytes - parts.folded.bytes - parts.redacted.bytes - parts.omitted.bytes;
  return {
    ...receipt,
    ...parts,
    total: { ...total, bytes: sourceBytes },
    kept: { ...receipt.kept, bytes: rest },
    cuts: cuts.map(scaled),
  };
}

/** A receipt that tells these faults too. */
export function withFaults(receipt: Receipt, faults: readonly string[]): Receipt {
  return faults.length === 0 ? receipt : { ...receipt, faults: [...(receipt.faults ?? []), ...faults] };
}

/** What is told of a text that has halves of characters: nothing that is written as UTF-8 can hold them, the artifact neither. */
export function halvesOf(text: string | null): string[] {
  if (text === null || text.isWellFormed()) return [];
  const halves = text.match(/\p{Surrogate}/gu)?.length ?? 0;
  return [`${counted(halves, "lone surrogate")} in the text became U+FFFD`];
}

/** The receipt of a text for which a plain clamp stands, because it would have been over these limits. */
export function plainReceipt(receipt: Receipt, shown: Size, over: readonly Unit[]): Receipt {
  const { total, redacted, kept: wasKept, limits } = receipt;
  const part = (of: (unit: keyof Extent) => number): Extent => ({ bytes: of("bytes"), lines: of("lines") });
  const kept = part((unit) => Math.min(wasKept[unit], shown[unit]));
  const said = over.map((unit) => `${grouped(receipt.shown[unit])} ${unit} would be over ${limits[LIMIT_OF[unit]]}`);
  return withFaults(
    {
      ...receipt,
      strategy: headTail.name,
      kept,
      folded: nothing(),
      omitted: part((unit) => total[unit] - redacted[unit] - kept[unit]),
      shown,
      cutBy: over[0] ?? null,
      saved: receipt.saved ?? "no",
    },
    [`${said.join(", ")}: a plain clamp stood in`],
  );
}

/** The receipt of texts with the JSON around them, all of which is shown. */
export function shapeReceipt(receipt: Receipt, shapeBytes: number, shown: Size, limits: Limits): Receipt {
  const more = (part: Extent): Extent => ({ ...part, bytes: part.bytes + shapeBytes });
  return { ...receipt, total: more(receipt.total), kept: more(receipt.kept), shown, limits };
}

/** The receipt of a text for which a model's summary stands. Nothing of the source itself is shown, so all of it is omitted. */
export function summaryReceipt(clamped: Receipt, shown: Size, model: string, originalChars: number): Receipt {
  const { total } = clamped;
  return {
    ...clamped,
    ...wholeAccount(total),
    strategy: "summarize",
    kept: nothing(),
    omitted: { ...total },
    cutBy: clamped.cutBy,
    shown,
    cuts: [{ fromLine: 1, toLine: total.lines, bytes: total.bytes }],
    summarized: true,
    summaryModel: model,
    originalChars,
  };
}

/** One receipt for several texts that shared a budget. */
export function joinReceipts(
  subject: Subject & { strategy: { name: string } },
  receipts: readonly Receipt[],
  shown: Size,
): Receipt {
  const cut = receipts.filter((receipt) => receipt.saved !== null);
  const cuts = receipts.flatMap((receipt, block) => receipt.cuts.map((one) => ({ ...one, block })));
  const artifacts = cut.flatMap((receipt) => receipt.artifact ?? []);
  const faults = receipts.flatMap((receipt) => receipt.faults ?? []);
  const redactions = receipts.flatMap((receipt) => receipt.storedRedactions ?? []);
  const original = receipts.find((receipt) => receipt.original !== undefined)?.original;
  const summaries = receipts.filter((receipt) => receipt.summarized);
  const named = summaries[0] ?? largest(cut) ?? alike(receipts);
  const maxCuts = NUMBERS.receiptCuts.default;
  return newReceipt(
    subject,
    {
      strategy: named?.strategy ?? subject.strategy.name,
      ...(named?.kind !== undefined && { kind: named.kind }),
      shown,
      artifact: artifacts[0] ?? null,
      sha256: cut.find((receipt) => receipt.sha256 !== null)?.sha256 ?? null,
      saved: cut.length === 0 ? null : leastSaved(cut),
      savedBytes: receipts.reduce((all, receipt) => all + receipt.savedBytes, 0),
      ...(redactions.length > 0 ? { storedRedactions: redactions.reduce(addRedactions) } : {}),
      ...(artifacts.length > 1 ? { artifacts } : {}),
      ...(original !== undefined && { original }),
      ...summaryOf(summaries),
      ...(faults.length > 0 ? { faults } : {}),
    },
    {
      total: sum(receipts, "total"),
      kept: sum(receipts, "kept"),
      folded: sum(receipts, "folded"),
      redacted: sum(receipts, "redacted"),
      omitted: sum(receipts, "omitted"),
      cutBy: receipts.find((receipt) => receipt.cutBy !== null)?.cutBy ?? null,
      cuts: cuts.slice(0, maxCuts),
      moreCuts: Math.max(0, cuts.length - maxCuts) + receipts.reduce((all, { moreCuts }) => all + moreCuts, 0),
    },
  );
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
