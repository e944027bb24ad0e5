import type { ConfigSource } from "../../config/index.ts";
import type { PolicyInput } from "../../contract/policy.ts";
import { resolvePolicy } from "../../stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "../../stages/policy/resolve-tool-policy.ts";
import { grouped } from "../../values.ts";

/** A value in force, and what set it. */
export interface ConfigValue {
  name: string;
  value: string;
  from: string;
}

/** Who said what a source says. */
export function sourceText({ kind, path }: Omit<ConfigSource, "policy">): string {
  return path ?? (kind === "environment" ? "the environment" : kind);
}

/** The policy's values in force: those of one tool, or those that hold for all. Each is from the last source that changed it. */
export function policyValues(sources: readonly ConfigSource[], tool?: string): ConfigValue[] {
  const layers = [
    { from: "default", policy: {} },
    ...sources.map((source) => ({ from: sourceText(source), policy: source.policy })),
  ];
  const values = new Map<string, ConfigValue>();
  for (const { from, policy } of layers) {
    const now = flatten(tool === undefined ? sharedPart(policy) : resolveToolPolicy(resolvePolicy(policy), tool));
    for (const name of values.keys()) if (!now.has(name)) values.delete(name);
    for (const [name, value] of now) if (values.get(name)?.value !== value) values.set(name, { name, value, from });
  }
  return [...values.values()];
}

/** A value as a config file takes it. */
export function writtenInFile({ name, value }: ConfigValue): Pick<ConfigValue, "name" | "value"> {
  // No file sets this one: it follows from where the limit of lines comes from.
  if (name === "shortChars") return { name: "(max_lines above)", value: `${grouped(Number(value))} chars` };
  const key = name
    .replace(/^(limits|lines|options)\./, "")
    .replace(/\btriggerChars$/, "triggerThreshold")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (!name.endsWith("Bytes") || !/^\d+$/.test(value)) return { name: key, value };
  const bytes = Number(value);
  const units = ["B", "KiB", "MiB", "GiB"];
  const step = bytes === 0 ? 0 : units.findLastIndex((_unit, at) => bytes % 1024 ** at === 0);
  return { name: key, value: `${bytes / 1024 ** step} ${units[step]}` };
}

function sharedPart(input: PolicyInput): object {
  const { profile, ceiling, contextTokens, pruning, summarization, commands, models } = resolvePolicy(input);
  return { profile, ceiling, contextTokens, models, commands, pruning, summarization };
}

function flatten(value: object, path = ""): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([key, each]): [string, string][] => {
      const name = path === "" ? key : `${path}.${key}`;
      if (typeof each === "object" && each !== null && !Array.isArray(each)) return [...flatten(each, name)];
      return each === undefined ? [] : [[name, typeof each === "string" ? each : (JSON.stringify(each) ?? "")]];
    }),
  );
}
