import fc from "fast-check";
import type { EventKind, SpillwayEvent } from "../contract/event.ts";
import type { Totals } from "../contract/ledger.ts";
import type { Receipt } from "../contract/receipt.ts";

/** Makes a receipt in which only the sizes matter. */
function receiptOf(sizes: { total: number; omitted: number; shown: number; tokens: number }): Receipt {
  const none = { bytes: 0, lines: 0 };
  return {
    tool: "t1",
    session: "s1",
    call: null,
    strategy: "head-tail",
    total: { bytes: sizes.total, lines: 1 },
    kept: { bytes: sizes.total - sizes.omitted, lines: 1 },
    folded: none,
    redacted: none,
    omitted: { bytes: sizes.omitted, lines: 0 },
    shown: { bytes: sizes.shown, chars: sizes.shown, lines: 1, tokens: sizes.tokens },
    estimated: ["tokens"],
    limits: { maxBytes: 1000 },
    cutBy: sizes.omitted > 0 ? "bytes" : null,
    cuts: [],
    moreCuts: 0,
    artifact: null,
    sha256: null,
    saved: null,
    savedBytes: 0,
    exitCode: null,
  };
}

/** Makes the event of an output that passed, with the given fields changed. */
export function eventOf(parts: Partial<SpillwayEvent>): SpillwayEvent {
  return {
    kind: "output-passed",
    atMs: 1_700_000_000_000,
    session: "s1",
    tool: "t1",
    call: null,
    artifact: null,
    receipt: null,
    more: null,
    ...parts,
  };
}

const arbitraryReceipt = fc
  .record({ total: fc.nat(1_000_000), share: fc.nat(100), shown: fc.nat(5000), tokens: fc.nat(2000) })
  .map(({ total, share, shown, tokens }) =>
    receiptOf({ total, omitted: share < 30 ? 0 : Math.floor((total * share) / 100), shown, tokens }),
  );

const arbitraryMore = fc.oneof(
  fc.constant(null),
  fc.record({ tokensIn: fc.nat(100_000) }),
  fc.record({ hostTokens: fc.nat(1000) }),
  fc.record({ bytes: fc.nat(1000), tokens: fc.nat(300) }),
  fc.record({ inputTokens: fc.nat(9000), outputTokens: fc.nat(900), cacheReadTokens: fc.nat(9000) }),
  fc.record({ inputTokens: fc.constant(null), cacheWriteTokens: fc.nat(9000), isKept: fc.boolean() }),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).map((more) => ({ note: more })),
);

const KINDS: EventKind[] = [
  "output-clamped",
  "output-passed",
  "artifact-spilled",
  "artifact-recalled",
  "artifact-searched",
  "spill-failed",
  "request-pruned",
  "history-compacted",
  "summary-paid",
  "history-guarded",
  "request-answered",
  "overflow-detected",
  "overflow-recovered",
];

/** Generates texts with characters that break texts: NULs, line breaks, half characters. */
export const arbitraryText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom("a", "B", ".", "/", "\\", "\0", "\n", "\ud83d", "\ude00", "\u00e9", "\ufffd", "'", "-"))
  .map((units) => units.join(""));

/** Generates any event within a few hours. It uses few sessions and tools, so that they occur several times. */
export const arbitraryEvent: fc.Arbitrary<SpillwayEvent> = fc.record({
  kind: fc.constantFrom(...KINDS),
  atMs: fc.nat(5 * 3_600_000),
  session: fc.constantFrom("s1", "s2", "Ünï'côde \"; drop table events"),
  tool: fc.constantFrom("t1", "../t2", "T1"),
  call: fc.option(fc.string({ minLength: 1 })),
  artifact: fc.constantFrom(null, "abcdefghijkl"),
  receipt: fc.option(arbitraryReceipt),
  more: arbitraryMore,
});

/** Names that have caused faults in other programs. */
export const HOSTILE_NAMES: readonly string[] = [
  "../../etc/passwd",
  "..",
  ".",
  "/",
  "C:\\nul",
  "a\0b",
  "a\0c",
  "a",
  "\0",
  "'; drop table events; --",
  '"quoted"',
  "%",
  "_",
  "*",
  "null",
  "__proto__",
  "A",
  " a",
  "\ud800",
  "\udfff",
  "\ufffd",
  "\u202e right to left",
  "line\nbreak",
  "\u001b[31mred",
  "é",
  "e\u0301",
  `${"x".repeat(100_000)}1`,
  `${"x".repeat(100_000)}2`,
  "😀".repeat(300),
];

/** Returns the sums of events, counted by a second implementation. */
export function expectedSums(events: readonly SpillwayEvent[]): Totals {
  let [calls, cutCalls, bytesIn, bytesShown, tokensShown, tokensIn] = [0, 0, 0, 0, 0, 0];
  let [recalls, recalledBytes, recalledTokens] = [0, 0, 0];
  let [requests, refusals, recoveries] = [0, 0, 0];
  const counted = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  for (const { kind, receipt, more } of events) {
    const stated = (name: string) => (typeof more?.[name] === "number" ? more[name] : null);
    if (kind.startsWith("output-")) {
      calls += 1;
      if (receipt && receipt.omitted.bytes > 0) cutCalls += 1;
      bytesIn += receipt?.total.bytes ?? 0;
      bytesShown += receipt?.shown.bytes ?? 0;
      tokensShown += receipt?.shown.tokens ?? 0;
      tokensIn += Math.min(stated("tokensIn") ?? tokensOfWhole(receipt), stated("hostTokens") ?? Infinity);
    }
    if (kind === "artifact-recalled" || kind === "artifact-searched") {
      recalls += 1;
      recalledBytes += receipt?.shown.bytes ?? stated("bytes") ?? 0;
      recalledTokens += receipt?.shown.tokens ?? stated("tokens") ?? 0;
    }
    if (kind === "request-answered") {
      requests += 1;
      for (const name of Object.keys(counted) as (keyof typeof counted)[]) counted[name] += stated(name) ?? 0;
    }
    if (kind === "overflow-detected" && more?.["isKept"] !== true) refusals += 1;
    if (kind === "overflow-recovered") recoveries += 1;
  }
  const outputs = { calls, cutCalls, bytesIn, bytesShown, tokensShown, tokensIn };
  return { ...outputs, recalls, recalledBytes, recalledTokens, requests, ...counted, refusals, recoveries };
}

function tokensOfWhole(receipt: Receipt | null): number {
  if (receipt === null) return 0;
  const { shown, total } = receipt;
  return Math.round(shown.bytes === 0 ? total.bytes / 4 : (shown.tokens * total.bytes) / shown.bytes);
}
