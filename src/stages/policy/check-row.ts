import type { PolicyRow, ToolOptions, ToolRule } from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { checkLimits, checkNumber, describeValue } from "./check-limits.ts";
import { MAX_PATTERN_CHARS, NUMBERS } from "./defaults.ts";

const FLAGS = ["fold", "off", "summarize", "raisesCeiling", "declared"] as const;
const OPTION_NAMES = [
  "showContext",
  "maxDepth",
  "maxFiles",
  "maxMatches",
] as const satisfies readonly (keyof ToolOptions)[];
const KNOWN: ReadonlySet<string> = new Set(["limits", "strategy", "headShare", "triggerChars", "options", ...FLAGS]);

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
  if (given.options !== undefined) checked.options = checkOptions(given.options, where);
  return checked;
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
