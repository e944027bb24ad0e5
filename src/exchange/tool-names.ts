import { READ_BACK_TOOLS } from "../recall/index.ts";
import type { Access } from "../stages/mark/access.ts";
import { familyOf, lastSegment } from "../stages/policy/resolve-tool-policy.ts";
import { isRecord, type JsonRecord } from "../values.ts";

/** A tool that a request offers to the model. */
interface OfferedTool {
  name: string;
  description: string;
}

/** Returns the tools of a request, in any of the forms in which providers take them. */
function toolsIn({ tools, functions }: Readonly<JsonRecord>): OfferedTool[] {
  const listed = [tools, functions].flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []));
  const declared = listed.flatMap((tool) => {
    const inside = tool.functionDeclarations ?? tool.function_declarations;
    return Array.isArray(inside) ? inside.filter(isRecord) : [isRecord(tool.function) ? tool.function : tool];
  });
  return declared.map(({ name, type, description }) => ({
    // A provider's own tools, such as a shell, may have a type only.
    name: String(name ?? type ?? ""),
    description: typeof description === "string" ? description : "",
  }));
}

type ReaderAccess = Exclude<Access, { by: "file" }>;

/**
 * Returns how the model that gets a request can read what a marker names: with our tools if they are among its own, in a
 * shell if the host says so and it has one, else not at all.
 */
export function readerOf(beside: Readonly<JsonRecord>, host: Access): ReaderAccess | undefined {
  // A copy for a file tool is the host's to make.
  if (host.by === "file") return undefined;
  const tools = toolsIn(beside);
  // The host may change its own later.
  return ownTools(tools) ?? (isUsable(host, tools) ? { ...host } : { by: "operator" });
}

/** Tells whether the client offers our recall and search itself. */
export function offersOwn(beside: Readonly<JsonRecord>): boolean {
  return ownTools(toolsIn(beside)) !== null;
}

/** Finds our recall and search among the tools, under whatever name. They are known by what they say of themselves. */
function ownTools(tools: readonly OfferedTool[]): ReaderAccess | null {
  const [recall, search] = READ_BACK_TOOLS.map(({ description }) =>
    tools.find((tool) => tool.description.startsWith(description)),
  );
  return recall && search ? { by: "tool", recall: recall.name, search: search.name } : null;
}

function isUsable(host: ReaderAccess, tools: readonly OfferedTool[]): boolean {
  const names = new Set(tools.map(({ name }) => name));
  if (host.by === "tool") return names.has(host.recall) && names.has(host.search);
  if (host.by === "operator") return true;
  return [...names].some((name) => familyOf(lastSegment(name.toLowerCase()))?.keys.includes("run_command"));
}
