// Anthropic's tool runner against a provider on this machine that refuses what is over its window: the run recovers.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { createSpillway } from "spillway";
import { spillwayMiddleware } from "spillway/anthropic";
import { startFakeProvider } from "spillway/testing";

const pages = 6;
const page = betaTool({
  name: "page",
  description: "Gives a page.",
  inputSchema: { type: "object", properties: { number: { type: "integer" } } },
  run: async ({ number }) => Array.from({ length: 1000 }, (_, at) => `page ${number}, line ${at + 1}`).join("\n"),
});

let asked = 0;
const provider = await startFakeProvider({
  speaks: "anthropic",
  window: 30_000,
  script: () => (asked < pages ? { calls: [{ tool: "page", input: { number: ++asked } }] } : "All pages are read."),
});

const spillway = await createSpillway();
const middleware = [spillwayMiddleware(spillway)];
const client = new Anthropic({ apiKey: "none", baseURL: provider.url, maxRetries: 0, middleware });
const answer = await client.beta.messages.toolRunner({
  model: "any",
  max_tokens: 1000,
  thread: false,
  messages: [{ role: "user", content: "Read all pages." }],
  tools: [...spillway.wrapTools([page]), ...spillway.readBack("anthropic")],
});
await provider.stop();

const refused = provider.requests.filter((request) => request.refused !== null).length;
const [block] = answer.content;
assert.equal(block?.type === "text" && block.text, "All pages are read.");
assert.ok(refused > 0 && refused < 4);
console.log(`ok: ${provider.requests.length} requests, ${refused} refused for their size and sent again smaller`);
