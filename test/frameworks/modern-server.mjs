// An MCP server of protocol 2026-07-28, over stdio or, with a port, over HTTP: `node modern-server.mjs [port]`.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const region = { type: "string", "x-mcp-header": "Region" };
const tools = [
  {
    name: "log",
    inputSchema: { type: "object", properties: { lines: { type: "integer" } } },
    outputSchema: { type: "object" },
  },
  { name: "where", inputSchema: { type: "object", properties: { region }, required: ["region"] } },
  { name: "steps", inputSchema: { type: "object", properties: { who: { type: "string" } } } },
  { name: "endless", inputSchema: { type: "object" } },
  { name: "begun", inputSchema: { type: "object" } },
  { name: "cancelled", inputSchema: { type: "object" } },
];
let [begun, cancelled] = [0, 0];

function newServer() {
  const server = new Server({ name: "modern", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { lines = 1, region: asked, who } = params.arguments ?? {};
    const text = (said) => ({ content: [{ type: "text", text: said }] });
    if (params.name === "where") return text(`in ${asked}`);
    if (params.name === "begun") return text(String(begun));
    if (params.name === "cancelled") return text(String(cancelled));
    if (params.name === "steps") {
      const { progressToken } = mcpReq._meta ?? {};
      // A client may drop a step that comes together with the answer.
      const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
      for (let progress = 1; progress <= 3; progress++, await pause()) {
        if (progressToken === undefined) continue;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message: who } });
      }
      return text(`done for ${who}`);
    }
    if (params.name === "endless") {
      begun++;
      await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
      cancelled++;
      return text("never read");
    }
    const log = Array.from({ length: lines }, (_, i) => `line ${i + 1} of a log`).join("\n");
    return { ...text(log), structuredContent: { log } };
  });
  return server;
}

const [, , port] = process.argv;
if (port === undefined) serveStdio(newServer);
else createServer(toNodeHandler(createMcpHandler(newServer))).listen(Number(port), "127.0.0.1");
