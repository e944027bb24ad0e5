import { messageOf } from "../errors.ts";
import { LIMIT_NAMES } from "../stages/policy/check-limits.ts";
import { LINE_LISTS, readStrategy } from "../stages/policy/check-row.ts";
import { ConfigFault, type ConfigNode, type PathStep, type Position, removeEntry } from "./config-node.ts";
import { pathText } from "./validate-config.ts";

// A project's file comes with a clone and may be hostile: it tightens limits and pruning and chooses strategies. It does
// not choose where things are kept or sent, what is redacted, or that nothing is clamped. That its numbers only tighten
// is up to the policy, which knows what they are compared with.

interface Refusal {
  path: readonly string[];
  /** Refused only with a value like this. */
  when?: (value: unknown) => boolean;
  why: string;
}

const KEEPING = "where things are kept and what is redacted is the user's to say";
const SENDING = "what is sent to a model is the user's to say";
const SPENDING = "what a model may cost is the user's to say";
const OPENING = "a project may tighten limits, not lift them";
const DROPPING = "which lines are not worth showing is the user's to say";
const JUDGING = "what counts as an overflow, and so is sent again, is the user's to say";
const WORDING = "words in place of a result are the user's to choose";
const FACTS = "how requests are weighed and cached is the user's to say";

const KEEPING_KEYS = ["store", "ledger", "dir", "redact", "events", "runs", "retention", "keep"];

const ROWS = [["default"], ["tools", "*"], ["tool_output_limits", "default"], ["tool_output_limits", "tools", "*"]];
const PRUNINGS = [["pruning"], ["agent", "context_pruning"], ["agents", "defaults", "context_pruning"]];

const REFUSALS: readonly Refusal[] = [
  ...KEEPING_KEYS.map((key) => ({ path: [key], why: KEEPING })),
  ...["model", "endpoint", "speaks", "key_variable"].map((key) => ({ path: ["summarization", key], why: SENDING })),
  ...["timeout_ms", "max_concurrent", "max_answer_tokens", "max_calls_per_hour", "max_chars_per_hour"].map((key) => ({
    path: ["summarization", key],
    why: SPENDING,
  })),
  { path: ["summarization", "enabled"], when: is(true), why: SENDING },
  { path: ["upstreams"], why: "where requests are sent is the user's to say" },
  { path: ["overflow"], why: JUDGING },
  { path: ["profile"], when: is("off"), why: OPENING },
  ...ROWS.map((row) => ({ path: [...row, "off"], why: OPENING })),
  ...ROWS.map((row) => ({ path: [...row, "drop"], why: DROPPING })),
  ...ROWS.map((row) => ({ path: [...row, "raise_ceiling"], why: OPENING })),
  ...[["ceiling"], ...ROWS].flatMap((row) =>
    LIMIT_NAMES.map((limit) => ({ path: [...row, limit], when: is("none", Infinity), why: OPENING })),
  ),
  ...PRUNINGS.flatMap((pruning) => [
    { path: [...pruning, "hard_clear", "placeholder"], why: WORDING },
    { path: [...pruning, "mode"], when: is("off"), why: OPENING },
    { path: [...pruning, "hard_clear", "enabled"], when: is(false), why: OPENING },
    { path: [...pruning, "insure"], when: is(false), why: OPENING },
    { path: [...pruning, "media"], why: OPENING },
    { path: [...pruning, "tools"], why: OPENING },
    ...["preset", "names_saved", "sticky", "estimate", "ttl", "cache_ttl_ms"].map((key) => ({
      path: [...pruning, key],
      why: FACTS,
    })),
  ]),
];

function is(...refused: unknown[]): (value: unknown) => boolean {
  return (value) => refused.includes(value);
}

/** A project chooses from these strategies: any other name would stop whoever opens a Spillway. */
function strategyRefusals(names: readonly string[]): Refusal[] {
  const isForeign = (value: unknown) => {
    const read = typeof value === "string" ? readStrategy(value) : undefined;
    return read?.strategy !== undefined && !names.includes(read.strategy);
  };
  const why = `a project may choose from ${names.join(", ")}`;
  return ROWS.flatMap((row) =>
    ["strategy", "truncation_strategy"].map((key) => ({ path: [...row, key], when: isForeign, why })),
  );
}

/** What in a user's own file names a strategy that there is not. */
export function unknownStrategies(root: ConfigNode, strategies: readonly { name: string }[]): ConfigFault[] {
  const names = strategies.map(({ name }) => name);
  return strategyRefusals(names).flatMap((refusal) =>
    findRefused(root, refusal, []).map(({ at, path, node }) => {
      const got = node.kind === "scalar" ? `; got ${JSON.stringify(node.value)}` : "";
      return new ConfigFault(at, `${pathText(path)}: expected one of ${names.join(", ")}${got}`, path);
    }),
  );
}

/** What in the rows of a file names lines by a pattern that cannot be used. */
export async function patternFaults(root: ConfigNode): Promise<ConfigFault[]> {
  const lists = ROWS.flatMap((row) => LINE_LISTS.map((list) => ({ path: [...row, list], why: "" })));
  const found = lists.flatMap((refusal) => findRefused(root, refusal, []));
  if (found.length === 0) return [];
  const { compileLines } = await import("../stages/clamp/focus/compile-focus.ts");
  return found.flatMap(({ at, path, node }) => {
    const items = node.kind === "list" ? node.items : [];
    try {
      const keep = items.map((item) => (item.kind === "scalar" ? String(item.value) : ""));
      compileLines({ keep, drop: [], focus: [] }, undefined);
      return [];
    } catch (error) {
      return [new ConfigFault(at, `${pathText(path)}: ${messageOf(error)}`, path)];
    }
  });
}

/** Takes out of a project's file what a project may not set, and says what that was. `strategies` are the built-in ones. */
export function refuseUntrusted(root: ConfigNode, strategies: readonly { name: string }[]): ConfigFault[] {
  const refusals = [...REFUSALS, ...strategyRefusals(strategies.map(({ name }) => name))];
  return refusals.flatMap((refusal) =>
    findRefused(root, refusal, []).map(({ at, path }) => {
      removeEntry(root, path);
      const what = `${pathText(path)} is ignored in a project's file: ${refusal.why}; it belongs in your own config`;
      return new ConfigFault(at, what, path);
    }),
  );
}

/** Returns true if a project may not set this, whatever the value. */
export function isRefused(path: readonly PathStep[]): boolean {
  const isAt = (steps: readonly string[]) =>
    steps.length === path.length && steps.every((step, at) => step === "*" || bare(step) === bare(String(path[at])));
  return REFUSALS.some((refusal) => refusal.when === undefined && isAt(refusal.path));
}

/** The limits that a project's file names. */
export function findLimits(root: ConfigNode): FoundEntry[] {
  const paths = [["ceiling"], ...ROWS].flatMap((row) => LIMIT_NAMES.map((name) => [...row, name]));
  const found = paths.flatMap((path) => findRefused(root, { path, why: "" }, []));
  return found.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

/** An entry of a file's tree, and where it stands. */
export interface FoundEntry {
  at: Position;
  path: PathStep[];
  node: ConfigNode;
}

function findRefused(node: ConfigNode, refusal: Refusal, path: PathStep[]): FoundEntry[] {
  const step = refusal.path[path.length];
  if (node.kind !== "map" || step === undefined) return [];
  const isLast = path.length === refusal.path.length - 1;
  return [...node.entries].flatMap(([key, { at, node: value }]) => {
    if (step !== "*" && bare(key) !== bare(step)) return [];
    const here = [...path, key];
    if (!isLast) return findRefused(value, refusal, here);
    const isRefused = refusal.when === undefined || (value.kind === "scalar" && refusal.when(value.value));
    return isRefused ? [{ at, path: here, node: value }] : [];
  });
}

// Both spellings of a key are one.
function bare(key: string): string {
  return key.toLowerCase().replaceAll("_", "");
}
