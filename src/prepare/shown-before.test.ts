import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PruningInput } from "../contract/policy.ts";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// In which conversation, and for which results, a form that was shown before is shown again.

type Message = Record<string, unknown>;
interface Asked {
  session?: string;
  window?: number;
  pruning?: PruningInput;
}

/** Ids are the same in each, so that two Spillways weigh the same. */
const newStore = () => memoryStore({ secret: Buffer.alloc(32, 1) });
const PLACEHOLDER = "[Old tool result content cleared]";
const SMALL = 12_000;
const LARGE = 200_000;
const TURNS = 44;

const text = (at: number, run = "") => `result ${at} ${run}: ${"lorem ipsum ".repeat(250)}`;

/** The same conversation in formats with and without ids. */
const formats = {
  anthropic: {
    user: (said: string): Message => ({ role: "user", content: said }),
    said: (said: string): Message => ({ role: "assistant", content: [{ type: "text", text: said }] }),
    turn: (at: number, result: string): Message[] => [
      { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "lookup", input: { at } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: result }] },
    ],
  },
  gemini: {
    user: (said: string): Message => ({ role: "user", parts: [{ text: said }] }),
    said: (said: string): Message => ({ role: "model", parts: [{ text: said }] }),
    turn: (at: number, result: string): Message[] => [
      { role: "model", parts: [{ functionCall: { name: "lookup", args: { at } } }] },
      { role: "user", parts: [{ functionResponse: { name: "lookup", response: { output: result } } }] },
    ],
  },
};
type Format = keyof typeof formats;

/** The requests of one run: each has one result more than the one before. */
function requestsOf(format: Format, turns = TURNS, run = "", user = "go"): Message[][] {
  const { turn, user: asks } = formats[format];
  const all = [asks(user), ...Array.from({ length: turns }, (_, at) => turn(at, text(at, run))).flat()];
  return Array.from({ length: turns }, (_, at) => all.slice(0, 3 + 2 * at));
}

const isCleared = (message: Message | undefined) => JSON.stringify(message).includes(PLACEHOLDER);
const clearedIn = (messages: readonly Message[]) => messages.flatMap((message, at) => (isCleared(message) ? at : []));

async function open(format: Format, options: SpillwayOptions = {}) {
  const spillway = await createSpillway({ store: newStore(), ledger: memoryLedger(), env: {}, ...options });
  // Hosts build their messages anew for each request.
  return async (messages: readonly Message[], { window = SMALL, ...asked }: Asked = {}) =>
    spillway.prepare(structuredClone(messages) as Message[], { wire: format, window, ...asked });
}

const kept = () => ({ store: newStore(), ledger: memoryLedger() });
const last = <T>(list: readonly T[]): T => list.at(-1) as T;

describe.each(Object.keys(formats) as Format[])("forms shown before, %s", (format) => {
  const { user, said, turn } = formats[format];

  it.each([
    ["a store and a ledger", {}],
    ["no store", { store: null }],
    ["neither", { store: null, ledger: null }],
  ])("a second run shows each request as the first did, with %s", async (_, options) => {
    const prepare = await open(format, options);
    const requests = requestsOf(format);
    const first: unknown[] = [];
    for (const request of requests) first.push((await prepare(request)).messages);
    expect(clearedIn(last(first) as Message[]).length).toBeGreaterThan(10);
    for (const [at, request] of requests.entries()) expect((await prepare(request)).messages).toEqual(first[at]);
  });

  it("a run that goes another way is shown whole while its window has room", async () => {
    const prepare = await open(format);
    for (const request of requestsOf(format)) await prepare(request);
    // Its calls are the same, and so are all results but the third.
    const requests = requestsOf(format).map((request) =>
      request.map((message, at) => (at === 6 ? (turn(2, "another result")[1] as Message) : message)),
    );
    for (const request of requests.slice(0, 20))
      expect(clearedIn((await prepare(request, { window: LARGE })).messages)).toEqual([]);
    // Calls that differ are another conversation for good.
    const other = [user("go"), ...turn(0, text(0)), ...turn(77, text(77)), ...last(requestsOf(format)).slice(3)];
    expect(clearedIn((await prepare(other, { window: LARGE })).messages)).toEqual([]);
  });

  it("another session, and none, see nothing of a session's forms, though every message is equal", async () => {
    const prepare = await open(format);
    const messages = last(requestsOf(format));
    const shown = await prepare(messages, { session: "one" });
    expect(clearedIn(shown.messages).length).toBeGreaterThan(10);
    expect(clearedIn((await prepare(messages, { session: "two", window: LARGE })).messages)).toEqual([]);
    expect(clearedIn((await prepare(messages, { window: LARGE })).messages)).toEqual([]);
    expect((await prepare(messages, { session: "one", window: LARGE })).messages).toEqual(shown.messages);
  });

  it("the very objects in another session are shown whole too", async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const messages = last(requestsOf(format));
    const asked = { wire: format, window: SMALL };
    expect(clearedIn((await spillway.prepare(messages, { ...asked, session: "one" })).messages)).not.toEqual([]);
    const other = await spillway.prepare(messages, { ...asked, session: "two", window: LARGE });
    expect(other.messages).toBe(messages);
  });

  it("two sessions that begin with the same words keep apart, request by request", async () => {
    const prepare = await open(format);
    const alone = await open(format);
    const [one, two] = [requestsOf(format), requestsOf(format, TURNS, "other")];
    for (const [at, request] of one.entries()) {
      const mine = await prepare(request, { session: "one" });
      const other = await prepare(two[at] as Message[], { session: "two", window: LARGE });
      expect(clearedIn(other.messages)).toEqual([]);
      expect(mine.messages.map(isCleared)).toEqual((await alone(request, { session: "one" })).messages.map(isCleared));
    }
  });

  it.each(["s", undefined])("a restart changes nothing in session %s", async (session) => {
    const parts = kept();
    const asked = session === undefined ? {} : { session };
    const requests = requestsOf(format);
    const steady = await open(format);
    for (const request of requests) {
      const restarted = await open(format, parts);
      expect((await restarted(request, asked)).messages.map(isCleared)).toEqual(
        (await steady(request, asked)).messages.map(isCleared),
      );
    }
    const shown = await (await open(format, parts))(last(requests), asked);
    expect(shown.report.changes).toEqual([]);
    expect(shown.report.results.replayed).toBeGreaterThan(10);
  });

  it("a rewind shows what stood there when that turn was the newest", async () => {
    for (const session of ["s", undefined]) {
      const asked = session === undefined ? {} : { session };
      const prepare = await open(format);
      const requests = requestsOf(format);
      const first: Message[][] = [];
      for (const request of requests) first.push((await prepare(request, asked)).messages);
      for (const at of [4, 12, 20, 33]) {
        const { messages } = await prepare(requests[at] as Message[], asked);
        expect(messages).toEqual(first[at]);
        expect(clearedIn(messages).every((index) => index < messages.length - 6)).toBe(true);
      }
    }
  });

  it("a result that is protected now is shown whole, however late its form was made", async () => {
    const prepare = await open(format);
    const messages = last(requestsOf(format, 20));
    // Answers without calls: more and more results are old, though the last of them is the same.
    const chat = [...messages, said("a"), user("b"), said("c"), user("d"), said("e")];
    const shown = await prepare(chat, { pruning: { mode: "aggressive" } });
    expect(clearedIn(shown.messages)).toHaveLength(20);
    const { messages: rewound } = await prepare(messages, { window: LARGE });
    expect(clearedIn(rewound)).toEqual([]);
    const wider = await prepare(chat, { window: LARGE, pruning: { keepLastAssistants: 8 } });
    expect(clearedIn(wider.messages)).toEqual(clearedIn(shown.messages).slice(0, 15));
  });

  it("a fork shows what was shown of the part it shares", async () => {
    const parts = kept();
    const prepare = await open(format, parts);
    const requests = requestsOf(format);
    const first: Message[][] = [];
    for (const request of requests) first.push((await prepare(request)).messages);
    const shared = requests[40] as Message[];
    const fork = [...shared, ...turn(900, "fork"), ...turn(901, "fork")];
    for (const forked of [
      await prepare(fork, { window: LARGE }),
      await (await open(format, parts))(fork, { window: LARGE }),
    ]) {
      expect(forked.messages.slice(0, shared.length)).toEqual(first[40]);
      expect(forked.messages.slice(shared.length)).toEqual(fork.slice(shared.length));
    }
  });

  it("mode off and a tool that may not be pruned show results whole, and what was shown is there again after", async () => {
    const spillway = await createSpillway({ ...kept(), env: {} });
    const messages = last(requestsOf(format));
    const prepare = (given: Message[], pruning?: PruningInput) =>
      spillway.prepare(given, { wire: format, window: pruning ? LARGE : SMALL, ...(pruning && { pruning }) });
    for (const given of [() => messages, () => structuredClone(messages)]) {
      const shown = await prepare(given());
      expect(clearedIn(shown.messages).length).toBeGreaterThan(10);
      for (const pruning of [
        { mode: "off" as const },
        { tools: { deny: ["*"] } },
        { tools: { deny: ["LOOK*"] } },
        { tools: { allow: ["other"] } },
        { keepLastAssistants: 100 },
      ]) {
        const whole = await prepare(given(), pruning);
        expect(whole.messages).toEqual(messages);
        expect(whole.report.results.replayed).toBe(0);
        expect(whole.report.after.chars).toBeGreaterThan(shown.report.after.chars);
      }
      expect((await prepare(given())).messages).toEqual(shown.messages);
    }
  });

  it("a result that was clamped as it came stays so where it may not be pruned", async () => {
    const prepare = await open(format);
    const long = `${"long line of output\n".repeat(20_000)}`;
    const start = [user("go"), ...turn(0, long)];
    const clamped = (await prepare(start, { window: LARGE })).messages[2];
    expect(JSON.stringify(clamped).length).toBeLessThan(60_000);
    const later = [...start, ...requestsOf(format, 12, "later").at(-1)!.slice(3), said("a"), said("b"), said("c")];
    const cleared = await prepare(later, { pruning: { mode: "aggressive" } });
    expect(isCleared(cleared.messages[2])).toBe(true);
    const off = await prepare(later, { window: LARGE, pruning: { mode: "off" } });
    expect(off.messages[2]).toEqual(clamped);
    expect(off.messages.slice(3)).toEqual(later.slice(3));
  });

  it("words that a host adds to the newest request only, and thoughts it drops, cost no form", async () => {
    const parts = kept();
    let cleared = 0;
    for (const [at, request] of requestsOf(format).entries()) {
      const restarted = await open(format, parts);
      const noted = [{ role: "system", content: `It is turn ${at}` }, ...request, user(`reminder ${at}`)];
      const { messages, report } = await restarted(format === "gemini" ? noted.slice(1) : noted);
      expect(report.results.replayed).toBe(cleared);
      cleared = messages.filter(isCleared).length;
    }
    expect(cleared).toBeGreaterThan(10);
  });
});

it.each(Object.keys(formats) as Format[])(
  "a result that no model has seen is never cleared, though no answer is kept: %s",
  async (format) => {
    const ask = await open(format);
    const pruning: PruningInput = { mode: "aggressive", keepLastAssistants: 0 };
    for (const messages of requestsOf(format, 4)) {
      const shown = await ask(messages, { pruning });
      expect(isCleared(shown.messages.at(-1))).toBe(false);
    }
  },
);

it("at any point of any run: no form but those of its own past, never in the protected turns, and the same after a restart", async () => {
  const visit = fc.record({
    // Which of a few ways a conversation goes from some turn on, and how far it has come.
    branch: fc.nat(2),
    from: fc.nat(8),
    length: fc.integer({ min: 1, max: 14 }),
    session: fc.constantFrom(undefined, "a", "b"),
    window: fc.constantFrom(2500, 6000, LARGE),
    restart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(visit, { minLength: 2, maxLength: 12 }),
      fc.constantFrom<Format>("anthropic", "gemini"),
      async (visits, format) => {
        const parts = { store: null, ledger: memoryLedger() };
        let prepare = await open(format, parts);
        const { user, turn } = formats[format];
        for (const { branch, from, length, session, window, restart } of visits) {
          if (restart) prepare = await open(format, parts);
          const turns = Array.from({ length }, (_, at) => {
            const number = at < from ? at : at + 100 * branch;
            return turn(number, text(number));
          });
          const messages = [user("go"), ...turns.flat()];
          const asked = { window, ...(session && { session }), pruning: { minPrunableToolChars: 0 } };
          const shown = await prepare(messages, asked);
          expect(shown.report.faults).toEqual([]);
          expect(shown.messages.slice(-6)).toEqual(messages.slice(-6));
          const again = await (await open(format, parts))(messages, asked);
          expect(again.messages).toEqual(shown.messages);
        }
      },
    ),
    { numRuns: 60 },
  );
});
