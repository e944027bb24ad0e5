import { resolve } from "node:path";
import type { ModelEndpoint } from "../contract/model-client.ts";
import type { Retention } from "../contract/store.ts";
import type { SignatureInput } from "../contract/verdict.ts";
import { definedOnly } from "../stages/policy/check-row.ts";
import { ConfigFault, type ConfigNode, type PathStep, positionOf } from "./config-node.ts";
import { type PlainConfig, pathText } from "./validate-config.ts";

/** Where things are kept and what is redacted, as the user's own config says. */
export interface UserOptions {
  dir?: string;
  /** The address of a PostgreSQL database. */
  ledger?: string;
  /** The address of a bucket. */
  store?: string;
  /** Who may read what is kept, as SPILLWAY_SCOPE says. */
  scope?: string;
  events?: string;
  runs?: string;
  redact?: "off" | "on" | "model" | { rules: ConfigRule[]; model?: boolean };
  /** The model that summarises, where one is named and switched on. */
  summarizer?: ModelEndpoint;
  retention?: Retention | "off";
  /** Which outputs are saved: those that are cut, or all. */
  keep?: "cut" | "all";
  /** How overflows are known, beside what is built in. */
  overflow?: { rules?: SignatureInput[] };
}

type ConfigRule = { name: string; ignoreCase?: boolean } & (
  | { pattern: string; literal?: never }
  | { literal: string; pattern?: never }
);

/** A checked config: what the schema lets through. */
interface Plain extends Omit<UserOptions, "redact" | "retention"> {
  redact?: "off" | "on" | "model" | boolean | { rules?: ConfigRule[]; model?: boolean };
  retention?: "off" | boolean | { maxAgeDays?: number; maxBytes?: number; maxSessionBytes?: number };
}

/** Reads it off a checked config. Paths are taken from the config's folder. */
export function toUserOptions(config: PlainConfig, folder: string, home: string): UserOptions {
  const { dir, ledger, store, events, runs, redact, retention, keep, overflow } = config as Plain;
  const at = (path: string | undefined) =>
    path &&
    resolve(
      folder,
      path.replace(/^~(?=$|[/\\])/, () => home),
    );
  return definedOnly({
    dir: at(dir),
    ledger,
    store,
    events: at(events),
    runs: at(runs),
    redact: toRedact(redact),
    retention: toRetention(retention),
    keep,
    overflow,
  }) as UserOptions;
}

const DAY_MS = 86_400_000;

function toRetention(retention: Plain["retention"]): UserOptions["retention"] {
  if (typeof retention === "boolean") return retention ? {} : "off";
  if (typeof retention !== "object") return retention;
  const { maxAgeDays, ...bytes } = retention;
  return { ...bytes, ...(maxAgeDays !== undefined && { maxAgeMs: maxAgeDays * DAY_MS }) };
}

function toRedact(redact: Plain["redact"]): UserOptions["redact"] {
  // YAML of old reads on and off as true and false, and so do people.
  if (typeof redact === "boolean") return redact ? "on" : "off";
  if (typeof redact !== "object") return redact;
  return { ...redact, rules: redact.rules ?? [] };
}

/** What is wrong with the redaction rules of a file, each at its place: said here, nobody meets it in an agent's run. */
export async function ruleFaults(root: ConfigNode, { redact }: UserOptions): Promise<ConfigFault[]> {
  const rules = typeof redact === "object" ? redact.rules : [];
  if (rules.length === 0) return [];
  const { compilePrograms, compileRules } = await import("../stages/redact/compile-rules.ts");
  const faults: ConfigFault[] = [];
  const check = (path: PathStep[], compile: () => unknown): void => {
    try {
      compile();
    } catch (error) {
      const why = (error as Error).message.replace(/^redaction(?: rule \d+)?: /, "");
      // A rule without its name or its pattern is none.
      faults.push(new ConfigFault(positionOf(root, path), `${pathText(path)}: ${why}`, path.slice(0, 3)));
    }
  };
  for (const [index, rule] of rules.entries()) {
    const path = ["redact", "rules", index];
    check([...path, "name"], () => compileRules([{ name: rule.name, literal: "a plain text" }]));
    check([...path, "pattern" in rule ? "pattern" : "literal"], () => compilePrograms(rule));
  }
  if (faults.length === 0) check(["redact", "rules"], () => compileRules(rules));
  return faults;
}
