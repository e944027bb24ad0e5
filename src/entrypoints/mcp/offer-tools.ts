import { READ_BACK_TOOLS } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";
import { statedMeta } from "../../wire/mcp.ts";

/** The names of our two tools here. If the server has a tool of that name, ours gets another one. */
export interface ToolNames {
  recall: string;
  search: string;
}

/** Gives our tools names that none of the server's has. A name that was changed once stays changed. */
export function avoidNames(names: ToolNames, tools: readonly unknown[]): void {
  const taken = new Set(tools.map((tool) => (isRecord(tool) ? tool.name : null)));
  for (const { name } of READ_BACK_TOOLS) {
    for (let count = 1; taken.has(names[name]); count++) names[name] = `spillway_${name}${count === 1 ? "" : count}`;
  }
}

/** One of the server's tools as the client gets it. */
export function offerTool(spillway: Spillway, tool: unknown): unknown {
  if (!isRecord(tool)) return tool;
  const { limits, off } = spillway.resolve(typeof tool.name === "string" ? tool.name : "tool");
  if (off) return tool;
  // A cut result does not fit the schema any more, and a client that checks it would refuse it.
  const { outputSchema: _, ...rest } = tool;
  return { ...rest, ...statedMeta(tool._meta, limits) };
}

/** The argument by which a model may say what it is after. */
const LOOKING_FOR = "looking_for";
const LOOKING_FOR_SCHEMA = {
  type: "string",
  description:
    "Optional: words you look for in the result. If it is too long to be shown whole, lines with them are kept.",
};
/** So many tools are remembered. */
const MAX_LISTED = 10_000;
/** What a schema may say without saying anything about an argument that it does not name. */
const PLAIN_KEYS = new Set(
  "$schema $id $comment $defs definitions type title description default examples deprecated properties required additionalProperties".split(
    " ",
  ),
);

/** Tools of the server that were listed: whether an argument of our name is ours or may be their own. */
export type ListedTools = Map<string, "ours" | "own">;

/** Returns true for a plain object schema that does not name the argument. It surely means nothing to such a tool. */
function isOurs({ type, properties = {}, required = [], additionalProperties, ...rest }: Record<string, unknown>) {
  return (
    type === "object" &&
    isRecord(properties) &&
    !Object.hasOwn(properties, LOOKING_FOR) &&
    Array.isArray(required) &&
    !required.includes(LOOKING_FOR) &&
    (additionalProperties === undefined || typeof additionalProperties === "boolean") &&
    Object.keys(rest).every((key) => PLAIN_KEYS.has(key))
  );
}

/** Adds the argument to a tool's schema if that is plain and does not name it. `listed` remembers which tools got it. */
export function askLookingFor(tool: unknown, listed: ListedTools): unknown {
  if (!isRecord(tool) || typeof tool.name !== "string") return tool;
  const { name, inputSchema } = tool;
  if (listed.size >= MAX_LISTED && !listed.has(name)) return tool;
  const ours = isRecord(inputSchema) && isOurs(inputSchema);
  listed.set(name, ours ? "ours" : "own");
  if (!ours) return tool;
  const properties = { ...(inputSchema.properties as object | undefined), [LOOKING_FOR]: LOOKING_FOR_SCHEMA };
  return { ...tool, inputSchema: { ...inputSchema, properties } };
}

/** Takes the argument out of a call again. Null if the call does not have it, or if it may be the tool's own. */
export function takeLookingFor(params: Record<string, unknown>, listed: ListedTools) {
  const { name, arguments: given } = params;
  if (typeof name !== "string" || !isRecord(given) || !Object.hasOwn(given, LOOKING_FOR)) return null;
  if (listed.get(name) === "own") return null;
  const { [LOOKING_FOR]: said, ...args } = given;
  return { lookingFor: typeof said === "string" ? said : undefined, params: { ...params, arguments: args } };
}

/** Our two tools as they are listed. */
export function ownTools(names: ToolNames): unknown[] {
  return READ_BACK_TOOLS.map(({ name, description, inputSchema }) => ({
    name: names[name],
    description,
    inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  }));
}
