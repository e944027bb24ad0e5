import type { LinePatterns, Policy, ToolOverride } from "../contract/policy.ts";
import type { Focus, Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { badInput, SpillwayError } from "../errors.ts";
import { compileFocus, compileLines } from "../stages/clamp/focus/compile-focus.ts";
import { compileIntent } from "../stages/clamp/focus/compile-intent.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import { checkLimits } from "../stages/policy/check-limits.ts";
import { smallerOf } from "../stages/policy/check-row.ts";
import { resolveToolPolicy } from "../stages/policy/resolve-tool-policy.ts";
import { isRecord, tried } from "../values.ts";
import { type AdmitPlan, readExitCode } from "./admission.ts";
import type { AdmitRequest } from "./admit-request.ts";
import { checkReader, shown } from "./reader.ts";

/** What outputs are planned by. */
export interface PlanPorts {
  policy: Policy;
  counter: TokenCounter;
  scope: string;
  /** Strategies besides the built-in ones. */
  strategies: readonly Strategy[];
  /** Outputs that pass uncut are saved too. */
  keepsAll: boolean;
}

/**
 * The first step of an output's way: what applies to its tool, decided once. Throws if the policy names a strategy that
 * nobody has, because that should show where the policy was written, not inside an agent.
 */
export function newPlanner(ports: PlanPorts): (request: AdmitRequest) => AdmitPlan {
  const { policy, counter, scope, keepsAll } = ports;
  const known = new Map([...strategies, ...ports.strategies].map((strategy) => [strategy.name, strategy]));
  for (const name of strategyNames(policy)) strategyNamed(name);
  // A pattern that cannot be used is a mistake of whoever wrote it, and no tool should stop for it.
  for (const { focus = [], keep = [], drop = [] } of rowsOf(policy)) compileLines({ focus, keep, drop }, undefined);

  function strategyNamed(name: string): Strategy {
    const strategy = known.get(name);
    if (strategy !== undefined) return strategy;
    throw new SpillwayError(
      "unknown-strategy",
      `strategy must be one of ${[...known.keys()].join(", ")}; got "${name}"`,
    );
  }

  return (request) => {
    if (!("output" in Object(request))) throw badInput("admit takes { output, ... }; there was no output");
    const { tool = "tool", limits, headShare, fold, since, summarize, off, marker, exitCode, size, command } = request;
    const { strategy, keep = strategy, declared, reader, hostLimits, isUpdate = false } = request;
    if (typeof tool !== "string") throw badInput(`tool must be a name; got ${String(tool)}`);
    if (typeof exitCode === "number" && !Number.isSafeInteger(exitCode)) {
      throw badInput(`exitCode must be a whole number; got ${exitCode}`);
    }
    checkRequest(request);
    if (reader !== undefined) checkReader(reader, "reader");
    if (hostLimits !== undefined) checkLimits(hostLimits, "hostLimits");
    const asked = { limits, strategy: keep, headShare, fold, since, summarize, off };
    const rule = resolveToolPolicy(policy, tool, declared && { ...declared, declared: true }, asked);
    return {
      scope,
      tool,
      session: request.session ?? null,
      call: request.call ?? null,
      limits: size === undefined ? rule.limits : smallerOf(rule.limits, checkLimits(size, "size")),
      shortChars: size?.maxLines === undefined ? rule.shortChars : 0,
      strategy: strategyNamed(rule.strategy),
      headShare: rule.headShare,
      fold: rule.fold,
      since: rule.since && !isUpdate && request.via === undefined,
      counter,
      exitCode: readExitCode(exitCode),
      off: rule.off,
      keepsAll: keepsAll && !isUpdate,
      boundDetails: request.boundDetails ?? false,
      explain: request.explain ?? false,
      summarizeOverChars: rule.summarize ? rule.triggerChars : undefined,
      ...(marker === undefined ? {} : { marker }),
      ...(typeof command === "string" && command !== "" && { command }),
      ...focused(request, rule.lines),
    };
  };
}

/** What somebody is after; if nobody said it, what the call seems to be for. */
function focused({ focus, intent, args, command }: AdmitRequest, lines: LinePatterns): Pick<AdmitPlan, "focus"> {
  if (focus !== undefined) return { focus: compileFocus(focus) };
  const intended = compileLines(lines, tried(() => focusOf(intent, args, command)) ?? undefined);
  return intended === undefined ? {} : { focus: intended };
}

function strategyNames(policy: Policy): Set<string> {
  const { force, builtIn } = policy;
  return new Set([...rowsOf(policy), force, builtIn.default].flatMap(({ strategy }) => strategy ?? []));
}

/** The rows that somebody wrote. */
function rowsOf({ project, rules, default: row }: Policy): ToolOverride[] {
  const named = [...rules, ...(project?.rules ?? [])].map((rule) => rule.row);
  return [row, project?.default ?? {}, ...named];
}

/** Complete by its type: a new option is known here before it can be used. */
const REQUEST: { [key in keyof Required<AdmitRequest>]: true } = {
  tool: true,
  output: true,
  session: true,
  call: true,
  command: true,
  args: true,
  intent: true,
  folder: true,
  exitCode: true,
  limits: true,
  strategy: true,
  keep: true,
  headShare: true,
  focus: true,
  size: true,
  fold: true,
  since: true,
  summarize: true,
  off: true,
  marker: true,
  explain: true,
  boundDetails: true,
  declared: true,
  hostLimits: true,
  isUpdate: true,
  reader: true,
  via: true,
};

/** Throws for a key that nobody reads: a limit with its name misspelt would hold nothing. */
function checkRequest(request: object): void {
  checkNames(request, REQUEST, "an output");
}

/** The same for any options. `what` says whose they are. */
export function checkNames(given: object, known: object, what: string): void {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return;
  throw badInput(
    `there is no option ${shown(unknown.slice(0, 40))} for ${what}; known are ${Object.keys(known).join(", ")}`,
  );
}

/** At most so many texts of a call's arguments are read. */
const MAX_ARGS = 20;

const MAX_ARGS_DEPTH = 3;

/** The words by which an output is told to be what its call is for. What is not of the right type is left out. */
function focusOf(intent: unknown, args: unknown, command: string | undefined): Focus | undefined {
  const { user, model } = isRecord(intent) ? intent : { user: intent, model: undefined };
  const texts = command === undefined ? [] : [command];
  addTexts(texts, args, 0);
  return compileIntent({
    user: typeof user === "string" ? user : undefined,
    model: typeof model === "string" ? model : undefined,
    args: texts,
  });
}

function addTexts(texts: string[], value: unknown, depth: number): void {
  if (texts.length >= MAX_ARGS) return;
  if (typeof value === "string") texts.push(value);
  else if (depth < MAX_ARGS_DEPTH && typeof value === "object" && value !== null) {
    for (const each of Object.values(value).slice(0, MAX_ARGS)) addTexts(texts, each, depth + 1);
  }
}
