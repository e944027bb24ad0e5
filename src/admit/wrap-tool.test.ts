import { Readable } from "node:stream";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Receipt } from "../contract/receipt.ts";
import { memoryStore } from "../extend.ts";
import { createSpillway } from "../index.ts";

const long = Array.from({ length: 900 }, (_, n) => `line ${n} of it`).join("\n");

/** A Spillway and every receipt it gave, and how many outputs it began to save. */
async function watched() {
  const receipts: Receipt[] = [];
  const store = memoryStore({ maxBytes: 1e8 });
  let begun = 0;
  const counting = { ...store, begin: (about: Parameters<typeof store.begin>[0]) => (begun++, store.begin(about)) };
  const onReceipt = (receipt: Receipt) => void receipts.push(receipt);
  const spillway = await createSpillway({ store: counting, ledger: null, env: {}, onReceipt });
  return { spillway, receipts, begun: () => begun };
}

describe("the name by which a wrapped tool's limits are found", () => {
  it("is the option, the record's key, the tool's own, the function's, in this order", async () => {
    const { spillway, receipts } = await watched();
    const named = { name: "read_file", id: "x", execute: async () => "a" };
    const known = { id: "search_files", execute: async () => "a" };
    const t = async () => "a";
    await spillway.wrapTool(t, { name: "bash" })();
    await spillway.wrapTool(named, { name: "bash" }).execute();
    await spillway.wrapTools({ list_directory: named }).list_directory.execute();
    await spillway.wrapTools({ list_directory: t }).list_directory();
    await spillway.wrapTools({ list_directory: t }, { name: "bash" }).list_directory();
    await spillway.wrapTool(named).execute();
    await spillway.wrapTool(known).execute();
    await spillway.wrapTool(t)();
    await spillway.wrapTool(
      (
        () => async () =>
          "a"
      )(),
    )();
    expect(receipts.map(({ tool }) => tool)).toEqual([
      "bash",
      "bash",
      "list_directory",
      "list_directory",
      "bash",
      "read_file",
      "search_files",
      "t",
      "tool",
    ]);
  });
});

describe("a wrapped generator", () => {
  const limits = { maxLines: 9 };

  it("saves only the last value that it yields, which then says where it is", async () => {
    const { spillway, receipts, begun } = await watched();
    const wrapped = spillway.wrapTool(
      async function* () {
        for (let n = 0; n < 40; n++) yield `${n}\n${long}`;
      },
      { limits },
    );
    const seen: string[] = [];
    for await (const value of wrapped()) seen.push(value);
    expect(begun()).toBe(1);
    expect(receipts).toHaveLength(1);
    expect(seen).toHaveLength(41);
    for (const value of seen) expect(value.split("\n").length).toBeLessThanOrEqual(9);
    expect(seen[39]).toContain("not saved");
    expect(seen[40]).toContain(receipts[0]?.artifact);
    expect(await spillway.recall(receipts[0]?.artifact ?? "", { lines: [1, 1] })).toMatchObject({ text: "39\n" });
  });

  it("is ended when its reader stops early", async () => {
    const { spillway } = await watched();
    let isEnded = false;
    const wrapped = spillway.wrapTool(async function* count() {
      try {
        for (let n = 0; ; n++) yield n;
      } finally {
        isEnded = true;
      }
    });
    for await (const value of wrapped()) if (value === 2) break;
    expect(isEnded).toBe(true);
  });

  it("yields as often as before where the last value is within its limits", async () => {
    const { spillway, receipts, begun } = await watched();
    const wrapped = spillway.wrapTool(
      async function* () {
        yield long;
        const sent: unknown = yield { content: [{ type: "text", text: "small" }] };
        return sent;
      },
      { limits },
    );
    const running = wrapped();
    await running.next();
    expect(await running.next()).toMatchObject({ done: false, value: { content: [{ text: "small" }] } });
    expect(await running.next("sent" as never)).toEqual({ done: true, value: "sent" });
    expect(begun()).toBe(0);
    expect(receipts).toHaveLength(2);
  });

  it("yields clamped values though its tool could be read at once, and says so in its type", async () => {
    const { spillway, receipts, begun } = await watched();
    const wrapped = spillway.wrapTool(
      function* (count: number) {
        for (let n = 0; n < count; n++) yield `${n}\n${long}`;
        return long;
      },
      { limits },
    );
    expectTypeOf(wrapped).toEqualTypeOf<(count: number) => AsyncGenerator<string, string, unknown>>();
    const seen: string[] = [];
    for await (const value of wrapped(3)) seen.push(value);
    expect(seen).toHaveLength(4);
    for (const value of seen) expect(value.split("\n").length).toBeLessThanOrEqual(9);
    expect(begun()).toBe(2);
    expect(receipts).toHaveLength(2);
  });

  it("saves a stream when it comes, since that is read only once", async () => {
    const { spillway, receipts, begun } = await watched();
    const wrapped = spillway.wrapTool(
      async function* () {
        yield Readable.from([long]);
      },
      { limits },
    );
    const seen: unknown[] = [];
    for await (const value of wrapped()) seen.push(value);
    expect(seen).toEqual([expect.stringContaining(receipts[0]?.artifact ?? "none")]);
    expect(begun()).toBe(1);
  });
});

describe("a result that throws for fields it does not have", () => {
  const strict = (fields: object = { rows: [1] }) =>
    new Proxy(fields, {
      get(target, key) {
        if (key === "then") return undefined;
        if (!(key in target)) throw new Error(`no such column ${String(key)}`);
        return Reflect.get(target, key);
      },
    });
  const closed = () =>
    new Proxy(
      {},
      {
        get(_, key) {
          if (key === "then") return undefined;
          throw new Error("get");
        },
        has() {
          throw new Error("has");
        },
        ownKeys() {
          throw new Error("ownKeys");
        },
      },
    );
  const values: [string, () => object][] = [
    ["strict", strict],
    ["strict command", () => strict({ lg_name: "Command" })],
    ["closed", closed],
  ];

  it.each(values)("comes as admit gives it: %s", async (_, make) => {
    const { spillway } = await watched();
    const { output } = await spillway.admit({ tool: "db", output: make() });
    const seen: unknown[] = [
      await spillway.wrapTool({ name: "db", execute: async () => make() }).execute(),
      await spillway.wrapTool({ name: "db", lc_runnable: true, invoke: async () => make() }).invoke(),
    ];
    const generator = spillway.wrapTool(
      async function* () {
        yield make();
      },
      { name: "db" },
    );
    for await (const value of generator()) seen.push(value);
    for (const value of seen) expect(JSON.stringify(tryJson(value))).toBe(JSON.stringify(tryJson(output)));
  });

  it("is clamped where it is a message, and saved once", async () => {
    const { spillway, begun } = await watched();
    const run = async () => strict({ tool_call_id: "1", content: long });
    const shown = await spillway.wrapTool(run, { limits: { maxLines: 9 } })();
    expect(shown).toMatchObject({ tool_call_id: "1", content: expect.stringContaining("line 899 of it") });
    expect((shown as { content?: string }).content?.split("\n").length).toBeLessThanOrEqual(9);
    expect(begun()).toBe(1);
  });

  it.each(values)("does not stop a tool whose model gets another view of it: %s", async (_, make) => {
    const { spillway } = await watched();
    const tool = { name: "db", inputSchema: {}, toModelOutput: (_given: object) => make() };
    const call = { toolCallId: "c1", messages: [] };
    for (const run of [async () => make(), () => make()]) {
      const wrapped = spillway.wrapTool({ ...tool, execute: run });
      const output: unknown = await Reflect.apply(wrapped.execute, wrapped, [{}, call]);
      const view: unknown = await wrapped.toModelOutput({ toolCallId: "c1", input: {}, output: Object(output) });
      expect([typeof output, view]).toEqual(["object", expect.anything()]);
    }
  });

  it.each(values)("may be an argument or be thrown: %s", async (_, make) => {
    const { spillway } = await watched();
    const run = spillway.wrapTool({ name: "db", invoke: async (given: object) => typeof given });
    expect(await run.invoke(make())).toBe("object");
    const failing = spillway.wrapTool({
      name: "db",
      lc_runnable: true,
      invoke: async () => {
        throw make();
      },
    });
    const thrown = await failing.invoke().catch((error: unknown) => error);
    expect(typeof thrown).not.toBe("undefined");
    expect(thrown instanceof Error ? thrown.message : "").not.toMatch(/no such column|^has$|^get$/);
  });
});

function tryJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return "no JSON";
  }
}

describe("the call's id", () => {
  const abort = new AbortController().signal;
  it.each<[string, unknown[], string | null]>([
    ["AI SDK", [{ city: "x" }, { toolCallId: "call_1", messages: [] }], "call_1"],
    ["AI SDK with a text as input", ["input", { toolCallId: "call_1" }], "call_1"],
    ["pi", ["toolu_1", { path: "x" }, abort, () => {}], "toolu_1"],
    ["LangChain", [{ q: 1 }, { toolCall: { id: "call_2", name: "q" }, configurable: {} }], "call_2"],
    ["OpenAI Agents", [{ q: 1 }, { context: {} }, { toolCall: { type: "function_call", callId: "call_3" } }], "call_3"],
    ["an MCP server", [{ q: 1 }, { signal: abort, requestId: 7 }], "7"],
    ["an MCP server without arguments", [{ signal: abort, requestId: 7 }], "7"],
    ["a newer MCP server", [{ q: 1 }, { mcpReq: { id: "r1" } }], "r1"],
    ["Claude Agent SDK", [{ q: 1 }, { _meta: { "claudecode/toolUseId": "toolu_2" }, requestId: 7 }], "toolu_2"],
    ["Anthropic", [{ q: 1 }, { toolUse: { id: "toolu_3" } }], "toolu_3"],
    ["Mastra", [{ q: 1 }, { agent: { toolCallId: "call_4" } }], "call_4"],
    ["no framework", [{ toolCallId: "the model's own argument" }], null],
    ["no arguments", [], null],
    ["an object that cannot be read", [{}, new Proxy({}, { get: () => assertNever() })], null],
  ])("is taken from the arguments of %s", async (_, args, call) => {
    const { spillway, receipts } = await watched();
    await spillway.wrapTool({ name: "q", execute: async (..._args: unknown[]) => "a" }).execute(...args);
    expect(receipts[0]?.call).toBe(call);
  });

  it("is not that of the call before", async () => {
    const { spillway, receipts } = await watched();
    const { execute } = spillway.wrapTool({ name: "q", execute: async (..._args: unknown[]) => "a" });
    await execute({}, { toolCallId: "call_1" });
    await execute({});
    expect(receipts.map(({ call }) => call)).toEqual(["call_1", null]);
  });

  it("is no text that a plain function is called with", async () => {
    const { spillway, receipts } = await watched();
    await spillway.wrapTool(async (command: string) => command)("ls -la");
    expect(receipts[0]?.call).toBeNull();
  });
});

describe("what runs a tool", () => {
  const limits = { maxLines: 9 };

  it.each(["execute", "handler", "run", "invoke", "func", "call"])("is found under %s", async (name) => {
    const { spillway, receipts } = await watched();
    const tool: Record<string, (args: object, call: object) => Promise<string>> = { [name]: async () => long };
    const [wrapped] = spillway.wrapTools([tool], { name: "q", limits });
    expect(wrapped).not.toBe(tool);
    expect(await wrapped?.[name]?.({}, { toolCallId: "c" })).toContain("omitted");
    expect(receipts[0]).toMatchObject({ tool: "q", call: "c" });
    expect(await tool[name]?.({}, {})).toBe(long);
  });

  it("says of a tool of MCP how long its results are, so that Claude Code shows them whole", async () => {
    const { spillway } = await watched();
    const key = "anthropic/maxResultSizeChars";
    const tool = { name: "q", inputSchema: {}, _meta: { "anthropic/alwaysLoad": true }, handler: async () => long };
    const metaOf = (options?: object) => (spillway.wrapTool(tool, options) as { _meta: object })._meta;
    expect(metaOf()).toEqual({ "anthropic/alwaysLoad": true, [key]: 51_200 });
    expect(metaOf({ limits: { maxChars: 900 } })).toMatchObject({ [key]: 900 });
    expect(tool._meta).toEqual({ "anthropic/alwaysLoad": true });
    // Another framework's tool gets nothing.
    expect(Object.keys(spillway.wrapTool({ name: "q", handler: tool.handler }))).toEqual(["name", "handler"]);
  });

  it("is asked for where its name is not known", async () => {
    const { spillway } = await watched();
    const run = async () => long;
    for (const [given, message] of [
      [new Map([["a", run]]), /a list of tools, a record .*got: Map \(pass Object\.fromEntries\(map\)\)/],
      [new Set([run]), /got: Set$/],
      [run, /got: AsyncFunction$/],
      [undefined, /a list of tools, .*got: Undefined$/],
      [null, /got: Null$/],
      [5, /got: Number$/],
    ] as const)
      expect(() => spillway.wrapTools(given as never)).toThrow(message);
    const callable = { name: "g", callTool: async () => long, tool: async () => ({}) };
    expect(() => spillway.wrapTools([callable])).toThrow(
      /the tool "g" has none of execute, .*not known: callTool, tool\. Wrap that function itself/,
    );
    class Other {
      name = "o";
      start() {}
    }
    expect(() => spillway.wrapTool(new Other())).toThrow(/not known: start/);
  });

  it("is nobody's business where somebody else runs the tool", async () => {
    const { spillway } = await watched();
    const hosted = {
      type: "provider",
      id: "openai.web_search",
      args: {},
      toModelOutput: () => ({}),
      inputSchema: () => ({}),
    };
    expect(spillway.wrapTool(hosted)).toBe(hosted);
    expectTypeOf(spillway.wrapTool(hosted)).toEqualTypeOf(hosted);
  });

  it("may be all of several", async () => {
    const { spillway } = await watched();
    const tool = { name: "q", run: async () => long, call: async () => long };
    const wrapped = spillway.wrapTool(tool, { limits });
    expect(await wrapped.run()).toContain("omitted");
    expect(await wrapped.call()).toContain("omitted");
  });
});

describe("a tool whose framework asks toModelOutput what its model gets", () => {
  const agent = { toolCallId: "c1", messages: [] };
  const limits = { maxLines: 9, maxChars: 900 };

  it("gives the application its value, the model a clamped view of it, and anyone else a clamped value", async () => {
    const { spillway, receipts } = await watched();
    const value = { rows: [long] };
    const tool = { inputSchema: {}, execute: async (_args: object, _options?: object) => value };
    const { big } = spillway.wrapTools({ big: tool }, { limits }) as never as {
      big: typeof tool & { toModelOutput(given: unknown): Promise<{ type: string; value: unknown }> };
    };
    const output = await big.execute({}, agent);
    expect(output).toBe(value);
    expect(receipts).toHaveLength(0);
    for (const given of [output, { toolCallId: "c1", input: {}, output }]) {
      const view = await big.toModelOutput(given);
      expect(view.type).toBe("json");
      expect(JSON.stringify(view.value).length).toBeLessThanOrEqual(900);
    }
    expect(receipts.map(({ call }) => call)).toEqual(["c1", "c1"]);
    expect(JSON.stringify(await big.execute({})).length).toBeLessThanOrEqual(900);
  });

  it("clamps its own view, keeps images in it, and clamps what it throws", async () => {
    const { spillway } = await watched();
    const image = { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } };
    const tool = {
      inputSchema: {},
      execute: (_args: object, _options: object): unknown => {
        throw new Error(long);
      },
      toModelOutput: () => ({ type: "content", value: [{ type: "text", text: long }, image] }),
    };
    const wrapped = spillway.wrapTool(tool, { limits });
    const { value } = (await (wrapped.toModelOutput as (given: unknown) => unknown)("x")) as { value: unknown[] };
    expect(value).toEqual([{ type: "text", text: expect.stringContaining("omitted") }, image]);
    await expect(wrapped.execute({}, agent)).rejects.toThrow(/omitted/);
  });

  it("clamps what is thrown between results too, and those before it have come", async () => {
    const { spillway } = await watched();
    const tool = {
      inputSchema: {},
      async *execute(_args: object, _options: object) {
        yield "begun";
        throw new Error(long);
      },
    };
    const came: unknown[] = [];
    const run = async () => {
      for await (const value of spillway.wrapTool(tool, { limits }).execute({}, agent)) came.push(value);
    };
    await expect(run()).rejects.toThrow(/omitted/);
    expect(came).toEqual(["begun"]);
  });
});

describe("an output of bytes within its limits comes back as what it was", () => {
  const wrap = async (output: () => unknown, limits = {}) => {
    const { spillway } = await watched();
    return spillway.wrapTool({ name: "q", execute: async () => output() }, { limits }).execute();
  };

  it("bytes and blobs", async () => {
    const bytes = Buffer.from("caf\u00e9 \n");
    const blob = new Blob(["text"]);
    expect(await wrap(() => bytes)).toBe(bytes);
    expect(await wrap(() => Buffer.from([0x61, 0xff, 0x62]))).toEqual(Buffer.from([0x61, 0xff, 0x62]));
    expect(await wrap(() => blob)).toBe(blob);
    expect(await wrap(() => Buffer.from(long), { maxLines: 9 })).toContain("omitted");
    expect(await wrap(() => Buffer.from([0, 1, 2, 3, 0, 0]))).toMatch(/^\[binary output not shown/);
  });

  it("a Response with its status and headers", async () => {
    const init = { status: 404, statusText: "Not Found", headers: { "x-a": "b", "content-type": "text/plain" } };
    const response = (await wrap(() => new Response("no such page", init))) as Response;
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.statusText, response.headers.get("x-a")]).toEqual([404, "Not Found", "b"]);
    expect(await response.text()).toBe("no such page");
    const empty = (await wrap(() => new Response(null, { status: 204 }))) as Response;
    expect([empty.status, await empty.text()]).toEqual([204, ""]);
    expect(await wrap(() => new Response(long), { maxLines: 9 })).toContain("omitted");
  });

  it("streams of the same chunks, whose memory may be used again", async () => {
    const memory = Buffer.alloc(3);
    async function* lent() {
      for (const text of ["abc", "def"]) {
        memory.write(text);
        yield memory;
      }
    }
    const node = (await wrap(() => Readable.from([Buffer.from("abc"), Buffer.from("def")]))) as Readable;
    expect(node).toBeInstanceOf(Readable);
    expect(await node.toArray()).toEqual([Buffer.from("abc"), Buffer.from("def")]);
    const web = (await wrap(() => new Blob(["abc"]).stream())) as ReadableStream<Uint8Array>;
    expect(web).toBeInstanceOf(ReadableStream);
    expect(await new Response(web).text()).toBe("abc");
    const chunks: unknown[] = [];
    for await (const chunk of (await wrap(lent)) as AsyncIterable<unknown>) chunks.push(chunk);
    expect(chunks).toEqual([Buffer.from("abc"), Buffer.from("def")]);
    expect(await wrap(() => Readable.from([long]), { maxLines: 9 })).toContain("omitted");
  });

  it("not where a model gets anything else", async () => {
    const { spillway } = await watched();
    const bytes = Buffer.from("text");
    expect((await spillway.admit({ tool: "bash", output: bytes, exitCode: 3 })).output).toBe("text\n[exit code 3]");
    async function* broken() {
      yield "some";
      throw new Error("reset");
    }
    expect((await spillway.admit({ output: broken() })).output).toBe("some\n[output ended early: reset]");
  });
});

describe("a wrapped tool's type", () => {
  it("says Promise where the tool gave its value at once", async () => {
    const { spillway } = await watched();
    const atOnce = spillway.wrapTool((count: number) => "a".repeat(count));
    expectTypeOf(atOnce).toEqualTypeOf<(count: number) => Promise<string>>();
    expect(await atOnce(2)).toBe("aa");
    const later = async (count: number) => "a".repeat(count);
    expectTypeOf(spillway.wrapTool(later)).toEqualTypeOf(later);
    const tool = { name: "q", execute: (x: number) => x, more: true };
    expectTypeOf(spillway.wrapTool(tool).execute).toEqualTypeOf<(x: number) => Promise<number>>();
    expectTypeOf(spillway.wrapTool(tool).more).toEqualTypeOf<boolean>();
    expectTypeOf(spillway.wrapTools({ tool }).tool.execute).returns.toEqualTypeOf<Promise<number>>();
  });
});

function assertNever(): never {
  throw new Error("not to be read");
}
