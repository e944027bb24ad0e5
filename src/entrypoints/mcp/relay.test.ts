import { describe, expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { VERSION_KEY } from "./json-rpc.ts";
import { type RelayRules, startRelay } from "./relay.ts";

async function newRelay({ options = {}, ...rules }: RelayRules & { options?: object } = {}) {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, ...options });
  const toClient: (Uint8Array | string)[] = [];
  const toServer: (Uint8Array | string)[] = [];
  const warnings: string[] = [];
  const ends = {
    toClient: (message: Uint8Array | string) => void toClient.push(message),
    toServer: async (message: Uint8Array | string) => void toServer.push(message),
    warn: (text: string) => void warnings.push(text),
  };
  const relay = startRelay(spillway, "s1", ends, rules);
  const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  return {
    relay,
    spillway,
    ends,
    toClient,
    toServer,
    warnings,
    client: (value: unknown) => relay.fromClient(bytes(value)),
    server: (value: unknown) => relay.fromServer(bytes(value)),
    last: () => JSON.parse(String(new TextDecoder().decode(Buffer.from(toClient.at(-1) as string)))),
  };
}

const call = (id: number | string, name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
const log = Array.from({ length: 5000 }, (_, i) => `line ${i + 1} of a long log`).join("\n");

test("passes what it does not know exactly as it came, both ways", async () => {
  const { client, server, toClient, toServer } = await newRelay();
  const odd = '{ "jsonrpc":"2.0" ,"method":"x/unknown", "params":{"a":1.0,"é":null} }';
  await client(odd);
  await server(odd);
  expect([toServer, toClient].map(([sent]) => Buffer.from(sent as Uint8Array).toString())).toEqual([odd, odd]);
});

test("clamps a result, keeps images and the error flag, and the marker's own calls give the rest", async () => {
  const { client, server, last } = await newRelay();
  await client(call(7, "build"));
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  await server({
    jsonrpc: "2.0",
    id: 7,
    result: { content: [{ type: "text", text: log }, image], isError: true, _meta: { a: 1 } },
  });
  const { result } = last();
  const text: string = result.content[0].text;
  expect(text.length).toBeLessThanOrEqual(51_200);
  expect(result.content[1]).toEqual(image);
  expect(result.isError).toBe(true);
  expect(result._meta.a).toBe(1);
  // Some clients give it to their model.
  expect(result._meta["spillway/receipt"]).toEqual({
    artifact: expect.stringMatching(/^\w+$/),
    saved: "yes",
    bytes: log.length,
    shownBytes: text.length,
  });
  const asked = /recall\((\{.*?\})\)/.exec(text)?.[1] ?? "";
  await client(call(8, "recall", JSON.parse(asked.replace("[from,to]", "[2500,2501]"))));
  await expect.poll(() => last().id).toBe(8);
  expect(last().result.content[0].text).toContain("line 2500 of a long log\nline 2501 of a long log");
  const found = /search\((\{.*?\})\)/.exec(text)?.[1] ?? "";
  await client(call(9, "search", JSON.parse(found.replace("...", "line 3333 "))));
  await expect.poll(() => last().id).toBe(9);
  expect(last().result.content[0].text).toContain("3333:line 3333 of a long log");
});

const result = (id: number, given: object) => ({ jsonrpc: "2.0", id, result: given });

describe("structured content", () => {
  async function shown(given: object, rules: Parameters<typeof newRelay>[0] = {}) {
    const all = await newRelay(rules);
    await all.client(call(1, "t"));
    await all.server(result(1, given));
    return { ...all, result: all.last().result };
  }
  const text = (said: string) => [{ type: "text", text: said }];

  test("goes where it repeats the content of a result that is cut", async () => {
    const rows = Array.from({ length: 9999 }, (_, i) => ({ i, name: `row ${i}` }));
    for (const [content, structuredContent] of [
      [text(log), { content: log }],
      [text(log), { a: { b: [log.slice(100, 9000)] } }],
      [text(JSON.stringify({ rows }, null, 2)), { rows }],
      [
        [{ type: "image", data: "A".repeat(300_000), mimeType: "image/png" }],
        { content: [{ type: "image", data: "A".repeat(300_000), mimeType: "image/png" }] },
      ],
    ] as const) {
      const { result: got } = await shown({ content, structuredContent });
      expect(got.structuredContent).toBeUndefined();
      expect(got.content[0].type).toBe(content[0]?.type);
      if (content[0]?.type === "image") expect(got.content).toEqual(content);
      else expect(got.content[0].text).toMatch(/recall\(/);
    }
  });

  test("stays as it came where the result is within its limits", async () => {
    const { toClient } = await shown({ content: text('{"a":1}'), structuredContent: { a: 1 } });
    expect(toClient[0]).toBeInstanceOf(Uint8Array);
  });

  test("gets the tool's own limit where it says more than the content, stays valid, and its rest is saved", async () => {
    const rows = Array.from({ length: 9000 }, (_, i) => `row ${i} of a table`);
    for (const structuredContent of [{ log, exit: 1 }, { rows }, rows, log]) {
      const { result: got, client, last } = await shown({ content: text("as above"), structuredContent });
      expect(got.content).toEqual(text("as above"));
      const json = JSON.stringify(got.structuredContent);
      expect(json.length).toBeLessThanOrEqual(52_000);
      expect(json.length).toBeGreaterThan(30_000);
      expect(Array.isArray(got.structuredContent)).toBe(Array.isArray(structuredContent));
      const id = got._meta["spillway/receipt"].artifact;
      expect(json).toContain(`\\"id\\":\\"${id}\\"`);
      await client(call(5, "search", { id, pattern: "(row|line) 4500 " }));
      await expect.poll(() => last().id).toBe(5);
      expect(last().result.content[0].text).toMatch(/(row|line) 4500 of a/);
    }
  });

  test("base64 in it is whole or described, never cut", async () => {
    const data = Buffer.from(Array.from({ length: 90_000 }, (_, i) => (i * 7919) % 256)).toString("base64");
    for (const structuredContent of [
      { image: { data, mimeType: "image/png" }, note: "n" },
      { files: Array.from({ length: 30 }, (_, i) => ({ name: `f${i}`, mimeType: "image/png", blob: data })) },
      { url: `data:image/png;base64,${data}` },
      { content: [{ type: "image", data, mimeType: "image/png" }], exit: 1 },
    ]) {
      const { result: got } = await shown({ content: text("an image"), structuredContent });
      const json = JSON.stringify(got.structuredContent);
      expect(json.length).toBeLessThanOrEqual(52_000);
      expect(json).not.toMatch(/[A-Za-z0-9+/]{300}/);
    }
  });

  test("passes whole, with its schema, where the policy is off", async () => {
    const given = { content: text(log), structuredContent: { content: log, data: "A".repeat(1e6) } };
    const { toClient, client, server, last } = await shown(given, { options: { policy: { default: { off: true } } } });
    expect(toClient[0]).toBeInstanceOf(Uint8Array);
    await client({ id: 2, method: "tools/list" });
    await server({ id: 2, result: { tools: [{ name: "t", outputSchema: { type: "object" } }] } });
    expect(last().result.tools[0]).toEqual({ name: "t", outputSchema: { type: "object" } });
  });
});

test("bounds errors of every method, and results of shapes that no server should send", async () => {
  const { client, server, last } = await newRelay();
  for (const method of ["tools/call", "prompts/get", "initialize", "x/y"]) {
    await client({ jsonrpc: "2.0", id: 2, method, params: { name: "t" } });
    await server({ id: 2, error: { code: -1, message: "x".repeat(1e6), data: { trace: "y".repeat(1e6) } } });
    expect(JSON.stringify(last()).length).toBeLessThan(120_000);
    expect(last().error.code).toBe(-1);
  }
  const odd = [
    log,
    [log, { log }],
    { toolResult: log },
    { content: log },
    { content: { type: "text", text: log } },
    { content: [log, null, 5, [{ text: log }]] },
    { content: [{ type: "text", text: { deep: log } }] },
    { content: [{ type: "new", words: log }], structuredContent: "s".repeat(1e6) },
    { content: null, structuredContent: { log } },
  ];
  let deep: object = { log };
  for (let depth = 0; depth < 1000; depth++) deep = { deep };
  for (const each of [...odd, { content: [{ type: "text", text: log }], structuredContent: deep }]) {
    await client(call(3, "t"));
    await server(result(3, each as object));
    expect(last().id).toBe(3);
    expect(JSON.stringify(last().result).length).toBeLessThan(110_000);
    expect(JSON.stringify(last().result)).toContain("line 1 of a long log");
  }
});

test("an answer that comes in parts is cut as if it came at once, and what it repeats goes", async () => {
  const text = `${log}\n"quoted" é \ud83d\ude00\n`.repeat(20);
  const given = { content: [{ type: "text", text }], structuredContent: { content: text } };
  const inParts = (value: unknown) => {
    const bytes = Buffer.from(JSON.stringify(value));
    return Array.from({ length: Math.ceil(bytes.length / 65_537) }, (_, i) =>
      bytes.subarray(i * 65_537, (i + 1) * 65_537),
    );
  };
  const { client, server, relay, last } = await newRelay();
  await client(call(1, "t"));
  await server(result(1, given));
  const whole = last().result;
  await client(call(2, "t"));
  await relay.fromServer(inParts(result(2, given)));
  expect(last().result).toEqual(whole);
  expect(last().result.structuredContent).toBeUndefined();
  // An error, bytes that must pass whole, and something that is no message.
  await client(call(3, "t"));
  await relay.fromServer(inParts({ id: 3, error: { code: 1, message: text } }));
  expect(last().error.message.length).toBeLessThanOrEqual(51_200);
  await client(call(4, "t"));
  const image = { content: [{ type: "image", data: "A".repeat(900_000), mimeType: "image/png" }] };
  await relay.fromServer(inParts(result(4, image)));
  expect(last().result).toEqual(image);
  await relay.fromServer(inParts(`${text}`.slice(1)));
});

test("a result that we fail to bound is answered with an error, and is never left waiting", async () => {
  const { client, server, last, spillway, warnings } = await newRelay();
  spillway.admit = () => Promise.reject(new Error("out of order"));
  await client(call(1, "t"));
  await server(result(1, { content: [{ type: "text", text: log }] }));
  expect(last()).toMatchObject({
    id: 1,
    result: { isError: true, content: [{ text: expect.stringContaining("out of order") }] },
  });
  expect(warnings).toEqual(["out of order"]);
});

test("what asks for input or names a task passes; the task's result is that of its tool", async () => {
  const { client, server, last, toClient } = await newRelay({
    options: { policy: { tools: { build: { limits: { maxChars: 3000 } } } } },
  });
  const input = { resultType: "input_required", inputRequests: { a: { method: "roots/list" } }, requestState: log };
  for (const given of [input, { task: { taskId: "t1", status: "working" } }]) {
    await client(call(1, "build"));
    await server(result(1, given));
    expect(toClient.at(-1)).toBeInstanceOf(Uint8Array);
  }
  await client({ id: 2, method: "tasks/result", params: { taskId: "t1" } });
  await server(result(2, { content: [{ type: "text", text: log }], _meta: { task: 1 } }));
  expect(last().result.content[0].text.length).toBeLessThanOrEqual(3000);
  expect(last().result._meta.task).toBe(1);
  await client({ id: 3, method: "tasks/get", params: { taskId: "t1" } });
  const done = { content: [{ type: "text", text: log }] };
  await server(result(3, { taskId: "t1", status: "completed", result: done }));
  expect(last().result.status).toBe("completed");
  expect(last().result.result.content[0].text.length).toBeLessThanOrEqual(3000);
});

test("resources and prompts that are read are bounded and saved; pages for people and bytes pass", async () => {
  const { client, server, last, toClient } = await newRelay();
  const read = async (method: string, given: object) => {
    await client({ id: 1, method, params: { uri: "file:///a.log", name: "p" } });
    await server(result(1, given));
    return last().result;
  };
  const one = { uri: "file:///a.log", mimeType: "text/plain", text: log };
  const blob = { uri: "file:///b", blob: "A".repeat(90_000) };
  const { contents } = await read("resources/read", { contents: [one, blob], ttlMs: 5 });
  expect(contents[0]).toMatchObject({ uri: one.uri, mimeType: "text/plain", text: expect.stringMatching(/recall\(/) });
  expect(contents[0].text.length).toBeLessThanOrEqual(100_000);
  expect(contents[1]).toEqual(blob);
  const many = Array.from({ length: 500 }, (_, i) => ({ uri: `file:///${i}`, text: `part ${i} `.repeat(100) }));
  const asOne = await read("resources/read", { contents: many });
  expect(JSON.stringify(asOne).length).toBeLessThan(110_000);
  expect(asOne.contents[0].uri).toBe("file:///0");
  const prompt = { role: "user", content: { type: "text", text: log } };
  const { messages, description } = await read("prompts/get", {
    description: "d",
    messages: [prompt, { ...prompt, role: "assistant" }],
  });
  expect(description).toBe("d");
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant"]);
  expect(messages[0].content.text).toMatch(/recall\(/);
  expect(JSON.stringify(messages).length).toBeLessThan(60_000);
  await read("resources/read", { contents: [{ uri: "ui://app", mimeType: "text/html", text: log.repeat(3) }] });
  expect(toClient.at(-1)).toBeInstanceOf(Uint8Array);
  for (const given of [{}, { contents: "x" }, { contents: [null, 5] }, { contents: [] }])
    await read("resources/read", given);
});

test("offers its two tools on the last page, by other names where those are taken, and drops output schemas", async () => {
  const { client, server, last } = await newRelay();
  const list = (id: number) => client({ id, method: "tools/list" });
  await list(1);
  await server({ id: 1, result: { tools: [{ name: "search", outputSchema: { type: "object" } }], nextCursor: "n" } });
  expect(last().result.tools).toEqual([
    { name: "search", _meta: { "anthropic/maxResultSizeChars": expect.any(Number) } },
  ]);
  await list(2);
  await server({ id: 2, result: { tools: [] } });
  expect(last().result.tools.map(({ name }: { name: string }) => name)).toEqual(["recall", "spillway_search"]);
  await client(call(3, "t"));
  await server({ id: 3, result: { content: [{ type: "text", text: log }] } });
  expect(last().result.content[0].text).toContain("find in it with spillway_search({");
});

test("a server's own search is called, listed or not; ours answers for saved outputs and where the server has none", async () => {
  const { client, server, last, toServer } = await newRelay();
  await client(call(1, "t"));
  await server({ id: 1, result: { content: [{ type: "text", text: log }] } });
  const { artifact: id } = last().result._meta["spillway/receipt"];
  await client(call(2, "search", { id, pattern: "line 77 " }));
  await expect.poll(() => last().id).toBe(2);
  expect(last().result.content[0].text).toContain("77:line 77 of a long log");
  expect(toServer).toHaveLength(1);
  // Not a saved output: the server's own tool is called, and its answers pass.
  for (const given of [
    { content: [{ type: "text", text: "found by the server" }] },
    { content: [{ type: "text", text: "the query is empty" }], isError: true },
  ]) {
    await client(call(3, "search", { id: "abc", query: "q" }));
    await server({ id: 3, result: given });
    expect(last().result).toEqual(given);
  }
  for (const given of [
    { error: { code: -32602, message: "Unknown tool: search" } },
    { result: { content: [{ type: "text", text: "MCP error -32602: Tool search not found" }], isError: true } },
  ]) {
    await client(call(4, "search", { query: "q" }));
    await server({ id: 4, ...given });
    await expect.poll(() => last().result?.content[0].text).toMatch(/id/);
    expect(last()).toMatchObject({ id: 4, result: { isError: true } });
    await client(call(5, "t"));
    await server({ id: 5, result: { content: [] } });
  }
});

test("with names that are all taken ours get others; without tools of its own a server is given ours", async () => {
  const { client, server, last } = await newRelay();
  await client({ id: 1, method: "tools/list" });
  await server({ id: 1, result: { tools: [{ name: "recall" }, { name: "spillway_recall" }, { name: "search" }] } });
  const listed = () => last().result.tools.map(({ name }: { name: string }) => name);
  expect(listed()).toEqual(["recall", "spillway_recall", "search", "spillway_recall2", "spillway_search"]);
  const other = await newRelay();
  await other.client({ id: 1, method: "tools/list" });
  await other.server({ id: 1, error: { code: -32601, message: "Method not found" } });
  expect(other.last().result.tools).toHaveLength(2);
});

test("readBack: false offers and answers nothing of ours; the markers stay", async () => {
  const { client, server, last, toServer } = await newRelay({ readBack: false });
  await client({ id: 1, method: "initialize" });
  await server({ id: 1, result: { capabilities: {} } });
  expect(last().result.capabilities).toEqual({});
  await client({ id: 1, method: "tools/list" });
  await server({ id: 1, result: { tools: [{ name: "t" }] } });
  expect(last().result.tools).toHaveLength(1);
  await client(call(2, "t"));
  await server({ id: 2, result: { content: [{ type: "text", text: log }] } });
  expect(last().result.content[0].text).toContain("recall({");
  await client(call(3, "recall", { id: last().result._meta["spillway/receipt"].artifact }));
  expect(toServer).toHaveLength(4);
});

test("what we answer in the newer protocol says so", async () => {
  const { client, server, relay, last } = await newRelay({ resources: true });
  const _meta = { [VERSION_KEY]: "2026-07-28" };
  const ask = (id: number, method: string, params = {}) => client({ id, method, params: { ...params, _meta } });
  await ask(1, "tools/call", { name: "t" });
  await server({ id: 1, result: { resultType: "complete", content: [{ type: "text", text: log }] } });
  expect(last().result.resultType).toBe("complete");
  const { artifact } = last().result._meta["spillway/receipt"];
  await ask(2, "tools/call", { name: "recall", arguments: { id: artifact } });
  await expect.poll(() => last().id).toBe(2);
  expect(last().result).toMatchObject({ resultType: "complete", isError: false });
  await ask(3, "resources/read", { uri: `spillway://artifact/${artifact}` });
  expect(last().result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  // No discovery went before: whether the server has resources shows when it is asked.
  await ask(4, "resources/list");
  await server({ id: 4, error: { code: -32601, message: "Method not found" } });
  expect(last().result).toMatchObject({ resultType: "complete", ttlMs: 0, resources: [{ size: log.length }] });
  await ask(5, "resources/list");
  await server({ id: 5, result: { resultType: "complete", resources: [{ uri: "a:b" }] } });
  expect(last().result.resources).toHaveLength(2);
  await ask(6, "tools/call", { name: "t" });
  await relay.serverGone("it ended");
  expect(last().result).toMatchObject({ resultType: "complete", isError: true });
});

test("a request that the server does not take fails alone", async () => {
  const { relay, ends, client, toClient } = await newRelay();
  await client(call(1, "t"));
  const { toServer } = ends;
  ends.toServer = () => Promise.reject(new Error("HTTP 429"));
  await client(call(2, "t"));
  await client([{ id: 3, method: "prompts/list" }, { method: "notifications/x" }]);
  ends.toServer = toServer;
  await client(call(4, "t"));
  await relay.failed(4, "HTTP 401");
  expect(toClient.map((text) => JSON.parse(text as string))).toMatchObject([
    { id: 2, result: { content: [{ text: "HTTP 429" }], isError: true } },
    { id: 3, error: { message: "HTTP 429" } },
    { id: 4, result: { content: [{ text: "HTTP 401" }], isError: true } },
  ]);
});

test("a server that is gone answers everyone who waits", async () => {
  const { relay, client, toClient } = await newRelay();
  await client(call("a", "t"));
  await client({ id: 5, method: "prompts/list" });
  await relay.serverGone("it ended");
  expect(toClient.map((text) => JSON.parse(text as string))).toEqual([
    { jsonrpc: "2.0", id: "a", result: { content: [{ type: "text", text: "it ended" }], isError: true } },
    { jsonrpc: "2.0", id: 5, error: { code: -32000, message: "it ended" } },
  ]);
});

test("an answer that nobody waits for, garbage and a second answer are left out and told", async () => {
  const { client, server, toClient, warnings } = await newRelay();
  await client(call(1, "t"));
  await server({ id: 1, result: { content: [] } });
  const before = toClient.length;
  await server({ id: 1, result: { content: [{ type: "text", text: log }] } });
  await server("not json at all");
  await server("[1, 2");
  expect(toClient.length).toBe(before);
  expect(warnings).toHaveLength(3);
});

test("params that are no object, errors that are none, and lists of no messages", async () => {
  const { client, server, last, toServer, toClient } = await newRelay();
  for (const params of [null, 5, "x", [], { name: null }]) {
    await client({ jsonrpc: "2.0", id: "odd", method: "tools/call", params });
    await client({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
  expect(toServer).toHaveLength(10);
  for (const error of ["e".repeat(1e6), { code: 1, message: { a: "z".repeat(1e6) } }, ["q".repeat(1e6)]]) {
    await client(call("c", "t"));
    await server({ jsonrpc: "2.0", id: "c", error });
    expect(JSON.stringify(last()).length).toBeLessThan(60_000);
    expect(last()).toMatchObject({ id: "c", error: { message: expect.any(String) } });
  }
  const { length } = toClient;
  await server([null, 1, "x"]);
  expect(toClient).toHaveLength(length);
});

test("ten thousand blocks, a tool's name of a megabyte and several messages at once", async () => {
  const { client, server, last } = await newRelay();
  await client([call(1, "n".repeat(1e6)), call(2, "t")]);
  const content = Array.from({ length: 10_000 }, (_, i) => ({ type: "text", text: `block ${i} `.repeat(20) }));
  await server([
    { id: 1, result: { content } },
    { id: 2, result: { content: [{ type: "text", text: "short" }] } },
  ]);
  const marker = /recall\(\{"id":"(\w+)"/;
  const answers = last() as { result: { content: { text: string }[] } }[];
  expect(answers[1]).toEqual({ id: 2, result: { content: [{ type: "text", text: "short" }] } });
  // So many are one text with one marker: its start and its end are shown.
  expect(answers[0]?.result.content).toEqual([
    { type: "text", text: expect.stringMatching(/block 0 .*omitted.*block 9999 /s) },
  ]);
  expect(answers[0]?.result.content[0]?.text.match(new RegExp(marker, "g"))).toHaveLength(1);
  expect(answers[0]?.result.content.map(({ text }) => text).join("").length).toBeLessThanOrEqual(51_200);
});

test("artifacts are resources, beside the server's own", async () => {
  const { client, server, last } = await newRelay({ resources: true });
  await client({ id: 0, method: "initialize", params: {} });
  await server({ id: 0, result: { protocolVersion: "2025-11-25", capabilities: { logging: {} }, serverInfo: {} } });
  expect(last().result.capabilities).toEqual({ tools: {}, resources: {}, logging: {} });
  await client(call(1, "t"));
  await server({ id: 1, result: { content: [{ type: "text", text: log }] } });
  await client({ id: 2, method: "resources/list" });
  await server({ id: 2, error: { code: -32601, message: "Method not found" } });
  const [{ uri }] = last().result.resources;
  await client({ id: 3, method: "resources/read", params: { uri: `${uri}?lines=10-11` } });
  expect(last().result.contents[0].text).toContain("line 10 of a long log\nline 11 of a long log");
});

test("resources are the server's own unless ours are asked for", async () => {
  const { client, server, last, toServer } = await newRelay();
  await client({ id: 0, method: "initialize", params: {} });
  await server({ id: 0, result: { capabilities: {} } });
  expect(last().result.capabilities).toEqual({ tools: {} });
  for (const method of ["resources/list", "resources/templates/list", "resources/read"]) {
    await client({ id: 1, method, params: { uri: "spillway://artifact/x" } });
    await server({ id: 1, error: { code: -32601, message: "Method not found" } });
    expect(last().error.code).toBe(-32601);
  }
  expect(toServer).toHaveLength(4);
});

test("a server that was not asked for its tools does not see the argument either", async () => {
  const { client, server, last, toServer } = await newRelay({ lookingFor: true });
  await client(call(1, "read", { path: "a", looking_for: "where zebra-4417 is" }));
  expect(JSON.parse(Buffer.from(toServer.at(-1) as string).toString()).params.arguments).toEqual({ path: "a" });
  const text = log.replace("line 2500 ", "zebra-4417 ");
  await server({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }] } });
  expect(last().result.content[0].text).toContain("zebra-4417");
});

const named = { properties: { looking_for: { type: "string" } }, required: ["looking_for"] };
test.each([
  ["allOf", { type: "object", allOf: [named] }],
  ["$ref", { $ref: "#/$defs/A", $defs: { A: { type: "object", ...named } } }],
  ["$ref beside a type", { type: "object", $ref: "#/$defs/A", $defs: { A: named } }],
  ["required", { type: "object", required: ["looking_for"] }],
  ["patternProperties", { type: "object", patternProperties: { "^looking": {} }, additionalProperties: false }],
  ["additionalProperties", { type: "object", additionalProperties: { type: "string" } }],
  ["oneOf", { type: "object", oneOf: [{ properties: { a: {} }, additionalProperties: false }] }],
  ["maxProperties", { type: "object", properties: { a: {} }, maxProperties: 1 }],
  ["propertyNames", { type: "object", properties: { a: {} }, propertyNames: { enum: ["a"] } }],
  ["no type", { properties: { a: {} } }],
])("a schema with %s stays as it is, and so do the tool's arguments", async (_, inputSchema) => {
  const { client, server, last, toServer } = await newRelay({ lookingFor: true });
  await client({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  await server({ jsonrpc: "2.0", id: 1, result: { tools: [{ name: "find", inputSchema }] } });
  expect(last().result.tools[0].inputSchema).toEqual(inputSchema);
  await client(call(2, "find", { looking_for: "x" }));
  const { params } = JSON.parse(Buffer.from(toServer.at(-1) as string).toString());
  expect(params.arguments).toEqual({ looking_for: "x" });
});

test("tools get an argument by which a model says what it looks for, and the server never sees it", async () => {
  const { client, server, last, toServer } = await newRelay({ lookingFor: true });
  const inputSchema = { type: "object", properties: { path: { type: "string" } }, additionalProperties: false };
  const own = { type: "object", properties: { looking_for: { type: "number" } } };
  await client({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  await server({
    jsonrpc: "2.0",
    id: 1,
    result: { tools: [{ name: "read", inputSchema }, { name: "find", inputSchema: own }, 3] },
  });
  const [read, find] = last().result.tools;
  expect(read.inputSchema).toEqual({
    ...inputSchema,
    properties: { ...inputSchema.properties, looking_for: { type: "string", description: expect.any(String) } },
  });
  expect(find.inputSchema).toEqual(own);
  const sent = () => JSON.parse(Buffer.from(toServer.at(-1) as string).toString()).params.arguments;
  const text = log.replace("line 2500 ", "zebra-4417 ");
  await client(call(2, "read", { path: "a", looking_for: "where zebra-4417 is" }));
  expect(sent()).toEqual({ path: "a" });
  await server({ jsonrpc: "2.0", id: 2, result: { content: [{ type: "text", text }] } });
  expect(last().result.content[0].text).toContain("zebra-4417");
  await client(call(3, "find", { looking_for: 7 }));
  expect(sent()).toEqual({ looking_for: 7 });
  await client(call(4, "read", { path: "a", looking_for: 7 }));
  expect(sent()).toEqual({ path: "a" });
  await server({ jsonrpc: "2.0", id: 4, result: { content: [{ type: "text", text }] } });
  expect(last().result.content[0].text).not.toContain("zebra-4417");
  const plain = await newRelay({});
  await plain.client(call(5, "read", { looking_for: "x" }));
  expect(JSON.parse(Buffer.from(plain.toServer.at(-1) as string).toString()).params.arguments).toEqual({
    looking_for: "x",
  });
});
