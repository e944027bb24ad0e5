import type { Message } from "./json-rpc.ts";

/** Whom a server's words go to. */
export interface ServerHandlers {
  message(message: Uint8Array | Message): Promise<void>;
  tooLong(start: Uint8Array, bytes: number): Promise<void>;
  /** It ended by itself; it is started anew. */
  gone(reason: string): Promise<void>;
  /** What one that was started anew must be told first. */
  greeting(): readonly string[];
}

/** A server behind the proxy. */
export interface Upstream {
  /** Rejects, with the reason in words, while the server is down. */
  send(message: Uint8Array | string): Promise<void>;
  stop(): Promise<void>;
}
