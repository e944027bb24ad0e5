// Puts `spillway mcp` before an MCP server, as a client's configuration would, and calls a tool whose result is too long.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

// Any server will do: this one has one tool, which returns 5,000 lines.
const server = `
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "log", version: "1" } }),
    "tools/list": () => ({ tools: [{ name: "read_log", inputSchema: { type: "object" } }] }),
    "tools/call": () => ({ content: [{ type: "text", text: Array.from({ length: 5000 }, (_, i) => "entry " + (i + 1)).join("\\n") }] }),
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }));
  });
`;
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    // In a configuration: "command": "spillway", "args": ["mcp", "--", "npx", "some-server"]
    args: ["dist/cli.cjs", "mcp", "--max-lines", "12", "--", process.execPath, "-e", server],
    env: { ...process.env },
  }),
);

const { tools } = await client.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}\n`);

const { content } = await client.callTool({ name: "read_log", arguments: {} });
console.log(`${content[0].text}\n`);

// What a model would do next: the marker's own call, with the lines that it wants.
const asked = JSON.parse(/recall\((\{.*?\})\)/.exec(content[0].text)[1].replace("[from,to]", "[2500,2502]"));
const page = await client.callTool({ name: "recall", arguments: asked });
console.log(`recall(${JSON.stringify(asked)})\n${page.content[0].text}`);
await client.close();
