import { CONCEPT_NAMES } from "./words.ts";

/** In which way a concept stands on a line. */
export const WAYS = [
  "plain",
  "caps",
  "called",
  "first",
  "some",
  "zero",
  "negated",
  "then zero",
  "then some",
  "part",
  "path",
] as const;
export const PLAIN = 0;
export const CAPS = 1;
export const CALLED = 2;
export const FIRST = 3;
export const SOME = 4;
export const ZERO = 5;
export const NEGATED = 6;
export const THEN_ZERO = 7;
export const THEN_SOME = 8;
export const PART = 9;
export const PATH = 10;

/** What a line has or has not. */
export const FLAGS = [
  "file:line",
  "frame",
  "numbered )",
  "numbered .",
  "rule",
  "cross",
  "tick",
  "caret",
  "plus",
  "minus",
  "percent",
  "url",
  "stars",
  "quote",
  "gutter E",
  "gutter >",
  "gutter |",
  "exit non-zero",
  "exit zero",
  "prompt",
  "arrow",
  "::",
  "call",
  "=",
  "camel",
  "path",
  "dotted",
  "backtick",
  "colon end",
  "failure header",
  "tag",
  "more error",
] as const;
export const FLAG = Object.fromEntries(FLAGS.map((name, index) => [name, index])) as Record<
  (typeof FLAGS)[number],
  number
>;

const groups: [name: string, size: number][] = [
  ["concept", CONCEPT_NAMES.length * WAYS.length],
  ["flag", FLAGS.length],
  ["indent", 6],
  ["length", 10],
  ["digits", 5],
  ["capitals", 5],
  ["marks", 5],
  ["words", 7],
  ["first", 32],
  ["last", 32],
  ["seen", 7],
  ["start seen", 8],
];
const bases: Record<string, number> = {};
let total = 0;
for (const [name, size] of groups) {
  bases[name] = total;
  total += size;
}

export const CONCEPT_AT = bases.concept as number;
export const FLAG_AT = bases.flag as number;
export const INDENT_AT = bases.indent as number;
export const LENGTH_AT = bases.length as number;
export const DIGITS_AT = bases.digits as number;
export const CAPITALS_AT = bases.capitals as number;
export const MARKS_AT = bases.marks as number;
export const WORDS_AT = bases.words as number;
export const FIRST_AT = bases.first as number;
export const LAST_AT = bases.last as number;
export const SEEN_AT = bases.seen as number;
export const START_SEEN_AT = bases["start seen"] as number;
/** How many features a line may have. */
export const LINE_FEATURES = total;

/** Groups of features that have an order: neighbours should not differ much. @public for the script that learns the weights */
export const ORDERED_LINE: readonly [from: number, to: number][] = groups
  .filter(([name]) => !["concept", "flag", "first", "last"].includes(name))
  .map(([name, size]) => [bases[name] as number, (bases[name] as number) + size]);

/** A feature in words, for people who ask why. */
export function featureName(feature: number): string {
  const [name, size] = groups.findLast(([group]) => (bases[group] as number) <= feature) as [string, number];
  const index = feature - (bases[name] as number);
  if (name === "flag") return FLAGS[index] as string;
  if (name !== "concept") return `${name} ${index}/${size}`;
  const way = WAYS[index % WAYS.length] as string;
  const concept = CONCEPT_NAMES[Math.floor(index / WAYS.length)] as string;
  return way === "plain" ? concept : `${concept} (${way})`;
}
