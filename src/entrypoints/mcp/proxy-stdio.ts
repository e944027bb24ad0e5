import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { messageOf } from "../../errors.ts";
import type { Spillway } from "../../spillway.ts";
import { newLineFrames, writeLine } from "./line-frames.ts";
import { type Relay, type RelayEnds, type RelayRules, startRelay } from "./relay.ts";
import type { ServerHandlers, UnableServer, Upstream } from "./upstream.ts";

/** How a proxy is set up. */
export interface ProxyOptions {
  spillway: Spillway;
  /** Groups what passes, for statistics and retention. If it is not given, a new name is made. */
  session?: string | undefined;
  /** Starts the server that stands behind the proxy. */
  upstream: (handlers: ServerHandlers) => Upstream;
  rules?: RelayRules | undefined;
  /** Called with what a person should know. */
  warn: (text: string) => void;
}

/** The client's side of a proxy. */
export interface ClientStreams {
  input: Readable;
  output: Writable;
}

const MAX_LINE_BYTES = 500 * 1024 * 1024;

/** A name for what passes through one connection. */
export function newSessionName(): string {
  return `mcp-${randomBytes(5).toString("hex")}`;
}

/** What a server tells, handed to a relay. */
export function serverHandlers(
  relay: Relay,
  warn: ProxyOptions["warn"],
  unable: ServerHandlers["unable"],
): ServerHandlers {
  return {
    message: (message) => relay.fromServer(message).catch((error: unknown) => warn(messageOf(error))),
    tooLong: relay.tooLong,
    failed: relay.failed,
    gone: relay.serverGone,
    unable,
    greeting: () => relay.greeting,
  };
}

/** Stands between a client on standard input and output and a server, until the client is gone. Rejects if the server cannot be run. */
export async function proxyStdio(
  { spillway, session = newSessionName(), upstream, warn, rules }: ProxyOptions,
  { input, output }: ClientStreams,
): Promise<void> {
  let isGone = false;
  let unable: UnableServer | null = null;
  output.on("error", () => {
    isGone = true;
    input.destroy();
  });
  const ends: RelayEnds = {
    toClient: (message) => (isGone ? undefined : writeLine(output, message)),
    toServer: (message, headers) => server.send(message, headers),
    warn,
  };
  const relay = startRelay(spillway, session, ends, rules);
  const server = upstream(
    serverHandlers(relay, warn, (fault) => {
      unable = fault;
      input.destroy();
    }),
  );
  const frames = newLineFrames(MAX_LINE_BYTES, (_, bytes) =>
    warn(`the client sent a message of ${bytes} bytes; it is left out`),
  );
  try {
    for await (const chunk of input) {
      for (const line of frames.add(chunk as Uint8Array)) {
        // If we fail, one message is lost and the connection stays.
        await relay
          .fromClient(Array.isArray(line) ? Buffer.concat(line) : line)
          .catch((error: unknown) => warn(messageOf(error)));
      }
    }
  } catch (error) {
    const isEnded = isGone || unable !== null || (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
    if (!isEnded) warn(`the client's input broke off: ${messageOf(error)}`);
  } finally {
    await server.stop();
  }
  if (unable !== null) throw unable;
}
