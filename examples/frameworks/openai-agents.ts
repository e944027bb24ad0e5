// An agent of OpenAI Agents: a wrapped tool, a wrapped model, and the tools that read back. The model is a mock.
import assert from "node:assert/strict";
import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  type StreamEvent,
  tool,
  Usage,
} from "@openai/agents";
import { createSpillway } from "spillway";
import { wrapModel } from "spillway/openai-agents";
import { z } from "zod";

const log = Array.from({ length: 9000 }, (_, at) => `step ${at + 1} of the build`).join("\n");
const build = tool({
  name: "build",
  description: "Runs the build.",
  parameters: z.object({}),
  execute: async () => log,
});

const sizes: number[] = [];
class Mock implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const sent = JSON.stringify(input);
    sizes.push(sent.length);
    const [, name, id] = /(\w+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})/.exec(sent) ?? [];
    const call = (called: string, args: object): ModelResponse => ({
      usage: new Usage(),
      output: [
        { type: "function_call", callId: called, name: called, arguments: JSON.stringify(args), status: "completed" },
      ],
    });
    if (!sent.includes("function_call_result")) return call("build", {});
    if (name !== undefined && !sent.includes("step 4501 of")) return call(name, { id, around: "step 4501 of" });
    const content = [{ type: "output_text" as const, text: "Step 4501 is in the log." }];
    return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content }] };
  }
  getStreamedResponse(): AsyncIterable<StreamEvent> {
    throw new Error("nothing is streamed here");
  }
}

const spillway = await createSpillway();
const agent = new Agent({
  name: "helper",
  model: wrapModel(spillway, new Mock()),
  tools: [...spillway.wrapTools([build]), ...spillway.readBack("openai-agents")],
});
const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, "Why did the build fail?");

assert.equal(finalOutput, "Step 4501 is in the log.");
assert.ok(Math.max(...sizes) < 80_000);
console.log(`ok: the tool gave ${log.length} characters, at most ${Math.max(...sizes)} were in a request`);
