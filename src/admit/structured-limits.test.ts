// What a model gets of a structured result, measured by code that shares nothing with ours.
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Limits } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { startRelay } from "../entrypoints/mcp/relay.ts";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

/** Does not add up: two halves of a word are two tokens where the word is one. */
const words: TokenCounter = {
  name: "words",
  exact: true,
  maxBytesPerToken: 8,
  count: (text) => text.match(/\w{1,8}|\W/g)?.length ?? 0,
};

const make = (options: SpillwayOptions = {}) =>
  createSpillway({ env: {}, store: memoryStore(), ledger: null, redact: "off", counter: words, ...options });

function measure(text: string) {
  const lines = text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return { bytes: Buffer.byteLength(text), chars: text.length, lines, tokens: words.count(text) };
}

/** Each text from a line of its own. */
function together(texts: readonly string[]): string {
  const parts: string[] = [];
  let isOpen = false;
  for (const text of texts) {
    if (text === "") continue;
    if (isOpen) parts.push("\n");
    parts.push(text);
    isOpen = !text.endsWith("\n");
  }
  return parts.join("");
}

interface Block {
  type: string;
  text?: string;
  data?: string;
  resource?: { text?: string; blob?: string };
}

const textsOf = (content: readonly Block[]) => content.flatMap(({ text, resource }) => text ?? resource?.text ?? []);
const mediaOf = (content: readonly Block[]) => content.filter(({ data, resource }) => data ?? resource?.blob);

const UNITS = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;

function expectWithin(text: string, limits: Limits, receipt: Receipt): void {
  const size = measure(text);
  for (const [unit, name] of Object.entries(UNITS) as [keyof typeof size, keyof Limits][])
    expect(size[unit], `${unit} of ${JSON.stringify(limits)}`).toBeLessThanOrEqual(limits[name] ?? Infinity);
  expect({ ...receipt.shown }).toEqual(size);
  expect(receipt.faults).toBeUndefined();
  for (const unit of ["bytes", "lines"] as const) {
    const parts = [receipt.kept[unit], receipt.folded[unit], receipt.redacted[unit], receipt.omitted[unit]];
    expect(parts.every((part) => Number.isSafeInteger(part) && part >= 0)).toBe(true);
    expect(parts.reduce((sum, part) => sum + part)).toBe(receipt.total[unit]);
  }
}

function expectContent(given: readonly Block[], shown: readonly Block[], limits: Limits, receipt: Receipt): void {
  expectWithin(together(textsOf(shown)), limits, receipt);
  expect(JSON.stringify(mediaOf(shown)) === JSON.stringify(mediaOf(given))).toBe(true);
  const sources = textsOf(given).map(measure);
  const sum = (unit: "bytes" | "lines") => sources.reduce((all, size) => all + size[unit], 0);
  // Texts that are kept as one have a break between them.
  expect(receipt.total.bytes - sum("bytes")).toBeGreaterThanOrEqual(0);
  expect(receipt.total.bytes - sum("bytes")).toBeLessThan(Math.max(1, given.length));
  expect(receipt.total.lines).toBe(sum("lines"));
  if (receipt.omitted.bytes + receipt.folded.bytes === 0)
    expect(together(textsOf(shown)) === together(textsOf(given))).toBe(true);
  else expect(receipt).toMatchObject({ saved: "yes", savedBytes: expect.any(Number) });
}

const arbitraryLimits = fc.record(
  {
    maxBytes: fc.oneof(fc.integer({ min: 40, max: 60_000 }), fc.nat(400)),
    maxChars: fc.integer({ min: 40, max: 60_000 }),
    maxLines: fc.integer({ min: 1, max: 2000 }),
    maxTokens: fc.integer({ min: 20, max: 9000 }),
  },
  { requiredKeys: [] },
);

const LINE = fc.constantFrom(
  "",
  "a",
  "an ordinary line of text",
  '"quoted" \\',
  "\u00e4\u4e2d\u{1f600}",
  "x".repeat(300),
);
const DATA = Buffer.from(Array.from({ length: 18_000 }, (_, index) => (index * 7919) % 251)).toString("base64");

/** Few things are drawn and many blocks made of them: drawing each would take most of the time. */
const arbitraryBlocks = (counts: fc.Arbitrary<number>) =>
  fc
    .tuple(
      counts,
      fc.array(fc.tuple(LINE, fc.nat(30), fc.boolean()), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 2, max: 40 }),
      fc.integer({ min: 0, max: 4 }),
    )
    .map(([count, texts, mediaEvery, mediaKinds]) =>
      Array.from({ length: count }, (_, index): Block => {
        if (mediaKinds > 0 && index % mediaEvery === 1) return media(index % mediaKinds, index);
        const [line, times, isClosed] = texts[index % texts.length] as [string, number, boolean];
        // All of them together are no more than a store in memory keeps of one.
        const text =
          `${line}\n`.repeat(Math.min(times, Math.max(1, Math.floor(30_000 / count)))) +
          (isClosed ? "" : `block ${index}`);
        return index % 17 === 3 ? { type: "resource", resource: { text } } : { type: "text", text };
      }),
    );

function media(kind: number, index: number): Block {
  const data = DATA.slice(0, 400 + (index % 60) * 4);
  if (kind === 0) return { type: "image", data };
  if (kind === 1) return { type: "audio", data };
  return kind === 2 ? { type: "resource", resource: { blob: data } } : { type: "image", data: DATA };
}

it("a text with too many characters gets room for its marker's lines, where there is room in lines", async () => {
  const spillway = await createSpillway({ env: {}, store: memoryStore(), ledger: null });
  const long = ["alpha ", "beta ", "gamma "].map((word) => word.repeat(600)).join("\n");
  const output = { content: [long, "short"].map((text) => ({ type: "text", text })) };
  const { text } = await spillway.admit({ tool: "t", output, limits: { maxChars: 5000, maxLines: 40 } });
  expect(text).toContain("[Start of line 1 of 3]");
  expect(text).toContain("The whole is saved as artifact");
});

describe("content blocks", () => {
  it.each([
    ["1 to 64", fc.integer({ min: 1, max: 64 }), 60],
    ["1 to 5,000", fc.integer({ min: 1, max: 5000 }), 40],
    ["around 64 and 800", fc.constantFrom(63, 64, 65, 66, 799, 800, 801, 850), 30],
    ["20,000", fc.constant(20_000), 3],
  ])("stay within every limit, media untouched and counts exact: %s", async (_, counts, numRuns) => {
    const spillway = await make();
    await fc.assert(
      fc.asyncProperty(arbitraryBlocks(counts), arbitraryLimits, async (content, limits) => {
        const { output, text, receipt } = await spillway.admit({ output: { content }, limits, fold: false });
        expect(text).toBe(together(textsOf(output.content)));
        // The policy has limits of its own.
        expectContent(content, output.content, { ...receipt.limits, ...limits }, receipt);
      }),
      { numRuns },
    );
  });

  it("above 800 show a text of their own size and no image cut", async () => {
    const spillway = await make();
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join("");
    const content: Block[] = Array.from({ length: 850 }, () => ({ type: "text", text: lines }));
    content.splice(400, 0, { type: "image", data: DATA });
    const { output, receipt } = await spillway.admit({ output: { content, isError: true } });
    expectContent(content, output.content, receipt.limits, receipt);
    expect(receipt.shown.lines).toBeGreaterThan(1000);
    expect(output).toMatchObject({ isError: true });
    expect(output.content).toHaveLength(2);
    const whole = await spillway.store?.read(receipt.artifact ?? "", "local", { from: 0, to: Infinity });
    expect(Buffer.from(whole ?? []).toString()).toBe(lines.repeat(850));
  });

  it("are one text again when they come a second time", async () => {
    const spillway = await make();
    const content = Array.from({ length: 300 }, (_, index) => ({ type: "text", text: `${index} `.repeat(200) }));
    const once = await spillway.admit({ output: { content } });
    const twice = await spillway.admit({ output: once.output });
    expect(twice.output).toBe(once.output);
    const smaller = await spillway.admit({ output: once.output, limits: { maxBytes: 2000 } });
    expect(smaller.receipt).toMatchObject({ artifact: once.receipt.artifact, total: once.receipt.total });
  });

  it("keep the words' kind, other blocks and a bare list a list", async () => {
    const spillway = await make();
    const text = Array.from({ length: 50 }, (_, index) => `word${index}`).join(" ");
    const other = { type: "input_image", image_url: `data:image/png;base64,${DATA}` };
    const list = [other, ...Array.from({ length: 2000 }, () => ({ type: "input_text", text }))];
    const { output } = await spillway.admit({ output: list, fold: false });
    expect(output).toEqual([other, { type: "input_text", text: expect.stringContaining("omitted") }]);
    const strings = await spillway.admit({
      output: { content: Array.from({ length: 2000 }, () => text) },
      fold: false,
    });
    expect(strings.output.content).toEqual([expect.stringContaining("omitted")]);
    const mixed = {
      type: "tool_result",
      content: [
        { type: "text", text: "beside" },
        { type: "image", data: DATA },
      ],
    };
    const nested = await spillway.admit({ output: { content: [mixed, ...list.slice(1)] } });
    expect(nested.output.content).toHaveLength(2);
    expect(JSON.stringify(nested.output.content[1])).toContain(DATA);
    expect(JSON.stringify(nested.output.content)).toContain("beside");
  });

  it("too deep or too many to walk become a text of their JSON, with no image cut", async () => {
    const spillway = await make();
    let deep: object = { type: "text", text: "x".repeat(100_000) };
    for (let level = 0; level < 90; level++) deep = { type: "x", content: [deep] };
    const content = [deep, { type: "image", mimeType: "image/png", data: DATA.repeat(4) }];
    const { output, receipt } = await spillway.admit({ output: { content, isError: true } });
    expect(output).toMatchObject({ isError: true, content: [{ type: "text", text: expect.any(String) }] });
    expectWithin(together(textsOf(output.content as Block[])), receipt.limits, receipt);
    expect(JSON.stringify(output)).not.toContain(DATA.slice(0, 100));
    expect(JSON.stringify(output)).toContain("72,000 bytes of media omitted");
  });

  it.each([
    { content: { maxLines: 20 }, blocks: 21 },
    { content: { maxLines: 1 }, blocks: 2 },
    { content: { maxTokens: 100 }, blocks: 9 },
    { content: { maxChars: 500 }, blocks: 30 },
  ])("more than their limits leave room for: %o", async ({ content: limits, blocks }) => {
    const spillway = await make();
    const content = Array.from({ length: blocks }, () => ({ type: "text", text: "a line\n".repeat(20) }));
    const { output, receipt } = await spillway.admit({ output: { content }, limits });
    expectContent(content, output.content, limits, receipt);
    expect(receipt.shown.bytes).toBeGreaterThan(0);
  });

  it("take work by their number: 20,000 no more for each than 5,000", async () => {
    const workOf = async (blocks: number) => {
      let work = 0;
      const counter: TokenCounter = {
        ...words,
        count(text) {
          work += text.length;
          return words.count(text);
        },
      };
      const watched = (): Block =>
        new Proxy({ type: "text", text: "twenty bytes of text" } as Block, {
          get(target, key) {
            work++;
            return Reflect.get(target, key);
          },
          ownKeys(target) {
            work++;
            return Reflect.ownKeys(target);
          },
        });
      const spillway = await make({ counter });
      const output = { content: Array.from({ length: blocks }, watched) };
      await spillway.admit({ output, limits: { maxTokens: 5000 } });
      await spillway.admit({ output, limits: { maxLines: blocks } });
      return work / blocks;
    };
    expect(await workOf(20_000)).toBeLessThan(1.1 * (await workOf(5000)));
  });
});

class Row {
  readonly #fields: object;
  readonly internal = "i".repeat(5000);
  constructor(fields: object) {
    this.#fields = fields;
  }
  toJSON() {
    return this.#fields;
  }
}

const log = (lines: number) => Array.from({ length: lines }, (_, line) => `line ${line} "of" a log\n`).join("");

const arbitraryPart: fc.Arbitrary<unknown> = fc.oneof(
  fc.nat(40_000).map((length) => Buffer.from(log(Math.ceil(length / 20)).slice(0, length))),
  fc.nat(3000).map((length) => Float64Array.from({ length }, (_, index) => index / 3)),
  fc.nat(3000).map((length) => new Uint8Array(length).map((_, index) => index * 89)),
  fc.nat(2000).map((lines) => new Row({ id: 1, text: log(lines) })),
  fc.nat(2000).map((count) => new Row({ rows: Array.from({ length: count }, (_, id) => new Row({ id })) })),
  fc.nat(2000).map((count) => new Map(Array.from({ length: count }, (_, id) => [`key ${id}`, id]))),
  fc.nat(2000).map((count) => new Set(Array.from({ length: count }, (_, id) => `element ${id}`))),
  fc.nat(2000).map((lines) => log(lines)),
  fc.nat(3000).map((count) => Array.from({ length: count }, (_, id) => ({ id, price: id * 3 }))),
  fc.constant(12345678901234567890n),
  fc.constant({ type: "image", mimeType: "image/png", data: DATA }),
  fc.constant(new Date(0)),
  fc.constant(null),
);

const arbitraryObject = fc
  .tuple(fc.array(arbitraryPart, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean())
  .map(([parts, isCyclic, isAngry]) => {
    const object: Record<string, unknown> = Object.fromEntries(parts.map((part, at) => [`part${at}`, part]));
    if (isCyclic) object.self = { object };
    if (isAngry)
      Object.defineProperty(object, "angry", {
        enumerable: true,
        get() {
          throw new Error("no");
        },
      });
    return object;
  });

function expectObject(shown: unknown, limits: Limits, receipt: Receipt): string {
  const json = JSON.stringify(shown) ?? "";
  expectWithin(json, limits, receipt);
  // An image is whole or not there.
  expect(json.includes(DATA.slice(200, 400))).toBe(json.includes(DATA));
  return json;
}

describe("blocks of media", () => {
  const prose = "a line of a document that is plain text\n".repeat(5000);
  const data = Buffer.from(Array.from({ length: 9000 }, (_, at) => (at * 137) % 251)).toString("base64");

  it.each([
    ["a document as text", { type: "document", source: { type: "text", media_type: "text/plain", data: prose } }],
    [
      "a document as blocks",
      { type: "document", source: { type: "content", content: [{ type: "text", text: prose }] } },
    ],
    ["a document's context", { type: "document", context: prose, source: { type: "base64", data: "aGk=" } }],
    ["a link's description", { type: "resource_link", uri: "file:///a", name: "a", description: prose }],
    ["an image that is none", { type: "image", data: prose, mimeType: "image/png" }],
  ])("hold their texts to the limits: %s", async (_, block) => {
    const spillway = await make();
    const { output, text, receipt } = await spillway.admit({
      tool: "foo",
      output: { content: [block] },
      limits: { maxChars: 600 },
    });
    expect(text.length).toBeLessThanOrEqual(600);
    expect(JSON.stringify(output).length).toBeLessThanOrEqual(1000);
    expect(receipt.shown.chars).toBe(text.length);
    expect(receipt.total.bytes).toBe(prose.length);
  });

  it("keep their data and addresses as they came", async () => {
    const spillway = await make();
    const content = [
      { type: "image", data, mimeType: "image/png" },
      { type: "image_url", image_url: { url: `https://example.com/a?sig=${"Ab%2F0".repeat(200)}` } },
      { type: "text", text: "short" },
    ];
    const { output } = await spillway.admit({ tool: "foo", output: { content }, limits: { maxChars: 600 } });
    expect(output).toEqual({ content });
  });
});

describe("objects", () => {
  it("stay within every limit as the JSON that a model gets, whatever they are made of", async () => {
    const spillway = await make();
    await fc.assert(
      fc.asyncProperty(arbitraryObject, arbitraryLimits, async (given, limits) => {
        const { output, text, receipt } = await spillway.admit({ output: given, limits });
        expect(expectObject(output, { ...receipt.limits, ...limits }, receipt)).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  it("are held to a token limit", async () => {
    const spillway = await make();
    const limits = { maxTokens: 1611 };
    const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `name ${id}`, price: id * 3 }));
    for (const output of [{ rows }, { log: log(3000) }, { a: 1, log: log(300), b: log(30) }]) {
      const admitted = await spillway.admit({ output, limits });
      expectObject(admitted.output, limits, admitted.receipt);
      expect(admitted.receipt.shown.tokens).toBeGreaterThan(500);
      expect(admitted.receipt.saved).toBe("yes");
    }
  });

  it("of a command have their bytes as text, and these are kept", async () => {
    const spillway = await make();
    const script = "process.stdout.write('a line of output\\n'.repeat(100000))";
    const output = spawnSync(process.execPath, ["-e", script], { maxBuffer: 1e8 });
    const admitted = await spillway.admit({ output });
    expectObject(admitted.output, admitted.receipt.limits, admitted.receipt);
    expect(admitted.output).toMatchObject({ status: 0, stdout: expect.stringMatching(/^.*a line of output\n/s) });
    const whole = await spillway.store?.read(admitted.receipt.artifact ?? "", "local", { from: 0, to: Infinity });
    expect(Buffer.from(whole ?? []).equals(output.stdout)).toBe(true);
  });

  it("within their limits are the caller's own, if JSON has a word for all of them", async () => {
    const spillway = await make();
    for (const output of [
      { stdout: Buffer.from("ok") },
      { row: new Row({ id: 1 }) },
      { at: new Date(0), m: new Map() },
    ])
      expect((await spillway.admit({ output })).output).toBe(output);
    const self: Record<string, unknown> = { big: 10n };
    self.self = self;
    expect((await spillway.admit({ output: self })).output).toEqual({ big: "10", self: "[circular]" });
  });

  it("of a class are what the class says they are, and it is asked a few times at most", async () => {
    const spillway = await make();
    let calls = 0;
    const document = {
      $internal: "secret state ".repeat(9000),
      toJSON() {
        calls++;
        return { title: "a title", body: log(9000) };
      },
    };
    const { output, receipt } = await spillway.admit({ output: { document, list: [document] } });
    const json = expectObject(output, receipt.limits, receipt);
    expect(output).toMatchObject({ document: { title: "a title", body: expect.stringContaining("omitted") } });
    expect(json).not.toContain("secret state");
    expect(calls).toBeLessThan(10);
  });

  it("beside content are bounded by what JSON makes of them", async () => {
    const spillway = await make();
    const content = [{ type: "text", text: "ok" }];
    for (const details of [{ stdout: Buffer.alloc(1e6) }, { row: new Row({ text: log(9000) }) }]) {
      const { output } = await spillway.admit({ output: { content, details }, boundDetails: true });
      expect(Buffer.byteLength(JSON.stringify(output.details))).toBeLessThanOrEqual(8192);
    }
  });

  it("show no secret of their bytes or classes", async () => {
    const spillway = await make({ redact: "model" });
    const token = `ghp_${"a1B2c3D4e5F6g7H8".repeat(3).slice(0, 36)}`;
    for (const part of [Buffer.from(`is ${token}`), new Row({ note: `is ${token}` })]) {
      for (const more of [{}, { log: log(9000) }]) {
        const { output, text } = await spillway.admit({ output: { part, ...more } });
        expect(`${JSON.stringify(output)}${text}`).not.toContain("ghp_a1B2");
        expect(JSON.stringify(output)).toContain("[redacted:github-token]");
      }
    }
  });
});

describe("the same", () => {
  const blocks = (count: number, lines: number): Block[] =>
    Array.from({ length: count }, () => ({ type: "text", text: "a line\n".repeat(lines) }));

  it("through a wrapped tool", async () => {
    const receipts: Receipt[] = [];
    const spillway = await make({ onReceipt: (receipt) => receipts.push(receipt) });
    const results: Record<string, () => object> = {
      many: () => ({ content: [...blocks(850, 20), { type: "image", data: DATA }] }),
      few: () => ({ content: blocks(21, 20) }),
      command: () => ({ status: 0, stdout: Buffer.from(log(90_000)), stderr: Buffer.alloc(0) }),
      row: () => new Row({ text: log(9000) }),
    };
    for (const [name, result] of Object.entries(results)) {
      const tool = spillway.wrapTool({ name, execute: async () => result() }, { limits: { maxLines: 20 } });
      const output: unknown = await tool.execute();
      const receipt = receipts.pop() as Receipt;
      const content = (output as { content?: Block[] }).content;
      if (content === undefined) expectObject(output, receipt.limits, receipt);
      else expectContent((result() as { content: Block[] }).content, content, receipt.limits, receipt);
      expect(receipt.limits.maxLines).toBe(20);
    }
  });

  it("of embedded files alone: texts are cut, bytes pass", async () => {
    const spillway = await make();
    const text = { type: "resource", resource: { uri: "file:///a", text: log(90_000) } };
    const file = { type: "resource", resource: { uri: "file:///b", blob: DATA.repeat(2000) } };
    for (const content of [[file], [text, file]]) {
      const { output, receipt } = await spillway.admit({ output: { content } });
      expectContent(content, output.content, receipt.limits, receipt);
    }
  });

  it("through the proxy before MCP servers", async () => {
    const receipts: Receipt[] = [];
    const spillway = await make({ onReceipt: (receipt) => receipts.push(receipt) });
    const sent: Record<string, unknown>[] = [];
    const relay = startRelay(spillway, "s", {
      toClient: (frame) => void sent.push(JSON.parse(Buffer.from(frame).toString())),
      toServer: () => {},
      warn: () => {},
    });
    const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
    for (const [id, count] of [1, 64, 65, 217, 850, 5000].entries()) {
      const content = [...blocks(count, 20), { type: "image", data: DATA, mimeType: "image/png" }];
      await relay.fromClient(bytes({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t", arguments: {} } }));
      await relay.fromServer(bytes({ jsonrpc: "2.0", id, result: { content } }));
      const { result } = sent.pop() as { result: { content: Block[]; _meta?: object } };
      const receipt = receipts.pop() as Receipt;
      if (result._meta === undefined) expect(result.content).toEqual(content);
      else expectContent(content, result.content, { maxBytes: 51_200, maxLines: 2000 }, receipt);
      expect(result._meta === undefined).toBe(count <= 65);
    }
  });
});

describe("a fault of ours that would pass a limit", () => {
  /** Says little while parts are chosen and the truth in the end; `truths` times the truth first. */
  const liar = (truths: number, truthAfter: number): TokenCounter => {
    let calls = 0;
    return {
      ...words,
      count(text) {
        calls++;
        return calls <= truths || calls > truthAfter ? words.count(text) : 0;
      },
    };
  };

  it.each([
    ["a text", log(500), 1],
    [
      "blocks",
      {
        content: [
          { type: "text", text: log(250) },
          { type: "image", data: DATA },
          { type: "text", text: log(250) },
        ],
      },
      0,
    ],
    ["an object", { a: log(40), b: log(40) }, 0],
  ])("leaves a plain clamp, and is told: %s", async (_, output, truths) => {
    const limits = { maxTokens: 300 };
    let told = 0;
    for (let truthAfter = 1; truthAfter < 40; truthAfter++) {
      const events: unknown[] = [];
      const spillway = await make({ counter: liar(truths, truthAfter), onEvent: (event) => events.push(event) });
      const { text, output: shown, receipt } = await spillway.admit({ output, limits, fold: false });
      if (receipt.faults === undefined) continue;
      told++;
      expect(receipt.faults).toEqual([expect.stringMatching(/tokens .*over .*a plain clamp stood in/)]);
      expect(words.count(text)).toBeLessThanOrEqual(300);
      expect(text).not.toBe("");
      const content = (shown as { content?: Block[] }).content;
      const seen = typeof shown === "string" ? shown : content ? together(textsOf(content)) : JSON.stringify(shown);
      expect(seen).toBe(text);
      if (content) expect(mediaOf(content)).toEqual([{ type: "image", data: DATA }]);
      const { faults: _faults, ...rest } = receipt;
      expectWithin(text, limits, rest);
      expect(events).toContainEqual(
        expect.objectContaining({ receipt: expect.objectContaining({ faults: receipt.faults }) }),
      );
    }
    expect(told).toBeGreaterThan(0);
  });
});

describe("links and blocks of unknown types", () => {
  const link = (at: number) => ({
    type: "resource_link",
    uri: `file:///some/folder/${at}.txt`,
    name: `${at}.txt`,
    mimeType: "text/plain",
  });
  const chart = (at: number) => ({ type: "chart", at, series: [1, 2, 3, at] });
  const text = (words: string) => ({ type: "text", text: words });
  const isBlock = (block: unknown) =>
    typeof block === "object" && block !== null && typeof (block as { type?: unknown }).type === "string";

  it.each([
    ["5,000 links", Array.from({ length: 5000 }, (_, at) => link(at))],
    ["links among texts", Array.from({ length: 4000 }, (_, at) => (at % 2 === 0 ? link(at) : text(`part ${at}`)))],
    ["many charts", Array.from({ length: 5000 }, (_, at) => chart(at))],
    ["one large chart", [chart(1), { type: "chart", series: Array.from({ length: 50_000 }, (_, at) => at) }]],
    [
      "a large chart beside a text",
      [text("hello"), { type: "chart", series: Array.from({ length: 50_000 }, () => 7) }],
    ],
  ])("%s: bounded, saved, and blocks still", async (_name, content) => {
    const store = memoryStore();
    const spillway = await createSpillway({ store, ledger: null, env: {} });
    const before = JSON.stringify(content);
    const { output, receipt } = await spillway.admit({ tool: "list", output: { content } });
    expect(JSON.stringify(content)).toBe(before);
    const shown = (output as { content: unknown[] }).content;
    expect(shown.every(isBlock)).toBe(true);
    expect(JSON.stringify(shown).length).toBeLessThan(90_000);
    expect(receipt.artifact).not.toBeNull();
    const last = content.findLast(({ type }) => type !== "text");
    const saved = (await store.read(receipt.artifact ?? "", "local", { from: 0, to: 10_000_000 })) ?? new Uint8Array();
    expect(Buffer.from(saved).toString().includes(JSON.stringify(last))).toBe(true);
  });

  it("within the limits they are the caller's own, images beside them too", async () => {
    const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
    const image = { type: "image", data: "A".repeat(400_000), mimeType: "image/png" };
    const few = { content: [link(1), chart(2), image, text("x")] };
    expect((await spillway.admit({ tool: "list", output: few })).output).toBe(few);
    const many = { content: [image, ...Array.from({ length: 5000 }, (_, at) => link(at))] };
    const { output } = await spillway.admit({ tool: "list", output: many });
    expect((output as typeof many).content[0]).toBe(image);
  });
});
