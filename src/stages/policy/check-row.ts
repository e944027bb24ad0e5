import type { Limits } from "../../contract/limits.ts";
import type {
  ForcedRow,
  PolicyInput,
  PolicyRow,
  PruningInput,
  PruningPreset,
  ToolOptions,
  ToolOverride,
  ToolRule,
} from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { checkLimits, checkNumber, describeValue } from "./check-limits.ts";
import { MAX_PATTERN_CHARS, NUMBERS } from "./defaults.ts";

/** The lists of a row that name lines. Those of all rows count together. */
export const LINE_LISTS = ["focus", "keep", "drop"] as const;
/** So many texts and patterns a list may have. Each is looked for in every line. */
export const MOST_PATTERNS = 8;
const FLAGS = ["fold", "since", "off", "summarize", "raisesCeiling", "declared"] as const;
const OPTION_NAMES = [
  "showContext",
  "maxDepth",
  "maxFiles",
  "maxMatches",
] as const satisfies readonly (keyof ToolOptions)[];
const KNOWN: ReadonlySet<string> = new Set([
  "limits",
  "strategy",
  "headShare",
  "triggerChars",
  "options",
  ...LINE_LISTS,
  ...FLAGS,
]);

/** A row that a program handed in, checked and copied. */
export function checkRow(row: unknown, where: string): PolicyRow & { declared?: boolean } {
  if (row === undefined) return {};
  if (typeof row !== "object" || row === null || Array.isArray(row)) {
    throw bad(`${where} must be an object such as { limits: { maxLines: 200 } }; got ${describeValue(row)}`);
  }
  const unknown = Object.keys(row).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) {
    throw bad(`${where} has an unknown key ${describeValue(unknown)}; known are ${[...KNOWN].join(", ")}`);
  }
  const given = row as Record<string, unknown>;
  const checked: PolicyRow & { declared?: boolean } = {};
  if (given.limits !== undefined) checked.limits = checkLimits(given.limits, where);
  if (given.strategy !== undefined) Object.assign(checked, namedStrategy(checkStrategy(given.strategy, where)));
  if (given.triggerChars !== undefined) {
    checked.triggerChars = checkNumber(given.triggerChars, NUMBERS.summarizeOverChars, `${where}: triggerChars`);
  }
  if (given.headShare !== undefined) {
    checked.headShare = checkNumber(given.headShare, NUMBERS.headShare, `${where}: headShare`);
  }
  for (const flag of FLAGS) {
    const value = given[flag];
    if (value === undefined) continue;
    if (typeof value !== "boolean") throw bad(`${where}: ${flag} must be true or false; got ${describeValue(value)}`);
    checked[flag] = value;
  }
  for (const list of LINE_LISTS)
    if (given[list] !== undefined) checked[list] = checkPatterns(given[list], `${where}: ${list}`);
  if (given.options !== undefined) checked.options = checkOptions(given.options, where);
  return checked;
}

/** Texts or patterns; whether a pattern can be used shows where it is made ready. */
function checkPatterns(value: unknown, where: string): readonly string[] {
  const list = typeof value === "string" ? [value] : value;
  const isText = (each: unknown) => typeof each === "string" && each.trim() !== "" && !/[\r\n]/.test(each);
  if (Array.isArray(list) && list.length <= MOST_PATTERNS && list.every(isText)) return [...list];
  throw bad(
    `${where} must be a list of at most ${MOST_PATTERNS} texts or patterns of one line, such as ["/^FAIL /"]; got ${describeValue(value)}`,
  );
}

/** A policy's rows as a list, whichever way they were given. */
export function checkRules(tools: unknown): ToolRule[] {
  if (tools === undefined) return [];
  if (typeof tools !== "object" || tools === null) throw bad(`tools must be an object; got ${describeValue(tools)}`);
  const pairs: [unknown, unknown][] = Array.isArray(tools)
    ? tools.map((rule) => [rule?.tool, rule?.row])
    : Object.entries(tools);
  return pairs.map(([tool, row]) => {
    if (typeof tool !== "string" || tool === "" || tool.length > MAX_PATTERN_CHARS) {
      throw bad(`a tool's name must have 1 to ${MAX_PATTERN_CHARS} characters; got ${describeValue(tool)}`);
    }
    return { tool, row: checkRow(row, `tools.${tool}`) };
  });
}

function checkStrategy(value: unknown, where: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw bad(`${where}: strategy must be a strategy's name; got ${describeValue(value)}`);
}

function checkOptions(options: unknown, where: string): ToolOptions {
  if (typeof options !== "object" || options === null) {
    throw bad(`${where}: options must be an object; got ${describeValue(options)}`);
  }
  const checked: ToolOptions = {};
  for (const [name, value] of Object.entries(options)) {
    const known = OPTION_NAMES.find((option) => option === name);
    if (known === undefined) {
      throw bad(`${where}: unknown option ${describeValue(name)}; known are ${OPTION_NAMES.join(", ")}`);
    }
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 0) {
      throw bad(`${where}: ${name} must be a whole number of 0 or more; got ${describeValue(value)}`);
    }
    checked[known] = value;
  }
  return checked;
}

function bad(message: string): SpillwayError {
  return new SpillwayError("bad-policy", message);
}

/** What a strategy's name says. */
interface NamedStrategy {
  strategy?: string;
  headShare?: number;
  summarize?: true;
}

/** Other names of strategies. `head_tail` divides the room evenly, where our `head-tail` favours the end. */
const OTHER_NAMES: Readonly<Record<string, NamedStrategy>> = {
  head_tail: { strategy: "head-tail", headShare: 0.5 },
  head_only: { strategy: "head" },
  tail_only: { strategy: "tail" },
  // What is cut where there is no summary is for weaker rows to say.
  summarize: { summarize: true },
  summarise: { summarize: true },
};

/** A strategy by any of its names. A name that is not ours is left as it is: it may be that of a strategy handed in. */
function namedStrategy(name: string): NamedStrategy {
  return OTHER_NAMES[name.trim().toLowerCase()] ?? { strategy: name };
}

/** A strategy as a person writes it, in any case and with any of both dashes; undefined if it cannot be one. */
export function readStrategy(written: string): NamedStrategy | undefined {
  const named = namedStrategy(written);
  if (named.strategy !== written) return named;
  const name = written.trim().toLowerCase().replaceAll("_", "-");
  return /^[a-z][a-z0-9-]{0,63}$/.test(name) ? { strategy: name } : undefined;
}

const PRESETS: Record<PruningPreset, PruningInput> = {
  spillway: { sticky: true, estimate: "tokens", namesSaved: true, callArguments: true, media: "results" },
  // Each request by itself, weighed in characters, results alone, and the placeholder alone.
  openclaw: { sticky: false, estimate: "chars/4", namesSaved: false, callArguments: false, media: "off" },
};

/** What a preset of pruning says. Throws a SpillwayError "bad-policy" if there is none of this name. */
export function presetOf(name: PruningPreset | undefined): PruningInput {
  if (name === undefined) return {};
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name];
  throw new SpillwayError("bad-policy", `pruning.preset must be spillway or openclaw; got ${describeValue(name)}`);
}

/** The fields of several rows in one: what a later row says replaces what an earlier one said, but for its lists of lines. */
export function mergeRows(...rows: readonly (ToolOverride | undefined)[]): ToolOverride {
  const merged: ToolOverride = {};
  for (const row of rows) {
    if (row === undefined) continue;
    const { limits, options, ...plain } = row;
    const lists = LINE_LISTS.flatMap((name) =>
      plain[name] === undefined ? [] : [[name, [...new Set([...(merged[name] ?? []), ...plain[name]])]] as const],
    );
    Object.assign(merged, definedOnly(plain), Object.fromEntries(lists));
    if (limits) merged.limits = { ...merged.limits, ...definedOnly(limits) };
    if (options) merged.options = { ...merged.options, ...definedOnly(options) };
  }
  return merged;
}

/** A copy without the keys whose value is undefined. */
export function definedOnly<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Returns the smaller of each number of two sets. A number that is absent or Infinity says nothing. */
export function smallerOf<T extends Limits | ToolOptions>(one: T, other: T): T {
  const smaller: Record<string, number> = {};
  for (const [name, value = Infinity] of [...Object.entries(one), ...Object.entries(other)] as [string, number?][]) {
    if (value !== Infinity) smaller[name] = Math.min(value, smaller[name] ?? Infinity);
  }
  return smaller as Limits & ToolOptions as T;
}

/** A project's limits, none of them so low that hardly anything would be shown. */
export function projectLimits(limits: Limits): Limits {
  const { projectLeastChars: chars, projectLeastLines: lines, projectLeastTokens: tokens } = NUMBERS;
  const least = { maxBytes: chars, maxChars: chars, maxLines: lines, maxTokens: tokens };
  const raised = Object.entries(definedOnly(limits)).map(([name, limit]) => [
    name,
    Math.max(limit as number, least[name as keyof Limits].default),
  ]);
  return Object.fromEntries(raised);
}

/** Several inputs as one, weakest first. Rows are kept apart, each with its own right to raise the ceiling. */
export function mergeInputs(...inputs: readonly (PolicyInput | undefined)[]): PolicyInput {
  const merged: PolicyInput = {};
  for (const input of inputs) {
    if (input === undefined) continue;
    const { ceiling, default: row, tools, force, pruning, summarization, commands, models, ...plain } = input;
    Object.assign(merged, definedOnly(plain));
    if (ceiling) merged.ceiling = { ...merged.ceiling, ...definedOnly(ceiling) };
    if (row) merged.default = mergeRows(merged.default, row);
    if (tools) merged.tools = [...asRules(merged.tools), ...asRules(tools)];
    if (force) merged.force = mergeRows(merged.force, force) as ForcedRow;
    if (pruning) merged.pruning = mergePruning(merged.pruning, pruning);
    if (summarization) merged.summarization = { ...merged.summarization, ...definedOnly(summarization) };
    if (commands) merged.commands = { ...merged.commands, ...definedOnly(commands) };
    if (models) merged.models = [...(merged.models ?? []), ...models];
  }
  return merged;
}

function asRules(tools: PolicyInput["tools"]): readonly ToolRule[] {
  if (tools === undefined || Array.isArray(tools)) return tools ?? [];
  return Object.entries(tools).map(([tool, row]) => ({ tool, row }));
}

function mergePruning(before: PruningInput | undefined, after: PruningInput): PruningInput {
  const { softTrim, hardClear, tools, batch, ...plain } = after;
  // A preset that is named later begins anew, but what is said beside it counts.
  const merged: PruningInput = { ...before, ...presetOf(plain.preset), ...definedOnly(plain) };
  if (softTrim) merged.softTrim = { ...before?.softTrim, ...definedOnly(softTrim) };
  if (hardClear) merged.hardClear = { ...before?.hardClear, ...definedOnly(hardClear) };
  if (tools) merged.tools = { ...before?.tools, ...definedOnly(tools) };
  if (batch) merged.batch = { ...before?.batch, ...definedOnly(batch) };
  return merged;
}
