import { expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { startRelay } from "./relay.ts";

async function newRelay() {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
  const toClient: (Uint8Array | string)[] = [];
  const toServer: (Uint8Array | string)[] = [];
  const warnings: string[] = [];
  const relay = startRelay(spillway, "s1", {
    toClient: (message) => void toClient.push(message),
    toServer: (message) => void toServer.push(message),
    warn: (text) => void warnings.push(text),
  });
  const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  return {
    relay,
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
  expect(result._meta["spillway/receipt"].saved).toBe("yes");
  const asked = /recall\((\{.*?\})\)/.exec(text)?.[1] ?? "";
  await client(call(8, "recall", JSON.parse(asked.replace("[from,to]", "[2500,2501]"))));
  await expect.poll(() => last().id).toBe(8);
  expect(last().result.content[0].text).toContain("line 2500 of a long log\nline 2501 of a long log");
  const found = /search\((\{.*?\})\)/.exec(text)?.[1] ?? "";
  await client(call(9, "search", JSON.parse(found.replace("...", "line 3333 "))));
  await expect.poll(() => last().id).toBe(9);
  expect(last().result.content[0].text).toContain("3333:line 3333 of a long log");
});

test("bounds structuredContent and long errors too", async () => {
  const { client, server, last } = await newRelay();
  await client(call(1, "t"));
  await server({
    id: 1,
    result: { content: [], structuredContent: { rows: Array.from({ length: 9999 }, (_, i) => ({ i })) } },
  });
  expect(JSON.stringify(last().result.structuredContent).length).toBeLessThanOrEqual(51_200);
  await client(call(3, "t"));
  await server({ id: 3, result: { content: [{ type: "text", text: "as above" }], structuredContent: { log } } });
  expect(JSON.stringify(last().result.structuredContent).length).toBeLessThanOrEqual(8192);
  const rows = Array.from({ length: 3000 }, (_, i) => `row ${i} of a table`);
  await client(call(4, "t"));
  await server({ id: 4, result: { content: [{ type: "text", text: "3000 rows" }], structuredContent: { rows } } });
  const { structuredContent } = last().result;
  expect(JSON.stringify(structuredContent).length).toBeLessThanOrEqual(8192);
  // Some clients show only this to their model: it has the way to the rest, which is saved.
  const asked =
    /recall\((\{.*?\})\)/.exec(
      Object.values(structuredContent as object)
        .flat()
        .join("\n"),
    )?.[1] ?? "";
  await client(call(5, "recall", JSON.parse(asked.replace("[from,to]", "[1500,1502]"))));
  await expect.poll(() => last().id).toBe(5);
  expect(last().result.content[0].text).toContain("row 1499 of a table");
  await client(call(2, "t"));
  await server({ id: 2, error: { code: -1, message: "x".repeat(1e6), data: { trace: "y".repeat(1e6) } } });
  expect(JSON.stringify(last()).length).toBeLessThan(120_000);
  expect(last().error.code).toBe(-1);
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
  const answers = last() as { result: { content: { text: string }[] } }[];
  expect(answers[1]).toEqual({ id: 2, result: { content: [{ type: "text", text: "short" }] } });
  // So many are one text with one marker: its start and its end are shown.
  expect(answers[0]?.result.content).toEqual([
    { type: "text", text: expect.stringMatching(/block 0 .*omitted.*block 9999 /s) },
  ]);
  expect(answers[0]?.result.content.map(({ text }) => text).join("").length).toBeLessThanOrEqual(51_200);
});

test("artifacts are resources, beside the server's own", async () => {
  const { client, server, last } = await newRelay();
  await client({ id: 0, method: "initialize", params: {} });
  await server({ id: 0, result: { protocolVersion: "2025-11-25", capabilities: { logging: {} }, serverInfo: {} } });
  expect(last().result.capabilities).toEqual({ tools: {}, resources: {}, logging: {} });
  await client(call(1, "t"));
  await server({ id: 1, result: { content: [{ type: "text", text: log }] } });
  await client({ id: 2, method: "resources/list" });
  const [{ uri }] = last().result.resources;
  await client({ id: 3, method: "resources/read", params: { uri: `${uri}?lines=10-11` } });
  expect(last().result.contents[0].text).toContain("line 10 of a long log\nline 11 of a long log");
  await client({ id: 4, method: "resources/read", params: { uri: "file:///etc/passwd" } });
  expect(last().error.code).toBe(-32002);
});
