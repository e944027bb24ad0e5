import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadConfig } from "./index.ts";
import { writeJsonSchema } from "./json-schema.ts";

/** A part of the JSON Schema, as far as a value for it can be made. */
interface Part {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  pattern?: string;
  properties?: Record<string, Part>;
  additionalProperties?: Part | boolean;
  items?: Part;
  anyOf?: Part[];
  allOf?: Part[];
}

/** The way to a key; a number is the place in a list. */
type Path = (string | number)[];

const schema = JSON.parse(writeJsonSchema()) as Part & { definitions: Record<string, Part> };
/** A text that is also the name of a variable, so that `key_variable` finds a key there. */
const TEXT = "sample";

/** What must stand beside a key for it to have an effect. `literal` and `pattern` of a rule exclude each other. */
const BESIDE: [RegExp, object][] = [
  [/^summarization\./, { summarization: { enabled: true, endpoint: "https://host/v1", model: "m" } }],
  [/^models\..*\.id$/, { models: { providers: { any: { models: [{ id: "m", context_window: 9999 }] } } } }],
  [/^models\./, { models: { providers: { any: { models: [{ id: "m" }] } } } }],
  [/^redact\.rules\.0\.(name|ignore)/, { redact: { rules: [{ name: "n", literal: "secret" }] } }],
  [/^redact\.rules\.0\.(pattern|literal)/, { redact: { rules: [{ name: "n" }] } }],
  [/^overflow\./, { overflow: { rules: [{ rule: "r", kind: "rate-limit", code: ["c"] }] } }],
];

function leaves(part: Part, path: Path = []): [path: Path, sample: unknown][] {
  const { $ref, type, properties, additionalProperties, items, anyOf, allOf } = part;
  if ($ref !== undefined) return leaves(schema.definitions[$ref.replace("#/definitions/", "")] as Part, path);
  const others = anyOf ?? allOf;
  if (others) return others.flatMap((each) => leaves(each, path));
  if (properties) return Object.entries(properties).flatMap(([key, under]) => leaves(under, [...path, key]));
  if (typeof additionalProperties === "object" && type === "object")
    return leaves(additionalProperties, [...path, "any"]);
  if (items) return leaves(items, [...path, 0]);
  return [[path, sampleOf(part)]];
}

function sampleOf({ type, minimum, pattern, ...part }: Part): unknown {
  if (part.enum) return part.enum.at(-1);
  if (part.const !== undefined) return part.const;
  if (type === "boolean") return false;
  if (pattern?.includes("KMGT")) return "2MB";
  if (pattern?.includes("ms|s|m|h|d")) return "7m";
  if (type === "integer" || type === "number") return Math.max(minimum ?? 0, 0) + (type === "integer" ? 1 : 0.125);
  if (pattern?.startsWith("^postgres")) return "postgres://other/v2";
  if (pattern?.startsWith("^s3")) return "s3://other/v2";
  return pattern?.startsWith("^https") ? "https://other/v2" : TEXT;
}

/** The config with this value at this path, or, without a value, with the sections that lead there. A list has one element. */
function withValue(config: unknown, [step, ...rest]: Path, value?: unknown): unknown {
  if (step === undefined) return value ?? config;
  const here = (config ?? {}) as Record<string | number, unknown>;
  const under = withValue(here[step], rest, value);
  if (typeof step === "string") return { ...here, [step]: under };
  return under === undefined ? [] : [under];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-keys-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What comes of a config: the options, the upstreams and what the user is told, or the fault. */
async function outcome(config: unknown): Promise<{ fault: string | null; result: string }> {
  const file = join(folder, "spillway.json");
  await writeFile(file, JSON.stringify(config));
  const plain = (_key: string, value: unknown) => (value === Infinity ? "none" : value);
  return loadConfig({ file, env: { [TEXT]: "key" }, home: folder }).then(
    ({ options, upstreams, warnings }) => ({
      fault: null,
      result: JSON.stringify([options, upstreams, warnings], plain),
    }),
    (error: unknown) => ({ fault: String(error), result: "" }),
  );
}

it("every key of the schema has an effect on the options or the upstreams, or the user is told that it has none", async () => {
  const keys = leaves(schema).filter(([path]) => path[0] !== "$schema");
  expect(keys.length).toBeGreaterThan(300);
  const idle: string[] = [];
  for (const [path, sample] of keys) {
    const name = path.join(".");
    const [, beside = {}] = BESIDE.find(([pattern]) => pattern.test(name)) ?? [];
    const [without, set] = [await outcome(withValue(beside, path)), await outcome(withValue(beside, path, sample))];
    if (set.fault !== null || set.result === without.result)
      idle.push(`${name} = ${sample}: ${set.fault ?? "no effect"}`);
  }
  expect(idle).toEqual([]);
});
