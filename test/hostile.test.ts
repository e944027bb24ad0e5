// Outputs, tools, stores, strategies and listeners that mean no good.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Store, Strategy } from "../src/extend.ts";
import { createSpillway } from "../src/index.ts";
import { clampBlocks, clampText } from "../src/stages.ts";
import { memoryStore } from "../src/storage/stores/memory.ts";

const big = Array.from({ length: 60_000 }, (_, index) => `record ${index * 7919} of many\n`).join("");
const make = (options: object = {}) => createSpillway({ env: {}, store: memoryStore(), ...options });
const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe("structured results", () => {
  it("stay within their limits as JSON, whatever their markers and texts are made of", async () => {
    const spillway = await make({ reader: { by: "tool", recall: "recall", search: "search" } });
    const line = fc.constantFrom("", "a", '"', "\t\\", "an ordinary line of text", "\u0001", '{"a":"b"}');
    const parts = fc.array(fc.tuple(line, fc.nat(3000)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 200, max: 6000 }), async (texts, maxBytes) => {
        const output = Object.fromEntries(
          texts.map(([text, times], at) => [`field${at}`, `${text}${at}\n`.repeat(times)]),
        );
        const { receipt, output: shown } = await spillway.admit({ output, limits: { maxBytes } });
        expect(receipt.faults).toBeUndefined();
        expect(jsonBytes(shown)).toBeLessThanOrEqual(maxBytes);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ["a list of objects with a type", [{ type: "PushEvent", payload: big }]],
    ["content null", { content: null, stdout: big }],
    ["content empty", { content: [], stdout: big }],
    ["lists inside content", { content: [[big]] }],
    ["blocks inside lists", { content: [[{ type: "text", text: big }]] }],
    ["an unknown block", { content: [{ type: "json", json: { x: big } }] }],
    ["another field of a text block", { content: [{ type: "text", text: "a", content: big }] }],
    ["text that is an object", { content: [{ type: "text", text: { value: big } }] }],
    ["a resource's contents", { content: [{ type: "resource", resource: { contents: [{ text: big }] } }] }],
    ["a Map", { content: new Map([["a", big]]) }],
    ["a frozen result", Object.freeze({ content: Object.freeze([Object.freeze({ type: "text", text: big })]) })],
    [
      "depth",
      Array.from({ length: 90 }).reduce<object>((inner) => ({ type: "x", content: [inner] }), {
        type: "text",
        text: big,
      }),
    ],
    [
      "thousands of blocks",
      { content: Array.from({ length: 30_000 }, (_, index) => ({ type: "text", text: `block ${index}` })) },
    ],
  ])("stay within limits and are kept: %s", async (_, output) => {
    const spillway = await make();
    const admitted = await spillway.admit({ output });
    expect(jsonBytes(admitted.output)).toBeLessThanOrEqual(51_200 * 1.2);
    expect(admitted.text).not.toBe("");
    const { receipt } = admitted;
    expect(receipt.faults).toBeUndefined();
    expect(receipt).toMatchObject({ saved: "yes" });
    expect(receipt.shown.bytes).toBeLessThanOrEqual(51_200);
    expect(receipt.kept.bytes + receipt.folded.bytes + receipt.omitted.bytes).toBe(receipt.total.bytes);
  });

  it("say that blocks are missing, and what the last one with text has to say", () => {
    const many = clampBlocks(
      { content: Array.from({ length: 3000 }, (_, index) => ({ type: "text", text: `result ${index}` })) },
      { maxBytes: 51_200, maxLines: 2000 },
    );
    expect(many.text).toMatch(/omitted/);
    const { output } = clampBlocks(
      {
        content: [
          { type: "text", text: "" },
          { type: "text", text: "done" },
          { type: "text", text: "" },
        ],
      },
      {},
      { exitCode: 2 },
    );
    expect(output.content.map(({ text }) => text)).toEqual(["", "done\n[exit code 2]", ""]);
  });

  it("within the limits together are not cut", () => {
    const content = [
      { type: "text", text: `${"a".repeat(59)}\n` },
      { type: "text", text: "b".repeat(60) },
    ];
    expect(clampBlocks({ content }, { maxBytes: 120 }, { exitCode: 0 }).output).toEqual({ content });
  });

  it("may share a block", () => {
    const shared = { type: "text", text: big };
    const { output } = clampBlocks({ content: [shared, shared] }, { maxBytes: 4000 }, { exitCode: 1 });
    expect(output.content[0]?.text).not.toContain("[exit code 1]");
    expect(output.content[1]?.text).toContain("[exit code 1]");
  });

  it("that cannot be read do not throw", async () => {
    const spillway = await make();
    const angry = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        has: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const output of [angry, proxy, { a: angry }, { content: [angry, proxy] }]) {
      await expect(spillway.admit({ output })).resolves.toHaveProperty("text");
    }
    const rows = Array.from({ length: 9000 }, (_, at) => `row ${at}`);
    const { output, text, receipt } = await spillway.admit({ output: { rows, proxy }, limits: { maxChars: 300 } });
    expect(receipt.faults?.[0]).toMatch(/a plain clamp stood in/);
    expect(typeof output === "string" ? output : JSON.stringify(output)).toBe(text);
    expect(text.length).toBeLessThanOrEqual(300);
  });
});

describe("texts", () => {
  it("do not pass a token limit with their exit line", () => {
    for (let maxTokens = 3; maxTokens < 30; maxTokens++) {
      for (const text of ["xx", "x x", "a.b.c", "1234567"]) {
        expect(clampText(text, { maxTokens }, { exitCode: -1 }).receipt.shown.tokens).toBeLessThanOrEqual(maxTokens);
      }
    }
  });

  it("of codes only add up, whichever end is kept", () => {
    for (const strategy of ["head", "tail", "head-tail"] as const) {
      const { kept, folded, omitted, total } = clampText(
        "\x1b[2K".repeat(30),
        { maxBytes: 50 },
        { strategy, fold: true },
      ).receipt;
      expect([kept.bytes + folded.bytes + omitted.bytes, kept.lines + folded.lines + omitted.lines]).toEqual([
        total.bytes,
        total.lines,
      ]);
    }
  });

  it("that redraw beyond ASCII never miss a negative number of characters", () => {
    let bar = "";
    for (let step = 0; step < 2000; step++) bar += `\r${"█".repeat(step % 50)} ${step % 100}%`;
    expect(clampText(`${bar}\r${"word ".repeat(200)}\n`, { maxBytes: 600 }, { fold: true }).text).not.toMatch(/-\d/);
  });

  it("count their last lines truly where these are folded", () => {
    const words = ["ash", "birch", "cedar", "elm", "fir", "larch", "oak", "pine", "yew", "alder"];
    const text = `${Array.from({ length: 30 }, (_, index) => `${words[index % 10]} ${words[(index * 3) % 10]} ${words[(index * 7) % 9]}`).join("\n")}\n${"same\n".repeat(9)}same`;
    const shown = clampText(text, { maxLines: 8 }, { strategy: "tail", fold: true }).text;
    const omitted = Number(/lines 1-(\d+) omitted/.exec(shown)?.[1]);
    const [, from, folded] = /\[Lines (\d+)-40 of 40, (\d+) of them folded\]/.exec(shown) ?? [];
    expect(Number(from)).toBe(omitted + 1);
    expect(shown).toContain(`same\n[previous line repeated ${folded} more times]`);
  });

  it("say which limit left nothing of them", () => {
    expect(clampText("x".repeat(100), { maxBytes: 10, maxLines: 2000 }).receipt.cutBy).toBe("bytes");
  });

  it("are not said to be truncated when they were only folded", () => {
    expect(clampText("same\n".repeat(5000), { maxLines: 20 }, { strategy: "head", fold: true }).text).not.toContain(
      "truncated",
    );
  });
});

describe("parts that misbehave", () => {
  it("a store that hangs, or gives nonsense, holds nobody up and is not believed", async () => {
    const never = new Promise<never>(() => {});
    const stores = [
      { begin: async () => ({ add: () => {}, end: async () => undefined }) },
      { begin: async () => ({ add: () => {}, end: async () => ({ id: "x\ny", bytes: 1, sha256: "0" }) }) },
      {
        begin: () => {
          throw Object.create(null);
        },
      },
    ];
    for (const store of stores) {
      const { receipt } = await (await make({ store: { ...store, read: () => never } as unknown as Store })).admit({
        output: big,
      });
      expect(receipt).toMatchObject({ saved: "no", artifact: null, total: { bytes: big.length } });
      expect(receipt.faults?.[0]).toContain("spill failed");
    }
  });

  it("a store that never answers is waited for five seconds, no longer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const hanging = { begin: () => new Promise<never>(() => {}), read: async () => null };
    const admitting = (await make({ store: hanging as unknown as Store })).admit({ output: big });
    await vi.advanceTimersByTimeAsync(5000);
    vi.useRealTimers();
    expect((await admitting).receipt.faults?.[0]).toContain("opening the store took longer than 5000 ms");
  });

  it("a strategy whose cut does not add up is not believed", async () => {
    const cuts = [
      {},
      { parts: [null], kept: { bytes: 1, lines: 1 } },
      {
        parts: [],
        kept: { bytes: Number.NaN, lines: 0 },
        folded: { bytes: 0, lines: 0 },
        omitted: { bytes: 0, lines: 0 },
      },
    ];
    for (const cut of cuts) {
      const strategy = {
        name: "liar",
        start: () => ({ add: () => {}, end: () => ({ cut: () => cut }) }),
      } as unknown as Strategy;
      const { receipt, text } = await (
        await make({ strategies: [strategy], policy: { default: { strategy: "liar" } } })
      ).admit({ output: big });
      expect(receipt.faults?.[0]).toContain("strategy liar failed");
      expect(text).toContain("[First ");
    }
  });

  it("listeners that reject or never come back", async () => {
    const spillway = await make({
      onReceipt: async () => {
        throw new Error("x");
      },
    });
    const tool = {
      name: "t",
      execute: async (_id: string, _args: object, _signal: unknown, onUpdate: (update: string) => void) => (
        onUpdate("a"), "done"
      ),
    };
    const result = spillway.wrapTool(tool).execute("c", {}, undefined, () => new Promise(() => {}) as never);
    await expect(result).resolves.toBe("done");
  });

  it("tools with private members, and updates after the result", async () => {
    const spillway = await make();
    class Secret {
      #name = "secret_tool";
      get name() {
        return this.#name;
      }
      describe() {
        return this.#name;
      }
      execute(...args: unknown[]) {
        const onUpdate = args[3] as ((update: string) => void) | undefined;
        setTimeout(() => onUpdate?.("late"), 5);
        return big;
      }
    }
    const wrapped = spillway.wrapTool(new Secret());
    expect([wrapped.name, wrapped.describe(), wrapped instanceof Secret]).toEqual(["secret_tool", "secret_tool", true]);
    const updates: unknown[] = [];
    const shown = (await wrapped.execute("c", {}, undefined, (update: unknown) => updates.push(update))) as string;
    expect(shown.length).toBeLessThanOrEqual(51_200);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(updates).toEqual([]);
  });

  it("streams that throw anything", async () => {
    const spillway = await make();
    for (const thrown of [Object.create(null), Object.assign(new Error(), { message: 7 }), null, Symbol("s")]) {
      async function* broken() {
        yield "before\n";
        throw thrown;
      }
      expect((await spillway.admit({ output: broken() })).text).toMatch(/^before\n\[output ended early: /);
    }
  });

  it("admitting twice says an exit code once", async () => {
    const spillway = await make();
    const once = await spillway.admit({ output: "failed\n", exitCode: 255 });
    expect((await spillway.admit({ output: once.text, exitCode: 255 })).text).toBe(once.text);
  });
});
