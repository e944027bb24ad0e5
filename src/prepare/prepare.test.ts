import { afterEach, describe, expect, it, vi } from "vitest";
import type { SpillwayEvent } from "../contract/event.ts";
import type { PruningInput } from "../contract/policy.ts";
import { createSpillway, type Spillway, type SpillwayOptions } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

type Block = { type: string; text?: string; tool_use_id?: string; content?: unknown; [key: string]: unknown };
type Message = { role: string; content: string | Block[] };

const user = (text: string): Message => ({ role: "user", content: text });
const said = (text = "ok"): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const calls = (...made: [id: string, name: string, input?: object][]): Message => ({
  role: "assistant",
  content: made.map(([id, name, input = {}]) => ({ type: "tool_use", id, name, input })),
});
const results = (...given: [id: string, text: string, isError?: boolean][]): Message => ({
  role: "user",
  content: given.map(([id, text, isError]) => ({
    type: "tool_result",
    tool_use_id: id,
    content: text,
    ...(isError && { is_error: true }),
  })),
});
const turn = (id: string, text: string, name = "lookup"): Message[] => [calls([id, name]), results([id, text])];
const words = (chars: number, word = "lorem") =>
  `${word} `.repeat(Math.ceil(chars / (word.length + 1))).slice(0, chars);
const blocksOf = (message: Message | undefined): Block[] => (Array.isArray(message?.content) ? message.content : []);
const contentOf = (messages: readonly Message[], id: string): string => {
  for (const { content } of messages) {
    const found = typeof content === "string" ? undefined : content.find(({ tool_use_id }) => tool_use_id === id);
    if (found) return String(found.content);
  }
  throw new Error(`no result ${id}`);
};

/** One user and `count` turns of `chars` characters each; three assistants at the end protect nothing. */
function session(count: number, chars: number): Message[] {
  const turns = Array.from({ length: count }, (_, at) => turn(`c${at}`, words(chars, `word${at}`))).flat();
  return [user("go"), ...turns, said(), said(), said()];
}

async function open(options: SpillwayOptions = {}) {
  const events: SpillwayEvent[] = [];
  const onEvent = (event: SpillwayEvent) => void events.push(event);
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, onEvent, ...options });
  return { spillway, events };
}

const run = (spillway: Spillway, messages: Message[], window: number, pruning: PruningInput = {}) =>
  spillway.prepare(messages, { wire: "anthropic", window, session: "s", pruning });

afterEach(() => {
  vi.restoreAllMocks();
});

describe("steps", () => {
  it("below the trigger the very array comes back, and every trigger says why it rests", async () => {
    const { spillway, events } = await open();
    const messages = session(4, 4000);
    const { messages: sent, report } = await run(spillway, messages, 200_000);
    expect(sent).toBe(messages);
    expect(report.triggers).toEqual({
      pressure: { active: false, why: expect.stringMatching(/^the request takes 0\.0\d of the window, under 0\.3$/) },
      bytes: { active: false, why: "the request is under 30000000 bytes" },
      age: { active: false, why: "ageTurns is 0" },
      idle: { active: false, why: "no earlier request of this conversation is known" },
    });
    expect(events).toEqual([]);
  });

  it("a step goes down to the low watermark, and the next request shows the same bytes and objects", async () => {
    const { spillway, events } = await open();
    const messages = session(40, 3000);
    const { report: whole } = await run(spillway, messages, 10_000_000);
    const window = Math.floor(whole.after.tokens / 0.55);
    const first = await run(spillway, messages, window);
    expect(first.report.triggers.pressure.active).toBe(true);
    expect(first.report.ratio).toBeLessThanOrEqual(0.26);
    expect(first.report.results.cleared).toBeGreaterThan(10);
    const pruned = events.filter(({ kind }) => kind === "request-pruned");
    expect(pruned).toHaveLength(1);
    // The event says which results these are, so that their lives can be told.
    const told = first.report.changes.map(({ of, call, to, fromChars, toChars }) => ({
      of,
      call,
      to,
      fromChars,
      toChars,
    }));
    expect(pruned[0]?.more?.["changes"]).toEqual(told.slice(0, 50));
    expect(pruned[0]?.more?.["moreChanges"]).toBe(Math.max(0, told.length - 50));
    const { after, afterParts } = first.report;
    expect(afterParts.resultTokens).toBeGreaterThan(0);
    expect(afterParts.resultTokens + afterParts.systemAndToolsTokens).toBeLessThan(after.tokens);

    messages.push(...turn("new", words(3000)), said());
    const second = await run(spillway, messages, window);
    expect(second.report.changes).toEqual([]);
    expect(second.report.results.replayed).toBe(first.report.results.cleared);
    first.messages.forEach((message, at) => expect(second.messages[at]).toBe(message));
    expect(events.filter(({ kind }) => kind === "request-pruned")).toHaveLength(1);
  });

  it.each(["systemAndTools", "beside"])("what %s says takes room in the window too", async (name) => {
    const { spillway } = await open();
    const messages = session(40, 3000);
    const { report: whole } = await run(spillway, messages, 10_000_000);
    const window = Math.floor(whole.after.tokens / 0.35);
    expect((await run(spillway, messages, window)).report.triggers.pressure.active).toBe(false);
    const options = { wire: "anthropic", window, session: "s", [name]: { system: words(2.5 * window) } } as const;
    const { report } = await spillway.prepare(messages, options);
    expect(report.triggers.pressure.active).toBe(true);
    expect(report.results.cleared).toBeGreaterThan(0);
    expect(report.afterParts.systemAndToolsTokens).toBeGreaterThan(0.2 * window);
  });

  it("a step that would free too little waits, and the report says so", async () => {
    const { spillway } = await open();
    const messages = [user(words(40_000)), ...session(10, 1000).slice(1)];
    const { report } = await run(spillway, messages, 30_000);
    expect(report.ratio).toBeGreaterThan(0.3);
    expect(report.results.cleared + report.results.trimmed).toBe(0);
    expect(report.triggers.pressure).toEqual({
      active: false,
      why: expect.stringMatching(/^a step would free \d+, less than 10000$/),
    });
  });

  it("from forceRatio on half a step is enough", async () => {
    const { spillway } = await open();
    const messages = [user(words(40_000)), ...session(10, 1000).slice(1)];
    const { report } = await run(spillway, messages, 11_400);
    expect(report.results.cleared).toBe(10);
  });

  it("a cold prompt cache makes a step free", async () => {
    const { spillway } = await open();
    const messages = [user(words(40_000)), ...session(10, 1000).slice(1)];
    let nowMs = 1_000_000;
    vi.spyOn(Date, "now").mockImplementation(() => nowMs);
    await run(spillway, messages, 30_000, { minPrunableToolChars: 0 });
    nowMs += 299_999;
    const warm = await run(spillway, messages, 30_000, { minPrunableToolChars: 0 });
    expect(warm.report.triggers.idle).toEqual({
      active: false,
      why: "the last request was 299999 ms ago, within 300000",
    });
    expect(warm.messages).toBe(messages);
    nowMs += 300_000;
    const cold = await run(spillway, messages, 30_000, { minPrunableToolChars: 0 });
    expect(cold.report.triggers.idle).toEqual({ active: true, why: "the prompt cache is cold" });
    expect(cold.report.results.cleared).toBe(10);
  });

  it("age in turns clears whatever the pressure, in steps that pay", async () => {
    const { spillway } = await open();
    const messages = session(40, 3000);
    const pruning = { ageTurns: 20, clearAtLeastTokens: 3000, clearAtLeastShare: 0 };
    const { report } = await run(spillway, messages, 10_000_000, pruning);
    expect(report.triggers.age).toEqual({ active: true, why: "results are over 20 turns old" });
    expect(report.results.cleared).toBe(23);
    expect((await run(spillway, messages, 10_000_000, { ...pruning, ageTurns: 19 })).report.triggers.age).toEqual({
      active: false,
      why: "clearing results of 19 turns ago would free too little",
    });
  });

  it("bytes press apart from tokens", async () => {
    const { spillway } = await open();
    const { report } = await run(spillway, session(40, 3000), 10_000_000, { maxRequestBytes: 100_000 });
    expect(report.triggers).toMatchObject({ pressure: { active: false }, bytes: { active: true } });
    expect(report.after.bytes).toBeLessThanOrEqual(51_000);
  });

  it("superseded reads go first, errors last", async () => {
    const { spillway } = await open();
    const read = (id: string, path: string, text: string) => [calls([id, "read", { path }]), results([id, text])];
    const messages = [
      user("go"),
      calls(["bad", "lookup"]),
      results(["bad", words(20_000), true]),
      ...read("old", "a.ts", words(20_000)),
      ...turn("mid", words(20_000)),
      ...read("older", "b.ts", words(20_000)),
      ...read("again", "a.ts", words(20_000)),
      said(),
      said(),
      said(),
    ];
    const { report } = await run(spillway, messages, 1_000_000, {
      maxRequestBytes: 90_000,
      lowWatermark: 0.6,
      softTrimRatio: 1,
    });
    expect(report.changes.map(({ call }) => call)).toEqual(["old", "mid", "older"]);
  });

  it("forms only shrink: trimmed, later cleared, never back", async () => {
    const { spillway } = await open();
    const messages = session(30, 8000);
    const trimmed = await run(spillway, messages, 200_000, {
      lowWatermark: 0.3,
      clearAtLeastShare: 0,
      clearAtLeastTokens: 1,
    });
    expect(trimmed.report.results).toMatchObject({ cleared: 0 });
    expect(trimmed.report.results.trimmed).toBeGreaterThan(0);
    const cleared = await run(spillway, messages, 30_000);
    expect(cleared.report.results.cleared).toBeGreaterThan(0);
    const wide = await run(spillway, messages, 10_000_000);
    expect(wide.messages).toEqual(cleared.messages);
  });
});

describe("one Spillway, many conversations", () => {
  it("those that share their first message, or messages, do not mix", async () => {
    const { spillway } = await open({ store: null });
    const system = { role: "system", content: "be good" };
    const [one, two] = [session(40, 3000), session(40, 3000)].map((messages) => [system, ...messages]) as [
      Message[],
      Message[],
    ];
    two[1] = user("another");
    const first = await run(spillway, one, 40_000);
    expect(first.report.results.cleared).toBeGreaterThan(0);
    expect((await run(spillway, two, 10_000_000)).messages).toBe(two);
    expect((await run(spillway, one, 40_000)).messages).toEqual(first.messages);
    // The same messages, pruned without memory, leave nothing behind.
    await run(spillway, one, 40_000, { sticky: false, mode: "aggressive", hardClear: { placeholder: "gone" } });
    expect((await run(spillway, one, 40_000)).messages).toEqual(first.messages);
    // A fork shows what was shown of what it shares: of an early one nothing was pruned yet.
    const late = await run(spillway, [...one, ...turn("f", "fork")], 10_000_000);
    expect(late.messages.slice(0, one.length)).toEqual(first.messages);
    const early = [...one.slice(0, 21), ...turn("f", "fork")];
    expect((await run(spillway, early, 10_000_000)).messages).toBe(early);
  });

  it("requests of one conversation that come at once are prepared one after another", async () => {
    const { spillway, events } = await open();
    const messages = session(40, 3000);
    const [a, b] = await Promise.all([run(spillway, messages, 40_000), run(spillway, messages, 40_000)]);
    expect(a.messages).toEqual(b.messages);
    expect(events.filter(({ kind }) => kind === "request-pruned")).toHaveLength(1);
  });
});

describe("restarts and faults", () => {
  it("a restart changes nothing, though all objects are new", async () => {
    const parts = { store: memoryStore(), ledger: memoryLedger() };
    const messages = session(40, 3000);
    const before = await run((await open(parts)).spillway, messages, 40_000);
    expect(before.report.results.cleared).toBeGreaterThan(0);
    const after = await run((await open(parts)).spillway, structuredClone(messages), 10_000_000);
    expect(after.messages).toEqual(before.messages);
    expect(after.report.changes).toEqual([]);
    // Another scope, or other content behind the same ids, is another result.
    const other = await run((await open({ ...parts, scope: "other" })).spillway, messages, 10_000_000);
    expect(other.messages).toBe(messages);
    const changed = messages.map((message) =>
      message === messages[2] ? results(["c0", words(3000, "word9")]) : message,
    );
    const { messages: sent } = await run((await open(parts)).spillway, changed, 10_000_000);
    expect(sent[2]).toBe(changed[2]);
    expect(sent[4]).toEqual(before.messages[4]);
  });

  it("nor where the forms of one step take more than a row of the ledger holds", async () => {
    const parts = { store: memoryStore(), ledger: memoryLedger() };
    const write = vi.spyOn(parts.ledger, "saveProjection");
    const pruning: PruningInput = {
      insure: false,
      softTrim: { maxChars: 41_000, headChars: 20_000, tailChars: 20_000 },
      hardClear: { enabled: false },
    };
    const messages = session(50, 60_000);
    const before = await run((await open(parts)).spillway, messages, 600_000, pruning);
    expect(before.report.results.trimmed).toBeGreaterThan(25);
    expect(write.mock.calls.length).toBeGreaterThan(1);
    const after = await run((await open(parts)).spillway, structuredClone(messages), 100_000_000, pruning);
    expect(after.report.results.replayed).toBe(before.report.results.trimmed);
    expect(after.messages).toEqual(before.messages);
  });

  it("with the ledger down memory serves, for copies of the messages too", async () => {
    const ledger = memoryLedger();
    ledger.projection = () => Promise.reject(new Error("down"));
    ledger.saveProjection = () => Promise.reject(new Error("down"));
    const { spillway } = await open({ ledger });
    const messages = session(40, 3000);
    const first = await run(spillway, messages, 40_000);
    expect(first.report.faults).toEqual(["the ledger could not keep the projections: memory has them"]);
    const second = await run(spillway, structuredClone(messages), 10_000_000);
    expect(second.messages).toEqual(first.messages);
  });

  it("two processes that prune at once lose nothing of each other", async () => {
    const parts = { store: memoryStore(), ledger: memoryLedger() };
    const [one, two] = [(await open(parts)).spillway, (await open(parts)).spillway];
    const base = session(40, 3000);
    const [left, right] = [
      [...base, ...turn("l", "l")],
      [...base, ...turn("r", "r")],
    ];
    const [shownLeft, shownRight] = await Promise.all([run(one, left, 40_000), run(two, right, 30_000)]);
    expect(shownLeft.report.results.cleared).not.toBe(shownRight.report.results.cleared);
    // Copies, so that all is read in the third process.
    const { spillway: three } = await open(parts);
    const copies = await Promise.all(
      [left, right].map((messages) => run(three, structuredClone(messages), 10_000_000)),
    );
    expect(copies.map(({ messages }) => messages)).toEqual([shownLeft.messages, shownRight.messages]);
  });

  it("a row of the ledger that is damaged, or another's, costs its own forms only", async () => {
    const parts = { store: memoryStore(), ledger: memoryLedger() };
    const { projection } = parts.ledger;
    const messages = [...session(20, 8000), ...session(20, 3000).slice(1)];
    const trimmed = await run((await open(parts)).spillway, messages, 200_000, {
      clearAtLeastShare: 0,
      clearAtLeastTokens: 1,
      lowWatermark: 0.9,
    });
    expect(trimmed.report.results.trimmed).toBeGreaterThan(0);
    for (const damage of [
      (text: string) => text.slice(1),
      () => "null",
      () => '{"point":1,"forms":[]}',
      (text: string) => text.replaceAll('"texts":"', '"texts":"A'),
      (text: string) => text.replaceAll(/"number":\d+/g, '"number":4711'),
    ]) {
      parts.ledger.projection = async (key) => {
        const row = await projection(key);
        return row && { ...row, text: damage(row.text) };
      };
      const copy = structuredClone(messages);
      const shown = await run((await open(parts)).spillway, copy, 10_000_000);
      expect(shown.messages).toBe(copy);
      expect(shown.report.faults).toEqual([]);
    }
  });

  it("what cannot be saved is not dropped, unless the request would be refused with it", async () => {
    const store = memoryStore();
    store.begin = () => Promise.reject(new Error("disk full"));
    const { spillway } = await open({ store });
    const messages = session(40, 3000);
    const kept = await run(spillway, messages, 100_000);
    expect(kept.messages === messages).toBe(true);
    expect(kept.report.faults[0]).toMatch(/spill failed/);
    const forced = await run(spillway, messages, 40_000);
    expect(forced.report.results.cleared).toBeGreaterThan(0);
    expect(contentOf(forced.messages, "c0")).toBe("[Old tool result content cleared]");
  });

  it("nothing is thrown for what the messages are", async () => {
    const { spillway, events } = await open();
    const hostile = {
      get role(): string {
        throw new Error("no");
      },
    };
    for (const messages of [[hostile], [null, 1, "x", []], [{ role: "user" }]] as unknown[][]) {
      expect((await spillway.prepare(messages, { wire: "anthropic" })).messages).toEqual(messages);
    }
    const none = await spillway.prepare(null as unknown as []);
    expect(none).toMatchObject({ messages: null, report: { faults: [expect.stringMatching(/^preparing failed/)] } });
    // What could not be read is told too.
    expect(events).toMatchObject([
      ...[1, 4, 1].map((parts) => ({ more: { warnings: [expect.stringMatching(`^${parts} part`)] } })),
      { kind: "request-pruned", more: { fault: expect.any(String) } },
    ]);
    await expect(spillway.prepare([], { wire: "morse" })).rejects.toThrow(/wire must be one of/);
    for (const window of [0, -5, Number.NaN, Number.POSITIVE_INFINITY, "200k" as never])
      await expect(spillway.prepare([], { window })).rejects.toThrow(/window must be a number of tokens/);
  });

  it("the profile off, and a format that is not known, leave everything as it is", async () => {
    const messages = session(40, 3000);
    const { spillway } = await open({ policy: "off" });
    expect((await run(spillway, messages, 1000)).messages).toBe(messages);
    const strange = [{ speaker: "me" }];
    const { messages: sent, report } = await (await open()).spillway.prepare(strange);
    expect(sent).toBe(strange);
    expect(report).toMatchObject({ wire: null, why: "the message format is not known: name it with `wire`" });
  });

  it("a message of very many results, and very many messages, are no trouble", async () => {
    const { spillway } = await open({ store: null });
    const ids = Array.from({ length: 5000 }, (_, at) => `c${at}`);
    const text = "x".repeat(100);
    const wide = [
      user("go"),
      calls(...ids.map((id): [string, string] => [id, "read"])),
      results(...ids.map((id): [string, string] => [id, text])),
    ];
    const deep = ids.flatMap((id) => [calls([id, "read", { path: "a", offset: id }]), results([id, text])]);
    for (const messages of [
      [...wide, said(), said(), said()],
      [user("go"), ...deep, said(), said(), said()],
    ]) {
      const { report } = await run(spillway, messages, 1_000_000, { mode: "aggressive", insure: false });
      expect(report.results.cleared).toBe(5000);
      expect([report.changes.length, report.moreChanges]).toEqual([200, 4800]);
    }
  });

  it("a message that a host adds to is read again", async () => {
    const { spillway } = await open();
    const messages = [user("go"), ...turn("a", "short")];
    const before = (await run(spillway, messages, 1000)).report.after.chars;
    blocksOf(messages[2]).push({ type: "text", text: "x".repeat(500) });
    expect((await run(spillway, messages, 1000)).report.after.chars).toBe(before + 500);
  });
});

describe("what stands in a result's place", () => {
  const cleared = async (options: SpillwayOptions) => {
    const { spillway } = await open(options);
    const messages = session(40, 3000);
    const { messages: sent, report } = await run(spillway, messages, 40_000);
    const text = contentOf(sent, "c0");
    return { text, id: report.changes.find(({ call }) => call === "c0")?.artifact ?? null, spillway };
  };

  it("without a store it is exactly the seed's text", async () => {
    expect((await cleared({ store: null })).text).toBe("[Old tool result content cleared]");
  });

  it("with a store the placeholder comes first and unchanged, then the way to the whole, which is there", async () => {
    const { text, id, spillway } = await cleared({ reader: { by: "tool", recall: "recall", search: "search" } });
    expect(text).toBe(`[Old tool result content cleared]\n[Read it again with recall({"id":"${id}"})]`);
    expect((await spillway.recall(id as string)).text).toBe(words(3000, "word0"));
  });

  it.each([
    [{ by: "operator" } as const, /^\[Saved as artifact [a-z2-7]{12}, which the operator can read\]$/],
    [{ by: "shell" } as const, /^\[Read it again with: spillway recall [a-z2-7]{12}\]$/],
  ])("only ways that the reader has are named: %o", async (reader, line) => {
    const { text } = await cleared({ reader });
    expect(text.split("\n")[1]).toMatch(line);
  });

  it("an admitted result keeps the id of its artifact", async () => {
    const { spillway } = await open();
    const whole = words(300_000, "admitted");
    const { text, receipt } = await spillway.admit({ tool: "lookup", output: whole });
    const messages = [user("go"), ...turn("a", text), said(), said(), said()];
    const { report } = await run(spillway, messages, 15_000);
    expect(report.changes).toMatchObject([{ call: "a", artifact: receipt.artifact }]);
  });

  it("pages of an artifact are not saved as another", async () => {
    const store = memoryStore();
    const { spillway } = await open({ store, reader: { by: "tool", recall: "recall", search: "search" } });
    const messages = [user("go"), ...turn("a", words(19_000), "recall"), said(), said(), said()];
    const { report } = await run(spillway, messages, 2000);
    expect(report.changes).toMatchObject([{ to: "trimmed", artifact: null }]);
    expect(await store.list({ scope: "local" })).toEqual([]);
  });
});

describe("second insurance", () => {
  it("clamps a result that is over its limits and did not come through admit, saves it, and warns", async () => {
    const { spillway, events } = await open();
    const whole = words(200_000);
    const messages = [user("go"), ...turn("a", whole)];
    const { messages: sent, report } = await run(spillway, messages, 1_000_000);
    const shown = contentOf(sent, "a");
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(51_200);
    expect(report.results.insured).toBe(1);
    expect(report.warnings).toEqual([
      expect.stringMatching(/^a result of lookup \(200000 characters\) was over its limits/),
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(["output-clamped", "artifact-spilled", "request-pruned"]);
    expect(events[2]?.more?.["why"]).toBe("1 result was over the limits, and clamped");
    const { artifact } = report.changes[0] ?? {};
    expect(shown).toContain(artifact);
    expect((await run(spillway, [...messages, said(), user("go on")], 1_000_000)).messages[2]).toBe(sent[2]);
    expect(events).toHaveLength(3);
  });

  it("leaves alone what admit gave, what is off, and everything where it is switched off", async () => {
    const { spillway } = await open({ policy: { tools: { free: { off: true } } } });
    const { text } = await spillway.admit({ tool: "bash", output: words(200_000), limits: { maxChars: 40_000 } });
    expect(text.length).toBeGreaterThan(20_000);
    const messages = [user("go"), ...turn("a", text, "bash"), ...turn("b", words(90_000), "free")];
    expect((await run(spillway, messages, 1_000_000)).messages).toBe(messages);
    const over = [user("go"), ...turn("c", words(90_000))];
    expect((await run(spillway, over, 1_000_000, { insure: false })).messages).toBe(over);
  });

  it("keeps the blocks of a result apart", async () => {
    const { spillway } = await open();
    const blocks = [words(40_000, "one"), "small", words(40_000, "two")].map((text) => ({ type: "text", text }));
    const carrier = { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: blocks }] };
    const { messages: sent } = await run(spillway, [user("go"), calls(["a", "lookup"]), carrier], 1_000_000);
    const [changed] = blocksOf(sent[2]);
    const texts = (changed as { content: Block[] }).content.map(({ text }) => String(text));
    expect(texts).toHaveLength(3);
    expect(texts[1]).toBe("small");
    expect(texts.join("\n").length).toBeLessThanOrEqual(51_200);
  });
});

describe("batch budget", () => {
  const many = (count: number, chars: number): Message[] => {
    const ids = Array.from({ length: count }, (_, at) => `b${at}`);
    return [
      user("go"),
      calls(...ids.map((id): [string, string] => [id, "lookup"])),
      results(...ids.map((id): [string, string] => [id, words(id === "b0" ? 100 : chars, id)])),
    ];
  };
  const sizes = (messages: Message[]) => blocksOf(messages[2]).map(({ content }) => String(content).length);

  it("brings results that came together under one budget: small ones whole, the others alike", async () => {
    const { spillway } = await open();
    const messages = many(8, 45_000);
    const { messages: sent, report } = await run(spillway, messages, 1_000_000);
    const [small, ...large] = sizes(sent);
    expect(small).toBe(100);
    expect(large.reduce((sum, size) => sum + size, 100)).toBeLessThanOrEqual(200_000);
    for (const size of large) expect(size).toBeGreaterThan(27_000);
    expect(report.results.batched).toBe(7);
    for (const { artifact } of report.changes)
      expect((await spillway.recall(artifact as string)).total.bytes).toBe(45_000);
  });

  it("the window bounds it too, the floor holds, and what was shown stays as it was", async () => {
    const { spillway } = await open();
    const messages = many(20, 4000);
    const { messages: sent } = await run(spillway, messages, 4000, { mode: "off" });
    for (const size of sizes(sent).slice(1)) expect(size).toBeGreaterThan(1800);
    for (const size of sizes(sent).slice(1)) expect(size).toBeLessThanOrEqual(2000);
    const later = [...messages, said(), ...turn("z", "z")];
    expect((await run(spillway, later, 1000, { mode: "off" })).messages[2]).toBe(sent[2]);
    // Shown whole before, so not to be changed now.
    const shown = [...many(20, 4000), said(), ...turn("z", "z")];
    expect((await run((await open()).spillway, shown, 4000, { mode: "off" })).messages).toBe(shown);
  });

  it("within the budget nothing changes", async () => {
    const { spillway } = await open();
    const messages = many(4, 45_000);
    expect((await run(spillway, messages, 1_000_000)).messages).toBe(messages);
  });
});
