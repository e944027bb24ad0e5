import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// An MCP server with one tool, which answers with the result that stands as JSON in the file it is told.

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize")
    say({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "give", version: "1" },
      },
    });
  else if (method === "tools/call") say({ id, result: JSON.parse(readFileSync(params.arguments.file, "utf8")) });
  else say({ id, result: { tools: [{ name: "give", description: "gives", inputSchema: { type: "object" } }] } });
});
