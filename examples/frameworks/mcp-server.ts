// A server of MCP whose tools are bounded, structured content included, with the tools that read back.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createSpillway } from "spillway";
import { z } from "zod";

const rows = Array.from({ length: 9000 }, (_, at) => `row ${at + 1} of the table`);

const spillway = await createSpillway();
const server = spillway.wrapTools(new McpServer({ name: "mine", version: "1.0.0" }));
server.registerTool("rows", { inputSchema: { table: z.string() } }, async ({ table }) => ({
  content: [{ type: "text", text: `${table}\n${rows.join("\n")}` }],
  structuredContent: { table, rows },
}));
for (const tool of spillway.readBack("mcp", { z })) server.registerTool(tool.name, tool, tool.handler);

const [near, far] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "agent", version: "1" });
await Promise.all([server.connect(far), client.connect(near)]);
const { tools } = await client.listTools();
const shown = JSON.stringify(await client.callTool({ name: "rows", arguments: { table: "users" } }));
const [, id] = /recall\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(shown) ?? [];
const read = JSON.stringify(await client.callTool({ name: "recall", arguments: { id, lines: [4500, 4501] } }));
await client.close();

assert.deepEqual(
  tools.map(({ name }) => name),
  ["rows", "recall", "search"],
);
assert.ok(shown.length < 110_000);
assert.match(read, /row 4500 of the table/);
console.log(`ok: the tool gave ${2 * JSON.stringify(rows).length} characters, the client gets ${shown.length}`);
