import { describe, expect, it } from "vitest";
import { agents, has, screenshot, turnsOf } from "../../test/wire/screenshots.ts";
import type { PruningInput } from "../contract/policy.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { wireNamed } from "../wire/index.ts";

const WINDOW = 40_000;
const data = (png: Buffer) => png.toString("base64");

const freeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
};

describe.each(agents)("old screenshots: $name", (agent) => {
  const { wire } = agent;
  const turns = freeze(turnsOf(agent, 40));

  it("go in rare steps, saved to the byte; the newest stay; the prefix is kept between steps and after a restart", async () => {
    const [store, ledger] = [memoryStore(), memoryLedger()];
    const open = () => createSpillway({ store, ledger, env: {} });
    let spillway = await open();
    let before: unknown[] = [];
    let textBefore = "[]";
    let steps = 0;
    for (let end = 1; end <= turns.length; end++) {
      const messages = turns.slice(0, end).flat();
      const isRestart = end === 30;
      const steady = isRestart ? await spillway.prepare(messages, { wire, window: WINDOW }) : null;
      if (isRestart) spillway = await open();
      const given = isRestart ? structuredClone(messages) : messages;
      const { messages: sent, report } = await spillway.prepare(given, { wire, window: WINDOW });
      if (steady !== null) {
        expect(report.changes).toEqual([]);
        expect(JSON.stringify(sent) === JSON.stringify(steady.messages)).toBe(true);
      }
      expect(report.faults).toEqual([]);
      for (let turn = Math.max(0, end - 4); turn < end - 1; turn++) expect(has(sent, turn)).toBe(true);
      const text = JSON.stringify(sent);
      const isKept = text.startsWith(textBefore.slice(0, -1)) || isRestart;
      textBefore = text;
      expect(isKept).toBe(report.changes.length === 0);
      steps += Number(!isKept);
      const shown = Array.from({ length: end - 1 }, (_, turn) => has(text, turn)).filter(Boolean).length;
      expect(report.media).toEqual({ total: end - 1, leftOut: end - 1 - shown });
      // 40 screenshots would take more than the window.
      expect(report.after.tokens).toBeLessThan(WINDOW * 0.55);
      before = sent;
    }
    expect(steps).toBeGreaterThan(0);
    expect(steps).toBeLessThan(8);
    const ids = [...JSON.stringify(before).matchAll(/saved as artifact (\w+)/g)].map(([, id]) => id as string);
    expect(ids.length).toBeGreaterThan(20);
    for (const [turn, id] of ids.entries()) {
      const whole = screenshot(turn);
      const saved = await store.read(id, "local", { from: 0, to: whole.length + 1 });
      expect(Buffer.compare(Buffer.from(saved ?? []), whole)).toBe(0);
    }
    const read = before.map((message) => wireNamed(wire)?.read(message));
    expect(read.every((view) => view?.malformed === 0)).toBe(true);
  });

  it("go before those that no model has seen yet, if a request is refused for its size", async () => {
    const messages = turns.slice(0, 8).flat();
    const newest = Array.from({ length: 8 }, (_, turn) => turn).findLast((turn) => has(messages, turn)) as number;
    const bytes = JSON.stringify(messages).length;
    for (const share of [0.8, 0.5]) {
      const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
      const sent: unknown[][] = [];
      const send = (given: unknown[]) => {
        sent.push(given);
        if (JSON.stringify(given).length <= bytes * share) return "seen";
        throw Object.assign(new Error("413 Request exceeds the maximum size"), { status: 413 });
      };
      const given = structuredClone(messages);
      expect(await spillway.call(given, send, { wire, window: 400_000, media: "all" })).toBe("seen");
      expect(sent.length).toBeGreaterThan(1);
      for (const request of sent) expect(has(request, newest)).toBe(true);
    }
  });

  it("stay where they are told to", async () => {
    const messages = turns.flat();
    const shown = async (pruning: PruningInput) => {
      const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
      const { report } = await spillway.prepare(messages, { wire, window: WINDOW, pruning });
      return report.media.total - report.media.leftOut;
    };
    expect(await shown({ media: "off" })).toBe(40);
    expect(await shown({ preset: "openclaw" })).toBe(40);
    expect(await shown({ keepLastMedia: 17 })).toBe(17);
    expect(await shown({ keepLastAssistants: 20 })).toBe(20);
    expect(await shown({ keepLastMedia: 0, mode: "aggressive", keepLastAssistants: 0 })).toBe(1);
    expect(await shown({ tools: { deny: ["click", "computer"] } })).toBe(40);
  });
});

describe("images of users", () => {
  const image = (turn: number) => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data: data(screenshot(turn)) },
  });
  const messages = Array.from({ length: 30 }, (_, at) => [
    { role: "user", content: [{ type: "text", text: `what is this? ${at}` }, image(at)] },
    { role: "assistant", content: [{ type: "text", text: "a page" }] },
  ]).flat();
  const prepare = async (pruning: PruningInput) => {
    const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
    return spillway.prepare(messages, { wire: "anthropic", window: WINDOW, pruning });
  };

  it("stay, and go only with media: all", async () => {
    expect((await prepare({})).report.media).toEqual({ total: 30, leftOut: 0 });
    const { messages: sent, report } = await prepare({ media: "all" });
    expect(report.media.leftOut).toBeGreaterThan(10);
    expect(report.changes.every(({ of }) => of === "media")).toBe(true);
    expect([has(sent, 28), has(sent, 29), has(sent, 5)]).toEqual([true, true, false]);
    expect(JSON.stringify(sent).includes("what is this? 5")).toBe(true);
  });

  it("a wrong word is said", async () => {
    const given = { media: "some" } as unknown as PruningInput;
    await expect(prepare(given)).rejects.toThrow("pruning.media must be results, all or off");
  });
});

it("what cannot be saved stays, and words beside an image are cut only if they are long", async () => {
  const result = (text: string) => (id: string, png: Buffer) => [
    { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: {} }] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: id,
          content: [
            { type: "text", text },
            { type: "image", source: { type: "base64", media_type: "image/png", data: data(png) } },
          ],
        },
      ],
    },
  ];
  const session = (text: string) => [
    { role: "user", content: "go" },
    ...Array.from({ length: 20 }, (_, at) => result(text)(`c${at}`, screenshot(at))).flat(),
  ];
  const store = memoryStore();
  const broken = { ...store, begin: () => Promise.reject(new Error("disk full")) };
  const failing = await createSpillway({ store: broken, ledger: null, env: {} });
  const kept = await failing.prepare(session("a page"), { wire: "anthropic", window: WINDOW });
  expect(kept.report.media.leftOut).toBe(0);
  const spillway = await createSpillway({ store, ledger: null, env: {} });
  const short = await spillway.prepare(session("a page of words"), { wire: "anthropic", window: WINDOW });
  expect(short.report.media.leftOut).toBeGreaterThan(5);
  expect(JSON.stringify(short.messages).match(/a page of words/g)?.length).toBe(20);
  const long = await spillway.prepare(session("word ".repeat(1000)), { wire: "anthropic", window: WINDOW });
  expect(/Tool result trimmed|content cleared/.test(JSON.stringify(long.messages))).toBe(true);
  expect(long.report.media.leftOut).toBeGreaterThan(5);
});

it("bytes press on images first: the words of results stay", async () => {
  const agent = agents[0] as (typeof agents)[number];
  const text = { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "word ".repeat(600) }] };
  const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read", input: {} }] };
  const messages = [agent.user, call, text, ...turnsOf(agent, 20).slice(1).flat()];
  const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
  const pruning = { maxRequestBytes: 200_000 };
  const { messages: sent, report } = await spillway.prepare(messages, {
    wire: "anthropic",
    window: 1_000_000,
    pruning,
  });
  expect(report.triggers.bytes.active).toBe(true);
  expect(report.after.bytes).toBeLessThan(200_000);
  expect(sent[2]).toBe(text);
});

describe("what is said of images that are left out", () => {
  const shots = (source: (at: number) => unknown) =>
    Array.from({ length: 40 }, (_, at) => [
      { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "look", input: { at } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `c${at}`, content: [{ type: "image", source: source(at) }] }],
      },
    ]).flat();
  const sentOf = async (messages: unknown[], wire = "anthropic") => {
    const store = memoryStore();
    const spillway = await createSpillway({ store, ledger: null, env: {} });
    const { messages: sent } = await spillway.prepare([{ role: "user", content: "go" }, ...messages], {
      wire,
      window: WINDOW,
    });
    const text = JSON.stringify(sent);
    const id = /artifact (\w{12})/.exec(text)?.[1] ?? "";
    const saved = Buffer.from((await store.read(id, "local", { from: 0, to: 1e6 })) ?? []).toString("latin1");
    return { text, saved, command: (await store.find(id, "local"))?.command };
  };

  it("secrets in one are replaced, and the text says so", async () => {
    const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const png = (at: number) => Buffer.concat([screenshot(at), Buffer.from(`\ntEXt ${key}\n`)]);
    const { text, saved, command } = await sentOf(
      shots((at) => ({ type: "base64", media_type: "image/png", data: data(png(at)) })),
    );
    expect(text).toContain("[The whole is saved with 1 secret in it replaced as artifact ");
    expect(saved).not.toContain(key);
    expect(command).toBe('{"at":0}');
  });

  it("of one that is given by a URL or an id only the address is left out and kept", async () => {
    const note = "[the address of an image, sound or file left out: it was shown before]";
    const url = await sentOf(shots((at) => ({ type: "url", url: `https://example.com/${at}.png` })));
    expect(url.text).toContain(note);
    expect(url.text).not.toContain("The whole is saved as");
    expect(url.saved).toBe('["https://example.com/0.png"]');
    const file = await sentOf(shots((at) => ({ type: "file", file_id: `file_${at}` })));
    expect(file.text).toContain(note);
    const parts = Array.from({ length: 40 }, (_, at) => [
      { type: "function_call", call_id: `c${at}`, name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: `c${at}`, output: [{ type: "input_image", file_id: `file-abc${at}` }] },
    ]).flat();
    const responses = await sentOf(parts, "openai-responses");
    expect(responses.text).toContain(note);
    expect(responses.saved).toBe('[{"file_id":"file-abc0"}]');
  });
});
