import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import { isRecord } from "../../values.ts";
import { type Message } from "./json-rpc.ts";
import type { ServerHandlers, Upstream } from "./upstream.ts";

/** A server that is reached over HTTP. */
export interface HttpServerOptions {
  url: URL;
  /** Headers that are sent with every request, such as a token for the server. */
  headers: Record<string, string>;
}

type Outgoing = Parameters<StreamableHTTPClientTransport["send"]>[0];

/** Connects to a server over streamable HTTP. */
export async function loadHttpServer({
  url,
  headers,
}: HttpServerOptions): Promise<(handlers: ServerHandlers) => Upstream> {
  const { StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/client");
  return (handlers) => connect(new Transport(url, { requestInit: { headers } }), url, handlers);
}

function connect(transport: StreamableHTTPClientTransport, url: URL, handlers: ServerHandlers): Upstream {
  // Messages are handled one after another, so that they keep their order.
  let last: Promise<void> = transport.start();
  const onmessage = (message: unknown) => {
    noteVersion(message as Message);
    last = last.then(() => handlers.message(message as Message)).catch(() => {});
  };
  Object.assign(transport, { onmessage });

  /** In the older protocol the version that was agreed on goes with every later request. */
  function noteVersion({ result }: Message): void {
    const version = isRecord(result) && isRecord(result.serverInfo) ? result.protocolVersion : undefined;
    if (typeof version === "string") transport.setProtocolVersion?.(version);
  }

  async function send(text: string): Promise<void> {
    await transport.send(JSON.parse(text) as Outgoing);
  }

  return {
    async send(message) {
      const text = typeof message === "string" ? message : Buffer.from(message).toString();
      try {
        await send(text);
      } catch (error) {
        throw new Error(`The MCP server at ${url.origin} cannot be asked: ${messageOf(error)}`, { cause: error });
      }
    },
    async stop() {
      await transport.terminateSession().catch(() => {});
      await transport.close().catch(() => {});
    },
  };
}
