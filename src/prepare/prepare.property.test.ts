import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Format, formats } from "../../test/recovery/formats.ts";
import type { Wire, WireMessage } from "../contract/wire.ts";
import { createSpillway, type Reader } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { wireNamed } from "../wire/index.ts";

interface Result {
  type: "tool_result";
  tool_use_id: string;
  content: string | { type: string; [key: string]: unknown }[];
  is_error?: boolean;
  cache_control?: object;
}
type Message = { role: string; content: unknown };

const call = fc.record({
  // Few ids, so that some repeat.
  id: fc.nat(12).map((id) => `c${id}`),
  name: fc.constantFrom("read", "bash", "lookup", "grep"),
  path: fc.constantFrom("a.ts", "b.ts"),
  chars: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1000, max: 19_000 })),
  unit: fc.constantFrom("word ", "日本", "😀", "x\n", '{"a":1},'),
  isError: fc.boolean(),
  shape: fc.constantFrom("text", "blocks", "image"),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;
const turns = fc.array(fc.array(call, { maxLength: 3 }), { minLength: 1, maxLength: 14 });

function resultOf({ id, chars, unit, isError, shape }: Call): Result {
  const text = unit.repeat(Math.ceil(chars / unit.length));
  const block = { type: "text", text };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const content = { text, blocks: [block, { ...block, cache_control: { type: "ephemeral" } }], image: [block, image] };
  return { type: "tool_result", tool_use_id: id, content: content[shape], ...(isError && { is_error: true }) };
}

const windows = fc.integer({ min: 2000, max: 60_000 });

/** The requests of a conversation, each with one turn more than the one before. */
function requestsOf(made: readonly (readonly Call[])[]): Message[][] {
  const messages: Message[] = [{ role: "user", content: "go" }];
  return made.map((calls, at) => {
    const uses = calls.map(({ id, name, path }) => ({ type: "tool_use", id, name, input: { path } }));
    messages.push(freeze({ role: "assistant", content: [{ type: "text", text: `turn ${at}` }, ...uses] }));
    messages.push(freeze({ role: "user", content: calls.length === 0 ? "on" : calls.map(resultOf) }));
    return messages.slice();
  });
}

/** Writing to a frozen object throws. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

const resultsOf = (message: Message): Result[] =>
  Array.isArray(message.content) ? message.content.filter(({ type }) => type === "tool_result") : [];
const media = ({ content }: Result) =>
  typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
const texts = ({ content }: Result): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");

/**
 * The first result's image went before its text. Both are said to be saved, and in place of a text as short as this one
 * that takes more than the text does.
 */
const small: Call = { id: "c0", name: "read", path: "a.ts", chars: 0, unit: "word ", isError: false, shape: "image" };
const shortTextOfOldImage: Call[][] = [
  [{ ...small, chars: 86 }],
  [
    { ...small, chars: 1000, shape: "text" },
    { ...small, chars: 1 },
  ],
  [small, small],
  [],
  [],
];

it("only results change, in place; ids, flags, new media and order stay; forms only shrink, and only when the report says so", async () => {
  await fc.assert(
    fc.asyncProperty(turns, windows, fc.boolean(), fc.nat(30_000), async (made, window, hasStore, least) => {
      const pruning = { minPrunableToolChars: least };
      const store = hasStore ? memoryStore() : null;
      const spillway = await createSpillway({ store, ledger: memoryLedger(), env: {} });
      let before: Message[] = [];
      for (const messages of requestsOf(made)) {
        const { messages: sent, report } = await spillway.prepare(messages, { wire: "anthropic", window, pruning });
        expect(report.faults).toEqual([]);
        expect(sent).toHaveLength(messages.length);
        const changed = new Set(report.changes.map(({ message }) => message));
        sent.forEach((message, at) => {
          const source = messages[at] as Message;
          if (message === source) return;
          const [now, then] = [resultsOf(message), resultsOf(source)];
          expect(now.length).toBe(then.length);
          expect({ ...message, content: null }).toEqual({ ...source, content: null });
          now.forEach((result, index) => {
            const whole = then[index] as Result;
            expect({ ...result, content: null }).toEqual({ ...whole, content: null });
            // Old images may go, each for a text.
            if (media(result).length > 0) expect(media(result)).toEqual(media(whole));
            if (texts(whole) !== "") expect(texts(result)).not.toBe("");
            expect(texts(result).isWellFormed()).toBe(true);
          });
        });
        before.forEach((message, at) => {
          if (!changed.has(at)) expect(sent[at]).toBe(message);
          const [was, is] = [resultsOf(message), resultsOf(sent[at] as Message)];
          is.forEach((result, index) => {
            const charsOf = (one: Result) => texts(one).length + media(one).length * 8000;
            expect(charsOf(result)).toBeLessThanOrEqual(charsOf(was[index] as Result));
            if (media(was[index] as Result).length === 0) expect(media(result)).toEqual([]);
          });
        });
        const shown = sent.flatMap(resultsOf).flatMap(media);
        const given = messages.flatMap(resultsOf).flatMap(media);
        expect(shown.length).toBeGreaterThanOrEqual(Math.min(3, given.length));
        expect(given.slice(-3).every((image) => shown.includes(image))).toBe(true);
        if (report.ratio < 0.3 && report.changes.length === 0 && report.results.replayed === 0) {
          expect(sent === messages).toBe(true);
        }
        before = sent;
      }
    }),
    { numRuns: 40, examples: [[shortTextOfOldImage, 2000, true, 0]] },
  );
});

it("the same requests give the same, and a restart at any point changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.integer({ min: 2000, max: 30_000 }), fc.nat(), async (made, window, restart) => {
      const requests = requestsOf(made);
      const ledger = memoryLedger();
      const open = () => createSpillway({ store: null, ledger, env: {} });
      const steady = await createSpillway({ store: null, ledger: null, env: {} });
      let spillway = await open();
      for (const [at, messages] of requests.entries()) {
        const isRestart = at === restart % requests.length;
        if (isRestart) spillway = await open();
        const one = await steady.prepare(messages, { wire: "anthropic", window });
        const two = await spillway.prepare(isRestart ? structuredClone(messages) : messages, {
          wire: "anthropic",
          window,
        });
        expect(two.messages).toEqual(one.messages);
      }
    }),
    { numRuns: 25 },
  );
});

it("a step frees what it must", async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.integer({ min: 8000, max: 60_000 }), async (made, window) => {
      const spillway = await createSpillway({ store: null, ledger: null, env: {} });
      const pruning = { insure: false, minPrunableToolChars: 0 };
      for (const messages of requestsOf(made)) {
        const { report } = await spillway.prepare(messages, { wire: "anthropic", window, pruning });
        const { before, after, results } = report;
        if (results.batched > 0 || results.trimmed + results.cleared === 0) continue;
        const ratio = before.tokens / window;
        expect(ratio).toBeGreaterThanOrEqual(0.3);
        // What a trim frees is estimated when it is planned.
        const least = Math.min(12_500, window / 3) * (ratio < 0.9 ? 1 : 0.5);
        expect(before.tokens - after.tokens).toBeGreaterThanOrEqual(least * 0.7);
      }
    }),
    { numRuns: 40 },
  );
});

const READERS: Reader[] = [
  { by: "operator" },
  { by: "tool", recall: "recall_a_saved_output", search: "search_a_saved_output" },
  { by: "shell", dir: `/home/${"deep/".repeat(30)}` },
  { by: "file" },
];

it.each(Object.keys(formats).flatMap((name) => READERS.map((reader) => [name, reader.by, reader] as const)))(
  "nothing is written that is longer than what it stands for: %s, reader by %s",
  async (name, by, reader) => {
    const format = formats[name] as Format;
    const wire = wireNamed(format.wire) as Wire;
    const folder = mkdtempSync(join(tmpdir(), "spillway-shorter-"));
    const lengths = fc.array(fc.tuple(fc.nat(700), fc.nat(900)), { minLength: 4, maxLength: 10 });
    try {
      await fc.assert(
        fc.asyncProperty(lengths, fc.constantFrom("x", '"', "\n"), async (sizes, unit) => {
          const runs = join(folder, "long/".repeat(40));
          const spillway = await createSpillway({
            store: memoryStore(),
            ledger: null,
            env: {},
            reader,
            ...(by === "file" && { runs }),
          });
          const turns = sizes.flatMap(([chars, more], at) =>
            format.turn(`c${at}`, unit.repeat(chars), unit.repeat(more)),
          );
          const given = [format.user("go"), ...turns];
          const isShorter = (sent: readonly unknown[]) =>
            sent.forEach((message, at) => {
              const [now, then] = [wire.read(message), wire.read(given[at])];
              const textsIn = ({ results, calls }: WireMessage) =>
                [...results, ...calls.flatMap(({ long }) => long ?? [])].map((one) => one.texts.join("\n").length);
              const before = textsIn(then);
              textsIn(now).forEach((chars, place) => expect(chars).toBeLessThanOrEqual(before[place] as number));
            });
          const pruning = { mode: "aggressive" as const, keepLastAssistants: 1 };
          isShorter((await spillway.prepare(given, { wire: format.wire, window: 4000, pruning })).messages);
          const refused = Object.assign(new Error("prompt is too long: 3000 tokens > 900 maximum"), { status: 400 });
          let sends = 0;
          const ladder = ["prune" as const];
          await spillway
            .call(
              given,
              (messages) => {
                if (messages.length === given.length) isShorter(messages);
                if (sends++ === 0) throw refused;
                return {};
              },
              { wire: format.wire, window: 4000, ladder },
            )
            .catch((error: unknown) => expect(error).toMatchObject({ code: "overflow" }));
        }),
        { numRuns: 15 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
