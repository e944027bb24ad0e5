// A provider refuses a request for its size. `call` makes it smaller and sends it again, with any client: here with fetch,
// to a fake provider on this machine that takes 8,000 tokens.
import assert from "node:assert/strict";
import { createSpillway } from "spillway";
import { memoryLedger, memoryStore } from "spillway/extend";
import { startFakeProvider } from "spillway/testing";

const provider = await startFakeProvider({ speaks: "anthropic", window: 8000, script: () => "The disk is full." });
const ledger = memoryLedger();
const spillway = await createSpillway({ store: memoryStore(), ledger, env: {} });

const log = Array.from({ length: 2000 }, (_, at) => `entry ${at + 1}: nothing to see here`).join("\n");
const messages = [{ role: "user", content: "Why does it fail?" }];
for (const id of ["a", "b", "c", "d"]) {
  messages.push(
    { role: "assistant", content: [{ type: "tool_use", id, name: "bash", input: { command: `cat ${id}.log` } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `log ${id}\n${log}` }] },
  );
}
const send = (prepared, { signal }) =>
  fetch(`${provider.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "some-model", max_tokens: 500, messages: prepared }),
    signal,
  });
// Nothing says how large the window is, so that the provider's refusal has to.
const response = await spillway.call(messages, send, { wire: "anthropic", session: "s" });
const { content } = await response.json();

for (const { status, inputTokens, refused } of provider.requests) {
  console.log(`the provider got ${inputTokens} tokens: ${refused === null ? status : `refused (${refused})`}`);
}
console.log(`the answer: ${content[0].text}`);
assert.equal(provider.requests[0].refused, "window");
assert.equal(provider.requests.at(-1).refused, null);
assert.equal(content[0].text, "The disk is full.");
const kinds = new Set((await ledger.events()).map(({ kind }) => kind));
assert(kinds.has("overflow-detected") && kinds.has("overflow-recovered"), "both are recorded");
await provider.stop();
