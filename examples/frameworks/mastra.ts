// An agent of Mastra: wrapped tools, the tools that read back, and a processor that prunes and recovers. The provider is one on
// this machine.
import assert from "node:assert/strict";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { createSpillway } from "spillway";
import { spillwayProcessor } from "spillway/mastra";
import { startFakeProvider } from "spillway/testing";
import { z } from "zod";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build = createTool({
  id: "build",
  description: "Runs the build.",
  inputSchema: z.object({}),
  execute: async () => ({ log }),
});

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
const processor = spillwayProcessor(spillway);
const agent = new Agent({
  id: "helper",
  name: "helper",
  instructions: "Help.",
  model: { id: "fake/any", url: `${provider.url}/v1`, apiKey: "none" },
  inputProcessors: [processor],
  errorProcessors: [processor],
  tools: { ...spillway.wrapTools({ build }), ...spillway.readBack("mastra") },
});
const { text, steps } = await agent.generate("Why did the build fail?", { maxSteps: 5 });
await provider.stop();

const most = Math.max(...provider.requests.map(({ bytes }) => bytes));
assert.equal(text, "Step 4501 is in the log.");
assert.deepEqual(steps[0]?.toolResults[0]?.payload.result, { log });
assert.ok(most < 80_000);
console.log(`ok: ${log.length} characters for the application, at most ${most} bytes in a request`);
