// One line makes a client recover: a conversation that has outgrown the model's window is answered all the same, and the model
// reads back what was cut with a tool that the client never sees. The provider here is a fake on this machine.
import OpenAI from "openai";
import { createSpillway } from "spillway";
import { memoryLedger, memoryStore } from "spillway/extend";
import { createFetch } from "spillway/fetch";
import { startFakeProvider } from "spillway/testing";

/** Stands for a model: it reads the marker and asks for the lines that it needs. */
function script({ body }) {
  const said = JSON.stringify(body.messages);
  if (said.includes("entry 2501 of 5000")) return "The entry is there.";
  const id = /spillway_recall\([^)]*?([a-z2-7]{12})/.exec(said)?.[1] ?? "none";
  return { text: "Let me look. ", calls: [{ tool: "spillway_recall", input: { id, lines: [2501, 2502] } }] };
}
const provider = await startFakeProvider({ speaks: "openai-chat", window: 9000, script });

const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger() });
const client = new OpenAI({
  apiKey: "fake",
  baseURL: `${provider.url}/v1`,
  fetch: createFetch({ spillway, addRecallTool: true }), // the one line
});

const log = Array.from({ length: 5000 }, (_, at) => `entry ${at + 1} of 5000`).join("\n");
const messages = [{ role: "user", content: "Is all of it there?" }];
for (const id of ["a", "b", "c", "d"]) {
  messages.push(
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "read_log", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: `log ${id}\n${log}` },
  );
}
const tools = [{ type: "function", function: { name: "read_log", parameters: { type: "object" } } }];
console.log(`the client sends ${JSON.stringify(messages).length} characters\n`);

const stream = client.chat.completions.stream({ model: "some-model", messages, tools });
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta?.content ?? "");
const { tool_calls: calls } = await stream.finalMessage();
console.log(`\n\nthe client saw ${calls?.length ?? 0} calls`);
for (const { status, inputTokens, refused } of provider.requests) {
  console.log(`the provider got ${inputTokens} tokens: ${refused === null ? status : `refused (${refused})`}`);
}
await provider.stop();
