import type { Message, MessageId } from "./json-rpc.ts";
import type { Line } from "./line-frames.ts";

/** Why a server cannot be run at all. */
export class UnableServer extends Error {
  /** As a shell gives it: 127 for no such command, 126 for one that may not be run. */
  readonly exitCode: 126 | 127;

  constructor(message: string, exitCode: 126 | 127) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Who gets a server's messages. */
export interface ServerHandlers {
  message(message: Line | Message): Promise<void>;
  tooLong(start: Uint8Array, bytes: number): Promise<void>;
  /** The server did not take one request, for a reason in words. */
  failed(id: MessageId, reason: string): Promise<void>;
  /** The server ended by itself and is started again. */
  gone(reason: string): Promise<void>;
  /** The server cannot be started at all: there is no such command, or it may not be run. */
  unable(fault: UnableServer): void;
  /** The messages that a server must get first after it was started again. */
  greeting(): readonly string[];
}

/** Headers of a client's request that go on with it to a server over HTTP. */
export type RequestHeaders = Record<string, string>;

/** A server behind the proxy. */
export interface Upstream {
  /** Rejects, with the reason in words, while the server is down. */
  send(message: Uint8Array | string, headers: RequestHeaders): Promise<void>;
  stop(): Promise<void>;
}
