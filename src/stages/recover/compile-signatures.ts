import type { Signature, SignatureInput } from "../../contract/verdict.ts";
import { badInput, messageOf, SpillwayError } from "../../errors.ts";
import { VERDICT_KINDS } from "../policy/verdict-kinds.ts";
import { compilePattern, type TextPattern } from "./text-pattern.ts";

/** Says what one provider's refusals look like. */
export interface ProviderSignatures {
  /** Null if many providers use these words. */
  provider: string | null;
  /** The ends of this provider's host names. */
  hosts?: readonly string[];
  signatures: readonly Signature[];
}

/** A signature that is ready to match. */
export interface Rule {
  readonly signature: Signature;
  readonly provider: string | null;
  readonly codes: ReadonlySet<string>;
  readonly stops: ReadonlySet<string>;
  readonly text: readonly TextPattern[];
  readonly not: readonly TextPattern[];
  readonly notCodes: ReadonlySet<string>;
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 60;
const MAX_RULES = 200;
const MAX_TEXTS = 100;
const MAX_TEXT_CHARS = 500;
const KINDS: ReadonlySet<string> = new Set(VERDICT_KINDS);

const KEYS: ReadonlySet<string> = new Set<keyof SignatureInput>([
  "rule",
  "kind",
  "provider",
  "status",
  "code",
  "stop",
  "text",
  "not",
  "fields",
  "limitTokens",
  "over",
  "named",
  "empty",
]);

/**
 * Compiles what a person wrote. Throws a SpillwayError "bad-policy" that names the rule and says what is wrong with it.
 */
export function compileSignatures(inputs: readonly SignatureInput[]): Rule[] {
  if (inputs.length > MAX_RULES) throw new SpillwayError("bad-policy", `overflow.rules: over ${MAX_RULES} rules`);
  return inputs.map((input, index) => {
    try {
      if (typeof input !== "object" || input === null) throw new Error("a rule is an object with a name and a kind");
      const unknown = Object.keys(input).find((key) => !KEYS.has(key));
      if (unknown !== undefined) throw new Error(`${unknown} is not known; known are ${[...KEYS].join(", ")}`);
      const { provider = null } = input;
      if (provider !== null && (typeof provider !== "string" || provider === ""))
        throw new Error("its provider must be a name");
      return compileRule(input, provider);
    } catch (error) {
      const name = typeof input?.rule === "string" ? ` ("${input.rule}")` : "";
      throw new SpillwayError("bad-policy", `overflow.rules[${index}]${name}: ${messageOf(error)}`);
    }
  });
}

/** Compiles one signature. Throws an Error that says what is wrong with it. */
export function compileRule(signature: Signature, provider: string | null): Rule {
  const { rule, kind, status = [], code = [], stop = [], text = [], not = [], named, empty } = signature;
  if (typeof rule !== "string" || !NAME.test(rule) || rule.length > MAX_NAME_CHARS)
    throw new Error(`its name must be lower-case words with "-" between them, at most ${MAX_NAME_CHARS} characters`);
  if (!KINDS.has(kind)) throw new Error(`its kind must be one of ${VERDICT_KINDS.join(", ")}`);
  for (const list of [code, stop, text, not]) {
    if (!Array.isArray(list) || list.length > MAX_TEXTS || list.some((one) => typeof one !== "string"))
      throw new Error(`code, stop, text and not are lists of at most ${MAX_TEXTS} texts`);
    if (list.some((one) => one.length > MAX_TEXT_CHARS)) throw new Error(`a text is over ${MAX_TEXT_CHARS} characters`);
  }
  if (!Array.isArray(status) || status.some((one) => !Number.isInteger(one) || one < 400 || one > 599))
    throw new Error("status is a list of numbers from 400 to 599");
  const { limitTokens = 1 } = signature;
  if (!Number.isInteger(limitTokens) || limitTokens < 1) throw new Error("limitTokens is a whole number of 1 or more");
  if (named === true && provider === null) throw new Error('"named" needs a provider');
  if (status.length + code.length + stop.length + text.length === 0 && !empty)
    throw new Error("it needs a status, a code, a stop or a text");
  return {
    signature,
    provider,
    codes: lower(code),
    stops: lower(stop),
    text: text.map(compilePattern),
    not: not.map(compilePattern),
    notCodes: lower(not),
  };
}

function lower(words: readonly string[]): Set<string> {
  return new Set(words.map((word) => word.toLowerCase()));
}

/** What a person adds to how overflows are known. */
export interface OverflowOptions {
  /** Signatures of one's own, asked before all others. */
  rules?: readonly SignatureInput[] | undefined;
}

/** Makes signatures ready. Throws an error that names the key: a wrong one should show before the first refusal. */
export function openRules(overflow: OverflowOptions): readonly Rule[] {
  if (typeof overflow !== "object" || overflow === null)
    throw badInput(`overflow must be an object with rules; got ${String(overflow)}`);
  const unknown = Object.keys(overflow).find((key) => key !== "rules");
  if (unknown !== undefined) throw badInput(`overflow.${unknown} is not known; known is rules`);
  const { rules = [] } = overflow;
  if (!Array.isArray(rules)) throw badInput("overflow.rules must be a list");
  return compileSignatures(rules);
}
