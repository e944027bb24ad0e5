// Tools of the Claude Agent SDK, called as Claude Code calls them: through their server. The hooks clamp what its own tools give.
import assert from "node:assert/strict";
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createSpillway } from "spillway";
import { spillwayHooks } from "spillway/claude-agent-sdk";
import { z } from "zod";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build = tool("build", "Runs the build.", { target: z.string() }, async () => ({
  content: [{ type: "text", text: log }],
}));

const spillway = await createSpillway();
const hooks = spillwayHooks(spillway);
const readBack = spillway.readBack("claude-agent-sdk", { z });
const mine = createSdkMcpServer({ name: "mine", tools: spillway.wrapTools([build]) });
const own = createSdkMcpServer({ name: "spillway", tools: readBack });

/** Calls a tool of a server, as the agent does. */
async function call(server: typeof mine, name: string, args: Record<string, unknown>): Promise<string> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "agent", version: "1" });
  await Promise.all([server.instance.connect(far), client.connect(near)]);
  const result = await client.callTool({ name, arguments: args });
  await client.close();
  return JSON.stringify(result);
}

const shown = await call(mine, "build", { target: "all" });
const [, id] = /mcp__spillway__recall\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(shown) ?? [];
assert.ok(shown.length < 60_000);
assert.match(await call(own, "recall", { id, lines: [4500, 4501] }), /step 4501 of the build/);
const event = {
  hook_event_name: "PostToolUse",
  tool_name: "Bash",
  tool_input: {},
  tool_response: { stdout: log, stderr: "" },
};
const told = await hooks.PostToolUse[0]?.hooks[0]?.(event);
assert.match(JSON.stringify(told), /updatedToolOutput.*omitted.*mcp__spillway__recall/);
console.log(`ok: the tool gave ${log.length} characters, the model gets ${shown.length}`);
