import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it, type TestContext, vi } from "vitest";
import { corpusFolder } from "../../test/corpus.ts";
import { formats } from "../../test/recovery/formats.ts";
import type { Compactor } from "../extend.ts";
import { type CallOptions, createSpillway, OverflowError } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { wireNamed } from "../wire/index.ts";
import { pairResults } from "../wire/pair-results.ts";

// The last way out: whole old turns are left out, and no model is asked.

type Message = Record<string, unknown>;

const user = (content: string): Message => ({ role: "user", content });
const says = (content: string): Message => ({ role: "assistant", content });
const words = (chars: number, word = "lorem ipsum ") => word.repeat(Math.ceil(chars / word.length)).slice(0, chars);
const turn = (id: string, input: string, text: string): Message[] => [
  { role: "assistant", content: [{ type: "tool_use", id, name: "lookup", input: { note: input } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
];
/** Turns of long call arguments, which no other rung makes smaller while `callArguments` is off. */
const session = (count: number): Message[] => [
  user("Find the broken test."),
  ...Array.from({ length: count }, (_, at) => turn(`c${at}`, `note${at} ${words(4000)}`, `found${at}`)).flat(),
];
const tokensOf = (messages: readonly unknown[]) => Math.ceil(JSON.stringify(messages).length / 4);

function provider(limit: number, count: (messages: readonly unknown[]) => number = tokensOf) {
  const sent: Message[][] = [];
  const send = (messages: Message[]) => {
    sent.push([...messages]);
    const tokens = count(messages);
    if (tokens > limit)
      throw Object.assign(new Error(`400 prompt is too long: ${tokens} tokens > ${limit} maximum`), { status: 400 });
    return "answer";
  };
  return { sent, send };
}

const OPTIONS: CallOptions = {
  wire: "anthropic",
  session: "s",
  systemAndTools: "",
  pruning: { callArguments: false },
};
const parts = () => ({ store: memoryStore(), ledger: memoryLedger(), env: {} });

afterEach(() => {
  vi.useRealTimers();
});

describe("drop-turns", () => {
  it("leaves out the oldest turns, saved as text and named in their place; task and newest turn stay whole", async () => {
    const made = parts();
    const spillway = await createSpillway(made);
    const { sent, send } = provider(10_000);
    const messages = session(20);
    const before = structuredClone(messages);
    expect(await spillway.call(messages, send, OPTIONS)).toBe("answer");
    expect(messages).toEqual(before);
    const [, last = []] = sent;
    const [first, ...rest] = last;
    expect(rest.length).toBeGreaterThan(2);
    expect(rest).toEqual(messages.slice(-rest.length));
    const text = String(first?.content);
    const gone = messages.length - 1 - rest.length;
    expect(text).toMatch(/^Find the broken test\.\n\n/);
    expect(text).toContain(`[${gone} messages left out here, with the calls and results in them: the request was too`);
    // What is left is about six tenths of what may be, so that the next turns have room.
    expect(tokensOf(last)).toBeGreaterThan(4000);
    expect(tokensOf(last)).toBeLessThan(7000);
    const id = /artifact ([a-z2-7]{12})/.exec(text)?.[1] ?? "";
    const saved = new TextDecoder().decode(
      (await made.store.read(id, "local", { from: 0, to: 1_000_000 })) ?? undefined,
    );
    expect(saved).toContain('#1 assistant calls lookup: {"note":"note0 lorem');
    expect(saved).toContain("#2 result of lookup:\nfound0");
    expect(saved).toContain(`found${gone / 2 - 1}`);
    expect(saved).not.toContain(`found${gone / 2}`);
  });

  it("saves results as they came, though another rung cut them before", async () => {
    const made = parts();
    const { sent, send } = provider(10_000);
    const found = `${words(9000)}the end of it`;
    const long = Array.from({ length: 20 }, (_, at) => turn(`c${at}`, words(4000), found)).flat();
    await (await createSpillway(made)).call([user("go"), ...long], send, OPTIONS);
    const id = /artifact ([a-z2-7]{12})/.exec(String(sent.at(-1)?.[0]?.content))?.[1] ?? "";
    const saved = await made.store.read(id, "local", { from: 0, to: 1_000_000 });
    expect(new TextDecoder().decode(saved ?? undefined)).toContain(`#2 result of lookup:\n${found}\n`);
  });

  it("the next request shows the same, after a restart too", async () => {
    const made = parts();
    const { sent, send } = provider(10_000);
    const messages = session(20);
    await (await createSpillway(made)).call(messages, send, OPTIONS);
    const longer = structuredClone([...messages, ...turn("next", "short", "fine")]);
    await (await createSpillway(made)).call(longer, send, OPTIONS);
    expect(sent).toHaveLength(3);
    expect(sent[2]?.slice(0, sent[1]?.length)).toEqual(sent[1]);
  });

  it("a session that grows is refused seldom, and few markers gather", async () => {
    const spillway = await createSpillway(parts());
    const { sent, send } = provider(10_000);
    for (let turns = 1; turns <= 60; turns++) await spillway.call(session(turns), send, OPTIONS);
    expect(sent.length - 60).toBeLessThan(20);
    expect(String(sent.at(-1)?.[0]?.content).split("left out here").length).toBeLessThan(20);
  });

  it("the user's latest request is quoted if it goes with its turn", async () => {
    const spillway = await createSpillway(parts());
    const { sent, send } = provider(10_000);
    const [first, ...rest] = session(20);
    const asked = `Now look at the parser. ${words(3000, "Mind it. ")}`;
    const messages = [first as Message, says("Found it."), user(asked), ...rest];
    expect(await spillway.call(messages, send, OPTIONS)).toBe("answer");
    expect(sent[1]?.[0]?.content).toContain(`word for word:\n${asked}\n[`);
    // What stays is not said twice.
    const other = provider(10_000);
    await spillway.call([...messages, says("Done."), user("Thanks, go on.")], other.send, { ...OPTIONS, session: "t" });
    expect(other.sent[1]?.[0]?.content).not.toContain("word for word");
  });

  it.each<[string, Compactor["compact"]]>([
    ["fails", () => Promise.reject(new Error("429 rate limit"))],
    [
      "is slow",
      () => {
        vi.advanceTimersByTime(75_000);
        return new Promise(() => {});
      },
    ],
    ["does not help", async () => null],
  ])("a summariser that %s is passed over", async (_what, compact) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const spillway = await createSpillway(parts());
    const { sent, send } = provider(10_000);
    const options = { ...OPTIONS, compactor: { compact } };
    expect(await spillway.call(session(20), send, options)).toBe("answer");
    expect(sent).toHaveLength(2);
  });

  it("is off under the preset openclaw and with the ladder compact-first", async () => {
    for (const more of [{ pruning: { preset: "openclaw" } }, { ladder: "compact-first" }] as CallOptions[]) {
      const spillway = await createSpillway(parts());
      const sent = spillway.call(session(20), provider(10_000).send, { ...OPTIONS, ...more });
      await expect(sent).rejects.toBeInstanceOf(OverflowError);
    }
  });

  it.each(Object.values(formats).filter(({ wire }) => wire !== "mcp"))(
    "in the format $wire roles alternate as before and no pair is parted",
    async (format) => {
      const spillway = await createSpillway(parts());
      const wire = wireNamed(format.wire);
      if (wire === null) throw new Error(format.wire);
      const messages: unknown[] = [
        format.user("go"),
        ...Array.from({ length: 60 }, (_, at) => format.turn(`c${at}`, words(900))).flat(),
      ];
      const count = (given: readonly unknown[]) => Math.ceil(given.map(format.sent).join("").length / 4);
      const { sent, send } = provider(4000, count);
      const options = { wire: format.wire, systemAndTools: "", ladder: ["drop-turns"] as const };
      expect(await spillway.call(messages as Message[], send, options)).toBe("answer");
      const [, last = []] = sent;
      const views = last.map((message) => wire.read(message));
      expect([views[0]?.role, views[1]?.role]).toEqual(["user", "assistant"]);
      expect([views[0]?.text, ...(views[0]?.moreTexts ?? [])].join(" ")).toMatch(/^go\s+\[\d+ messages left out here/);
      expect(last.slice(1)).toEqual(messages.slice(1 - last.length));
      expect(pairResults(views).filter(({ callMessage }) => callMessage === null)).toEqual([]);
    },
  );
});

describe("every recorded session survives a limit of 16,000 tokens without a model", () => {
  const LIMIT = 16_000;
  const textsIn = (folder: string, context: TestContext) => {
    const path = corpusFolder(folder, context);
    const names = readdirSync(path).filter((name) => /\.jsonl?\.gz$/.test(name) && name !== "cases.jsonl.gz");
    return names.map((name) => gunzipSync(readFileSync(join(path, name))).toString("utf8"));
  };
  const sets: Record<string, (text: string) => Message[][]> = {
    "pi-sessions": (text) => [
      text
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { message?: Message }).message)
        .filter((message) => message !== undefined),
    ],
    "mini-swe": (text) => [(JSON.parse(text) as { messages: Message[] }).messages],
    "tau-bench": (text) => (JSON.parse(text) as { traj: Message[] }[]).map(({ traj }) => traj),
  };

  it.for(Object.keys(sets))("%s", { timeout: 300_000 }, async (set, context) => {
    const wire = wireNamed(set === "pi-sessions" ? "pi" : "openai-chat");
    if (wire === null) throw new Error(set);
    const count = (given: readonly unknown[]) => tokensOf(given.map((message) => wire.sent?.(message) ?? message));
    for (const messages of textsIn(set, context).flatMap((text) => sets[set]?.(text) ?? [])) {
      const { sent, send } = provider(LIMIT, count);
      const spillway = await createSpillway(parts());
      const reply = await spillway.call(messages, send, { wire: wire.name, systemAndTools: "" });
      expect(reply).toBe("answer");
      const views = (sent.at(-1) ?? []).map((message) => wire.read(message));
      expect(pairResults(views).filter(({ callMessage }) => callMessage === null)).toEqual([]);
    }
  });
});
