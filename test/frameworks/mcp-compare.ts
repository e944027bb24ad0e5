import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";

/** What a client does with a server. */
export interface Script {
  calls: [tool: string, args?: object][];
  prompts?: [name: string, args?: object][];
  /** Beyond those that the server lists. */
  resources?: string[];
  /** Something that differs from run to run, and what to put in its place. */
  volatile?: [RegExp, string][];
}

/** Which client talks. */
export type Sdk = "v1" | "v2" | "v2 auto";

/** What both SDKs' clients have, as far as the comparison goes. */
interface Talks {
  getServerCapabilities(): unknown;
  getServerVersion(): unknown;
  getInstructions(): unknown;
  ping(): Promise<unknown>;
  listTools(params?: object): Promise<Page>;
  listPrompts(params?: object): Promise<Page>;
  listResources(params?: object): Promise<Page>;
  listResourceTemplates(params?: object): Promise<Page>;
  readResource(params: { uri: string }): Promise<unknown>;
  getPrompt(params: { name: string; arguments?: object }): Promise<unknown>;
  close(): Promise<void>;
}
type Page = Record<string, unknown> & { nextCursor?: string };

/** Everything that a client gets from a server that is started with these words, in order. */
export async function talk(sdk: Sdk, args: string[], env: Record<string, string>, script: Script): Promise<unknown[]> {
  const told: unknown[] = [];
  const start = { command: process.execPath, args, env: { ...(process.env as Record<string, string>), ...env } };
  const about = { name: "compare", version: "1" };
  const old = sdk === "v1" ? new ClientV1(about) : null;
  const next =
    old === null ? new ClientV2(about, sdk === "v2 auto" ? { versionNegotiation: { mode: "auto" } } : {}) : null;
  await old?.connect(new StdioV1({ ...start, stderr: "ignore" }) as Parameters<ClientV1["connect"]>[0]);
  await next?.connect(new StdioV2({ ...start, stderr: "ignore" }));
  const client = (old ?? next) as unknown as Talks;
  const tell = async (what: string, ask: () => Promise<unknown>) => {
    const answer = await ask().catch((error: Error & { code?: unknown; data?: unknown }) => {
      return { failed: error.message, code: error.code, data: error.data };
    });
    told.push([what, answer]);
    return answer as Page;
  };
  const progress: unknown[] = [];
  // The clients drop a last step that they read together with the answer.
  const onprogress = (step: { progress: number; total?: number }) =>
    void (step.progress !== step.total && progress.push(step));
  const call = (name: string, given: object = {}) => {
    const params = { name, arguments: given as Record<string, unknown> };
    return (old?.callTool(params, undefined, { onprogress }) ??
      next?.callTool(params, { onprogress })) as Promise<unknown>;
  };
  try {
    told.push(["server", client.getServerVersion(), client.getServerCapabilities(), client.getInstructions() ?? null]);
    if (sdk !== "v2 auto") await tell("ping", () => client.ping());
    for (const list of ["listTools", "listPrompts", "listResources", "listResourceTemplates"] as const) {
      let cursor: string | undefined;
      do {
        ({ nextCursor: cursor } = await tell(list, () => client[list](cursor === undefined ? {} : { cursor })));
      } while (cursor !== undefined);
    }
    for (const [name, given] of script.calls)
      await tell(`call ${name} ${JSON.stringify(given)}`, () => call(name, given));
    for (const [name, given = {}] of script.prompts ?? []) {
      await tell(`prompt ${name}`, () => client.getPrompt({ name, arguments: given }));
    }
    for (const uri of script.resources ?? []) await tell(`read ${uri}`, () => client.readResource({ uri }));
    told.push(["progress", progress]);
  } finally {
    await client.close();
  }
  let text = JSON.stringify(told);
  for (const [shape, word] of script.volatile ?? []) text = text.replaceAll(shape, word);
  return JSON.parse(text) as unknown[];
}

/** What a client gets through the proxy, without what the proxy adds; what it takes out is taken out of both. */
export function withoutOurs(told: unknown[]): unknown[] {
  return told.map((line) => {
    const [what, answer, capabilities, ...rest] = line as [string, Page, Record<string, unknown>, ...unknown[]];
    if (what === "server") return [what, answer, { tools: {}, ...capabilities }, ...rest];
    if (what !== "listTools") return line;
    if (!Array.isArray(answer.tools)) return [what, { tools: [] }];
    const tools = (answer.tools as { name: string; _meta?: Record<string, unknown> }[])
      .filter(({ name }) => !/^(?:spillway_)?(?:recall|search)$/.test(name))
      .map(({ _meta, ...tool }) => {
        const meta = Object.entries(_meta ?? {}).filter(([key]) => key !== "anthropic/maxResultSizeChars");
        return { ...tool, outputSchema: undefined, _meta: Object.fromEntries(meta) };
      });
    return [what, { ...answer, tools }];
  });
}
