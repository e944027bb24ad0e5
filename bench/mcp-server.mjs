// An MCP server with one tool, `log`, that returns a text of `bytes` bytes. By hand, so that it needs no package.
import { createInterface } from "node:readline";

const LINE = "2026-03-04T05:06:07Z worker[12] handled request of user in 23 ms, status 200, cache hit\n";

function resultOf(method, params) {
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "log", version: "1" },
    };
  }
  if (method === "tools/list") return { tools: [{ name: "log", inputSchema: { type: "object" } }] };
  const { bytes } = params.arguments;
  return { content: [{ type: "text", text: LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method, params) })}\n`);
}
