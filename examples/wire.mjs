// Message formats: find the calls and results in a conversation of any provider, and change only what results say.
import assert from "node:assert/strict";
import { detectWire, pairResults } from "spillway/wire";

const messages = [
  { role: "user", content: "What is in it?" },
  {
    role: "assistant",
    tool_calls: [{ id: "c1", type: "function", function: { name: "cat", arguments: '{"path":"a"}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: "secret: hunter2" },
];
const wire = detectWire(messages);
console.log(`this is ${wire.name}`);
assert.equal(wire.name, "openai-chat");
const [{ call, result }] = pairResults(messages.map((message) => wire.read(message)));
console.log(`${call.tool} printed ${JSON.stringify(result.texts)}`);
assert.deepEqual([call.tool, result.texts], ["cat", ["secret: hunter2"]]);
const changed = wire.write(messages[2], [{ at: result.at, texts: ["[not shown]"] }]);
assert.deepEqual(changed, { ...messages[2], content: "[not shown]" });
assert.equal(messages[2].content, "secret: hunter2", "the message that came stays as it is");
