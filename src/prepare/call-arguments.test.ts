import { describe, expect, it } from "vitest";
import { type Format, formats, notesIn } from "../../test/recovery/formats.ts";
import { createSpillway, type PrepareOptions, type Spillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// Long arguments of old calls are shown shorter under the rules of old results.

const TURNS = 30;
const note = (at: number) => `note ${at}: ${`"words" of call ${at}\n`.repeat(300)}`;
const CLEARED =
  /^\[Argument of \d+ chars left out here after the call ran with all of it\]\n\[.*artifact ([a-z2-7]{12})/;
const TRIMMED =
  /\[Argument trimmed here after the call ran with all of it: kept first 1500 chars and last 1500 chars of/;
const parts = () => ({ store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger() });
const open = (made: ReturnType<typeof parts>): Promise<Spillway> => createSpillway({ ...made, env: {} });

/** Calls with long arguments and short results. */
const session = (format: Format, turns = TURNS): unknown[] => [
  format.user("go"),
  ...Array.from({ length: turns }, (_, at) => format.turn(`c${at}`, `done ${at}`, note(at))).flat(),
];

const optionsOf = ({ wire }: Format, more: PrepareOptions = {}): PrepareOptions => {
  return { wire, session: "s", window: 40_000, ...more };
};

const NAMES = Object.keys(formats).filter((name) => name !== "mcp");

describe.each(NAMES)("long arguments of old calls: %s", (name) => {
  const format = formats[name] as Format;

  it("are shortened in place, saved first and named; the newest turns and everything else stay", async () => {
    const made = parts();
    const given = session(format);
    const before = JSON.stringify(given);
    const { messages, report } = await (await open(made)).prepare(given, optionsOf(format));
    const notes = notesIn(format, messages);
    const ids = notes.flatMap((text, at) =>
      CLEARED.exec(text ?? "")?.[1] ? [[at, CLEARED.exec(text ?? "")?.[1]]] : [],
    );
    expect(ids.length).toBeGreaterThan(3);
    expect(report.calls).toMatchObject({ total: TURNS, cleared: ids.length, replayed: 0 });
    expect(report.results).toMatchObject({ total: TURNS, cleared: 0, trimmed: 0 });
    expect(report.after.tokens).toBeLessThan(report.before.tokens / 1.5);
    expect(report.changes[0]).toMatchObject({ of: "call", message: 1, tool: "lookup", to: "cleared" });
    for (const [at, id] of ids) {
      const saved = await made.store.read(String(id), "local", { from: 0, to: 1_000_000 });
      expect(new TextDecoder().decode(saved ?? undefined)).toBe(note(Number(at)));
    }
    expect(notes.slice(-3)).toEqual([TURNS - 3, TURNS - 2, TURNS - 1].map(note));
    expect(JSON.stringify(given)).toBe(before);
    // Besides the notes nothing differs.
    const bare = (list: readonly unknown[]) =>
      JSON.stringify(list, (key, value: unknown) => (/^(note|arguments|lc_kwargs)$/.test(key) ? null : value));
    expect(bare(messages)).toBe(bare(given));
  });

  it("keep their form in later requests, with objects built anew, after a restart, and in no other conversation", async () => {
    const made = parts();
    const spillway = await open(made);
    const { messages } = await spillway.prepare(session(format), optionsOf(format));
    const longer = session(format, TURNS + 1);
    const rebuilt = longer.map((message) => format.rebuild(message));
    for (const one of [spillway, await open(made)]) {
      const next = await one.prepare(rebuilt, optionsOf(format));
      expect(notesIn(format, next.messages).slice(0, TURNS)).toEqual(notesIn(format, messages));
      expect(next.report.calls.replayed).toBeGreaterThan(3);
      const other = await one.prepare(session(format, 5), optionsOf(format, { session: "other" }));
      expect(notesIn(format, other.messages)).toEqual([0, 1, 2, 3, 4].map(note));
    }
    expect(JSON.stringify(await made.ledger.events({}))).not.toContain("words");
  });

  it("stay whole if their tool is denied, if that is switched off, and in the preset openclaw", async () => {
    const spillway = await open(parts());
    for (const pruning of [
      { tools: { deny: ["look*"] } },
      { callArguments: false },
      { preset: "openclaw" as const },
      { mode: "off" as const },
    ]) {
      const { messages, report } = await spillway.prepare(session(format), optionsOf(format, { pruning }));
      expect(notesIn(format, messages)).toEqual(notesIn(format, session(format)));
      expect(report.calls.cleared + report.calls.trimmed).toBe(0);
    }
  });

  it("are trimmed where that is enough", async () => {
    const pruning = { hardClear: { enabled: false } };
    const { messages } = await (await open(parts())).prepare(session(format), optionsOf(format, { pruning }));
    const [first = ""] = notesIn(format, messages);
    expect(first).toMatch(TRIMMED);
    expect(first).toMatch(/\n\[.*artifact [a-z2-7]{12}/);
    expect(first.startsWith(note(0).slice(0, 1500))).toBe(true);
  });

  it("are shortened after a refusal, and the next request shows them so", async () => {
    const made = parts();
    const limit = 30_000;
    const sent: unknown[][] = [];
    const send = (messages: unknown[]) => {
      sent.push(messages);
      const tokens = Math.ceil(messages.map((message) => format.sent(message)).join("").length / 4);
      if (tokens > limit)
        throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${limit} maximum`), { status: 400 });
      return { usage: { input_tokens: tokens } };
    };
    const options = { ...optionsOf(format), window: 1_000_000, systemAndTools: "" };
    await (await open(made)).call(session(format), send, options);
    expect(sent).toHaveLength(2);
    const notes = notesIn(format, sent[1] ?? []);
    expect(notes).toHaveLength(TURNS);
    expect(notes.filter((text) => CLEARED.test(text ?? "") || TRIMMED.test(text ?? "")).length).toBeGreaterThan(3);
    expect(notes.slice(-3)).toEqual([TURNS - 3, TURNS - 2, TURNS - 1].map(note));
    await (await open(made)).call(session(format, TURNS).map(format.rebuild), send, options);
    expect(sent).toHaveLength(3);
    // The window that the refusal showed may make pruning go on, so what is not cleared may get shorter.
    notesIn(format, sent[2] ?? []).forEach((text, at) => {
      if (CLEARED.test(notes[at] ?? "")) expect(text).toBe(notes[at]);
      else expect(text?.length).toBeLessThanOrEqual(notes[at]?.length ?? 0);
    });
  });
});

describe("several long strings in one call", () => {
  const edit = (at: number) => ({
    path: `src/file-${at}.ts`,
    count: 12,
    edits: [0, 1].map((part) => ({
      oldText: `old ${at} ${part} ${"a b ".repeat(200)}`,
      newText: `new ${at} ${part} ${"c d ".repeat(200)}`,
    })),
  });
  const messages: { role: string; content: unknown }[] = [
    { role: "user", content: "go" },
    ...Array.from({ length: 40 }, (_, at) => [
      { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "edit", input: edit(at) }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: "ok" }] },
    ]).flat(),
  ];

  it("each get a marker, the first says where all of them are, and all of the input is saved as JSON", async () => {
    const made = parts();
    const prepared = await (await open(made)).prepare(messages, { wire: "anthropic", window: 40_000 });
    const [{ input }] = (prepared.messages[1] as { content: [{ input: ReturnType<typeof edit> }] }).content;
    expect([input.path, input.count]).toEqual(["src/file-0.ts", 12]);
    const texts = input.edits.flatMap(({ oldText, newText }) => [oldText, newText]);
    expect(texts[0]).toMatch(CLEARED);
    expect(new Set(texts.slice(1))).toEqual(
      new Set([
        `[Argument of ${edit(0).edits[0]?.newText.length} chars left out here after the call ran with all of it]`,
      ]),
    );
    const saved = await made.store.read(CLEARED.exec(texts[0] ?? "")?.[1] ?? "", "local", { from: 0, to: 100_000 });
    expect(JSON.parse(new TextDecoder().decode(saved ?? undefined))).toEqual(edit(0));
  });

  it("nothing of them can be read in the ledger", async () => {
    const made = parts();
    const rows: string[] = [];
    const { saveProjection } = made.ledger;
    made.ledger.saveProjection = async (row) => {
      rows.push(row.text);
      return saveProjection.call(made.ledger, row);
    };
    // One of the strings is too short for a marker, so it stays whole beside those that are cleared.
    const odd = messages.map((message, at) =>
      at % 2 === 1
        ? {
            ...message,
            content: [
              {
                ...((message.content as object[])[0] as object),
                input: { ...edit(at), key: `s3cret ${"k".repeat(255)}` },
              },
            ],
          }
        : message,
    );
    await (await open(made)).prepare(odd, { wire: "anthropic", window: 40_000 });
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.join("")).not.toMatch(/s3cret|old 0|a b a b/);
  });
});
