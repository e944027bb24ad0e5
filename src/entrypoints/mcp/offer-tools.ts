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

/** A server's list of tools as the client gets it: with our two, and without schemas that a clamped result would not fit. */
export function offerTools(
  spillway: Spillway,
  result: Record<string, unknown>,
  names: ToolNames,
): Record<string, unknown> {
  const tools: unknown[] = Array.isArray(result.tools) ? result.tools : [];
  const taken = new Set(tools.map((tool) => (isRecord(tool) ? tool.name : null)));
  for (const { name } of READ_BACK_TOOLS) if (taken.has(names[name])) names[name] = `spillway_${name}`;
  const offered = tools.map((tool) => (isRecord(tool) ? offer(spillway, tool) : tool));
  // Our tools are added to the last page only.
  if (result.nextCursor !== undefined) return { ...result, tools: offered };
  const own = READ_BACK_TOOLS.map(({ name, description, inputSchema }) => ({
    name: names[name],
    description,
    inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  }));
  return { ...result, tools: [...offered, ...own] };
}

function offer(spillway: Spillway, tool: Record<string, unknown>): Record<string, unknown> {
  // A cut result does not fit the schema any more, and a client that checks it would refuse it.
  const { outputSchema: _, ...rest } = tool;
  const { limits, off } = spillway.resolve(typeof tool.name === "string" ? tool.name : "tool");
  const mostChars = off ? undefined : (limits.maxChars ?? limits.maxBytes);
  if (mostChars === undefined) return rest;
  const meta = isRecord(tool._meta) ? tool._meta : {};
  return { ...rest, _meta: { ...meta, [SIZE_KEY]: Math.min(mostChars, MAX_STATED_CHARS) } };
}
