import { SpillwayError } from "../../errors.ts";
import { type ByteSet, disjoint, WORD } from "./byte-set.ts";
import { literalParts, type Part, readPattern } from "./read-pattern.ts";
import { HEAD_BYTES, type Item, type Program, type RedactionRule, type RuleInput } from "./redaction-rule.ts";
import { MAX_SECRET_BYTES } from "./window.ts";

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 40;
const MAX_PATTERN_CHARS = 1000;
const MAX_RULES = 500;
/** Ways a pattern may be spelled out into: groups and choices are multiplied. */
const MAX_PROGRAMS = 64;

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
  const ways = pattern === undefined ? [literalParts(text, ignoreCase)] : readPattern(pattern, ignoreCase);
  const programs = spellOut(ways).map(toProgram);
  for (const program of programs) checkProgram(program, leastBytes);
  return programs;
}

type Step = Item | "open" | "close" | "border";

/** Every way through the groups of a pattern, as one list of steps each. */
function spellOut(ways: readonly Part[][]): Step[][] {
  return bounded(
    ways.flatMap((parts) => {
      let lists: Step[][] = [[]];
      for (const part of parts) {
        const [only, ...others] = stepsOf(part);
        if (others.length === 0) for (const list of lists) list.push(...(only ?? []));
        else lists = bounded(lists.flatMap((list) => [only ?? [], ...others].map((steps) => [...list, ...steps])));
      }
      return lists;
    }),
  );
}

function stepsOf({ atom, min, max }: Part): Step[][] {
  if (atom.kind === "place") {
    if (atom.sign !== "\\b") throw new Error(`"${atom.sign}" is not supported`);
    return [["border"]];
  }
  if (max === 0) return [[]];
  if (atom.kind === "byte") return [[{ set: atom.set, min, max }]];
  if (max !== 1) throw new Error('a group may only have "?" after it: counts go on characters and classes');
  if (atom.captures && min === 0) throw new Error("the capturing group must not be optional");
  const inner = spellOut(atom.ways);
  if (atom.captures) return inner.map((steps) => ["open", ...steps, "close"]);
  return min === 0 ? bounded([...inner, []]) : inner;
}

function bounded(ways: Step[][]): Step[][] {
  if (ways.length > MAX_PROGRAMS) throw new Error(`groups and choices multiply to over ${MAX_PROGRAMS} ways`);
  return ways;
}

function toProgram(steps: readonly Step[]): Program {
  const items: Item[] = [];
  const secret: [from: number, to: number] = [0, Infinity];
  let startsAfter: ByteSet | null = null;
  let [endsWord, captures] = [false, 0];
  for (const step of steps) {
    if (step === "open") {
      if (++captures > 1) throw new Error("only one group may capture: write (?:...) for the others");
      secret[0] = items.length;
    } else if (step === "close") secret[1] = items.length;
    else if (step !== "border") {
      if (endsWord) throw new Error('"\\b" may only stand at the start and at the end');
      items.push(step);
    } else if (items.length === 0) startsAfter = WORD;
    else endsWord = true;
  }
  return { items, secret: [secret[0], Math.min(secret[1], items.length)], startsAfter, endsWord };
}

/** Refuses what could match next to nothing, and what could be matched in more than one way. */
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
