import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { Speaks } from "../src/testing/fake-provider/fake-provider.ts";

/** One client. It asks with a text, or streams, and returns the answer. */
export interface Client {
  ask(text: string): Promise<{ text: string; calls: { tool: string; input: unknown }[]; inputTokens: number }>;
  stream(text: string): Promise<{ text: string; calls: { tool: string; input: unknown }[] }>;
}

/** The real clients of the providers, each at the address of a provider or of something before it. */
export const clients: Record<Speaks, (url: string) => Client> = {
  anthropic(url) {
    const client = new Anthropic({ apiKey: "fake", baseURL: url, maxRetries: 0 });
    const request = (text: string) => ({
      model: "claude-fake",
      max_tokens: 64,
      messages: [{ role: "user" as const, content: text }],
    });
    const read = (content: Anthropic.ContentBlock[]) => ({
      text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
      calls: content.flatMap((block) => (block.type === "tool_use" ? [{ tool: block.name, input: block.input }] : [])),
    });
    return {
      async ask(text) {
        const { content, usage } = await client.messages.create(request(text));
        return { ...read(content), inputTokens: usage.input_tokens };
      },
      stream: async (text) => read((await client.messages.stream(request(text)).finalMessage()).content),
    };
  },
  "openai-chat"(url) {
    const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, maxRetries: 0 });
    const request = (text: string) => ({ model: "gpt-fake", messages: [{ role: "user" as const, content: text }] });
    const read = (message: OpenAI.ChatCompletionMessage | undefined) => ({
      text: message?.content ?? "",
      calls: (message?.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ tool: call.function.name, input: JSON.parse(call.function.arguments) }] : [],
      ),
    });
    return {
      async ask(text) {
        const { choices, usage } = await client.chat.completions.create(request(text));
        return { ...read(choices[0]?.message), inputTokens: usage?.prompt_tokens ?? 0 };
      },
      async stream(text) {
        const { choices } = await client.chat.completions.stream(request(text)).finalChatCompletion();
        return read(choices[0]?.message);
      },
    };
  },
  "openai-responses"(url) {
    const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, maxRetries: 0 });
    const read = ({ output_text, output }: OpenAI.Responses.Response) => ({
      text: output_text,
      calls: output.flatMap((item) =>
        item.type === "function_call" ? [{ tool: item.name, input: JSON.parse(item.arguments) }] : [],
      ),
    });
    return {
      async ask(text) {
        const response = await client.responses.create({ model: "gpt-fake", input: text });
        return { ...read(response), inputTokens: response.usage?.input_tokens ?? 0 };
      },
      stream: async (text) => read(await client.responses.stream({ model: "gpt-fake", input: text }).finalResponse()),
    };
  },
  gemini(url) {
    const client = new GoogleGenAI({ apiKey: "fake", httpOptions: { baseUrl: url } });
    const request = (text: string) => ({ model: "gemini-fake", contents: text });
    return {
      async ask(text) {
        const response = await client.models.generateContent(request(text));
        const calls = (response.functionCalls ?? []).map(({ name, args }) => ({ tool: name ?? "", input: args }));
        return { text: textOf(response), calls, inputTokens: response.usageMetadata?.promptTokenCount ?? 0 };
      },
      async stream(text) {
        const whole = { text: "", calls: [] as { tool: string; input: unknown }[] };
        for await (const chunk of await client.models.generateContentStream(request(text))) {
          whole.text += textOf(chunk);
          for (const { name, args } of chunk.functionCalls ?? []) whole.calls.push({ tool: name ?? "", input: args });
        }
        return whole;
      },
    };
  },
};

function textOf(response: { candidates?: { content?: { parts?: { text?: string }[] } }[] }): string {
  return (response.candidates?.[0]?.content?.parts ?? []).map(({ text = "" }) => text).join("");
}
