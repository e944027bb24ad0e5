import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../../values.ts";
import {
  type Asked,
  answer,
  askedBy,
  ERROR_CODES,
  hasId,
  isAsking,
  type Message,
  type MessageId,
  metaOf,
  paramsOf,
  refuse,
  VERSION_KEY,
} from "./json-rpc.ts";
import type { ServerHandlers, Upstream } from "./upstream.ts";

/** A tool that is served. */
export interface ServedTool {
  name: string;
  description: string;
  inputSchema: object;
  /** Without them it only reads. */
  annotations?: Record<string, boolean>;
  call(args: unknown, signal?: AbortSignal): Promise<{ text: string; isError: boolean }>;
}

/** The version of the protocol in which each request says its version. */
const MODERN_VERSION = "2026-07-28";
/** The versions in which a connection begins with `initialize`, the newest first. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const READS_ONLY = { readOnlyHint: true, openWorldHint: false };
/** How long calls that were asked to end may take: a command may have to be ended by force. */
const STOP_WAIT_MS = 5000;
const NO_VERSION = -32022;
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";

/** A server of tools in this process. The proxy treats it like any other server. */
export function startToolServer(
  tools: readonly ServedTool[],
  serverInfo: { name: string; version: string },
  handlers: ServerHandlers,
): Upstream {
  const running = new Map<MessageId, AbortController>();
  const calls = new Set<Promise<void>>();
  const say = (message: unknown) => handlers.message(message as Message);

  async function callTool(asked: Asked, { name, arguments: args }: Record<string, unknown>): Promise<void> {
    const { id } = asked;
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined)
      return say(refuse(id, ERROR_CODES.badParams, `there is no tool ${JSON.stringify(name)?.slice(0, 200)}`));
    const abort = new AbortController();
    running.set(id, abort);
    const { text, isError } = await tool.call(args, abort.signal);
    running.delete(id);
    if (!abort.signal.aborted) await say(answer(asked, { content: [{ type: "text", text }], isError }));
  }

  async function take(message: Message): Promise<void> {
    if (!isAsking(message)) return;
    const { method } = message;
    const params = paramsOf(message);
    if (!hasId(message)) {
      if (method === "notifications/cancelled") running.get(params.requestId as MessageId)?.abort();
      return;
    }
    const { id } = message;
    const asked = askedBy(message);
    const version = metaOf(message)[VERSION_KEY];
    if (asked.isModern && version !== MODERN_VERSION) {
      const data = { supported: [MODERN_VERSION], requested: version };
      const error = { code: NO_VERSION, message: "this version of the protocol is not served", data };
      return say({ jsonrpc: "2.0", id, error });
    }
    const capabilities = { tools: {} };
    if (method === "initialize") {
      const protocolVersion = VERSIONS.find((each) => each === params.protocolVersion) ?? VERSIONS[0];
      return say(answer(asked, { protocolVersion, capabilities, serverInfo }));
    }
    if (method === "server/discover" && asked.isModern) {
      const supportedVersions = [MODERN_VERSION];
      return say(answer(asked, { supportedVersions, capabilities, _meta: { [SERVER_KEY]: serverInfo } }, true));
    }
    if (method === "ping") return say(answer(asked, {}));
    if (method === "tools/list") {
      const listed = tools.map(({ name, description, inputSchema, annotations = READS_ONLY }) => ({
        name,
        description,
        inputSchema,
        annotations,
      }));
      return say(answer(asked, { tools: listed }, true));
    }
    if (method === "tools/call") {
      // The call is not waited for, so that a long one does not hold up the next.
      const call = callTool(asked, params).catch(() => {});
      calls.add(call);
      return void call.then(() => calls.delete(call));
    }
    return say(refuse(id, ERROR_CODES.noMethod, `there is no method ${method.slice(0, 200)}`));
  }

  return {
    async send(message) {
      const parsed: unknown = JSON.parse(message.toString());
      for (const each of Array.isArray(parsed) ? parsed : [parsed]) if (isRecord(each)) await take(each);
    },
    async stop() {
      for (const abort of running.values()) abort.abort();
      await Promise.race([Promise.all(calls), sleep(STOP_WAIT_MS, undefined, { ref: false })]);
    },
  };
}
