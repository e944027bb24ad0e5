import { createServer } from "node:net";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** What both SDKs' clients can do, as far as the tests go. */
export interface AnyClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown; _meta?: Record<string, unknown> }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  call(name: string, args?: object, onProgress?: (progress: number) => void): Promise<Result>;
  close(): Promise<void>;
  pid: number | null;
}

/** A tool's result. */
export interface Result {
  content: { type: string; text: string }[];
  isError?: boolean;
  structuredContent?: unknown;
  _meta?: Record<string, unknown>;
}

/** Where a client connects to. */
export type Target = { args: string[] } | { url: string };

export const CLI = new URL("../../dist/cli.cjs", import.meta.url).pathname;
const ABOUT = { name: "test", version: "1" };

/** Connects a client of one of the SDKs. */
export async function connect(sdk: "v1" | "v2" | "v2 auto", target: Target): Promise<AnyClient> {
  const stdio = "args" in target ? { command: process.execPath, args: target.args, stderr: "ignore" as const } : null;
  const url = "url" in target ? new URL(target.url) : null;
  if (sdk === "v1") {
    const client = new ClientV1(ABOUT);
    const transport = stdio === null ? new HttpV1(url as URL) : new StdioV1(stdio);
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return {
      listTools: () => client.listTools() as ReturnType<AnyClient["listTools"]>,
      listResources: () => client.listResources(),
      call: (name, args = {}, onProgress) =>
        client.callTool({ name, arguments: args as Record<string, unknown> }, undefined, {
          timeout: 240_000,
          ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }),
        }) as unknown as Promise<Result>,
      close: () => client.close(),
      pid: transport instanceof StdioV1 ? transport.pid : null,
    };
  }
  const client = new ClientV2(ABOUT, sdk === "v2 auto" ? { versionNegotiation: { mode: "auto" } } : {});
  await client.connect(stdio === null ? new HttpV2(url as URL) : new StdioV2(stdio));
  return {
    listTools: () => client.listTools() as unknown as ReturnType<AnyClient["listTools"]>,
    listResources: () => client.listResources() as unknown as ReturnType<AnyClient["listResources"]>,
    call: (name, args = {}, onProgress) =>
      client.callTool(
        { name, arguments: args as Record<string, unknown> },
        {
          timeout: 240_000,
          ...(onProgress && { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
        },
      ) as unknown as Promise<Result>,
    close: () => client.close(),
    pid: null,
  };
}

/** A port that nobody listens at. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Waits for a server that was started. */
export async function untilAnswered(url: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (
      await fetch(url).then(
        (response) => response.arrayBuffer().then(() => true),
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}
