import { checkNames } from "../admit/plan-output.ts";
import type { Reader } from "../admit/reader.ts";
import { checkReader, shown } from "../admit/reader.ts";
import type { CallOptions } from "../call/call-options.ts";
import { badInput, SpillwayError } from "../errors.ts";
import type { PrepareOptions } from "../prepare/ports.ts";
import type { SpillwayOptions } from "./ports.ts";

/** Complete by its type: a new option is known here before it can be used. */
const OPTIONS: { [key in keyof Required<SpillwayOptions>]: true } = {
  policy: true,
  env: true,
  dir: true,
  retention: true,
  keep: true,
  store: true,
  ledger: true,
  events: true,
  runs: true,
  scope: true,
  reader: true,
  redact: true,
  overflow: true,
  summarizer: true,
  htmlReader: true,
  counter: true,
  strategies: true,
  hostLimits: true,
  logger: true,
  onReceipt: true,
  onEvent: true,
  now: true,
};

const PREPARE: { [key in keyof Required<PrepareOptions>]: true } = {
  wire: true,
  session: true,
  window: true,
  model: true,
  pruning: true,
  reader: true,
  systemAndTools: true,
  beside: true,
  agent: true,
  records: true,
};

const CALL: { [key in keyof Required<CallOptions>]: true } = {
  ...PREPARE,
  onPrepared: true,
  answerTokens: true,
  lowersAnswer: true,
  ladder: true,
  compactor: true,
  media: true,
  whenPartlyRead: true,
  provider: true,
  rules: true,
  signal: true,
  deadlineMs: true,
  lookMs: true,
  persist: true,
  history: true,
};

/** Throws for options that would only show later, inside an agent, to be wrong. */
export function checkOptions(options: object): void {
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(OPTIONS, key));
  if (unknown !== undefined) {
    const hint = /^(limits$|max)/i.test(unknown)
      ? "; limits stand in { policy: { default: { limits: { maxLines: 100 } } } }"
      : "";
    throw badInput(`createSpillway has no option "${unknown}"; known are ${Object.keys(OPTIONS).join(", ")}${hint}`);
  }
  const { dir, keep, reader, logger, runs, scope } = options as { [name: string]: unknown };
  if (keep !== undefined && keep !== "cut" && keep !== "all")
    throw badInput(`keep must be "cut" or "all"; got ${shown(keep)}`);
  if (dir !== undefined && (typeof dir !== "string" || dir.trim() === "")) {
    throw badInput(`dir must be a folder's path; got ${shown(dir)}`);
  }
  if (typeof dir === "string" && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(dir)) {
    throw badInput(`dir must be a path without line breaks and the like; got ${shown(dir)}`);
  }
  if (scope !== undefined && (typeof scope !== "string" || scope === "")) {
    throw badInput(`scope must be a text that is not empty; got ${shown(scope)}`);
  }
  if (reader !== undefined) checkReader(reader, "reader");
  if ((reader as Reader | undefined)?.by === "file" && runs === undefined) {
    throw new SpillwayError(
      "missing-part",
      'reader: { by: "file" } needs runs, the folder in which its copies are made',
    );
  }
  if (logger !== undefined && !(hasMethod(logger, "info") && hasMethod(logger, "warn"))) {
    throw badInput(`logger must have the methods info and warn; got ${shown(logger)}`);
  }
}

/** Throws for an option of `prepare` that nobody reads. */
export function checkPrepare(options: PrepareOptions = {}): void {
  checkNames(options, PREPARE, "prepare");
  if (options.reader !== undefined) checkReader(options.reader, "reader");
}

/** The same for the options of `call`. */
export function checkCall(options: CallOptions = {}): void {
  checkNames(options, CALL, "call");
  if (options.reader !== undefined) checkReader(options.reader, "reader");
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof (value as { [name: string]: unknown } | null)?.[name] === "function";
}
