import type { PruningPolicy } from "../../../contract/policy.ts";
import type { Wire } from "../../../contract/wire.ts";
import type { PrepareOptions, PruneReport, Spillway } from "../../../index.ts";
import { estimateCounter } from "../../../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { resolveWindow } from "../../../stages/prune/resolve-window.ts";
import { countSamples, subtract, weighMessage } from "../../../stages/prune/weight.ts";
import type { MessageList } from "./read-context.ts";

/** Some of a request's messages as they were, and as they are sent. */
export interface Pruned {
  before: readonly unknown[];
  after: readonly unknown[];
}

/** About so many messages are pruned at a time. */
const PART_MESSAGES = 1000;
/** The first user speaks within so many messages. */
const MAX_PROMPTS = 8;
/** With these every result that may be pruned is. */
const EVERY_OLD_RESULT = {
  softTrimRatio: 0,
  hardClearRatio: 0,
  forceRatio: 0,
  clearAtLeastTokens: 0,
  clearAtLeastShare: 0,
  minPrunableToolChars: 0,
};

/**
 * Prunes a request that may be too long to be held: yields one part of it after the other, and returns the report on all.
 * There are several parts only if the messages that stay take more than the window by themselves. Then every old result
 * goes, whatever the others are. Of images, the newest ones of the last part are kept.
 */
export async function* pruneInParts(
  messages: MessageList,
  wire: Wire,
  spillway: Spillway,
  { partMessages = PART_MESSAGES, ...options }: PrepareOptions & { partMessages?: number | undefined },
): AsyncGenerator<Pruned, PruneReport> {
  const { policy } = spillway;
  const window = resolveWindow(policy, options).tokens;
  const prompts = messages.slice(
    0,
    1 + messages.slice(0, MAX_PROMPTS).findIndex((one) => roleOf(wire, one) === "user"),
  );
  const isLong =
    messages.length > 2 * partMessages && prompts.length > 0 && isOver(messages, wire, policy.pruning, window);
  const cuts = isLong ? cutsOf(messages, wire, partMessages, policy.pruning.keepLastAssistants) : [];
  let sum: PruneReport | null = null;
  for (const [at, from] of [0, ...cuts].entries()) {
    // The answer behind a part shows that its results were seen. It is itself pruned with the next part.
    const to = cuts[at];
    const part = messages.slice(from, to);
    const start = from === 0 ? [] : prompts;
    const end = to === undefined ? [] : messages.slice(to, to + 1);
    const seen = to === undefined ? {} : { keepLastAssistants: 0, keepLastMedia: 0 };
    const pruning = cuts.length === 0 ? options.pruning : { ...options.pruning, ...EVERY_OLD_RESULT, ...seen };
    const prepare = (list: readonly unknown[], numbers: typeof pruning) =>
      spillway.prepare(list, { ...options, ...(numbers && { pruning: numbers }), wire: wire.name });
    const { messages: sent, report } = await prepare([...start, ...part, ...end], pruning);
    yield { before: part, after: sent.slice(start.length, start.length + part.length) };
    if (cuts.length === 0) return report;
    const { report: twice } = await prepare([...start, ...end], { mode: "off", insure: false });
    sum = sumOf(sum, report, twice, from - start.length);
  }
  const all = sum as PruneReport;
  const { chars, tokens } = all.after;
  const ratio = (policy.pruning.estimate === "chars/4" ? chars / 4 : tokens) / all.window.tokens;
  return { ...all, ratio, why: "what is no old result takes more than the window, so every old result goes" };
}

function roleOf(wire: Wire, message: unknown) {
  return wire.read(message).role;
}

/** Returns true if what is no old result is over the window. Of a request that is much too long, only the start is read for it. */
function isOver(messages: MessageList, wire: Wire, { estimate }: PruningPolicy, window: number): boolean {
  const count = countSamples(estimateCounter);
  let left = window;
  for (let at = 0; at < messages.length; at++) {
    const { outside, outsideMedia } = weighMessage(wire, messages.at(at), count);
    const { chars, tokens } = subtract(outside, outsideMedia);
    left -= estimate === "chars/4" ? chars / 4 : tokens;
    if (left < 0) return true;
  }
  return false;
}

/** Where the parts after the first one begin: at answers before which every call has its result, as far as the turn before tells. */
function cutsOf(messages: MessageList, wire: Wire, partMessages: number, keep: number): number[] {
  const last = lastAnswers(messages, wire, keep);
  const cuts: number[] = [];
  for (let at = partMessages; at < Math.min(last, messages.length - partMessages); at++) {
    if (!isBetweenTurns(messages, wire, at)) continue;
    cuts.push(at);
    at += partMessages;
  }
  return cuts;
}

/** The place of the first of the newest answers; 0 if there are not so many. */
function lastAnswers(messages: MessageList, wire: Wire, count: number): number {
  let at = messages.length;
  for (let left = count; left > 0 && at > 0; ) if (roleOf(wire, messages.at(--at)) === "assistant") left--;
  return at;
}

function isBetweenTurns(messages: MessageList, wire: Wire, at: number): boolean {
  if (roleOf(wire, messages.at(at)) !== "assistant") return false;
  let open = 0;
  for (let before = at - 1; before > 0; before--) {
    const { role, calls, results } = wire.read(messages.at(before));
    open -= results.length;
    if (role === "assistant") return before < at - 1 && open + calls.length === 0;
  }
  return false;
}

/** Adds the report on a part to those before it, without what was counted twice. */
function sumOf(sum: PruneReport | null, one: PruneReport, twice: PruneReport, offset: number): PruneReport {
  const most = NUMBERS.pruneReportChanges.default;
  const changes = one.changes.map((change) => ({ ...change, message: change.message + offset }));
  const all = [...(sum?.changes ?? []), ...changes];
  const both = <T extends object>(of: (report: PruneReport) => T) =>
    added(sum === null ? null : of(sum), of(one), of(twice));
  return {
    ...one,
    before: both(({ before }) => before),
    after: both(({ after }) => after),
    afterParts: both(({ afterParts }) => afterParts),
    results: both(({ results }) => results),
    calls: both(({ calls }) => calls),
    media: both(({ media }) => media),
    ...both(({ malformed }) => ({ malformed })),
    changes: all.slice(0, most),
    moreChanges: (sum?.moreChanges ?? 0) + one.moreChanges + Math.max(0, all.length - most),
    warnings: [...(sum?.warnings ?? []), ...one.warnings].slice(0, most),
    faults: [...new Set([...(sum?.faults ?? []), ...one.faults])].slice(0, most),
  };
}

/** Adds the fields of two objects, which are numbers, and takes off a third. */
function added<T extends object>(sum: T | null, one: T, twice: T): T {
  const fields = Object.entries(one) as [keyof T, number][];
  const total = fields.map(([name, value]) => [name, Number(sum?.[name] ?? 0) + value - Number(twice[name])]);
  return Object.fromEntries(total) as T;
}
