// An agent of pi: wrapped tools, the tools that read back, and hooks that prune each request. The model is pi's own mock.
import assert from "node:assert/strict";
import { Agent, type AgentTool } from "@earendil-works/pi-agent-core";
import { createFauxCore, fauxAssistantMessage, fauxText, fauxToolCall } from "@earendil-works/pi-ai/providers/faux";
import { createSpillway } from "spillway";
import { recoverStream, spillwayHooks } from "spillway/pi";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build: AgentTool = {
  name: "build",
  label: "Build",
  description: "Runs the build.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: log }], details: { log } }),
};

const sizes: number[] = [];
const faux = createFauxCore({});
faux.setResponses(
  Array.from({ length: 5 }, () => ({ messages }) => {
    const sent = JSON.stringify(messages.filter(({ role }) => role === "toolResult").map(({ content }) => content));
    sizes.push(sent.length);
    const [, name, id] = /(\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(sent) ?? [];
    const call = (called: string, args: Record<string, string>) =>
      fauxAssistantMessage(fauxToolCall(called, args, { id: called }), { stopReason: "toolUse" });
    if (sent === "[]") return call("build", {});
    if (name !== undefined && id !== undefined && !sent.includes("step 4501 of"))
      return call(name, { id, around: "step 4501 of" });
    return fauxAssistantMessage(fauxText("Step 4501 is in the log."));
  }),
);

const spillway = await createSpillway();
const agent = new Agent({
  ...spillwayHooks(spillway),
  streamFn: recoverStream(spillway, faux.streamSimple),
  initialState: {
    systemPrompt: "Help.",
    model: faux.getModel(),
    tools: [...spillway.wrapTools([build]), ...spillway.readBack("pi")],
  },
});
await agent.prompt("Why did the build fail?");

assert.match(JSON.stringify(agent.state.messages.at(-1)), /Step 4501 is in the log/);
assert.ok(Math.max(...sizes) < 80_000);
console.log(`ok: the tool gave ${log.length} characters, at most ${Math.max(...sizes)} of results were in a request`);
