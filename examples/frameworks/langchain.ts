// An agent of LangChain with one line of middleware: results are clamped, and the model reads a part of the rest back.
import assert from "node:assert/strict";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { createSpillway } from "spillway";
import { spillwayMiddleware } from "spillway/langchain";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build = tool(async () => log, {
  name: "build",
  description: "Runs the build.",
  schema: { type: "object", properties: {} },
});

const sizes: number[] = [];
const model = fakeModel();
for (let at = 0; at < 5; at++)
  model.respond((messages) => {
    const sent = JSON.stringify(messages.map(({ content }) => content));
    sizes.push(sent.length);
    const [, name, id] = /(\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(sent) ?? [];
    const call = (called: string, args: object) =>
      new AIMessage({ content: "", tool_calls: [{ id: called, name: called, args: { ...args } }] });
    if (messages.length === 1) return call("build", {});
    if (name !== undefined && !sent.includes("step 4501 of")) return call(name, { id, around: "step 4501 of" });
    return new AIMessage("Step 4501 is in the log.");
  });

const middleware = [spillwayMiddleware(await createSpillway())];
const agent = createAgent({ model, tools: [build], middleware });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Why did the build fail?" }] });

assert.equal(messages.at(-1)?.content, "Step 4501 is in the log.");
assert.ok(Math.max(...sizes) < 80_000);
console.log(`ok: the tool gave ${log.length} characters, at most ${Math.max(...sizes)} were in a request`);
