import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { newFrontSession } from "./front-session.ts";
import type { Message } from "./json-rpc.ts";
import type { ServerHandlers } from "./upstream.ts";

/** What was sent to a client, message by message. */
class FakeResponse extends EventEmitter {
  sent: Message[] = [];
  isEnded = false;
  writeHead() {
    return this;
  }
  flushHeaders() {}
  write(text: string) {
    this.sent.push(JSON.parse(text.split("\ndata: ")[1] ?? "null"));
    return true;
  }
  end() {
    this.isEnded = true;
    this.emit("close");
  }
}

async function newSession() {
  const toServer: Message[] = [];
  let handlers: ServerHandlers | null = null;
  const warnings: string[] = [];
  const state = { isStopped: false };
  const session = newFrontSession({
    spillway: await createSpillway({ store: null, ledger: null, env: {} }),
    warn: (text) => void warnings.push(text),
    upstream: (given) => {
      handlers = given;
      return {
        send: async (message) => void toServer.push(JSON.parse(message.toString())),
        stop: async () => {
          state.isStopped = true;
        },
      };
    },
  });
  const server = (message: unknown) => handlers?.message(Buffer.from(JSON.stringify(message)));
  const post = (...messages: Message[]) => {
    const response = new FakeResponse();
    return { response, taken: session.take(messages, response as unknown as ServerResponse) };
  };
  const listen = () => {
    const response = new FakeResponse();
    session.listen(response as unknown as ServerResponse);
    return response;
  };
  return { session, toServer, server, post, listen, state, warnings };
}

const ask = (id: number | string, method = "x/ask", params: Record<string, unknown> = {}): Message => ({
  id,
  method,
  params,
});

test("two posts with the same id each get their own answer, in whatever order it comes", async () => {
  const { post, server, toServer } = await newSession();
  const [one, two] = [post(ask(1)), post(ask(1))];
  await Promise.all([one.taken, two.taken]);
  expect(new Set(toServer.map(({ id }) => id)).size).toBe(2);
  await server({ id: toServer[1]?.id, result: { to: "two" } });
  await server({ id: toServer[0]?.id, result: { to: "one" } });
  expect(one.response).toMatchObject({ sent: [{ id: 1, result: { to: "one" } }], isEnded: true });
  expect(two.response).toMatchObject({ sent: [{ id: 1, result: { to: "two" } }], isEnded: true });
});

test("a post of several messages is open until the last is answered", async () => {
  const { post, server, toServer } = await newSession();
  const { response, taken } = post(ask("a"), { method: "notifications/x" }, ask("b"));
  await taken;
  expect(toServer).toHaveLength(3);
  await server({ id: toServer[0]?.id, result: {} });
  expect(response.isEnded).toBe(false);
  await server({ id: toServer[2]?.id, error: { code: 1, message: "no" } });
  expect(response.sent.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(response.isEnded).toBe(true);
});

test("progress goes to the post that asked, other words to the stream, and are kept while there is none", async () => {
  const { post, server, listen } = await newSession();
  for (let count = 1; count <= 150; count++) await server({ method: "notifications/early", params: { count } });
  const stream = listen();
  expect(stream.sent.map(({ params }) => params?.count)).toEqual(Array.from({ length: 100 }, (_, i) => i + 51));
  const one = post(ask(1, "tools/call", { name: "t", _meta: { progressToken: "p1" } }));
  const two = post(ask(2, "tools/call", { name: "t", _meta: { progressToken: "p2" } }));
  await Promise.all([one.taken, two.taken]);
  await server({ method: "notifications/progress", params: { progressToken: "p1", progress: 1 } });
  await server({ method: "notifications/tools/list_changed" });
  expect(one.response.sent).toHaveLength(1);
  expect(two.response.sent).toHaveLength(0);
  expect(stream.sent.at(-1)).toEqual({ method: "notifications/tools/list_changed" });
  expect(listen().sent).toEqual([]);
  expect(stream.isEnded).toBe(true);
});

test("a cancelled request is cancelled by the id that the server knows", async () => {
  const { post, toServer, session } = await newSession();
  await post(ask(7)).taken;
  await session.take([{ method: "notifications/cancelled", params: { requestId: 7 } }], null);
  expect(toServer[1]).toEqual({ method: "notifications/cancelled", params: { requestId: toServer[0]?.id } });
  await session.take([{ method: "notifications/cancelled", params: { requestId: 99 } }], null);
  expect(toServer[2]?.params).toEqual({ requestId: 99 });
});

test("the client's answers to the server pass with the server's id; a client that left is forgotten", async () => {
  const { post, server, toServer, session, warnings } = await newSession();
  await session.take([{ id: "from-server", result: { roots: [] } }], null);
  expect(toServer[0]).toEqual({ id: "from-server", result: { roots: [] } });
  const { response, taken } = post(ask(1));
  await taken;
  response.emit("close");
  await server({ id: toServer[1]?.id, result: {} });
  expect(response.sent).toEqual([]);
  expect(warnings).toEqual([]);
});

test("stop ends what is open, and the server", async () => {
  const { post, listen, session, state } = await newSession();
  const { response, taken } = post(ask(1));
  await taken;
  const stream = listen();
  await session.stop();
  expect([response.isEnded, stream.isEnded, state.isStopped]).toEqual([true, true, true]);
});
