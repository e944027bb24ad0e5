import type { Verdict, VerdictContext, VerdictKind } from "../../contract/verdict.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { compileRule, type ProviderSignatures, type Rule } from "./compile-signatures.ts";
import { type Evidence, readEvidence } from "./read-evidence.ts";
import { bare, compaction, guards, last, litellm, pages, providers } from "./signatures.ts";
import { findSizeWords, readNamedSizes } from "./size-words.ts";
import { compilePattern, matchPattern, type Numbers } from "./text-pattern.ts";

/** Options of `classify`. `rules` are the caller's own and are tried in order, before all others. */
export interface ClassifyOptions extends VerdictContext {
  rules?: readonly Rule[];
}

// The first tier with a match decides. The tiers are: a provider's own words, a gateway's page, words that are known
// not to be about size, words that many providers share, families of words, then codes and statuses without words.
let built: { words: Rule[][]; codes: Rule[] } | undefined;
function tiers(): { words: Rule[][]; codes: Rule[] } {
  const compile = ({ provider, signatures }: ProviderSignatures) => signatures.map((one) => compileRule(one, provider));
  built ??= {
    words: [providers, [pages], [guards], [litellm], [last]].map((tier) => tier.flatMap(compile)),
    codes: compile(bare),
  };
  return built;
}

const TOO_MUCH: ReadonlySet<VerdictKind> = new Set(["context-overflow", "payload-too-large", "request-ceiling"]);
const COMPACTING = compaction.map(compilePattern);

/**
 * Says whether a model's provider refused a request for its size. Takes what was thrown, the body or text of an error,
 * an event of a stream, or an answer with its usage. Reads only the error channel, never the conversation. Never
 * throws.
 */
export function classify(subject: unknown, options: ClassifyOptions = {}): Verdict {
  const evidence = readEvidence(subject);
  const context = { ...options, ...named(evidence, options) };
  const verdict = claims(evidence, context)[0] ?? unclaimed(evidence, context);
  const compacts =
    context.compacting || COMPACTING.some((pattern) => evidence.texts.some((text) => matchPattern(pattern, text)));
  return compacts && TOO_MUCH.has(verdict.kind) ? { ...verdict, kind: "compaction-failure" } : verdict;
}

/**
 * Returns the verdicts of all matching rules of the first tier that has one. If there is more than one, the table of
 * rules has a fault.
 */
export function claims(evidence: Evidence, context: ClassifyOptions): Verdict[] {
  const { words, codes } = tiers();
  const match = (tier: readonly Rule[]) =>
    tier.map((rule) => matchRule(rule, evidence, context)).filter((verdict) => verdict !== null);
  for (const tier of [context.rules ?? [], ...words]) {
    const found = match(tier);
    if (found.length > 0) return found;
  }
  const worded = matchFamilies(evidence.texts, evidence, context);
  if (worded !== null) return [worded];
  const coded = match(codes);
  const named = coded.length > 0 ? null : matchFamilies(evidence.codes, evidence, context);
  return named === null ? coded : [named];
}

/** Statuses that are about keys, accounts or addresses, or that ask to wait. */
const NOT_ABOUT_SIZE = [401, 402, 403, 404, 429];

/** Returns the verdict if a text or code has words of the families that mean too many tokens. */
function matchFamilies(texts: Iterable<string>, { statuses }: Evidence, { provider }: VerdictContext): Verdict | null {
  if (NOT_ABOUT_SIZE.some((status) => statuses.has(status))) return null;
  for (const text of texts) {
    const said = findSizeWords(text);
    if (said === null) continue;
    const sizes = toSizes(readNamedSizes(text));
    return {
      kind: "context-overflow",
      rule: "any-context-overflow",
      provider: provider ?? null,
      ...sizes,
      evidence: said.slice(0, MAX_EVIDENCE_CHARS),
    };
  }
  return null;
}

function unclaimed(evidence: Evidence, context: VerdictContext): Verdict {
  const provider = context.provider ?? null;
  const silent = silentOverflow(evidence, context);
  if (silent !== null) return { ...silent, provider };
  const hint = bodilessNearLimit(evidence, context);
  if (hint !== null) return { ...hint, provider };
  const observedTokens = evidence.usage?.inputTokens ?? 0;
  return {
    kind: "other",
    rule: null,
    provider,
    ...(observedTokens > 0 && { observedTokens }),
    evidence: evidence.texts[0]?.slice(0, 300) ?? "",
  };
}

/** Returns the provider's name, from the caller or from the address. */
function named({ url }: Evidence, context: VerdictContext): { provider?: string } {
  if (context.provider !== undefined) return { provider: context.provider };
  const address = context.url ?? url;
  if (address === null || !URL.canParse(address)) return {};
  const { hostname } = new URL(address);
  const owner = providers.find(({ hosts }) =>
    hosts?.some((host) => hostname === host || hostname.endsWith(`.${host}`)),
  );
  const provider = owner?.provider ?? null;
  return provider === null ? {} : { provider };
}

const CUT_OFF = ["length", "max_tokens", "max_output_tokens", "max-tokens"];

/**
 * Finds an answer that came without an error and is still no real answer: the provider got more than its window and
 * lost part of it, had no room left for an answer, or dropped the start of the request.
 */
function silentOverflow({ usage, stops }: Evidence, context: VerdictContext): Omit<Verdict, "provider"> | null {
  const cutOff = CUT_OFF.some((stop) => stops.has(stop));
  if (usage !== null) {
    const { inputTokens, mostInputTokens, outputTokens } = usage;
    const { window, estimatedTokens } = context;
    const complete = !cutOff && outputTokens !== 0 ? { isComplete: true as const } : {};
    if (window !== undefined && inputTokens > window) {
      const evidence = `usage of ${inputTokens}, window of ${window}`;
      return { ...silent("usage-over-window", inputTokens, window, evidence), ...complete };
    }
    if (window !== undefined && cutOff && outputTokens === 0 && inputTokens >= window * FULL)
      return silent(
        "empty-at-full-window",
        inputTokens,
        Math.floor(window * WITH_ROOM),
        `no answer, ${inputTokens} of ${window} used`,
      );
    if (estimatedTokens !== undefined && inputTokens >= LEAST_WINDOW && mostInputTokens < estimatedTokens * LOST) {
      const evidence = `${inputTokens} read of about ${estimatedTokens}`;
      return { ...silent("truncated-by-server", estimatedTokens, inputTokens, evidence), ...complete };
    }
  }
  return cutOff ? { kind: "output-limit", rule: "answer-cut-off", evidence: [...stops].join(", ") } : null;
}

const FULL = NUMBERS.fullWindowShare.default;
/** The share of the window that a request may take if there is to be room for an answer. */
const WITH_ROOM = 0.9;
const LOST = NUMBERS.truncatedShare.default;
const LEAST_WINDOW = NUMBERS.leastWindowTokens.default;

function silent(rule: string, observedTokens: number, limitTokens: number, evidence: string) {
  return { kind: "context-overflow" as const, rule, observedTokens, limitTokens, evidence };
}

const MAX_EVIDENCE_CHARS = 300;

/** Returns the rule's verdict if everything that the rule names holds, otherwise null. */
function matchRule(rule: Rule, evidence: Evidence, context: VerdictContext): Verdict | null {
  const { signature, provider } = rule;
  const { status, named, empty, over, limitTokens } = signature;
  if (named === true && context.provider !== provider) return null;
  if (empty === true && evidence.texts.length > 0 && !evidence.texts.some((text) => NO_BODY.test(text))) return null;
  if (status !== undefined && !status.some((one) => evidence.statuses.has(one))) return null;
  if (limitTokens !== undefined && isFarBelow(limitTokens, context)) return null;
  const code = find(rule.codes, evidence.codes);
  if (rule.codes.size > 0 && code === null) return null;
  const stop = find(rule.stops, evidence.stops);
  if (rule.stops.size > 0 && stop === null) return null;
  if (find(rule.notCodes, evidence.codes) !== null) return null;
  if (rule.not.some((pattern) => evidence.texts.some((text) => matchPattern(pattern, text) !== null))) return null;
  const match = matchTexts(rule, evidence);
  if (rule.text.length > 0 && match === null) return null;

  const sizes = readSizes(rule, evidence, match);
  if (over !== undefined) {
    const asked = sizes.observedTokens ?? context.estimatedTokens ?? 0;
    const isOver = sizes.limitTokens !== undefined && asked > sizes.limitTokens;
    if (isOver !== over) return null;
  }
  const words = match?.words ?? code ?? stop ?? `HTTP ${[...evidence.statuses].join(", ")}`;
  const who = context.provider ?? provider;
  return { kind: signature.kind, rule: signature.rule, provider: who, ...sizes, evidence: words };
}

/**
 * Finds a refusal without a word for a request near the window. SDKs drop bodies that are not in the form that they know,
 * so the words may have been lost on the way.
 */
function bodilessNearLimit({ statuses, texts }: Evidence, context: VerdictContext): Omit<Verdict, "provider"> | null {
  const { window, estimatedTokens } = context;
  if (window === undefined || estimatedTokens === undefined || isFarBelow(window, context)) return null;
  if (!statuses.has(400) || texts.some((text) => !NO_BODY.test(text))) return null;
  const evidence = `HTTP 400 without a body, about ${estimatedTokens} tokens for a window of ${window}`;
  return { kind: "context-overflow", rule: "bodiless-near-window", isHint: true, evidence };
}

/** Matches what SDKs say about an answer without a body. */
const NO_BODY = /^([a-z ]*error:? )?\(?\d{3}\)?:? (status code )?\(no body\)$|^\d{3}$/;

/** Returns true if the caller counted the request and it is far below the limit. */
function isFarBelow(limitTokens: number, { estimatedTokens }: VerdictContext): boolean {
  return estimatedTokens !== undefined && estimatedTokens < limitTokens * NUMBERS.nearLimitShare.default;
}

function find(wanted: ReadonlySet<string>, had: ReadonlySet<string>): string | null {
  for (const one of wanted) if (had.has(one)) return one;
  return null;
}

/** A pattern's numbers, the words that it matched and the text that they stand in. */
interface TextMatch {
  numbers: Numbers;
  words: string;
  text: string;
}

function matchTexts(rule: Rule, { texts }: Evidence): TextMatch | null {
  for (const pattern of rule.text) {
    for (const text of texts) {
      const found = matchPattern(pattern, text);
      if (found !== null)
        return {
          text,
          numbers: found.numbers,
          words: text.slice(found.from, Math.min(found.to, found.from + MAX_EVIDENCE_CHARS)),
        };
    }
  }
  return null;
}

type Sizes = Pick<Verdict, "observedTokens" | "limitTokens" | "outputTokens" | "includesOutput" | "toolTokens">;

function readSizes({ signature, provider }: Rule, evidence: Evidence, match: TextMatch | null): Sizes {
  const { fields, kind } = signature;
  const field = (name: string | undefined) => (name === undefined ? undefined : evidence.numbers.get(name));
  const named = { observed: field(fields?.observed), limit: field(fields?.limit) ?? signature.limitTokens };
  if (match === null) return toSizes(named);
  // Words that anybody may use come with numbers in any form, and a proxy's words with those of the provider.
  const isShared = provider === null || provider === litellm.provider;
  const isInWords = isShared && kind === "context-overflow" && Object.keys(match.numbers).length === 0;
  return toSizes({ ...named, ...(isInWords ? readNamedSizes(match.text) : match.numbers) });
}

function toSizes(numbers: { [Name in keyof Numbers]: number | undefined }): Sizes {
  const { input, output, total, tools, limit } = numbers;
  const both = input === undefined ? undefined : input + (output ?? 0);
  const observed = numbers.observed ?? total ?? both;
  // Tools are a part of the request. If the number is as large as the whole request, it is not used.
  const isPart = tools !== undefined && tools < (observed ?? 0) - (output ?? 0);
  return {
    ...(observed !== undefined && observed > 0 && { observedTokens: observed }),
    ...(limit !== undefined && limit > 0 && { limitTokens: limit }),
    ...(output !== undefined && { outputTokens: output }),
    ...(total !== undefined && output === undefined && { includesOutput: true as const }),
    ...(isPart && { toolTokens: tools }),
  };
}
