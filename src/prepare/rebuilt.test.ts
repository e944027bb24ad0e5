import { describe, expect, it } from "vitest";
import { type Format, formats } from "../../test/recovery/formats.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { isSame } from "./read-message.ts";

// Hosts that build their messages anew for each request: what was read before is known by what it says.

/** Counts the characters that are counted as tokens: the work of reading. */
function countingSpillway(parts = { store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger() }) {
  const work = { chars: 0 };
  const counter = {
    name: "test",
    exact: false,
    maxBytesPerToken: 8,
    count: (text: string) => {
      work.chars += text.length;
      return Math.ceil(text.length / 4);
    },
  };
  return { work, spillway: createSpillway({ ...parts, counter, env: {} }) };
}

const text = (at: number) => `line ${at} of a log\n`.repeat(100);

describe.each(Object.keys(formats))("messages built anew: %s", (name) => {
  const format = formats[name] as Format;
  const session = (turns: number, from = 0) => [
    format.user("go"),
    ...Array.from({ length: turns }, (_, at) => format.turn(`c${from + at}`, text(from + at))).flat(),
  ];
  const options = { wire: format.wire, session: "s", window: 30_000 };

  it("only what is new is read, and what is sent is what a fresh process sends", async () => {
    const parts = { store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger() };
    const { work, spillway } = countingSpillway();
    const steady = await spillway;
    const works: number[] = [];
    for (let turns = 1; turns <= 80; turns++) {
      const given = session(turns).map(format.rebuild);
      work.chars = 0;
      const { messages, report } = await steady.prepare(given, options);
      if (report.changes.length === 0) works.push(work.chars);
      const fresh = await (await countingSpillway(parts).spillway).prepare(session(turns).map(format.rebuild), options);
      expect(JSON.stringify(messages)).toBe(JSON.stringify(fresh.messages));
      messages.forEach((message, at) => {
        if (format.sent(message) === format.sent(given[at])) expect(message).toBe(given[at]);
      });
    }
    // Far less than all of it, whatever its length.
    expect(Math.max(...works.slice(5))).toBeLessThan(20_000);
  });

  it("two requests at once, a fork and a rewind each get what they would get alone", async () => {
    const alone = async (messages: unknown[]) =>
      (await (await countingSpillway().spillway).prepare(messages, { ...options, pruning: { mode: "aggressive" } }))
        .messages;
    const shared = await countingSpillway().spillway;
    const ask = async (messages: unknown[]) =>
      (await shared.prepare(messages, { ...options, pruning: { mode: "aggressive" } })).messages;
    const [whole, fork] = [session(20), [...session(10), ...session(5, 50).slice(1)]];
    const rewound = session(12);
    const asked = [whole, fork, rewound, whole, fork].map((messages) => messages.map(format.rebuild));
    const together = await Promise.all(asked.map(ask));
    for (const [at, messages] of asked.entries())
      expect(JSON.stringify(together[at])).toBe(JSON.stringify(await alone(messages.map(format.rebuild))));
  });

  it("a message that says something else is read anew", async () => {
    const { spillway } = countingSpillway();
    const prepare = async (messages: unknown[]) => (await (await spillway).prepare(messages, options)).report.before;
    const short = await prepare(session(5));
    const longer = [...session(4), ...format.turn("c4", text(4).repeat(3))];
    expect((await prepare(longer)).chars - short.chars).toBe(2 * text(4).length);
    // The host put more into its own object.
    const own = session(5);
    await prepare(own);
    own[own.length - 1] = longer.at(-1);
    expect((await prepare(own)).chars).toBe((await prepare(longer)).chars);
  });
});

describe("isSame", () => {
  it.each([
    [{ a: [1, { b: "x" }] }, { a: [1, { b: "x" }] }, true],
    [{ a: 1, b: undefined }, { a: 1, c: undefined }, false],
    [[1, 2], [1, 2, 3], false],
    [{ a: 1 }, [1], false],
    [{}, {}, true],
    [new Date(0), new Date(1), false],
    [new Map([[1, 2]]), new Map([[1, 3]]), false],
    [{ a: () => 1 }, { a: () => 1 }, false],
    [new Uint8Array([1, 2]), new Uint8Array([1, 3]), false],
    [Object.create(null), {}, false],
    [null, {}, false],
  ])("%j and %j: %s", (one, other, same) => {
    expect(isSame(one, other)).toBe(same);
  });

  it("ends with circles", () => {
    const [one, other] = [{ self: {} }, { self: {} }];
    one.self = one;
    other.self = other;
    expect(isSame(one, other)).toBe(false);
  });
});
