import type { BoundedTool } from "./bounded-tool.ts";

/** LangChain's own `tool`, as far as it is used here. */
export type MakeLangChainTool<Made> = (
  run: (input: unknown, config?: { signal?: AbortSignal | undefined }) => Promise<string>,
  fields: { name: string; description: string; schema: never },
) => Made;

/** Tools for LangChain.js 1 or newer: `toLangChainTools(tools, tool)`, with `tool` from "langchain". */
export function toLangChainTools<Made>(tools: readonly BoundedTool[], tool: MakeLangChainTool<Made>): Made[] {
  return tools.map(({ name, description, inputSchema, call }) =>
    tool(
      async (input, config) => {
        const { text, isError } = await call(input, config?.signal);
        // LangChain marks a result as failed only if the tool throws.
        if (isError) throw new Error(text);
        return text;
      },
      { name, description, schema: inputSchema as never },
    ),
  );
}
