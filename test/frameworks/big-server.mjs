// An MCP server whose tool returns as much as it is asked for, and that fails when it is told to.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const inputSchema = { type: "object" };
const server = new Server({ name: "big", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: ["log", "blocks", "rows", "crash", "silent", "garbage"].map((name) => ({
    name,
    inputSchema,
    outputSchema: { type: "object" },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === "crash") process.exit(3);
  if (params.name === "silent") return new Promise(() => {});
  if (params.name === "garbage")
    process.stdout.write('this is no message\n{"jsonrpc":"2.0","id":"nobody","result":{}}\n');
  const count = params.arguments?.lines ?? 1;
  if (params.name === "blocks")
    return { content: Array.from({ length: count }, (_, at) => ({ type: "text", text: `block ${at} of very many` })) };
  if (params.name === "rows")
    return {
      content: [],
      structuredContent: { rows: Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, price: id / 4 })) },
    };
  let text = "";
  for (let line = 1; line <= count; line++) text += `line ${line} of a log with words of ordinary length\n`;
  return { content: [{ type: "text", text }], structuredContent: { count } };
});
await server.connect(new StdioServerTransport());
