import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { newFrontSession } from "./front-session.ts";
import { type Message, metaOf, readMessages, withValues } from "./json-rpc.ts";
import type { ServerHandlers } from "./upstream.ts";

/** What was sent to a client, message by message. */
class FakeResponse extends EventEmitter {
  sent: Message[] = [];
  lines: string[] = [];
  isEnded = false;
  writeHead() {
    return this;
  }
  flushHeaders() {}
  write(text: string) {
    const line = text.split("\ndata: ")[1]?.trim() ?? "null";
    this.lines.push(line);
    this.sent.push(JSON.parse(line));
    return true;
  }
  end() {
    this.isEnded = true;
    this.emit("close");
  }
}

const written = (message: Message) => ({ message, text: JSON.stringify(message) });

async function newSession(isShared = false) {
  const toServer: Message[] = [];
  const texts: string[] = [];
  let handlers: ServerHandlers | null = null;
  const warnings: string[] = [];
  const state = { isStopped: false };
  const session = newFrontSession(
    {
      spillway: await createSpillway({ store: null, ledger: null, env: {} }),
      warn: (text) => void warnings.push(text),
      upstream: (given) => {
        handlers = given;
        return {
          send: async (message) => {
            texts.push(Buffer.from(message).toString());
            toServer.push(JSON.parse(texts.at(-1) as string));
          },
          stop: async () => {
            state.isStopped = true;
          },
        };
      },
    },
    isShared,
  );
  const raw = (text: string) => handlers?.message(Buffer.from(text));
  const server = (message: unknown) => raw(JSON.stringify(message));
  const post = (...messages: Message[]) => {
    const response = new FakeResponse();
    return { response, taken: session.take(messages.map(written), response as unknown as ServerResponse) };
  };
  const listen = () => {
    const response = new FakeResponse();
    session.listen(response as unknown as ServerResponse);
    return response;
  };
  return { session, toServer, texts, raw, server, post, listen, state, warnings };
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
  const { post, server, listen, toServer } = await newSession();
  for (let count = 1; count <= 150; count++) await server({ method: "notifications/early", params: { count } });
  const stream = listen();
  expect(stream.sent.map(({ params }) => params?.count)).toEqual(Array.from({ length: 100 }, (_, i) => i + 51));
  const one = post(ask(1, "tools/call", { name: "t", _meta: { progressToken: "p1" } }));
  const two = post(ask(2, "tools/call", { name: "t", _meta: { progressToken: "p2" } }));
  await Promise.all([one.taken, two.taken]);
  const [token] = toServer.map((message) => metaOf(message).progressToken);
  await server({ method: "notifications/progress", params: { progressToken: token, progress: 1 } });
  await server({ method: "notifications/tools/list_changed" });
  expect(one.response.sent).toEqual([
    { method: "notifications/progress", params: { progressToken: "p1", progress: 1 } },
  ]);
  expect(two.response.sent).toHaveLength(0);
  expect(stream.sent.at(-1)).toEqual({ method: "notifications/tools/list_changed" });
  expect(listen().sent).toEqual([]);
  expect(stream.isEnded).toBe(true);
});

test("a cancelled request is cancelled by the id that the server knows", async () => {
  const { post, toServer, session } = await newSession();
  await post(ask(7)).taken;
  await session.take([written({ method: "notifications/cancelled", params: { requestId: 7 } })], null);
  expect(toServer[1]).toEqual({ method: "notifications/cancelled", params: { requestId: toServer[0]?.id } });
  await session.take([written({ method: "notifications/cancelled", params: { requestId: 99 } })], null);
  expect(toServer[2]?.params).toEqual({ requestId: 99 });
});

test("the client's answers to the server pass with the server's id; a client that left is forgotten", async () => {
  const { post, server, toServer, session, warnings } = await newSession();
  await session.take([written({ id: "from-server", result: { roots: [] } })], null);
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

const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

test("clients that share a server and use the same ids and tokens each get their own progress and subscriptions", async () => {
  const { post, server, toServer } = await newSession(true);
  const _meta = { ...MODERN, progressToken: 0 };
  const [one, two] = [post(ask(0, "x", { _meta })), post(ask(0, "x", { _meta }))];
  await Promise.all([one.taken, two.taken]);
  const tokens = toServer.map((message) => metaOf(message).progressToken);
  expect(new Set(tokens).size).toBe(2);
  await server({ method: "notifications/progress", params: { progressToken: tokens[1], progress: 5 } });
  expect(one.response.sent).toEqual([]);
  expect(two.response.sent).toEqual([{ method: "notifications/progress", params: { progressToken: 0, progress: 5 } }]);
  // What belongs to no request is said to nobody while there are several clients.
  await server({ method: "notifications/message", params: { data: "private" } });
  expect(one.response.sent).toEqual([]);

  const [a, b] = [
    post(ask("l", "subscriptions/listen", { _meta: MODERN })),
    post(ask("l", "subscriptions/listen", { _meta: MODERN })),
  ];
  await Promise.all([a.taken, b.taken]);
  const [first, second] = toServer.slice(2).map(({ id }) => id);
  const changed = (id: unknown) => ({
    method: "notifications/tools/list_changed",
    params: { _meta: { [SUBSCRIPTION]: id } },
  });
  await server(changed(second));
  expect([a.response.sent, b.response.sent]).toEqual([[], [changed("l")]]);
  await server({ id: first, result: { _meta: { [SUBSCRIPTION]: first } } });
  expect(a.response).toMatchObject({ sent: [{ id: "l", result: { _meta: { [SUBSCRIPTION]: "l" } } }], isEnded: true });
  await server({ method: "notifications/cancelled", params: { requestId: second } });
  expect(b.response.sent.at(-1)).toEqual({ method: "notifications/cancelled", params: { requestId: "l" } });
  expect(b.response.isEnded).toBe(true);
});

test("a client that leaves cancels its own requests, and cannot cancel those of another", async () => {
  const { post, toServer, session } = await newSession(true);
  const [one, two] = [post(ask(0, "x", { _meta: MODERN })), post(ask(0, "x", { _meta: MODERN }))];
  await Promise.all([one.taken, two.taken]);
  await session.take([written({ method: "notifications/cancelled", params: { requestId: 0 } })], null);
  expect(toServer).toHaveLength(2);
  two.response.emit("close");
  await expect
    .poll(() => toServer[2])
    .toMatchObject({ method: "notifications/cancelled", params: { requestId: toServer[1]?.id } });
  expect(session.isOpen).toBe(true);
});

test("a slow client holds up its own server; one that shares it is cut off", async () => {
  for (const isShared of [false, true]) {
    const { post, server } = await newSession(isShared);
    const { response, taken } = post(ask(1));
    await taken;
    const state = { isDone: false, isCut: false };
    Object.assign(response, { writableLength: 99e6, destroyed: false, destroy: () => void (state.isCut = true) });
    response.write = () => false;
    const said = server({ method: "notifications/message", params: {} })?.then(() => void (state.isDone = true));
    await new Promise(setImmediate);
    expect(state).toEqual({ isDone: isShared, isCut: isShared });
    response.emit("drain");
    await said;
  }
});

test("numbers that JavaScript cannot hold, and all else, pass as they were written", async () => {
  const { session, server, toServer, texts, raw } = await newSession();
  const response = new FakeResponse();
  const text = `{ "jsonrpc": "2.0",\n "id": 7, "method": "x/ask", "params": {"n": 12345678901234567890, "f": 1.0, "q": "\\u00e9 \\"id\\": 7", "_meta": {"progressToken": 9}}}`;
  await session.take(readMessages(text) ?? [], response as unknown as ServerResponse);
  const id = toServer[0]?.id;
  expect(texts[0]).toBe(
    text.replace('"id": 7,', `"id": "${id}",`).replace('"progressToken": 9', `"progressToken": "${id}"`),
  );
  await raw(
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"${id}","total":98765432109876543210}}`,
  );
  await raw(`{"result":{"big":12345678901234567890,"e":1e400},"id":"${id}","jsonrpc":"2.0"}`);
  expect(response.lines).toEqual([
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"total":98765432109876543210}}',
    '{"result":{"big":12345678901234567890,"e":1e400},"id":7,"jsonrpc":"2.0"}',
  ]);
  await server({ id: "nobody", result: {} });
});

test("several messages in an array keep their texts; what is no message is told", () => {
  const read = readMessages(' [ {"id":1,"a":[1,{"b":"]\\"}"}]} , {"id":12345678901234567890} ] ');
  expect(read?.map(({ text }) => text)).toEqual(['{"id":1,"a":[1,{"b":"]\\"}"}]}', '{"id":12345678901234567890}']);
  for (const text of ["", "[]", "[1]", "7", "{", "null", '[{"id":1},2]']) expect(readMessages(text)).toBeNull();
});

test("a value is put in the place of another, wherever it stands, and nothing else changes", () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), fc.constantFrom(undefined, 1), (one, other, indent) => {
      const message = {
        a: JSON.parse(one),
        params: { x: JSON.parse(other), id: 1, "": [] },
        id: "old",
        z: JSON.parse(one),
      };
      const text = ` ${JSON.stringify(message, null, indent)} `;
      const { text: changed } = withValues({ message: {}, text }, [
        [["id"], "new"],
        [["params", "id"], { y: 2 }],
        [["params", "none"], 1],
      ]);
      expect(JSON.parse(changed)).toEqual(
        JSON.parse(JSON.stringify({ ...message, id: "new", params: { ...message.params, id: { y: 2 } } })),
      );
      expect(changed.replace('"new"', '"old"').length).toBe(text.length + '{"y":2}'.length - 1);
    }),
  );
});
