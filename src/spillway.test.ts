import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Store } from "./contract/store.ts";
import { createSpillway, type Receipt, type Spillway, SpillwayError } from "./index.ts";
import { memoryStore } from "./storage/stores/memory.ts";
import { arbitraryOutput, chunked, lentStream } from "./testing/arbitrary.ts";

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
const make = (options: Parameters<typeof createSpillway>[0] = {}) =>
  createSpillway({ env: {}, store: memoryStore(), ...options });
const wholeOf = async ({ store }: Spillway, id: string | null) =>
  Buffer.from((await store?.read(id ?? "", "local", { from: 0, to: Number.MAX_SAFE_INTEGER })) ?? []).toString();

describe("admit", () => {
  it("needs no arguments and passes a small output as it came", async () => {
    const spillway = await make();
    const { output, text, receipt } = await spillway.admit({ tool: "run_command", output: "hello\n" });
    expect([output, text]).toEqual(["hello\n", "hello\n"]);
    expect(receipt).toMatchObject({ cutBy: null, saved: null, artifact: null, kept: { bytes: 6, lines: 1 } });
  });

  it("gives every way of handing in the same bytes the same text", async () => {
    const spillway = await make({ store: null });
    await fc.assert(
      fc.asyncProperty(arbitraryOutput, fc.array(fc.nat(), { maxLength: 6 }), async (bytes, cuts) => {
        const limits = { maxBytes: 700, maxLines: 20 };
        const chunks = chunked(bytes, cuts).map((chunk) => Buffer.from(chunk));
        const admitted = await Promise.all(
          [
            bytes,
            bytes.slice().buffer,
            Readable.from(chunks.length === 0 ? [] : chunks, { objectMode: false }),
            new Blob([bytes.slice()]).stream(),
            lentStream(chunks),
          ].map((output) => spillway.admit({ output, limits })),
        );
        const [first] = admitted;
        for (const each of admitted)
          expect({ text: each.text, receipt: each.receipt }).toEqual({ text: first?.text, receipt: first?.receipt });
      }),
      { numRuns: 60 },
    );
  });

  it("puts a surrogate pair together that two text chunks share", async () => {
    const spillway = await make();
    const { text } = await spillway.admit({ output: Readable.from(["a\ud83d", "\ude00b"]) });
    expect(text).toBe("a😀b");
  });

  it("keeps the whole output, from its first byte, before it returns a cut", async () => {
    const spillway = await make();
    const output = lines(5000);
    const { text, receipt } = await spillway.admit({
      tool: "bash",
      output: Readable.from([output.slice(0, 10), output.slice(10)]),
    });
    expect(receipt).toMatchObject({ saved: "yes", savedBytes: output.length, cutBy: "lines" });
    expect(text).toContain(`artifact ${receipt.artifact}`);
    expect(await wholeOf(spillway, receipt.artifact)).toBe(output);
  });

  it("clamps all the same when the store fails, and says so", async () => {
    const failing = {
      begin: async () => ({
        add: () => Promise.reject(new Error("disk full")),
        end: () => Promise.reject(new Error("gone")),
      }),
      read: async () => null,
    };
    const spillway = await make({ store: failing as unknown as Store });
    const { text, receipt } = await spillway.admit({ tool: "bash", output: lines(5000) });
    expect(receipt).toMatchObject({ saved: "no", artifact: null });
    expect(receipt.faults?.[0]).toMatch(/spill failed after 0 bytes: disk full/);
    expect(text).toContain("The rest was not saved");
  });

  it("says how much was saved when the store fails half-way", async () => {
    let added = 0;
    const halfway = {
      begin: async () => ({
        add(bytes: Uint8Array) {
          if (added > 0) throw new Error("disk full");
          added += bytes.length;
        },
        end: async () => ({
          id: "abcdefghijkl",
          bytes: added,
          sha256: "0",
          saved: "yes",
          redactions: { count: 0, bytes: 0 },
        }),
      }),
      read: async () => null,
    };
    const spillway = await make({ store: halfway as unknown as Store });
    const { text, receipt } = await spillway.admit({ tool: "bash", output: lines(50_000) });
    expect(receipt).toMatchObject({ saved: "partial", savedBytes: added });
    expect(text).toContain(`Only the first ${added.toLocaleString("en-US")} bytes were saved`);
  });

  it("clamps what came of a stream that fails, and tells the model", async () => {
    const spillway = await make();
    async function* broken() {
      yield "some output\n";
      throw new Error("connection reset\nsecond line");
    }
    const { text, receipt } = await spillway.admit({ output: broken() });
    expect(text).toBe("some output\n[output ended early: connection reset]");
    expect(receipt.faults).toEqual(["[output ended early: connection reset]"]);
  });

  it("falls back to a plain clamp when a strategy fails, and records it", async () => {
    for (const when of ["start", "add", "end", "cut"]) {
      const fail = (now: string) => {
        if (now === when) throw new Error(`broken in ${when}`);
      };
      const strategy = {
        name: "broken",
        start() {
          fail("start");
          return { add: () => fail("add"), end: () => (fail("end"), { cut: () => (fail("cut"), null as never) }) };
        },
      };
      const spillway = await make({ strategies: [strategy], policy: { default: { strategy: "broken" } } });
      const { text, receipt } = await spillway.admit({ output: lines(5000) });
      expect(text).toContain("[First ");
      expect(receipt.faults?.[0]).toBe(`strategy broken failed: broken in ${when}`);
      expect(receipt.kept.bytes + receipt.omitted.bytes).toBe(receipt.total.bytes);
    }
  });

  it("describes binary, whatever its size, and keeps it", async () => {
    const spillway = await make();
    const png = Uint8Array.from([
      0x89,
      0x50,
      0x4e,
      0x47,
      13,
      10,
      26,
      10,
      ...Array.from({ length: 500 }, (_, index) => (index * 7) % 256),
    ]);
    const { text, receipt } = await spillway.admit({ output: png });
    expect(text).toMatch(/^\[binary output not shown: PNG image, 508 bytes\]\n\[The whole is saved as artifact/);
    expect(receipt).toMatchObject({ binary: "PNG image", omitted: { bytes: 508 }, saved: "yes" });
  });

  it("says that a command had no output, and how it ended", async () => {
    const spillway = await make();
    expect((await spillway.admit({ output: "", exitCode: 0 })).text).toBe("[no output]\n[exit code 0]");
    expect((await spillway.admit({ output: "ok\n", exitCode: 0 })).text).toBe("ok\n");
    expect((await spillway.admit({ output: "bad", exitCode: 2 })).text).toBe("bad\n[exit code 2]");
    // As JSON from elsewhere has it.
    for (const exitCode of ["3", Promise.resolve("3")] as unknown as number[]) {
      const { text, receipt } = await spillway.admit({ output: Buffer.from("bad"), exitCode });
      expect([text, receipt.exitCode, receipt.faults]).toEqual(["bad\n[exit code 3]", 3, undefined]);
    }
    expect(await spillway.admit({ output: "bad", exitCode: "SIGKILL" as unknown as number })).toMatchObject({
      text: "bad",
      receipt: { exitCode: null, faults: ['exitCode must be a whole number; got "SIGKILL"'] },
    });
    expect((await spillway.admit({ output: "" })).text).toBe("");
  });

  it("throws a clear error for a mistake in the call, and none for what the output is", async () => {
    const spillway = await make();
    for (const maxBytes of [Number.NaN, -1, 1.5, "100" as never]) {
      await expect(spillway.admit({ output: "x", limits: { maxBytes } })).rejects.toThrow(
        /maxBytes must be a whole number/,
      );
    }
    for (const request of [{}, "a text", null] as never[])
      await expect(spillway.admit(request)).rejects.toThrow(/there was no output/);
    await expect(spillway.admit({ output: "x", exitCode: Number.NaN })).rejects.toThrow(
      /exitCode must be a whole number/,
    );
    for (const options of [{ sesion: "s" }, { maxbytes: 9 }] as object[]) {
      const named = /there is no option "(sesion|maxbytes)" for (prepare|call|an output); known are /;
      await expect(spillway.prepare([], options)).rejects.toThrow(named);
      await expect(spillway.call([], () => "sent", options)).rejects.toThrow(named);
      await expect(spillway.admit({ output: "x", ...options })).rejects.toThrow(named);
      expect(() => spillway.wrapTool(() => "x", options)).toThrow(named);
    }
    await expect(make({ polciy: "off" } as never)).rejects.toThrow(/no option "polciy"/);
    await expect(make({ policy: { profil: "off" } as never })).rejects.toThrow(/no key "profil"/);
    await expect(spillway.admit({ output: "x", strategy: "best" })).rejects.toSatisfy(
      (error) => SpillwayError.is(error) && error.code === "unknown-strategy",
    );
    for (const output of [null, undefined, 7n as never, Symbol("s") as never, true as never, {}, [], () => 1]) {
      await expect(spillway.admit({ output: output as never })).resolves.toHaveProperty("receipt");
    }
  });

  it("holds the ceiling against larger limits of a call", async () => {
    const spillway = await make();
    const { receipt } = await spillway.admit({ output: "x".repeat(100_000), limits: { maxBytes: 90_000 } });
    expect(receipt.shown.bytes).toBeLessThanOrEqual(51_200);
    const open = await spillway.admit({ output: "x".repeat(100_000), limits: { maxBytes: Number.POSITIVE_INFINITY } });
    expect(open.receipt.limits).toEqual({ maxBytes: 51_200, maxLines: 2000 });
  });

  it("is off where that is said: by call, profile or environment", async () => {
    const output = lines(9000);
    expect((await (await make()).admit({ output, off: true })).text).toBe(output);
    expect((await (await make({ policy: "off" })).admit({ output })).text).toBe(output);
    expect((await (await make({ env: { SPILLWAY_OFF: "1" } })).admit({ output })).text).toBe(output);
  });

  it("takes a marker in place of ours and measures it like ours", async () => {
    const spillway = await make();
    const words = await spillway.admit({ output: lines(5000), limits: { maxLines: 10 }, marker: "<snip>" });
    expect(words.text.split("\n").filter((line) => line === "<snip>")).toHaveLength(1);
    expect(words.receipt.shown.lines).toBe(10);
    const told = await spillway.admit({
      output: lines(5000),
      limits: { maxBytes: 500 },
      marker: (cut) => `<${cut.omitted.lines} lines gone>`,
    });
    expect(told.text).toContain(`<${told.receipt.omitted.lines} lines gone>`);
    expect(told.receipt.shown.bytes).toBeLessThanOrEqual(500);
    const broken = await spillway.admit({
      output: lines(5000),
      marker: () => {
        throw new Error("no marker");
      },
    });
    expect(broken.text).toContain(" omitted (");
  });

  it("cuts a text of its own anew from the artifact: no marker is cut twice, no count refers to a cut", async () => {
    const spillway = await make();
    const output = lines(9000);
    const once = await spillway.admit({ tool: "a", output, exitCode: 3, fold: false });
    const twice = await spillway.admit({ tool: "b", output: once.text, limits: { maxLines: 12 }, fold: false });
    expect(twice.receipt).toMatchObject({ artifact: once.receipt.artifact, total: { lines: 9000 }, exitCode: 3 });
    expect(twice.text.match(/lines \d+-\d+ omitted/g)).toHaveLength(1);
    const blocks = await spillway.admit({
      output: { content: [{ type: "text", text: once.text }] },
      limits: { maxLines: 12 },
      fold: false,
    });
    expect(blocks.output.content[0]?.text).toBe(twice.text);
    // Quoted inside something else it is no longer ours.
    const quoted = await spillway.admit({ output: `quote: ${once.text}`, limits: { maxLines: 12 }, fold: false });
    expect(quoted.receipt.total.lines).toBe(once.receipt.shown.lines);
    expect(quoted.receipt.artifact).not.toBe(once.receipt.artifact);
  });

  it("lists at most 200 cuts on a receipt and counts the others", async () => {
    const spillway = await make();
    const step = (index: number) => `${"abcdefghijklmnop"[index % 16]} unlike the others ${"x".repeat(index % 13)}\n`;
    const ticks = (count: number) => Array.from({ length: count }, (_, index) => `downloaded ${index + 1}%\n`).join("");
    const output = Array.from({ length: 400 }, (_, index) => step(index) + ticks(40)).join("");
    const { receipt } = await spillway.admit({ output, limits: { maxLines: 1900 } });
    expect(receipt.cuts.length).toBeLessThanOrEqual(200);
    expect(receipt.cuts.length + receipt.moreCuts).toBeGreaterThan(200);
  });

  it("tells of every receipt", async () => {
    const receipts: Receipt[] = [];
    const spillway = await make({
      onReceipt(receipt) {
        receipts.push(receipt);
        throw new Error("a listener's fault");
      },
    });
    await spillway.admit({ tool: "a", output: "1" });
    await spillway.admit({ tool: "b", output: lines(9000) });
    expect(receipts.map(({ tool, cutBy }) => [tool, cutBy])).toEqual([
      ["a", null],
      ["b", "lines"],
    ]);
  });

  it("refuses a policy with a strategy nobody knows, where it is made", async () => {
    await expect(make({ policy: { tools: { bash: { strategy: "best" } } } })).rejects.toThrow(
      /strategy must be one of/,
    );
  });
});

describe("structured results", () => {
  it("keep shape, order, other blocks and unknown fields; the caller's object is not touched", async () => {
    const spillway = await make();
    const image = { type: "image", data: "x".repeat(200_000), mimeType: "image/png" };
    const details = { rows: ["y".repeat(100_000)] };
    const result = {
      content: [
        { type: "text", text: lines(9000), cache_control: { type: "ephemeral" } },
        image,
        { type: "text", text: "last" },
      ],
      details,
      isError: true,
    };
    const before = structuredClone(result);
    const { output, receipt } = await spillway.admit({ tool: "some_tool", output: result });
    expect(result).toEqual(before);
    expect(output.content[1]).toBe(image);
    expect(output.details).toBe(details);
    expect(output.isError).toBe(true);
    expect(output.content[0]).toMatchObject({ type: "text", cache_control: { type: "ephemeral" } });
    expect(output.content[2]).toEqual({ type: "text", text: "last" });
    expect(receipt.shown.bytes).toBeLessThanOrEqual(51_200);
    expect(receipt.cuts[0]).toMatchObject({ block: 0 });
  });

  it("have their details bounded where they reach a model, and only there", async () => {
    const spillway = await make();
    const result = {
      content: [{ type: "text", text: "ok" }],
      structuredContent: { rows: Array.from({ length: 5000 }, (_, id) => ({ id })) },
    };
    expect((await spillway.admit({ output: result })).output).toBe(result);
    const { output } = await spillway.admit({ output: result, boundDetails: true });
    expect(JSON.stringify(output.structuredContent).length).toBeLessThanOrEqual(8192);
    expect(output.structuredContent).toHaveProperty("[cut]");
    expect(output.content).toBe(result.content);
  });

  it("may have a string as content, or be any object with text in it", async () => {
    const spillway = await make();
    const said = await spillway.admit({ output: { success: true, content: lines(9000), metadata: { n: 1 } } });
    expect(said.output).toMatchObject({ success: true, metadata: { n: 1 } });
    expect(said.output.content).toContain(" omitted (");
    const nested = await spillway.admit({
      output: { stdout: lines(9000), stderr: "boom", inner: { deep: ["a", 1, null] } },
    });
    expect(nested.output).toMatchObject({ stderr: "boom", inner: { deep: ["a", 1, null] } });
    expect(nested.receipt.shown.bytes).toBeLessThanOrEqual(51_200);
  });

  it("share one budget over all texts, never above the limits", async () => {
    const spillway = await make({ store: null });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryOutput, { maxLength: 6 }),
        fc.constantFrom(null, 0, 3),
        async (outputs, exitCode) => {
          const content = outputs.map((bytes) => ({ type: "text", text: new TextDecoder().decode(bytes) }));
          const limits = { maxBytes: 900, maxLines: 30, maxTokens: 400 };
          const { output, text, receipt } = await spillway.admit({
            output: { content },
            limits,
            ...(exitCode !== null && { exitCode }),
          });
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(900);
          expect(receipt.shown.lines).toBeLessThanOrEqual(30);
          expect(receipt.shown.tokens).toBeLessThanOrEqual(400);
          expect(output.content).toHaveLength(content.length);
          for (const unit of ["bytes", "lines"] as const) {
            expect(receipt.kept[unit] + receipt.folded[unit] + receipt.omitted[unit]).toBe(receipt.total[unit]);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("survive cycles, getters that throw, BigInt, buffers and millions of values", async () => {
    const spillway = await make();
    const cyclic: Record<string, unknown> = { text: lines(9000), big: 10n, buffer: Buffer.from("x") };
    cyclic.self = cyclic;
    Object.defineProperty(cyclic, "angry", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    });
    expect((await spillway.admit({ output: cyclic })).receipt.omitted.bytes).toBeGreaterThan(0);
    const many = { rows: Array.from({ length: 300_000 }, (_, index) => ({ index })) };
    const { output, receipt } = await spillway.admit({ output: many });
    expect(JSON.stringify(output).length).toBeLessThanOrEqual(51_200);
    expect(receipt).toMatchObject({ saved: "yes", strategy: "bounded" });
    const kept = await wholeOf(spillway, receipt.artifact);
    expect(JSON.parse(kept)).toEqual(many);
    expect(receipt.kept.bytes + receipt.omitted.bytes).toBe(kept.length);
  });
});

describe("outputs of other shapes", () => {
  it("are read: promises, Blobs, Responses, errors, streams of objects", async () => {
    const spillway = await make();
    const text = async (output: unknown) => (await spillway.admit({ output })).text;
    expect(await text(Promise.resolve("later"))).toBe("later");
    expect(await text(new Blob(["a blob"]))).toBe("a blob");
    expect(await text(new Response("a body"))).toBe("a body");
    expect(await text(new Error("what failed"))).toBe("what failed");
    expect(await text(Readable.from([{ a: 1 }, { b: 2 }]))).toBe('{"a":1}\n{"b":2}\n');
    expect(await text({ n: 1 })).toBe('{"n":1}');
    const error = new RangeError(lines(9000));
    const { output } = await spillway.admit({ output: error });
    expect(output).toBeInstanceOf(RangeError);
    expect(output).not.toBe(error);
  });

  it("one long line in a block is shown as far as one in a string", async () => {
    const spillway = await make();
    const line = "{}".repeat(70_000);
    const alone = await spillway.admit({ output: line });
    const block = await spillway.admit({ output: { content: [{ type: "text", text: line }] } });
    expect(block.receipt.kept.bytes).toBe(alone.receipt.kept.bytes);
  });

  it("objects with more keys and numbers than text are bounded and kept whole", async () => {
    const spillway = await make();
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id, price: id * 3, qty: 7 }));
    const { output, text, receipt } = await spillway.admit({ output: rows });
    expect(JSON.stringify(output).length).toBeLessThanOrEqual(51_200);
    expect(text).toBe(JSON.stringify(output));
    expect(receipt.shown.bytes).toBe(text.length);
    const kept = await wholeOf(spillway, receipt.artifact);
    expect(JSON.parse(kept)).toEqual(rows);
  });

  it("wait for an exit code that comes after the output", async () => {
    const spillway = await make();
    let ended: (code: number) => void = () => {};
    const exitCode = new Promise<number>((resolve) => {
      ended = resolve;
    });
    async function* output() {
      yield "working\n";
      ended(3);
    }
    const { text, receipt } = await spillway.admit({ output: output(), exitCode });
    expect(text).toBe("working\n[exit code 3]");
    expect(receipt.exitCode).toBe(3);
  });
});

describe("wrapTool", () => {
  const tool = (execute: (...args: never[]) => unknown, more: object = {}) => ({
    name: "bash",
    label: "Shell",
    execute,
    ...more,
  });

  it("clamps results; other fields, the arguments and the signal pass through", async () => {
    const spillway = await make();
    const seen: unknown[] = [];
    const original = tool((...args) => {
      seen.push(...args);
      return { content: [{ type: "text", text: lines(5000) }], details: { exit: 0 } };
    });
    const wrapped = spillway.wrapTool(original);
    const { signal } = new AbortController();
    const result = (await wrapped.execute(...(["call-1", { command: "ls" }, signal] as never[]))) as {
      content: { text: string }[];
      details: object;
    };
    expect(seen).toEqual(["call-1", { command: "ls" }, signal]);
    expect(wrapped).toMatchObject({ name: "bash", label: "Shell" });
    expect(result.details).toEqual({ exit: 0 });
    expect(result.content[0]?.text.split("\n").length).toBeLessThanOrEqual(200);
  });

  it("wraps once, keeps a class's methods, and leaves the tool itself alone", async () => {
    const spillway = await make();
    class Reader {
      static MAX_OUTPUT_CHARS = 1000;
      readonly name = "my_reader";
      #secret = "y".repeat(5000);
      execute() {
        return this.#secret;
      }
      describe() {
        return `reads ${this.name}`;
      }
    }
    const reader = new Reader();
    const wrapped = spillway.wrapTool(reader);
    expect(spillway.wrapTool(wrapped)).toBe(wrapped);
    expect(wrapped).toBeInstanceOf(Reader);
    expect(wrapped.describe()).toBe("reads my_reader");
    expect(((await wrapped.execute()) as string).length).toBeLessThanOrEqual(1000);
    expect(reader.execute()).toHaveLength(5000);
    expect(spillway.wrapTool(reader, { off: true })).toBe(reader);
  });

  it("wraps lists and records, naming tools by their keys", async () => {
    const spillway = await make({ policy: { tools: { fetch_page: { limits: { maxChars: 300 } } } } });
    const { fetch_page } = spillway.wrapTools({ fetch_page: { execute: async () => "z".repeat(4000) } });
    expect((await fetch_page.execute()).length).toBeLessThanOrEqual(300);
    expect(spillway.wrapTools([tool(() => "a"), { name: "none" }])).toHaveLength(2);
  });

  it("lets a tool declare limits, under the ceiling, and a policy row that names it win", async () => {
    const spillway = await make({ policy: { tools: { named: { limits: { maxLines: 50 } } } } });
    const declared = { limits: { maxLines: 30, maxBytes: 999_999 } };
    const count = async (name: string) =>
      ((await spillway.wrapTool({ name, ...declared, execute: () => lines(9000) }).execute()) as string).split("\n")
        .length;
    expect(await count("unnamed")).toBe(30);
    expect(await count("named")).toBe(50);
  });

  it("shows a mistake when the tool is wrapped, not when it is called", async () => {
    const spillway = await make();
    expect(() =>
      spillway.wrapTool(
        tool(() => ""),
        { limits: { maxLines: -5 } },
      ),
    ).toThrow(/maxLines must be a whole number/);
    expect(() =>
      spillway.wrapTool(
        tool(() => ""),
        { strategy: "best" },
      ),
    ).toThrow(/strategy must be one of/);
  });

  it("throws small errors as they are and large ones as a clamped copy", async () => {
    const spillway = await make();
    class ToolError extends Error {
      code = "E_TOOL";
    }
    const small = new ToolError("short");
    await expect(spillway.wrapTool(tool(() => Promise.reject(small))).execute()).rejects.toBe(small);
    const large = new ToolError(lines(9000));
    const { message } = large;
    const running = spillway.wrapTool(tool(() => Promise.reject(large))).execute() as Promise<unknown>;
    const thrown = await running.catch((error: unknown) => error as ToolError);
    expect(thrown).toBeInstanceOf(ToolError);
    expect(thrown).not.toBe(large);
    expect(thrown).toMatchObject({ code: "E_TOOL" });
    expect(large.message).toBe(message);
    const { message: shown, stack = "" } = thrown as ToolError;
    expect(shown.split("\n").length).toBeLessThanOrEqual(200);
    expect(stack).not.toContain("at ");
  });

  it("clamps updates, coalesces them to the latest and always delivers the last", async () => {
    const receipts: Receipt[] = [];
    const spillway = await make({ onReceipt: (receipt) => receipts.push(receipt) });
    const updates: { content: { text: string }[] }[] = [];
    const original = tool((async (
      _id: string,
      _args: object,
      _signal: unknown,
      onUpdate: (update: unknown) => void,
    ) => {
      for (let step = 1; step <= 500; step++) onUpdate({ content: [{ type: "text", text: lines(step * 10) }] });
      return "done";
    }) as never);
    const wrapped = spillway.wrapTool(original);
    await wrapped.execute(...(["c", {}, undefined, (update: never) => updates.push(update)] as never[]));
    expect(updates.length).toBeGreaterThan(0);
    expect(updates.length).toBeLessThan(20);
    expect(updates.at(-1)?.content[0]?.text).toContain("line 5000");
    for (const { content } of updates) expect(content[0]?.text.split("\n").length).toBeLessThanOrEqual(200);
    expect(receipts).toHaveLength(1);
  });

  it("wraps again where something else is said", async () => {
    const spillway = await make();
    const inner = spillway.wrapTool(
      tool(() => lines(900)),
      { limits: { maxLines: 100 } },
    );
    const outer = spillway.wrapTool(inner, { limits: { maxLines: 10 } });
    expect(((await outer.execute()) as string).split("\n")).toHaveLength(10);
    const frugal = (await make({ policy: "frugal" })).wrapTool({ name: "my_tool", execute: () => "x".repeat(20_000) });
    expect(((await frugal.execute()) as unknown as string).length).toBeLessThanOrEqual(8000);
  });

  it("wraps functions, and tools that yield their results", async () => {
    const spillway = await make();
    const shout = spillway.wrapTool(async (count: number) => "A".repeat(count));
    expect((await shout(90_000)).length).toBeLessThanOrEqual(51_200);
    const yielding = spillway.wrapTool({
      name: "bash",
      async *execute() {
        yield "started";
        yield lines(9000);
      },
    });
    const results: string[] = [];
    for await (const result of yielding.execute()) results.push(result);
    expect(results[0]).toBe("started");
    expect(results[1]?.split("\n").length).toBeLessThanOrEqual(200);
  });

  it("clamps what a generator returns too, hands it what is sent, and ends it with its reader", async () => {
    const spillway = await make();
    let ended = 0;
    const asking = spillway.wrapTool({
      name: "bash",
      async *execute(): AsyncGenerator<string, string, number | undefined> {
        try {
          return lines((yield "how many?") ?? 1);
        } finally {
          ended++;
        }
      },
    });
    const run = asking.execute();
    expect(await run.next()).toEqual({ done: false, value: "how many?" });
    const last = await run.next(9000);
    expect(last.done).toBe(true);
    expect(last.value).toContain("9000");
    expect(last.value.split("\n").length).toBeLessThanOrEqual(200);
    expect(ended).toBe(1);
    for await (const question of asking.execute()) {
      expect(question).toBe("how many?");
      break;
    }
    expect(ended).toBe(2);
  });

  it("a receipt of several texts names the strategy and kind of the largest that was cut", async () => {
    const spillway = await make();
    const rows = JSON.stringify(Array.from({ length: 9000 }, (_, id) => ({ id, name: `row ${id}` })));
    const texts = (...all: string[]) => ({ content: all.map((text) => ({ type: "text", text })) });
    const alone = (await spillway.admit({ tool: "t", output: rows })).receipt;
    expect(alone).toMatchObject({ strategy: "json", kind: "json" });
    const named = ({ strategy, kind }: Receipt) => ({ strategy, kind });
    for (const output of [texts(rows), texts("a note", rows, lines(300))]) {
      expect(named((await spillway.admit({ tool: "t", output })).receipt)).toEqual(named(alone));
    }
    const { strategy, kind } = (await spillway.admit({ tool: "t", output: texts("a", "b") })).receipt;
    expect({ strategy, kind }).toEqual(named((await spillway.admit({ tool: "t", output: "a" })).receipt));
  });

  it("clamps what is thrown that is no error", async () => {
    const spillway = await make();
    const thrown = (value: unknown) =>
      (spillway.wrapTool(tool(() => Promise.reject(value))).execute() as Promise<unknown>).catch(
        (error: unknown) => error,
      );
    expect(String(await thrown("s".repeat(90_000))).length).toBeLessThanOrEqual(51_200);
    expect(JSON.stringify(await thrown({ error: "o".repeat(90_000) })).length).toBeLessThanOrEqual(51_200);
    const aborted = (await thrown(new DOMException("d".repeat(90_000), "AbortError"))) as DOMException;
    expect([aborted.name, aborted.code, aborted.message.length < 51_200]).toEqual(["AbortError", 20, true]);
  });

  it("refuses what is no tool", async () => {
    const spillway = await make();
    expect(() => spillway.wrapTool(null as never)).toThrow(/wrapTool takes a tool/);
  });

  it("passes an abort on", async () => {
    const spillway = await make();
    const controller = new AbortController();
    const wrapped = spillway.wrapTool(
      tool(
        ((_id: string, _args: object, signal: AbortSignal) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))) as never,
      ),
    );
    const running = wrapped.execute(...(["c", {}, controller.signal] as never[]));
    controller.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
  });
});

describe("what is kept", () => {
  it("has its secrets replaced, in every chunking, and the receipt says so; the model's view has not", async () => {
    const secret = `ghp_${"a1B2c3D4e5F6g7H8".repeat(3).slice(0, 36)}`;
    const output = `${lines(3000)}token is ${secret} here\n${lines(3000)}last ${secret}\n`;
    for (const size of [7, 1000, 100_000]) {
      const spillway = await make();
      const chunks = Array.from({ length: Math.ceil(output.length / size) }, (_, index) =>
        Buffer.from(output.slice(index * size, (index + 1) * size)),
      );
      const { text, receipt } = await spillway.admit({ tool: "bash", output: Readable.from(chunks) });
      const whole = await wholeOf(spillway, receipt.artifact);
      expect(whole).not.toContain(secret.slice(0, 12));
      expect(whole.split("\n").length).toBe(output.split("\n").length);
      expect(receipt.storedRedactions).toEqual({ count: 2, bytes: 2 * secret.length });
      expect(text).toContain(secret);
    }
  });

  it("can be read back and searched, and each time is an event", async () => {
    const events: string[] = [];
    const spillway = await make({ onEvent: ({ kind }) => events.push(kind) });
    const { receipt } = await spillway.admit({ tool: "bash", session: "s", output: lines(5000) });
    const page = await spillway.recall(receipt.artifact ?? "", { lines: [2500, 2502] });
    expect(page.text).toBe("line 2500\nline 2501\nline 2502\n");
    const found = await spillway.search(receipt.artifact ?? "", { pattern: "line 42\\d\\d$" });
    expect([found.total, found.matches[0]?.line]).toEqual([100, 4200]);
    expect(events).toEqual(["output-clamped", "artifact-spilled", "artifact-recalled", "artifact-searched"]);
    const short = await spillway.search(receipt.artifact ?? "", { pattern: "line" }, { limits: { maxChars: 300 } });
    expect(short.matches.map(({ text, before }) => [...before, text].join("\n")).join("\n").length).toBeLessThan(300);
    await expect(spillway.recall("abcdefghijkl")).rejects.toThrow(/artifact/);
  });

  it("records what was searched for without its secrets, wherever they stand in the pattern", async () => {
    const patterns: unknown[] = [];
    const spillway = await make({
      onEvent: ({ kind, more }) => kind === "artifact-searched" && patterns.push(more?.pattern),
    });
    const { receipt } = await spillway.admit({ tool: "bash", output: lines(5000) });
    const secret = `ghp_${"a1B2".repeat(9)}`;
    for (const before of ["", `${"x".repeat(190)} `])
      await spillway.search(receipt.artifact ?? "", { pattern: `${before}${secret}`, literal: true });
    expect(patterns).toEqual(["[redacted:github-token]", `${"x".repeat(190)} [redacted:github-token]`]);
  });

  it("is on this machine by default, and counted by tool", async () => {
    const dir = await mkdtemp(join(tmpdir(), "spillway-"));
    const spillway = await createSpillway({ dir, env: {} });
    const { receipt } = await spillway.admit({ tool: "bash", session: "s1", output: lines(5000) });
    await spillway.admit({ tool: "bash", session: "s1", output: "small" });
    const again = await createSpillway({ dir, env: {} });
    expect(await wholeOf(again, receipt.artifact)).toBe(lines(5000));
    expect(await again.ledger?.stats({ by: "tool" })).toMatchObject([{ tool: "bash", calls: 2, cutCalls: 1 }]);
    await rm(dir, { recursive: true });
  });
});
