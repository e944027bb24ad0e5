import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { readEvents } from "./http-exchange.ts";
import { startHttpServer } from "./http-server.ts";
import { VERSION_KEY } from "./json-rpc.ts";

type Handle = (
  message: { id?: number; method: string; params?: object },
  request: IncomingMessage,
  response: ServerResponse,
) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server over HTTP, a connection to it, and what came back. */
async function connected(handle: Handle, greeting: string[] = []) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    handle(text === "" ? { method: String(request.method) } : JSON.parse(text), request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const came: { id?: unknown; result?: unknown; method?: string; params?: unknown }[] = [];
  const failed: [unknown, string][] = [];
  const upstream = startHttpServer(
    { url, headers: async () => ({ authorization: "Bearer t" }) },
    {
      message: async (message) => {
        const parts = Array.isArray(message) ? message : message instanceof Uint8Array ? [message] : null;
        came.push(parts === null ? (message as object) : JSON.parse(Buffer.concat(parts).toString()));
      },
      failed: async (id, reason) => void failed.push([id, reason]),
      tooLong: async () => {},
      gone: async () => {},
      unable: () => {},
      greeting: () => greeting,
    },
  );
  const send = (message: object, headers = {}) =>
    upstream.send(JSON.stringify({ jsonrpc: "2.0", ...message }), headers);
  return { send, came, failed, upstream };
}

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const modern = { [VERSION_KEY]: "2026-07-28" };

test("calls to a server that answers in JSON run at the same time", async () => {
  const open: (() => void)[] = [];
  const { send, came } = await connected(({ id }, _, response) => open.push(() => json(response, { id, result: {} })));
  for (const id of [1, 2, 3]) await send({ id, method: "tools/call" });
  await expect.poll(() => open.length).toBe(3);
  for (const answer of open.toReversed()) answer();
  await expect.poll(() => came.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
});

test("a hundred calls run at the same time, and the next waits for one of them", async () => {
  const open: (() => void)[] = [];
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const { send } = await connected(({ id }, _, response) => open.push(() => json(response, { id, result: {} })));
  for (let id = 0; id < 100; id++) await send({ id, method: "tools/call" });
  const next = send({ id: 100, method: "tools/call" });
  await expect.poll(() => open.length).toBe(100);
  open[50]?.();
  await next;
  await expect.poll(() => open.length).toBe(101);
  expect(warnings).toEqual([]);
});

test.each([401, 429, 500])("a status of %i fails the one call, in few words", async (status) => {
  let answer = () => {};
  const { send, came, failed } = await connected(({ id }, _, response) => {
    if (id === 1) response.writeHead(status).end(`no ${"x".repeat(1e6)}`);
    else answer = () => json(response, { id, result: {} });
  });
  await send({ id: 2, method: "tools/call" });
  await send({ id: 1, method: "tools/call" });
  await expect.poll(() => failed).toHaveLength(1);
  expect(came).toEqual([]);
  answer();
  await expect.poll(() => came.length).toBe(1);
  expect(failed).toHaveLength(1);
  expect(failed[0]?.[0]).toBe(1);
  expect(failed[0]?.[1]).toMatch(new RegExp(`status ${status}: no x`));
  expect(failed[0]?.[1].length).toBeLessThan(700);
});

test("a server that is away, breaks off or answers nothing fails the one call", async () => {
  const { send, failed } = await connected(({ id }, request, response) => {
    if (id === 1) request.socket.destroy();
    if (id === 2) response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"method":"n"}\n\n');
    if (id === 3) response.writeHead(202).end();
  });
  for (const id of [1, 2, 3]) await send({ id, method: "tools/call" });
  await expect.poll(() => failed.map(([id]) => id).sort()).toEqual([1, 2, 3]);
});

test.each([404, 400])(
  "a server that was started again and answers %i is greeted again, once, and asked again",
  async (status) => {
    let session = "one";
    const greetings: string[] = [];
    const greeting = [
      JSON.stringify({ jsonrpc: "2.0", id: "spillway-greeting", method: "initialize", params: {} }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    ];
    const { send, came, failed } = await connected(({ id, method }, { headers }, response) => {
      if (method === "GET") return response.writeHead(405).end();
      if (method === "initialize") {
        greetings.push(method);
        const result = { protocolVersion: "2025-11-25", serverInfo: { name: "s" }, capabilities: {} };
        return json(response, { id, result }, 200, { "mcp-session-id": session });
      }
      if (headers["mcp-session-id"] !== session)
        return json(response, { id: null, error: { message: "No valid session ID" } }, status);
      if (id === undefined) return void (greetings.push(method), response.writeHead(202).end());
      return json(response, { id, result: { version: headers["mcp-protocol-version"] } });
    }, greeting);
    await send({ id: 0, method: "initialize" });
    await expect.poll(() => came.length).toBe(1);
    await send({ method: "notifications/initialized" });
    session = "two";
    await send({ id: 1, method: "tools/call" });
    await send({ id: 2, method: "tools/call" });
    await expect
      .poll(() =>
        came
          .slice(1)
          .map(({ id }) => id)
          .sort(),
      )
      .toEqual([1, 2]);
    expect(came[1]?.result).toEqual({ version: "2025-11-25" });
    expect(greetings).toEqual(["initialize", "notifications/initialized", "initialize", "notifications/initialized"]);
    expect(failed).toEqual([]);
  },
);

test("a server that cannot be greeted again yet is greeted with the next request", async () => {
  let session = "one";
  let refused = "";
  let held: Promise<void> | null = null;
  const seen: unknown[] = [];
  const greeted: string[] = [];
  const greeting = [
    JSON.stringify({ jsonrpc: "2.0", id: "spillway-greeting", method: "initialize", params: {} }),
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
  ];
  const { send, came, failed } = await connected(async ({ id, method }, { headers }, response) => {
    if (method === "GET") return response.writeHead(405).end();
    if (method === refused) return response.writeHead(503).end("starting");
    if (method === "initialize") {
      greeted.push(session);
      await held;
      return json(response, { id, result: {} }, 200, { "mcp-session-id": session });
    }
    if (id !== undefined) seen.push([id, headers["mcp-session-id"]]);
    if (headers["mcp-session-id"] !== session) return response.writeHead(404).end("Session not found");
    return id === undefined ? response.writeHead(202).end() : json(response, { id, result: {} });
  }, greeting);
  const answered = () => came.map(({ id }) => id);
  await send({ id: 0, method: "initialize" });
  await expect.poll(answered).toEqual([0]);
  session = "two";
  refused = "initialize";
  await send({ id: 1, method: "tools/call" });
  await expect.poll(() => failed).toEqual([[1, expect.stringContaining("status 503: starting")]]);
  refused = "notifications/initialized";
  await send({ id: 2, method: "tools/call" });
  await expect.poll(() => failed.map(([id]) => id)).toEqual([1, 2]);
  refused = "";
  await send({ id: 3, method: "tools/call" });
  await expect.poll(answered).toEqual([0, 3]);
  session = "three";
  seen.length = 0;
  let goOn = () => {};
  held = new Promise((resolve) => (goOn = resolve));
  await send({ id: 4, method: "tools/call" });
  await expect.poll(() => greeted).toContain("three");
  expect(seen).toEqual([[4, "two"]]);
  // What is asked while the server is greeted waits for the new session.
  await send({ id: 5, method: "tools/call" });
  goOn();
  await expect.poll(answered).toEqual(expect.arrayContaining([4, 5]));
  expect(seen.filter((each) => JSON.stringify(each).startsWith("[5"))).toEqual([[5, "three"]]);
  expect(failed).toHaveLength(2);
});

test.each([
  ["a notification", { method: "notifications/message", params: { id: 7, data: "x".repeat(9e6) } }],
  ["a request of the server", { params: { text: "x".repeat(9e6) }, id: 7, method: "sampling/createMessage" }],
])("%s of more than 8 MiB is no answer", async (_, message) => {
  const { send, came, failed } = await connected((__, ___, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(message)}\n\n`),
  );
  await send({ id: 7, method: "tools/call" });
  await expect.poll(() => failed).toEqual([[7, expect.stringContaining("ended its answer early")]]);
  expect(came).toHaveLength(1);
});

test("an answer of more than 8 MiB is one, wherever its id stands", async () => {
  const text = `"{[\\"${"x".repeat(9e6)}`;
  const result = { content: [{ type: "text", text, id: 9, method: "m" }] };
  const { send, came, failed } = await connected(({ id }, _, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(id === 1 ? { result, id } : { id, result })}\n\n`);
  });
  for (const id of [1, 2]) await send({ id, method: "tools/call" });
  await expect.poll(() => came.length).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(failed).toEqual([]);
});

async function eventsOf(chunks: readonly string[], maxBytes = 1000): Promise<object[]> {
  const body = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk, "latin1");
  })();
  const events: object[] = [];
  for await (const event of readEvents(body, maxBytes))
    events.push({ ...event, data: Buffer.concat(event.data).toString() });
  return events;
}

test.each(["\n", "\r", "\r\n"])("a line of an event ends with %j, wherever the stream is broken", async (end) => {
  const lines = [
    "id: e1",
    "data: one",
    "data: two \xc3\xa9",
    "data",
    "",
    ": a comment",
    "retry: 5",
    "data: three",
    "",
    "",
  ];
  const text = lines.join(end);
  const events = [
    { id: "e1", retryMs: undefined, data: "one\ntwo é\n" },
    { id: undefined, retryMs: 5, data: "three" },
  ];
  for (let size = 1; size < 9; size++)
    expect(await eventsOf(text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [])).toEqual(events);
});

test("an event that is too long is refused, in one line or many; a stream of many events is not", async () => {
  const tooLong = /an event of more than 1000 bytes/;
  await expect(eventsOf(["data: ", "x".repeat(600), "x".repeat(600)])).rejects.toThrow(tooLong);
  await expect(eventsOf(Array(200).fill("data: xxxx\n"))).rejects.toThrow(tooLong);
  await expect(eventsOf([": ".padEnd(1200)])).rejects.toThrow(tooLong);
  expect(await eventsOf(Array(200).fill("data: xxxx\n\n"))).toHaveLength(200);
  expect(await eventsOf(Array(200).fill(": still here\n"))).toEqual([]);
});

test("a stream that ends early is asked for again from where it was", async () => {
  const { send, came } = await connected(({ id, method }, { headers }, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (method === "GET")
      return response.end(`id: e2\r\ndata: {"id":7,"result":{"from":"${headers["last-event-id"]}"}}\r\n\r\n`);
    return response.end(
      `id: e1\nretry: 5\ndata: {"method":"notifications/progress",\ndata: "params":{"id":${id}}}\n\n: a comment\n\n`,
    );
  });
  await send({ id: 7, method: "tools/call" });
  await expect
    .poll(() => came)
    .toEqual([
      { method: "notifications/progress", params: { id: 7 } },
      { id: 7, result: { from: "e1" } },
    ]);
});

test("what a server says of its own accord is heard, and its stream is asked for again after the pause that it names", async () => {
  let asked = 0;
  const { send, came } = await connected(({ id, method }, _, response) => {
    if (method !== "GET") return id === undefined ? response.writeHead(202).end() : json(response, { id, result: {} });
    asked += 1;
    const said = JSON.stringify({ method: "notifications/message", params: { asked } });
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(`retry: ${asked === 1 ? 1 : 3_600_000}\ndata: ${said}\n\n`);
  });
  await send({ method: "notifications/initialized" });
  await expect.poll(() => came.map(({ params }) => params)).toEqual([{ asked: 1 }, { asked: 2 }]);
  for (const id of [1, 2, 3]) {
    await send({ id, method: "tools/call" });
    await expect.poll(() => came.at(-1)?.id).toBe(id);
  }
  expect(asked).toBe(2);
});

test("requests of the newer protocol have its headers, those of a tool's arguments too, listed or not", async () => {
  const seen: Record<string, unknown>[] = [];
  const schema = {
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      at: { properties: { n: { "x-mcp-header": "N" } } },
    },
  };
  const { send, came } = await connected(({ id, method }, { headers }, response) => {
    seen.push({ ...headers });
    if (method === "tools/list") return json(response, { id, result: { tools: [{ name: "t", inputSchema: schema }] } });
    const isWhole = headers["mcp-param-region"] !== undefined;
    return isWhole
      ? json(response, { id, result: {} })
      : json(response, { id, error: { code: -32020, message: "headers" } }, 400);
  });
  const call = {
    method: "tools/call",
    params: { name: "t", arguments: { region: "Zürich", at: { n: 5 } }, _meta: modern },
  };
  await send({ id: 1, ...call }, { "x-team": "a" });
  await expect.poll(() => came.length).toBe(1);
  expect(came[0]).toMatchObject({ id: 1, result: {} });
  expect(seen.map((headers) => headers["mcp-method"])).toEqual(["tools/call", "tools/list", "tools/call"]);
  expect(seen[2]).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-name": "t",
    "mcp-param-region": `=?base64?${Buffer.from("Zürich").toString("base64")}?=`,
    "mcp-param-n": "5",
    "x-team": "a",
    authorization: "Bearer t",
  });
  await send({ id: 2, ...call });
  await expect.poll(() => came.length).toBe(2);
  expect(seen).toHaveLength(4);
});

test("an error of the protocol that comes with a status passes as it is", async () => {
  const error = { code: -32022, message: "Unsupported protocol version", data: { supported: ["2026-07-28"] } };
  const { send, came, failed } = await connected(({ id }, _, response) =>
    json(response, { jsonrpc: "2.0", id, error }, 400),
  );
  await send({ id: 1, method: "server/discover", params: { _meta: modern } });
  await expect.poll(() => came).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
  expect(failed).toEqual([]);
});

test("a cancelled request of the newer protocol is broken off, and stop breaks off all", async () => {
  let [opened, closed] = [0, 0];
  const { send, failed, upstream } = await connected((_, __, response) => {
    response.on("close", () => closed++);
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    opened++;
  });
  for (const id of [1, 2]) await send({ id, method: "tools/call", params: { name: "t", _meta: modern } });
  await expect.poll(() => opened).toBe(2);
  await send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await expect.poll(() => closed).toBe(1);
  await upstream.stop();
  await expect.poll(() => closed).toBe(2);
  expect(failed).toEqual([]);
});

test("a redirect on the same host is followed, one to another is not, and gets no token", async () => {
  const seen: unknown[] = [];
  const other = createServer(({ headers }, response) => {
    seen.push(headers.authorization);
    json(response, { id: 2, result: {} });
  });
  servers.push(other);
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
  const { send, came, failed } = await connected(({ id }, { url }, response) => {
    if (id === 2) return response.writeHead(307, { location }).end();
    return url === "/mcp/" ? json(response, { id, result: {} }) : response.writeHead(307, { location: "/mcp/" }).end();
  });
  await send({ id: 1, method: "tools/call" });
  await send({ id: 2, method: "tools/call" });
  await expect.poll(() => [came.length, failed.length]).toEqual([1, 1]);
  expect(seen).toEqual([]);
});
