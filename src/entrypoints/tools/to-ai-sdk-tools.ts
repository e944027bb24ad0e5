import type { BoundedTool } from "./bounded-tool.ts";

/** A tool as the AI SDK takes it; `Schema` is the SDK's own. */
export interface AiSdkTool<Schema> {
  description: string;
  inputSchema: Schema;
  execute(input: unknown, options?: { abortSignal?: AbortSignal | undefined }): Promise<string>;
}

/** Tools for the Vercel AI SDK, 5 or newer: `toAiSdkTools(tools, jsonSchema)`, with `jsonSchema` from "ai". */
export function toAiSdkTools<Schema>(
  tools: readonly BoundedTool[],
  jsonSchema: (schema: never) => Schema,
): Record<string, AiSdkTool<Schema>> {
  const entries = tools.map(({ name, description, inputSchema, call }): [string, AiSdkTool<Schema>] => [
    name,
    {
      description,
      inputSchema: jsonSchema(inputSchema as never),
      async execute(input, options) {
        const { text, isError } = await call(input, options?.abortSignal);
        // The SDK marks a result as failed only if the tool throws.
        if (isError) throw new Error(text);
        return text;
      },
    },
  ]);
  return Object.fromEntries(entries);
}
