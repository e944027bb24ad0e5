import { SpillwayError } from "../../errors.ts";
import { HEAD_BYTES, MAX_SECRET_BYTES } from "./bounds.ts";
import { disjoint } from "./byte-set.ts";
import { literalProgram, parsePattern } from "./parse-pattern.ts";
import type { Program, RedactionRule, RuleInput } from "./redaction-rule.ts";

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 40;
const MAX_PATTERN_CHARS = 1000;
const MAX_RULES = 500;

/**
 * Makes rules of what a person wrote: `startRedact([...defaultRules, ...compileRules(mine)], take)`. Throws a
 * SpillwayError "bad-policy" that names the rule and says what is wrong with it; what passes takes linear time.
 */
export function compileRules(inputs: readonly RuleInput[]): RedactionRule[] {
  if (inputs.length > MAX_RULES) throw new SpillwayError("bad-policy", `redaction: over ${MAX_RULES} rules`);
  return inputs.map((input, index) => compileRule(input, index));
}

function compileRule(input: RuleInput, index: number): RedactionRule {
  const { name } = input;
  if (typeof name !== "string" || !NAME.test(name) || name.length > MAX_NAME_CHARS) {
    throw new SpillwayError(
      "bad-policy",
      `redaction rule ${index + 1}: its name must be lower-case words with "-" between them, at most ${MAX_NAME_CHARS} characters`,
    );
  }
  try {
    return { name, programs: compilePrograms(input) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SpillwayError("bad-policy", `redaction rule "${name}": ${why}`);
  }
}

/** The programs of a pattern or a literal, checked. Throws an Error that says what is wrong. */
export function compilePrograms(input: Omit<RuleInput, "name">, leastBytes: number = HEAD_BYTES): Program[] {
  const { pattern, literal, ignoreCase = false } = input;
  const text = pattern ?? literal;
  if (typeof text !== "string" || (pattern !== undefined && literal !== undefined))
    throw new Error("it must have either a pattern or a literal, a text");
  if (text.length > MAX_PATTERN_CHARS) throw new Error(`it is over ${MAX_PATTERN_CHARS} characters`);
  if (pattern !== undefined) {
    const programs = parsePattern(pattern, ignoreCase);
    for (const program of programs) checkProgram(program, leastBytes);
    return programs;
  }
  if (/[\r\n]/.test(text)) throw new Error("a secret stands on one line: a line break is not supported");
  const program = literalProgram(text, ignoreCase);
  checkProgram(program, leastBytes);
  return [program];
}

function checkProgram({ items, secret }: Program, leastBytes: number): void {
  const least = items.reduce((sum, item) => sum + item.min, 0);
  if (least < leastBytes) throw new Error(`it could match fewer than ${leastBytes} bytes`);
  if (least > MAX_SECRET_BYTES) throw new Error(`it matches nothing under ${MAX_SECRET_BYTES} bytes`);
  if (items.slice(...secret).every((item) => item.min === 0)) throw new Error("the part it replaces could be empty");
  items.forEach((item, index) => {
    if (item.min === item.max) return;
    for (const next of items.slice(index + 1)) {
      if (!disjoint(item.set, next.set)) {
        throw new Error(
          `it is ambiguous: a stretch of varying length (part ${index + 1}) is followed by something it matches too`,
        );
      }
      if (next.min > 0) break;
    }
  });
}
