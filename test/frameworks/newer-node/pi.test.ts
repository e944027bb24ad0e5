import { Agent, type AgentMessage, type AgentTool } from "@earendil-works/pi-agent-core";
import { createFauxCore, fauxAssistantMessage, fauxText, fauxToolCall } from "@earendil-works/pi-ai/providers/faux";
import { describe, it } from "vitest";
import { recoverStream, spillwayHooks } from "../../../src/entrypoints/adapters/pi.ts";
import { testAdapter } from "../../../src/testing/test-adapter.ts";

const clean = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (key, each) => (/^(timestamp|usage|responseId|details)$/.test(key) ? undefined : each)),
  );

testAdapter(
  {
    name: "spillway/pi with pi 0.87",
    image: (text, base64) => ({ text, base64 }),
    async run(run) {
      const { spillway } = run;
      const outputs: Record<string, unknown> = {};
      const tools: AgentTool[] = run.tools.map(({ name, run: execute }) => ({
        name,
        label: name,
        description: name,
        parameters: { type: "object", properties: {} },
        async execute(id, args, signal) {
          const value = await execute(args as Record<string, unknown>, signal);
          const { text, base64 } = Object(value) as { text?: string; base64?: string };
          const said = {
            type: "text" as const,
            text: text ?? (typeof value === "string" ? value : JSON.stringify(value)),
          };
          const image = { type: "image" as const, data: base64 ?? "", mimeType: "image/png" };
          return { content: base64 === undefined ? [said] : [said, image], details: { value } };
        },
      }));
      const faux = createFauxCore({ api: "faux", tokenSize: { min: 1, max: 1 } });
      let names: string[] = [];
      const answer = (context: { messages: unknown[] }) => {
        const reply = (() => {
          try {
            return run.model({
              messages: clean(context.messages.filter((each) => (each as { role: string }).role !== "system")),
              tools: names,
            });
          } catch (error) {
            return { error: error as Error };
          }
        })();
        if ("error" in reply)
          return fauxAssistantMessage([], { stopReason: "error", errorMessage: reply.error.message });
        return "calls" in reply
          ? fauxAssistantMessage(
              reply.calls.map(({ id, name, args }) => fauxToolCall(name, args as never, { id })),
              { stopReason: "toolUse" },
            )
          : fauxAssistantMessage(fauxText(reply.text));
      };
      faux.setResponses(
        Array.from({ length: 60 }, () => (context: unknown) => answer(context as { messages: unknown[] })),
      );
      const all = run.readBack && spillway ? [...tools, ...spillway.readBack("pi")] : tools;
      names = all.map(({ name }) => name);
      const agent = new Agent({
        initialState: { systemPrompt: "", model: faux.getModel(), tools: all },
        streamFn: spillway ? recoverStream(spillway, faux.streamSimple) : faux.streamSimple,
        ...(spillway && spillwayHooks(spillway, { window: run.window })),
      });
      const pieces: string[] = [];
      agent.subscribe((event) => {
        if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
          pieces.push(event.assistantMessageEvent.delta);
        if (event.type === "tool_execution_end" && !event.isError)
          outputs[event.toolCallId] = event.result.details?.value;
      });
      run.signal?.addEventListener("abort", () => agent.abort());
      await agent.prompt(run.prompt);
      const { messages } = agent.state;
      const last = messages.at(-1) as Extract<AgentMessage, { role: "assistant" }>;
      if (last.stopReason === "error" || last.stopReason === "aborted")
        throw new Error(last.errorMessage ?? last.stopReason);
      const text = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return { text, history: messages, outputs, pieces };
    },
  },
  { describe, it },
);
