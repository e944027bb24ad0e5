// A loop of one's own over OpenAI's chat completions, against a provider on this machine with a small window.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { createSpillway } from "spillway";
import { createFetch } from "spillway/fetch";
import { startFakeProvider } from "spillway/testing";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const provider = await startFakeProvider({
  speaks: "openai-chat",
  script: ({ body }) => {
    const sent = JSON.stringify(body?.messages);
    const [, name, id] = /(\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(sent) ?? [];
    if (!sent.includes('"role":"tool"')) return { calls: [{ tool: "build", input: {} }] };
    if (name !== undefined && !sent.includes("step 4501 of"))
      return { calls: [{ tool: name, input: { id, around: "step 4501 of" } }] };
    return "Step 4501 is in the log.";
  },
});

const spillway = await createSpillway();
const client = new OpenAI({ apiKey: "none", baseURL: `${provider.url}/v1`, fetch: createFetch({ spillway }) });
const readBack = spillway.readBack("openai");
const build = {
  type: "function" as const,
  function: { name: "build", parameters: { type: "object", properties: {} } },
};

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Why did the build fail?" }];
for (;;) {
  const { choices } = await client.chat.completions.create({
    model: "any",
    messages,
    tools: [build, ...readBack.tools],
  });
  const [choice] = choices;
  if (choice === undefined) break;
  messages.push(choice.message);
  if (choice.message.tool_calls === undefined) break;
  for (const call of choice.message.tool_calls) {
    const own = await readBack.answer(call);
    const { text } = await spillway.admit({ tool: "build", call: call.id, output: own === null ? log : "" });
    messages.push(own ?? { role: "tool", tool_call_id: call.id, content: text });
  }
}
await provider.stop();

assert.equal(messages.at(-1)?.content, "Step 4501 is in the log.");
const most = Math.max(...provider.requests.map(({ bytes }) => bytes));
assert.ok(most < 80_000);
console.log(`ok: the tool gave ${log.length} characters, at most ${most} bytes were in a request`);
