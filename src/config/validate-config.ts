import type * as z from "zod/mini";
import { nearestName } from "../errors.ts";
import { describeValue, readSize } from "../stages/policy/check-limits.ts";
import {
  ConfigFault,
  type ConfigNode,
  nodeAt,
  type PathStep,
  plainValue,
  positionOf,
  printable,
  removeEntry,
} from "./config-node.ts";
import { configSchema } from "./schema.ts";

/** A config's values with every key in camelCase. */
export type PlainConfig = Record<string, unknown>;

/** What checking a file gave: its values, what is wrong with it, and which keys nobody knows. */
export interface Validated {
  config: PlainConfig;
  faults: ConfigFault[];
  unknown: ConfigFault[];
}

/**
 * Checks a file's tree against the schema. Unknown keys are taken out of it and told apart from wrong values. Keys that are
 * refused in this file are not offered in their place.
 */
export function validateConfig(root: ConfigNode, isRefused?: (path: PathStep[]) => boolean): Validated {
  if (root.kind === "scalar" && root.value === null) return { config: {}, faults: [], unknown: [] };
  const faults: ConfigFault[] = [];
  const unknown: ConfigFault[] = [];
  const issues = configSchema.safeParse(plainValue(root)).error?.issues ?? [];
  for (const { path, issue } of issues.flatMap((each) => meantIssues(root, each, []))) {
    if (issue.code === UNKNOWN) {
      for (const key of issue.keys) {
        unknown.push(unknownKey(root, [...path, key], isRefused));
        removeEntry(root, [...path, key]);
      }
    } else faults.push(wrongValue(root, path, issue));
  }
  const config = faults.length === 0 ? camelCased(root, configSchema, [], faults, unknown) : {};
  return { config: config as PlainConfig, faults, unknown };
}

/** Where a value has several forms and a mapping was written, what is wrong with the mapping says more. */
function meantIssues(root: ConfigNode, issue: z.core.$ZodIssue, above: PathStep[]): Meant[] {
  const path = [...above, ...(issue.path as PathStep[])];
  if (issue.code !== "invalid_union" || nodeAt(root, path)?.kind !== "map") return [{ path, issue }];
  const inside = issue.errors.find((issues) =>
    issues.every(({ code, path: { length } }) => length > 0 || code === UNKNOWN),
  );
  return inside?.flatMap((each) => meantIssues(root, each, path)) ?? [{ path, issue }];
}

interface Meant {
  path: PathStep[];
  issue: z.core.$ZodIssue;
}

const UNKNOWN = "unrecognized_keys";

function unknownKey(root: ConfigNode, path: PathStep[], isRefused?: (path: PathStep[]) => boolean): ConfigFault {
  const known = knownKeys(schemaAt(configSchema, path.slice(0, -1)) ?? configSchema) ?? [];
  const near = nearestName(String(path.at(-1)), known);
  const ours = known.filter((key) => !/[A-Z$]/.test(key) && !isRefused?.([...path.slice(0, -1), key]));
  const help = near ? `did you mean ${near}?` : `known here: ${ours.join(", ")}`;
  return new ConfigFault(positionOf(root, path, "key"), `unknown key ${pathText(path)}; ${help}`);
}

function wrongValue(root: ConfigNode, path: PathStep[], issue: { code: string; message: string }): ConfigFault {
  if (issue.code === "invalid_key") {
    return new ConfigFault(positionOf(root, path, "key"), `${pathText(path)}: this is not a tool's name`, path);
  }
  const got = describeNode(root, path);
  const name = path.length === 0 ? "" : `${pathText(path)}: `;
  return new ConfigFault(positionOf(root, path), `${name}expected ${issue.message}; got ${got}`, path);
}

function describeNode(root: ConfigNode, path: PathStep[]): string {
  const here = nodeAt(root, path);
  if (here?.kind === "map") return "a mapping";
  if (here?.kind === "list") return "a list";
  const value = here?.value;
  return typeof value === "string"
    ? printable(describeValue(value)).replace(/^"\\"|\\""$/g, '"')
    : describeValue(value);
}

/** A path as it is written in a message. */
export function pathText(path: readonly PathStep[]): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index ? "." : ""}${printable(step)}`))
    .join("");
}

/** The same value under two names would leave it to chance which one holds. */
function camelCased(
  node: ConfigNode,
  schema: Parameters<typeof knownKeys>[0],
  path: PathStep[],
  faults: ConfigFault[],
  unknown: ConfigFault[],
): unknown {
  if (node.kind === "list") {
    const element = schemaUnder(schema, 0);
    return element
      ? node.items.map((item, index) => camelCased(item, element, [...path, index], faults, unknown))
      : plainValue(node);
  }
  if (node.kind === "scalar") return plainValue(node);
  const known = knownKeys(schema);
  const plain: Record<string, unknown> = {};
  const written = new Map<string, string>();
  for (const [key, { at, node: value }] of node.entries) {
    if (value.kind === "scalar" && value.value === null) continue;
    const under = schemaUnder(schema, key);
    if (!under) {
      // In another program's section only what looks like a slip of the pen is worth a word.
      const near = isForeign(schema) && key.length > 3 ? nearestName(key, known ?? []) : undefined;
      if (near) unknown.push(new ConfigFault(at, `unknown key ${pathText([...path, key])}; did you mean ${near}?`));
      continue;
    }
    const name = known ? ourName(key) : key;
    const before = written.get(name);
    const here = [...path, key];
    if (before) faults.push(new ConfigFault(at, `${pathText(here)} is the same as ${before}; keep one`, here));
    written.set(name, key);
    const given = camelCased(value, under, [...path, key], faults, unknown);
    plain[name] = typeof given === "string" && name.endsWith("Bytes") ? (readSize(given) ?? given) : given;
  }
  return plain;
}

function ourName(key: string): string {
  const name = key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return name === "truncationStrategy" ? "strategy" : name;
}

type Schema = z.core.$ZodType;

/** The parts of a schema's definition that lead further into it. */
interface Definition {
  type: string;
  shape?: Record<string, Schema>;
  catchall?: Schema;
  valueType?: Schema;
  element?: Schema;
  innerType?: Schema;
  options?: Schema[];
}

function definitionOf(schema: Schema): Definition {
  const definition = schema._zod.def as Definition;
  if (definition.type === "optional" && definition.innerType) return definitionOf(definition.innerType);
  // If a value may have several forms, only a section leads further.
  return definition.options?.map(definitionOf).find(({ shape }) => shape !== undefined) ?? definition;
}

/** The keys that a section knows; undefined for anything that is not a section. */
export function knownKeys(schema: Schema): string[] | undefined {
  const { shape } = definitionOf(schema);
  return shape && Object.keys(shape);
}

/** Returns true if keys that are not known are another program's. */
function isForeign(schema: Schema): boolean {
  const { catchall } = definitionOf(schema);
  return catchall !== undefined && definitionOf(catchall).type !== "never";
}

/** The schema of what stands under a key or an index. */
export function schemaUnder(schema: Schema, step: PathStep): Schema | undefined {
  const { shape, valueType, element } = definitionOf(schema);
  if (shape) return Object.hasOwn(shape, step) ? shape[step] : undefined;
  return valueType ?? element;
}

function schemaAt(schema: Schema, path: readonly PathStep[]): Schema | undefined {
  return path.reduce<Schema | undefined>((here, step) => here && schemaUnder(here, step), schema);
}
