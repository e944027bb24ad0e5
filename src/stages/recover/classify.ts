import type { Verdict, VerdictContext, VerdictKind } from "../../contract/verdict.ts";
import { compileRule, type Rule } from "./compile-signatures.ts";
import { matchRule } from "./match-rule.ts";
import { type Evidence, readEvidence } from "./read-evidence.ts";
import { bare, compaction, guards, last, litellm, pages, providers } from "./signatures/index.ts";
import { silentOverflow } from "./silent-overflow.ts";
import { compilePattern, matchPattern } from "./text-pattern.ts";

/** Rules of the caller's own, in the order they are asked: before all others. */
export interface ClassifyOptions extends VerdictContext {
  rules?: readonly Rule[];
}

// Who is asked first decides: a provider's own words, a gateway's page, what is known not to be about size, then words that anybody uses.
let built: Rule[][] | undefined;
function tiers(): Rule[][] {
  built ??= [providers, [pages], [guards], [litellm], [last], [bare]].map((tier) =>
    tier.flatMap(({ provider, signatures }) => signatures.map((one) => compileRule(one, provider))),
  );
  return built;
}

const TOO_MUCH: ReadonlySet<VerdictKind> = new Set(["context-overflow", "payload-too-large", "request-ceiling"]);
const COMPACTING = compaction.map(compilePattern);

/**
 * Says whether size is why a model's provider refused: takes what was thrown, an error's body or text, a stream's event or an
 * answer with its usage. Reads only the error channel, never the conversation. Never throws.
 */
export function classify(subject: unknown, options: ClassifyOptions = {}): Verdict {
  const evidence = readEvidence(subject);
  const context = { ...options, ...named(evidence, options) };
  const verdict = claims(evidence, context)[0] ?? unclaimed(evidence, context);
  const compacts =
    context.compacting || COMPACTING.some((pattern) => evidence.texts.some((text) => matchPattern(pattern, text)));
  return compacts && TOO_MUCH.has(verdict.kind) ? { ...verdict, kind: "compaction-failure" } : verdict;
}

/** The verdicts of every rule of the first tier that has one: more than one is a fault of the table. */
export function claims(evidence: Evidence, context: ClassifyOptions): Verdict[] {
  for (const tier of [context.rules ?? [], ...tiers()]) {
    const found = tier.map((rule) => matchRule(rule, evidence, context)).filter((verdict) => verdict !== null);
    if (found.length > 0) return found;
  }
  return [];
}

function unclaimed(evidence: Evidence, context: VerdictContext): Verdict {
  const provider = context.provider ?? null;
  const silent = silentOverflow(evidence, context);
  if (silent !== null) return { ...silent, provider };
  const observedTokens = evidence.usage?.inputTokens ?? 0;
  return {
    kind: "other",
    rule: null,
    provider,
    ...(observedTokens > 0 && { observedTokens }),
    evidence: evidence.texts[0]?.slice(0, 300) ?? "",
  };
}

/** The provider's name, from the caller or from the address. */
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
