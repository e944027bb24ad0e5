import { READ_BACK_TOOLS } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

/** The names of our two tools here. If the server has a tool of that name, ours gets another one. */
export interface ToolNames {
  recall: string;
  search: string;
}

/** Claude Code itself cuts a result over this, unless the tool states a higher limit. */
const SIZE_KEY = "anthropic/maxResultSizeChars";
/** The highest limit that a tool may state there. */
const MAX_STATED_CHARS = 500_000;

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
  const mostChars = limits.maxChars ?? limits.maxBytes;
  if (mostChars === undefined) return rest;
  const meta = isRecord(tool._meta) ? tool._meta : {};
  return { ...rest, _meta: { ...meta, [SIZE_KEY]: Math.min(mostChars, MAX_STATED_CHARS) } };
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
