import type { Verdict, VerdictContext } from "../../contract/verdict.ts";
import type { Rule } from "./compile-signatures.ts";
import type { Evidence } from "./read-evidence.ts";
import { matchPattern, type Numbers } from "./text-pattern.ts";

const MAX_EVIDENCE_CHARS = 300;

/** The rule's verdict if all that it names holds, else null. */
export function matchRule(rule: Rule, evidence: Evidence, context: VerdictContext): Verdict | null {
  const { signature, provider } = rule;
  const { status, named, empty, over } = signature;
  if (named === true && context.provider !== provider) return null;
  if (empty === true && evidence.texts.length > 0 && !evidence.texts.some((text) => NO_BODY.test(text))) return null;
  if (status !== undefined && !status.some((one) => evidence.statuses.has(one))) return null;
  const code = find(rule.codes, evidence.codes);
  if (rule.codes.size > 0 && code === null) return null;
  const stop = find(rule.stops, evidence.stops);
  if (rule.stops.size > 0 && stop === null) return null;
  if (find(rule.notCodes, evidence.codes) !== null) return null;
  if (rule.not.some((pattern) => evidence.texts.some((text) => matchPattern(pattern, text) !== null))) return null;
  const match = matchTexts(rule, evidence);
  if (rule.text.length > 0 && match === null) return null;

  const sizes = readSizes(rule, evidence, match?.numbers ?? {});
  if (over !== undefined) {
    const asked = sizes.observedTokens ?? context.estimatedTokens ?? 0;
    const isOver = sizes.limitTokens !== undefined && asked > sizes.limitTokens;
    if (isOver !== over) return null;
  }
  const words = match?.words ?? code ?? stop ?? `HTTP ${[...evidence.statuses].join(", ")}`;
  const who = context.provider ?? provider;
  return { kind: signature.kind, rule: signature.rule, provider: who, ...sizes, evidence: words };
}

/** What SDKs say of an answer without a body. */
const NO_BODY = /^([a-z ]*error:? )?\(?\d{3}\)?:? (status code )?\(no body\)$|^\d{3}$/;

function find(wanted: ReadonlySet<string>, had: ReadonlySet<string>): string | null {
  for (const one of wanted) if (had.has(one)) return one;
  return null;
}

function matchTexts(rule: Rule, { texts }: Evidence): { numbers: Numbers; words: string } | null {
  for (const pattern of rule.text) {
    for (const text of texts) {
      const found = matchPattern(pattern, text);
      if (found !== null)
        return {
          numbers: found.numbers,
          words: text.slice(found.from, Math.min(found.to, found.from + MAX_EVIDENCE_CHARS)),
        };
    }
  }
  return null;
}

type Sizes = Pick<Verdict, "observedTokens" | "limitTokens" | "outputTokens" | "includesOutput" | "toolTokens">;

function readSizes({ signature: { fields } }: Rule, evidence: Evidence, numbers: Numbers): Sizes {
  const { input, output, total, tools } = numbers;
  const both = input === undefined ? undefined : input + (output ?? 0);
  const observed = numbers.observed ?? total ?? both ?? evidence.numbers.get(fields?.observed ?? "");
  const limit = numbers.limit ?? evidence.numbers.get(fields?.limit ?? "");
  // Tools are a part of the request; a part as large as all of it is no number to reckon with.
  const isPart = tools !== undefined && tools < (observed ?? 0) - (output ?? 0);
  return {
    ...(observed !== undefined && observed > 0 && { observedTokens: observed }),
    ...(limit !== undefined && limit > 0 && { limitTokens: limit }),
    ...(output !== undefined && { outputTokens: output }),
    ...(total !== undefined && output === undefined && { includesOutput: true as const }),
    ...(isPart && { toolTokens: tools }),
  };
}
