import { afterEach, describe, expect, it, vi } from "vitest";
import type { SpillwayEvent } from "../contract/event.ts";
import type { Compactor, Rung } from "../extend.ts";
import { type CallOptions, createSpillway, OverflowError, type Send, type SpillwayOptions } from "../index.ts";
import { compileSignatures } from "../overflow.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

type Block = { type: string; [key: string]: unknown };
type Message = { role: string; content: string | Block[] };

const user = (text: string): Message => ({ role: "user", content: text });
const turn = (id: string, text: string): Message[] => [
  { role: "assistant", content: [{ type: "tool_use", id, name: "lookup", input: { path: id } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
];
const words = (chars: number) => "lorem ipsum ".repeat(Math.ceil(chars / 12)).slice(0, chars);
const session = (count: number, chars: number): Message[] => [
  user("go"),
  ...Array.from({ length: count }, (_, at) => turn(`c${at}`, words(chars))).flat(),
];
const picture = (name: string, bytes: number): Block => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: name.padEnd(bytes, "A") },
});
type Answer = { usage: { input_tokens: number } };
const tokensOf = (messages: readonly unknown[]) => Math.ceil(JSON.stringify(messages).length / 4);

async function open(options: SpillwayOptions = {}) {
  const events: SpillwayEvent[] = [];
  const onEvent = (event: SpillwayEvent) => void events.push(event);
  const store = memoryStore();
  const spillway = await createSpillway({ store, ledger: memoryLedger(), env: {}, onEvent, ...options });
  const kinds = () => events.map(({ kind }) => kind).filter((kind) => kind.startsWith("overflow"));
  return { spillway, events, kinds, store };
}

const tooLong = (messages: readonly unknown[], limit: number) =>
  Object.assign(new Error(`400 prompt is too long: ${tokensOf(messages)} tokens > ${limit} maximum`), { status: 400 });

/** A provider that takes up to `limit` tokens of four characters each. */
function provider(limit: number) {
  const sent: Message[][] = [];
  const send = (messages: Message[]) => {
    sent.push(structuredClone(messages));
    if (tokensOf(messages) > limit) throw tooLong(messages, limit);
    return "answer";
  };
  return { sent, send };
}

const OPTIONS: CallOptions = { wire: "anthropic", session: "s", systemAndTools: "" };

afterEach(() => {
  vi.useRealTimers();
});

describe("call", () => {
  it("names what made a result that recovery saves, and takes no command from one that was saved before", async () => {
    const { spillway, store } = await open();
    const run = (id: string, text: string): Message[] => [
      { role: "assistant", content: [{ type: "tool_use", id, name: "bash", input: { command: `make ${id}` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
    ];
    const log = Array.from({ length: 9000 }, (_, at) => `line ${at} of the build`).join("\n");
    const read = Array.from({ length: 12 }, (_, at) => turn(`c${at}`, `${at} ${words(9000)}`)).flat();
    const shot = { role: "user", content: [{ type: "tool_result", tool_use_id: "see", content: [picture("p", 4e4)] }] };
    const look = { role: "assistant", content: [{ type: "tool_use", id: "see", name: "look", input: { page: 1 } }] };
    await spillway.call([user("go"), ...run("all", log), look, shot, ...read], provider(5000).send, OPTIONS);
    const saved = await store.list({ scope: "local" });
    const commands = new Map(saved.map(({ call, command }) => [call, command]));
    expect(commands.get("all")).toBe("make all");
    expect(commands.get("c0")).toBe('{"path":"c0"}');
    expect(commands.get("see")).toBe('{"page":1}');
  });

  it("does not weigh the messages a second time if output begins", async () => {
    let counted = 0;
    const count = (text: string) => {
      counted += text.length;
      return Math.ceil(text.length / 4);
    };
    const { spillway } = await open({ counter: { name: "spy", exact: true, maxBytesPerToken: 4, count } });
    const messages = session(4, 4000);
    await spillway.prepare(messages, OPTIONS);
    const prepared = counted;
    await spillway.call(messages, (_messages, { began }) => began(), OPTIONS);
    expect(prepared).toBeGreaterThan(4 * 4000);
    // The texts of markers are counted for each request.
    expect(counted - prepared).toBeLessThan(1000);
  });

  it("names the way that this request's reader has", async () => {
    const { spillway } = await open();
    const { sent, send } = provider(8000);
    const reader = { by: "tool", recall: "my_recall", search: "my_search" } as const;
    await spillway.call(session(12, 8000), send, { ...OPTIONS, reader });
    expect(JSON.stringify(sent.at(-1))).toContain("my_recall(");
    const other = provider(8000);
    await spillway.call(session(12, 8000), other.send, { ...OPTIONS, session: "another" });
    expect(JSON.stringify(other.sent.at(-1))).toMatch(/which the operator can read/);
  });

  it("sends what fits once, and says nothing", async () => {
    const { spillway, kinds } = await open();
    const { sent, send } = provider(100_000);
    const messages = session(2, 400);
    expect(await spillway.call(messages, send, OPTIONS)).toBe("answer");
    expect(sent).toEqual([messages]);
    expect(kinds()).toEqual([]);
  });

  it("makes a refused request smaller by the provider's numbers and sends it again; each step is an event", async () => {
    const { spillway, events, kinds, store } = await open();
    const { sent, send } = provider(20_000);
    const messages = session(8, 15_000);
    const before = structuredClone(messages);
    expect(await spillway.call(messages, send, OPTIONS)).toBe("answer");
    expect(messages).toEqual(before);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.length).toBe(messages.length);
    expect(tokensOf(sent[1] ?? [])).toBeLessThanOrEqual(20_000);
    expect(kinds()).toEqual(["overflow-detected", "overflow-reduced", "overflow-recovered"]);
    const changes = events[1]?.more?.["changes"] as { call: string; fromChars: number; toChars: number }[];
    expect(changes.length).toBeGreaterThan(0);
    for (const { call, fromChars, toChars } of changes) expect([call, toChars < fromChars]).toEqual([call, true]);
    const [detected, reduced, recovered] = events.filter(({ kind }) => kind.startsWith("overflow"));
    expect(detected).toMatchObject({
      session: "s",
      more: { kind: "context-overflow", limitTokens: 20_000, attempt: 1 },
    });
    expect(reduced?.more).toMatchObject({ rung: "prune", fits: true });
    expect(recovered?.more).toMatchObject({ sends: 2, compactions: 0, rungs: [{ rung: "prune" }] });
    // The first result was saved before it was cut, and the store holds all of it.
    const cut = JSON.stringify(sent[1]);
    const id = /artifact ([a-z2-7]{12})/.exec(cut)?.[1] ?? "";
    const kept = await store.read(id, "local", { from: 0, to: 100_000 });
    expect(new TextDecoder().decode(kept ?? undefined)).toBe(words(15_000));
  });

  it("shows the next request what was accepted before, so that it is not refused again", async () => {
    const { spillway, kinds } = await open();
    const { sent, send } = provider(20_000);
    const messages = session(8, 15_000);
    await spillway.call(messages, send, OPTIONS);
    const longer = [...messages, ...turn("next", words(400))];
    await spillway.call(longer, send, OPTIONS);
    expect(sent).toHaveLength(3);
    expect(tokensOf(sent[2] ?? [])).toBeLessThanOrEqual(20_000);
    expect(kinds().filter((kind) => kind === "overflow-detected")).toHaveLength(1);
  });

  it("a large result keeps what the limit leaves, whatever its tool may print", async () => {
    const { spillway } = await open();
    const { sent, send } = provider(16_000);
    const lines = Array.from({ length: 3500 }, (_, at) => `line ${at} took ${at ** 3} ms and wrote ${at ** 2} bytes`);
    const call = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "exec", input: {} }] };
    const messages = [user("go"), call, ...turn("c1", lines.join("\n")).slice(1)];
    const pruning = { insure: false, batch: { maxChars: 10_000_000, windowShare: 1 } };
    await spillway.call(messages, send, { ...OPTIONS, pruning });
    expect(sent).toHaveLength(2);
    expect(tokensOf(sent[1] ?? [])).toBeGreaterThan(12_000);
  });

  it("what is not about size is thrown as it came, and nothing is sent again", async () => {
    const { spillway, kinds } = await open();
    for (const error of [new Error("429 rate limit reached, try again in 5s"), new TypeError("no network"), "text"]) {
      const send = vi.fn<() => Promise<string>>(() => Promise.reject(error));
      await expect(spillway.call(session(8, 15_000), send, OPTIONS)).rejects.toBe(error);
      expect(send).toHaveBeenCalledTimes(1);
    }
    expect(kinds()).toEqual([]);
  });

  it("nothing is sent again once output has begun to stream", async () => {
    const { spillway } = await open();
    const error = tooLong(session(8, 15_000), 100);
    const send = vi.fn<Send<Message, string>>(async (_messages, { began }) => {
      began();
      throw error;
    });
    await expect(spillway.call(session(8, 15_000), send, OPTIONS)).rejects.toBe(error);
    expect(send).toHaveBeenCalledTimes(1);
  });

  it("what cannot be made to fit ends with sizes, what was tried and what helps", async () => {
    const { spillway, kinds } = await open();
    const { sent, send } = provider(1000);
    const messages = [user(words(40_000)), ...turn("c1", words(30_000))];
    const error: unknown = await spillway.call(messages, send, OPTIONS).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OverflowError);
    const { message, facts, code, cause } = error as OverflowError;
    expect(code).toBe("overflow");
    expect(cause).toMatchObject({ status: 400 });
    expect(facts).toMatchObject({ kind: "context-overflow", limitTokens: 1000, sends: 1 });
    expect(facts.observedTokens).toBeGreaterThan(10_000);
    expect(facts.leftTokens).toBeLessThan(facts.estimatedTokens);
    expect(facts.tried.map(({ rung }) => rung)).toContain("clamp-results");
    expect(message).toMatch(/of at most 1,000.*Tried: .*clamp-results.*What helps: hand in a `compactor`/);
    expect(sent).toHaveLength(1);
    expect(kinds().at(-1)).toBe("overflow-failed");
  });

  it("sends four times at most where the provider never says how much is too much", async () => {
    const { spillway } = await open();
    const sent: string[] = [];
    const send = (messages: Message[]) => {
      sent.push(JSON.stringify(messages));
      throw new Error("400 Your input exceeds the context window of this model.");
    };
    const messages = [user(words(40_000)), ...session(8, 15_000).slice(1)];
    await expect(spillway.call(messages, send, OPTIONS)).rejects.toBeInstanceOf(OverflowError);
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent.every((one, at) => at === 0 || one.length < (sent[at - 1] as string).length)).toBe(true);
  });

  it("payload-too-large: media go first, those of users only if the caller gives them up; bytes are counted", async () => {
    const { spillway, events } = await open();
    const messages: Message[] = [
      { role: "user", content: [picture("users", 60_000), { type: "text", text: "look" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "screenshot", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [picture("tools", 90_000), { type: "text", text: "shot" }],
          },
        ],
      },
    ];
    const limited = (most: number) => {
      const sent: Message[][] = [];
      const send = (given: Message[]) => {
        sent.push(given);
        const isOver = JSON.stringify(given).length > most;
        if (isOver) throw Object.assign(new Error("413 Request exceeds the maximum size"), { status: 413 });
        return "seen";
      };
      return { sent, send };
    };
    const first = limited(100_000);
    expect(await spillway.call(messages, first.send, OPTIONS)).toBe("seen");
    expect(first.sent).toHaveLength(2);
    const said = JSON.stringify(first.sent[1]);
    expect(said).toContain("left out: the request was too large");
    expect(said).toContain("usersAAAA");
    expect(said).not.toContain("toolsAAAA");
    expect(events.find(({ kind }) => kind === "overflow-reduced")?.more).toMatchObject({ rung: "drop-media" });
    const small = limited(20_000);
    await expect(spillway.call(structuredClone(messages), small.send, OPTIONS)).rejects.toThrow(/media: "all"/);
    const all = limited(20_000);
    expect(await spillway.call(structuredClone(messages), all.send, { ...OPTIONS, media: "all" })).toBe("seen");
    expect(JSON.stringify(messages)).toContain("toolsAAAA");
  });

  it("a provider that stops counting one over its limit", async () => {
    const { spillway } = await open();
    const sent: number[] = [];
    const send = (messages: Message[]) => {
      sent.push(tokensOf(messages));
      if (tokensOf(messages) <= 12_000) return "answer";
      throw Object.assign(new Error("prompt is too long: 12001 tokens > 12000 maximum"), { status: 400 });
    };
    expect(await spillway.call(session(8, 15_000), send, OPTIONS)).toBe("answer");
    expect(sent.length).toBeLessThanOrEqual(4);
  });

  it("request-ceiling: the account's limit is the target", async () => {
    const { spillway } = await open();
    const sent: number[] = [];
    const send = (messages: Message[]) => {
      const requested = tokensOf(messages);
      sent.push(requested);
      if (requested <= 12_000) return "answer";
      const text = `Request too large for model x on tokens per minute (TPM): Limit 12000, Requested ${requested}, please reduce your message size`;
      throw Object.assign(new Error(text), { status: 413, code: "rate_limit_exceeded" });
    };
    expect(await spillway.call(session(8, 15_000), send, OPTIONS)).toBe("answer");
    expect(sent).toHaveLength(2);
  });
});

describe("what is sent beside the messages", () => {
  /** Counts 9,500 tokens of system prompt and tools that the caller does not mention. */
  function withTools(limit: number) {
    const sent: number[] = [];
    const send = (messages: Message[]): Answer => {
      const observed = tokensOf(messages) + 9500;
      sent.push(observed);
      if (observed > limit)
        throw Object.assign(new Error(`prompt is too long: ${observed} tokens > ${limit} maximum`), { status: 400 });
      return { usage: { input_tokens: observed } };
    };
    return { sent, send };
  }
  const options: CallOptions = { wire: "anthropic", session: "s" };

  it("is learned from an earlier answer: what cannot fit beside it is not sent again", async () => {
    const { spillway } = await open();
    const { sent, send } = withTools(9520);
    const messages = session(8, 15_000);
    await spillway.call(messages.slice(0, 1), send, options);
    await expect(spillway.call(messages, send, options)).rejects.toBeInstanceOf(OverflowError);
    expect(sent).toHaveLength(2);
    // Nothing is known of another conversation, and one try is not enough to find out.
    const other = { ...options, session: "t" };
    await expect(spillway.call(session(8, 15_000), send, other)).rejects.toBeInstanceOf(OverflowError);
    expect(sent).toHaveLength(4);
  });

  it.each(["systemAndTools", "beside"])(
    "is counted as said by %s: what cannot fit beside it is not sent again",
    async (name) => {
      const { spillway } = await open();
      const { sent, send } = withTools(9520);
      const said = { ...options, [name]: { system: words(38_000) } };
      await expect(spillway.call(session(8, 15_000), send, said)).rejects.toBeInstanceOf(OverflowError);
      expect(sent).toHaveLength(1);
    },
  );

  it("is left its room: what can fit beside it does at the first try", async () => {
    const { spillway } = await open();
    const { sent, send } = withTools(13_000);
    const messages = session(8, 15_000);
    await spillway.call(messages.slice(0, 1), send, options);
    await spillway.call(messages, send, options);
    expect(sent).toHaveLength(3);
  });

  it("is learned right where it is added to the list on its way", async () => {
    const { spillway } = await open();
    const { sent, send } = withTools(17_000);
    const adds = (given: Message[]) => {
      given.unshift(user(words(16_000)));
      return send(given);
    };
    const messages = session(8, 15_000);
    await spillway.call(messages.slice(0, 1), adds, options);
    await spillway.call(messages, adds, options);
    expect(sent).toHaveLength(3);
  });
});

describe("rules of the user's own", () => {
  const house = {
    rule: "house-gateway",
    kind: "context-overflow",
    text: ["cannot digest {observed} of {limit}"],
  } as const;
  const refusing = (limit: number) => {
    const sent: Message[][] = [];
    const send = (messages: Message[]) => {
      sent.push(messages);
      if (tokensOf(messages) > limit) throw new Error(`Cannot digest ${tokensOf(messages)} of ${limit}`);
      return "answer";
    };
    return { sent, send };
  };

  it("make a refusal known that nobody else makes, by its numbers", async () => {
    const { sent, send } = refusing(20_000);
    const messages = session(8, 15_000);
    await expect((await open()).spillway.call(messages, send, OPTIONS)).rejects.toThrow("Cannot digest");
    expect(sent).toHaveLength(1);
    const { spillway, events } = await open({ overflow: { rules: [house] } });
    expect(await spillway.call(messages, send, OPTIONS)).toBe("answer");
    expect(sent).toHaveLength(3);
    const told = events.find(({ kind }) => kind === "overflow-detected")?.more;
    expect(told).toMatchObject({ rule: "house-gateway", limitTokens: 20_000 });
  });

  it("those of one call go before those of the Spillway", async () => {
    const { spillway } = await open({ overflow: { rules: [house] } });
    const { sent, send } = refusing(20_000);
    const rules = compileSignatures([{ ...house, rule: "not-for-now", kind: "other" }]);
    await expect(spillway.call(session(8, 15_000), send, { ...OPTIONS, rules })).rejects.toThrow("Cannot digest");
    expect(sent).toHaveLength(1);
  });

  it.each<[unknown, RegExp]>([
    [
      { rules: [{ ...house, text: ["limit is {max}"] }] },
      /^overflow\.rules\[0\] \("house-gateway"\): .*\{max\} is not known/,
    ],
    [{ rules: [house, { rule: "x" }] }, /^overflow\.rules\[1\] \("x"\): its kind must be one of/],
    [{ rules: house }, /^overflow\.rules must be a list/],
    [{ rule: [] }, /^overflow\.rule is not known/],
    ["rules", /^overflow must be an object/],
  ])("%j is refused where it was written", async (overflow, why) => {
    await expect(open({ overflow } as SpillwayOptions)).rejects.toThrow(why);
  });
});

const RESEND = { whenPartlyRead: "resend" as const };

describe("a refusal without a word", () => {
  const bodiless = () => Object.assign(new Error("400 status code (no body)"), { status: 400 });
  const near = () => ({ ...OPTIONS, window: 9000 });
  const pruning = { mode: "off" as const, insure: false, batch: { maxChars: 1_000_000, windowShare: 1 } };

  it("near the window is tried once with less", async () => {
    const { spillway, kinds } = await open();
    const sent: number[] = [];
    const send = (messages: Message[]) => {
      sent.push(tokensOf(messages));
      if (sent.length === 1) throw bodiless();
      return "answer";
    };
    expect(await spillway.call(session(8, 15_000), send, { ...near(), pruning })).toBe("answer");
    expect(sent[1]).toBeLessThan(sent[0] ?? 0);
    expect(kinds()).toContain("overflow-recovered");
  });

  it("that comes again is thrown as it came, and so is one far below the window", async () => {
    const { spillway } = await open();
    const error = bodiless();
    const send = vi.fn<Send<Message, never>>(() => {
      throw error;
    });
    await expect(spillway.call(session(8, 15_000), send, { ...near(), pruning })).rejects.toBe(error);
    expect(send).toHaveBeenCalledTimes(2);
    await expect(spillway.call(session(8, 15_000), send, { ...OPTIONS, window: 1_000_000 })).rejects.toBe(error);
    expect(send).toHaveBeenCalledTimes(3);
  });

  it("is followed once, also if the smaller request is near the window still and more could go", async () => {
    const { spillway } = await open();
    const error = bodiless();
    const send = vi.fn<Send<Message, never>>(() => {
      throw error;
    });
    // It cuts one result for each refusal.
    const one: Rung = {
      name: "one",
      estimate: () => ({ tokens: 100, bytes: 400 }),
      plan({ items }) {
        const item = items.find(({ texts }) => texts.chars > 2000);
        const limits = { maxChars: 1000 };
        return { cuts: item === undefined ? [] : [{ item, to: "clamped", limits, frees: item.texts }] };
      },
    };
    const messages = session(8, 4000);
    const options = { ...OPTIONS, window: 4000, pruning: { ...pruning, batch: { maxChars: 1e6, windowShare: 1 } } };
    await expect(spillway.call(messages, send, { ...options, ladder: [one] })).rejects.toBe(error);
    expect(send).toHaveBeenCalledTimes(2);
  });
});

describe("a response whose body stalls", () => {
  /** A body that begins with this text and then waits until it is let go. */
  function stalling(start: string, type: string, init: ResponseInit = {}) {
    let goOn = (_text: string) => {};
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (start !== "") controller.enqueue(encoder.encode(start));
        goOn = (text) => {
          controller.enqueue(encoder.encode(text));
          controller.close();
        };
      },
    });
    return {
      goOn: (text: string) => goOn(text),
      response: new Response(body, { ...init, headers: { "content-type": type } }),
    };
  }
  const look = { ...OPTIONS, lookMs: 30 };

  it.each([
    ["events", ": wait\n\n", "text/event-stream", 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'],
    [
      "one value",
      '{"choices":[{"message":{"content":"prompt is too long: 9 tokens > 5 maximum ',
      "application/json",
      '"}}]}',
    ],
    ["nothing at all", "", "application/json", "{}"],
  ])("is passed on after a time, whole: %s", async (_name, start, type, rest) => {
    const { spillway } = await open();
    const { response, goOn } = stalling(start, type);
    const send = vi.fn<Send<Message, Response>>(() => response);
    const answer = await spillway.call(session(2, 100), send, look);
    goOn(rest);
    expect(await answer.text()).toBe(start + rest);
    expect(send).toHaveBeenCalledTimes(1);
  });

  it("is a refusal if its status or what came of it says so", async () => {
    const { spillway } = await open();
    const said = stalling('{"error":{"message":"prompt is too long: 9000 tokens > 5000 maximum"', "application/json", {
      status: 400,
    });
    const large = stalling("", "text/html", { status: 413 });
    for (const { response } of [said, large]) {
      let sends = 0;
      const answer = await spillway.call(session(8, 15_000), () => (++sends === 1 ? response : new Response("fine")), {
        ...look,
        pruning: { mode: "off" },
      });
      expect([await answer.text(), sends]).toEqual(["fine", 2]);
    }
  });

  it("leaves no timer behind, and a wrong time is an error", async () => {
    vi.useFakeTimers();
    const { spillway } = await open();
    await spillway.call(session(2, 100), () => Response.json({ ok: true }), OPTIONS);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await expect(spillway.call([], () => 1, { lookMs: 0 })).rejects.toThrow(/lookMs must be over 0/);
  });
});

describe("answers are looked at too", () => {
  it("a Response that refuses, and one that is a stream which begins with an error; bytes are not lost", async () => {
    const { spillway } = await open();
    const frames = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const stream = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
    const refusal = {
      type: "error",
      error: { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." },
    };
    const created = { type: "response.created", response: {} };
    const good = frames(created, { type: "response.output_text.delta", delta: "hi" });
    const answers = [
      new Response(JSON.stringify({ error: { message: "prompt is too long: 90000 tokens > 50000 maximum" } }), {
        status: 400,
      }),
      stream(frames(created, refusal)),
      stream(good),
    ];
    const sent: number[] = [];
    const send = async (messages: Message[]) => {
      sent.push(tokensOf(messages));
      return answers[sent.length - 1] as Response;
    };
    const response = await spillway.call(session(8, 15_000), send, OPTIONS);
    expect(response).toBe(answers[2]);
    expect(await response.text()).toBe(good);
    expect(sent).toHaveLength(3);
    expect(sent[2]).toBeLessThan(sent[1] ?? 0);
    const plain = new Response("no such model", { status: 404 });
    expect(await spillway.call(session(1, 10), async () => plain, OPTIONS)).toBe(plain);
    expect(await plain.text()).toBe("no such model");
  });

  it("usage over the window; where nothing can be done, the answer comes back all the same", async () => {
    const { spillway, kinds } = await open();
    const send = vi.fn<Send<Message, Answer>>((messages) => ({ usage: { input_tokens: tokensOf(messages) } }));
    const options = {
      ...OPTIONS,
      ...RESEND,
      window: 20_000,
      pruning: { mode: "off" as const, insure: false, batch: { maxChars: 1_000_000 } },
    };
    const reply = await spillway.call(session(8, 15_000), send, options);
    expect(reply.usage.input_tokens).toBeLessThanOrEqual(20_000);
    expect(send).toHaveBeenCalledTimes(2);
    const stuck = await spillway.call([user(words(200_000))], send, options);
    expect(stuck.usage.input_tokens).toBeGreaterThan(20_000);
    expect(kinds().at(-1)).toBe("overflow-failed");
  });

  it.each([
    ["a window stated too low", { window: 20_000 }, { prompt_tokens: 30_000, completion_tokens: 40 }],
    ["usage that leaves out what came from a cache", {}, { prompt_tokens: 1200, completion_tokens: 40 }],
    ["usage over the window and no word of its end", { window: 20_000 }, { input_tokens: 30_000 }],
  ])("a complete answer is kept and not paid for twice: %s", async (_what, options, usage) => {
    const { spillway, events } = await open();
    const answer = { choices: [{ finish_reason: "stop" }], usage };
    const send = vi.fn<Send<Message, unknown>>(() => answer);
    expect(await spillway.call(session(8, 15_000), send, { ...OPTIONS, ...options })).toBe(answer);
    const body = JSON.stringify(answer);
    const fetched = vi.fn<Send<Message, Response>>(
      () => new Response(body, { headers: { "content-type": "application/json" } }),
    );
    expect(await (await spillway.call(session(8, 15_000), fetched, { ...OPTIONS, ...options })).text()).toBe(body);
    expect([send.mock.calls.length, fetched.mock.calls.length]).toEqual([1, 1]);
    expect(events.map(({ kind, more }) => [kind, more?.isKept])).toEqual([
      ["overflow-detected", true],
      ["overflow-detected", true],
    ]);
  });

  it("a refusal inside an answer of MiniMax is recovered", async () => {
    const { spillway, kinds } = await open();
    const refused = {
      choices: null,
      usage: { total_tokens: 0 },
      base_resp: { status_code: 1039, status_msg: "token limit" },
    };
    const answer = { choices: [{ finish_reason: "stop" }], base_resp: { status_code: 0, status_msg: "" } };
    const send = vi.fn<Send<Message, unknown>>().mockResolvedValueOnce(refused).mockResolvedValue(answer);
    expect(await spillway.call(session(8, 15_000), send, OPTIONS)).toBe(answer);
    expect(send).toHaveBeenCalledTimes(2);
    expect(kinds().at(-1)).toBe("overflow-recovered");
  });

  it("usage that names what came from a cache beside the rest is no doubt", async () => {
    const { spillway, events } = await open();
    const usage = { prompt_tokens: 12, prompt_tokens_details: { cached_tokens: 30_000 }, completion_tokens: 4 };
    const send = vi.fn<Send<Message, unknown>>(() => ({ choices: [{ finish_reason: "stop" }], usage }));
    await spillway.call(session(8, 15_000), send, { ...OPTIONS, ...RESEND });
    expect(send).toHaveBeenCalledTimes(1);
    expect(events).toEqual([]);
  });

  it("no answer at a full window is asked for again with room; one that was only cut off is an answer", async () => {
    const { spillway, events } = await open();
    const pruning = { mode: "off" as const, insure: false, batch: { maxChars: 1_000_000 } };
    const messages = session(8, 9800);
    const send = vi.fn<Send<Message, Answer & { stop_reason: string }>>((sent) => {
      const isFull = tokensOf(sent) > 0.95 * tokensOf(messages);
      const usage = { input_tokens: tokensOf(sent), output_tokens: isFull ? 0 : 40 };
      return { usage, stop_reason: isFull ? "max_tokens" : "end_turn" };
    });
    const options = { ...OPTIONS, window: tokensOf(messages) + 5, pruning };
    expect((await spillway.call(messages, send, options)).stop_reason).toBe("end_turn");
    expect(send).toHaveBeenCalledTimes(2);
    expect(events.find(({ kind }) => kind === "overflow-detected")?.more?.rule).toBe("empty-at-full-window");
    const roomy = { ...options, session: "t", window: 2 * tokensOf(messages) };
    expect((await spillway.call(structuredClone(messages), send, roomy)).stop_reason).toBe("max_tokens");
    expect(send).toHaveBeenCalledTimes(3);
  });

  it("a provider that read a small part of what it was sent; not one whose tokens are longer than ours", async () => {
    const { spillway } = await open();
    const messages = session(8, 15_000);
    const read = (share: number) =>
      vi.fn<Send<Message, Answer>>((sent) => ({ usage: { input_tokens: Math.floor(tokensOf(sent) * share) } }));
    const longer = read(0.5);
    await spillway.call(messages, longer, { ...OPTIONS, ...RESEND });
    expect(longer).toHaveBeenCalledTimes(1);
    const dropping = vi.fn<Send<Message, Answer>>((sent) => ({
      usage: { input_tokens: Math.min(5000, tokensOf(sent)) },
    }));
    await spillway.call(structuredClone(messages), dropping, { ...OPTIONS, ...RESEND });
    expect(dropping.mock.calls.length).toBeGreaterThan(1);
    expect(tokensOf(dropping.mock.lastCall?.[0] ?? [])).toBeLessThan(12_000);
  });

  it("never reads what an answer says", async () => {
    const { spillway } = await open();
    const send = vi.fn<() => object>(() => ({
      role: "assistant",
      message: "prompt is too long: 5 tokens > 4 maximum",
      detail: "context_length_exceeded",
    }));
    await spillway.call(session(2, 400), send, OPTIONS);
    await spillway.call(session(2, 400), async () => "prompt is too long: 5 tokens > 4 maximum", OPTIONS);
    expect(send).toHaveBeenCalledTimes(1);
  });
});

describe("whoever sends", () => {
  const refused = () => Object.assign(new Error("prompt is too long: 90000 tokens > 50000 maximum"), { status: 400 });

  it("may add to its list, and have responses of another kind or with a body that is being read", async () => {
    const { spillway } = await open();
    const sent: Message[][] = [];
    const adds = (messages: Message[]) => {
      messages.unshift({ role: "system", content: "Be careful." });
      sent.push(messages);
      if (sent.length === 1) throw refused();
      return "answer";
    };
    expect(await spillway.call(session(8, 15_000), adds, OPTIONS)).toBe("answer");
    expect(sent[1]?.map(({ role }) => role).filter((role) => role === "system")).toHaveLength(1);
    const headers = new Headers({ "content-type": "application/json" });
    const other = (status: number, text: string) => {
      const clone = () => other(status, text);
      const body = { pipe() {} };
      return { status, ok: status < 400, url: "", headers, body, bodyUsed: false, text: async () => text, clone };
    };
    const fine = other(200, "{}");
    const kinds = [other(400, JSON.stringify({ error: { message: refused().message } })), fine];
    let at = 0;
    expect(await spillway.call(session(8, 15_000), () => kinds[at++], OPTIONS)).toBe(fine);
    const read = new Response("{}", { headers });
    read.body?.getReader();
    expect(await spillway.call(session(1, 10), () => read, OPTIONS)).toBe(read);
  });

  it("has refusals ended that come in a stream which stays open", async () => {
    const { spillway } = await open();
    const error = { type: "invalid_request_error", message: refused().message };
    const frame = new TextEncoder().encode(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
    const ended: Promise<void>[] = [];
    const send = () => {
      if (ended.length === 2) return "answer";
      let cancel = () => {};
      ended.push(new Promise((resolve) => (cancel = resolve)));
      const body = new ReadableStream({ start: (stream) => stream.enqueue(frame), cancel: () => cancel() });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    expect(await spillway.call(session(8, 15_000), send, OPTIONS)).toBe("answer");
    await Promise.all(ended);
  });

  it("gets back an answer from less than all if no better one comes", async () => {
    const { spillway } = await open();
    const answer = { usage: { input_tokens: 90_000 } };
    for (const later of [new Error("500"), refused()]) {
      let sends = 0;
      const send = () => {
        if (sends++ === 0) return answer;
        throw later;
      };
      expect(await spillway.call(session(8, 15_000), send, { ...OPTIONS, ...RESEND, window: 50_000 })).toBe(answer);
      expect(sends).toBeGreaterThan(1);
    }
  });

  it("need not say the format of a plain chat, which only a summary makes shorter", async () => {
    const { spillway } = await open();
    const chat = Array.from({ length: 40 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: words(2000),
    }));
    const { sent, send } = provider(5000);
    const compactor: Compactor = {
      compact: async ({ wire, messages }) => ({
        messages: [wire.say("so far"), ...messages.slice(-2)],
        summaryTokens: 5,
      }),
    };
    expect(await spillway.call(chat, send, { session: "s", systemAndTools: "", compactor })).toBe("answer");
    expect(sent).toHaveLength(2);
  });

  it("is known by its own turns: others may share its system prompt", async () => {
    const { spillway } = await open();
    const prompt: Message = { role: "system", content: "Be careful." };
    await spillway.call([prompt, ...session(8, 15_000)], provider(12_000).send, OPTIONS);
    const { sent, send } = provider(200_000);
    const other = [prompt, user("another"), ...session(8, 15_000).slice(1)];
    await spillway.call(other, send, { ...OPTIONS, session: "t", window: 200_000 });
    expect(sent).toEqual([other]);
  });
});

describe("ending it", () => {
  it("an abort ends a look into a response, and a stream that was handed on", async () => {
    const { spillway } = await open();
    const headers = { "content-type": "text/event-stream" };
    const endless = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), { headers });
    const stop = new AbortController();
    const hanging = spillway.call(session(1, 10), endless, { ...OPTIONS, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 20);
    await expect(hanging).rejects.toThrow("enough");
    const later = new AbortController();
    let given: AbortSignal | null = null;
    const send: Send<Message, string> = (_, { signal }) => {
      given = signal;
      return "a stream";
    };
    await spillway.call(session(1, 10), send, { ...OPTIONS, signal: later.signal });
    later.abort(new Error("no more"));
    expect(given).toMatchObject({ aborted: true, reason: new Error("no more") });
  });

  it("an abort ends a send that does not heed it, and a compaction", async () => {
    const { spillway } = await open();
    const stop = new AbortController();
    const hanging = spillway.call(session(1, 10), () => new Promise(() => {}), { ...OPTIONS, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(hanging).rejects.toThrow("enough");
    const later = new AbortController();
    const compactor = { compact: () => new Promise<null>(() => later.abort(new Error("no more"))) };
    const options = { ...OPTIONS, compactor, ladder: ["compact"] as const, signal: later.signal };
    await expect(spillway.call(session(8, 15_000), provider(1000).send, options)).rejects.toThrow("no more");
    await expect(spillway.call([], provider(1).send, { ...OPTIONS, signal: later.signal })).rejects.toThrow("no more");
  });

  it("a deadline beyond what a timer takes is as good as none", async () => {
    const { spillway } = await open();
    let sends = 0;
    const send = async () => {
      sends++;
      if (sends === 1) throw new Error("prompt is too long: 250000 tokens > 200000 maximum");
      await new Promise((resolve) => setTimeout(resolve, 50));
      return "fine";
    };
    expect(await spillway.call(session(8, 15_000), send, { ...OPTIONS, deadlineMs: Infinity })).toMatchObject({});
    expect(sends).toBe(2);
  });

  it("a deadline ends recovery, never the first send", async () => {
    const { spillway } = await open();
    const compactor = { compact: () => new Promise<null>(() => {}) };
    const options = { ...OPTIONS, compactor, ladder: ["compact"] as const, deadlineMs: 20 };
    const slow = async (messages: Message[]) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return provider(1000).send(messages);
    };
    const error: unknown = await spillway.call(session(8, 15_000), slow, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OverflowError);
    expect((error as Error).message).toMatch(/the time for recovery is over|took longer than 5 ms/);
    let sends = 0;
    const stuck = (messages: Message[]) =>
      ++sends === 1 ? provider(20_000).send(messages) : new Promise<string>(() => {});
    const other = { ...OPTIONS, session: "t", deadlineMs: 20 };
    await expect(spillway.call(session(8, 15_000), stuck, other)).rejects.toThrow(/time for recovery/);
  });

  it("a store that fails does not stop it", async () => {
    const store = { ...memoryStore(), begin: () => Promise.reject(new Error("disk full")) };
    const { spillway } = await open({ store });
    const { send, sent } = provider(20_000);
    expect(await spillway.call(session(8, 15_000), send, OPTIONS)).toBe("answer");
    expect(JSON.stringify(sent.at(-1))).not.toContain("artifact");
  });

  it("off is off; a format that nobody knows is sent as it is and refused as it is", async () => {
    const { send } = provider(1000);
    const off = await open({ policy: "off" });
    await expect(off.spillway.call(session(8, 15_000), send, OPTIONS)).rejects.toThrow("prompt is too long");
    const { spillway } = await open();
    const strange = [{ foo: words(50_000) }];
    await expect(spillway.call(strange, send as never, { session: "s" })).rejects.toThrow("prompt is too long");
  });

  it("a rung of one's own that fails, lies or says nothing is passed over", async () => {
    const { spillway, events } = await open();
    const estimate = () => ({ tokens: 1, bytes: 1 });
    const broken = { name: "broken", estimate, plan: () => Promise.reject(new Error("no")) as never };
    const throwing = {
      name: "throwing",
      estimate,
      plan: () => {
        throw new Error("my fault");
      },
    };
    const idle = { name: "idle", estimate, plan: () => ({ cuts: [] }) };
    const { send, sent } = provider(20_000);
    const ladder = [throwing, idle, { ...broken, plan: () => null as never }, "reclamp" as const];
    expect(await spillway.call(session(8, 15_000), send, { ...OPTIONS, ladder })).toBe("answer");
    expect(sent).toHaveLength(2);
    const taken = events.flatMap(({ kind, more }) =>
      kind === "overflow-reduced" ? [`${more?.rung}: ${more?.fault}`] : [],
    );
    expect(taken[0]).toBe("throwing: my fault");
    expect(taken.at(-1)).toBe("reclamp: null");
  });

  it("messages that are nothing, and sends that give nothing", async () => {
    const { spillway } = await open();
    for (const reply of [null, undefined, 0, "", [], () => {}]) {
      expect(await spillway.call([], () => reply, OPTIONS)).toBe(reply);
      expect(await spillway.call([null, 7, {}] as never[], () => reply, OPTIONS)).toBe(reply);
    }
  });

  it("what is wrong with the options is thrown", async () => {
    const { spillway } = await open();
    const { send } = provider(1000);
    const uncompiled = { rule: "x", kind: "other", text: ["abcd"] };
    for (const wrong of [
      { media: "some" },
      { deadlineMs: 0 },
      { ladder: "tall" },
      { persist: true },
      { wire: "no" },
      { compactor: {} },
      { compactor: null },
      { rules: [uncompiled] },
      { rules: [null] },
      { rules: "x" },
      { signal: "x" },
      { model: 7 },
      { answerTokens: "x" },
      { answerTokens: -1 },
    ]) {
      await expect(spillway.call([user("x")], send, wrong as CallOptions)).rejects.toMatchObject({ code: "bad-input" });
    }
    await expect(spillway.call("x" as never, send)).rejects.toMatchObject({ code: "bad-input" });
  });
});

describe("each call by itself", () => {
  const silent = Object.assign(new Error("Prompt exceeds max length"), { status: 400, code: "1261" });

  it("has all its attempts again after a success", async () => {
    const { spillway } = await open();
    const messages = session(8, 15_000);
    for (const more of [[], session(9, 15_000).slice(1)]) {
      let sends = 0;
      const send = () => {
        if (++sends < 4) throw silent;
        return "answer";
      };
      const next = [...messages, ...more.map((message) => structuredClone(message))];
      expect(await spillway.call(next, send, OPTIONS)).toBe("answer");
      expect(sends).toBe(4);
    }
  });

  it("repeats the send and nothing else: the transcript is rewritten once, at the end", async () => {
    const { spillway, kinds } = await open();
    const replace = vi.fn<(messages: unknown[]) => void>();
    const compact = vi.fn<Compactor["compact"]>(async ({ messages }) => ({
      messages: [user("Summary."), ...messages.slice(-4)],
      summaryTokens: 5,
    }));
    let sends = 0;
    const send = () => {
      if (++sends < 3) throw silent;
      return "answer";
    };
    const options = { ...OPTIONS, compactor: { compact }, history: { replace }, persist: true };
    const messages = [user(words(60_000)), { role: "assistant", content: words(40_000) }, ...session(3, 9000)];
    expect(await spillway.call(messages, send, options)).toBe("answer");
    expect(sends).toBe(3);
    expect(compact.mock.calls.length).toBeLessThanOrEqual(2);
    expect(replace).toHaveBeenCalledTimes(1);
    expect(kinds().filter((kind) => kind === "overflow-recovered")).toHaveLength(1);
  });
});

describe("compaction", () => {
  const half = {
    compact: vi.fn<Compactor["compact"]>(async ({ messages }) => ({
      messages: [user("Summary: all went well."), ...messages.slice(-2)],
      summaryTokens: 5,
    })),
  };
  const talk = (): Message[] => [
    user(words(60_000)),
    { role: "assistant", content: words(40_000) },
    ...session(2, 600),
  ];

  it("is taken where nothing cheaper is enough, with what may be left; the next call has its summary", async () => {
    half.compact.mockClear();
    const { spillway, events } = await open();
    const { sent, send } = provider(10_000);
    const messages = talk();
    expect(await spillway.call(messages, send, { ...OPTIONS, compactor: half })).toBe("answer");
    expect(half.compact).toHaveBeenCalledTimes(1);
    expect(half.compact.mock.lastCall?.[0]).toMatchObject({ wire: { name: "anthropic" } });
    expect(sent).toHaveLength(2);
    expect(events.at(-1)?.more).toMatchObject({ compactions: 1 });
    await spillway.call([...messages, { role: "assistant", content: "ok" }, user("more")], send, {
      ...OPTIONS,
      compactor: half,
    });
    expect(half.compact).toHaveBeenCalledTimes(1);
    expect(sent).toHaveLength(3);
    expect(sent[2]?.[0]).toEqual(user("Summary: all went well."));
    expect(sent[2]?.at(-1)).toEqual(user("more"));
  });

  it("is asked once before each send, though what it gives is still too large", async () => {
    for (const ladder of ["default", "compact-first"] as const) {
      const { spillway } = await open();
      const steps: string[] = [];
      const shorten = (messages: readonly unknown[]) =>
        messages.map((message) => {
          const { role, content } = message as Message;
          return typeof content === "string" ? user(content.slice(0, content.length * 0.7)) : { role, content };
        });
      const compactor: Compactor = {
        compact: async ({ messages }) => {
          steps.push("compact");
          return { messages: shorten(messages), summaryTokens: 5 };
        },
      };
      const { send } = provider(10_000);
      const sends = (given: Message[]) => {
        steps.push("send");
        return send(given);
      };
      await spillway
        .call([user(words(90_000)), ...turn("c1", "ok")], sends, { ...OPTIONS, compactor, ladder })
        .catch(() => {});
      expect(steps.join(" ")).toBe(
        ladder === "default" ? "send compact" : "send compact send compact send compact send",
      );
    }
  });

  it("one that parts calls from results, throws or frees nothing is not used", async () => {
    const { spillway, events } = await open();
    for (const compact of [
      async ({ messages }: { messages: readonly unknown[] }) => ({ messages: messages.slice(-1), summaryTokens: 0 }),
      async () => ({ messages: [], summaryTokens: 0 }),
      async () => ({ messages: [undefined, 3], summaryTokens: 0 }),
      async ({ messages }: { messages: readonly unknown[] }) => ({
        messages: [...messages, user("x")],
        summaryTokens: 0,
      }),
      () => Promise.reject(new Error("no model")),
      async () => null,
    ]) {
      const { sent, send } = provider(10_000);
      await expect(spillway.call(talk(), send, { ...OPTIONS, compactor: { compact } })).rejects.toBeInstanceOf(
        OverflowError,
      );
      expect(sent).toHaveLength(1);
    }
    const faults = events.flatMap(({ more }) => (typeof more?.fault === "string" ? [more.fault] : []));
    expect(faults).toEqual([
      "the compactor parted calls from their results",
      "the compactor left no messages",
      "the compactor gave what are no messages",
      "no model",
      "the compactor did not help",
    ]);
  });

  it("rewrites the transcript only if asked, each message through guard", async () => {
    const { spillway } = await open();
    const replace = vi.fn<(messages: unknown[]) => void>();
    const history = { replace };
    await spillway.call(talk(), provider(10_000).send, { ...OPTIONS, compactor: half, history });
    expect(replace).not.toHaveBeenCalled();
    const { sent, send } = provider(10_000);
    await spillway.call(talk(), send, { ...OPTIONS, session: "t", compactor: half, history, persist: true });
    expect(replace).toHaveBeenCalledTimes(1);
    expect(replace.mock.lastCall?.[0]).toEqual(sent[1]);
    await spillway.call(session(1, 10), provider(10_000).send, { ...OPTIONS, history, persist: true });
    expect(replace).toHaveBeenCalledTimes(1);
  });
});

describe("the ladder compact-first", () => {
  const useless = () => ({ compact: vi.fn<Compactor["compact"]>(async () => null) });

  it("compaction does not help three times, the tool-result rewrite runs, the retry succeeds", async () => {
    const { spillway, events } = await open();
    const { sent, send } = provider(20_000);
    const compactor = useless();
    const messages = [user("go"), ...turn("c1", words(49_000)), ...turn("c2", words(49_000))];
    expect(await spillway.call(messages, send, { ...OPTIONS, compactor, ladder: "compact-first" })).toBe("answer");
    expect(compactor.compact).toHaveBeenCalledTimes(3);
    expect(sent).toHaveLength(2);
    const steps = events.flatMap(({ kind, more }) => (kind === "overflow-reduced" ? [more?.rung] : []));
    expect(steps).toEqual(["compact", "compact", "compact", "rewrite-results"]);
  });

  it("sends again after each summary that freed something, before another is made", async () => {
    const { spillway } = await open();
    const order: string[] = [];
    const { send } = provider(5000);
    const watched = (messages: Message[]) => {
      order.push("send");
      return send(messages);
    };
    // Each summary takes the oldest message away, and the second is enough.
    const compact: Compactor["compact"] = async ({ messages }) => {
      order.push("compact");
      return { messages: messages.slice(1), summaryTokens: 5 };
    };
    const talk = [...Array.from({ length: 3 }, () => user(words(16_000))), user("go")];
    expect(await spillway.call(talk, watched, { ...OPTIONS, compactor: { compact }, ladder: "compact-first" })).toBe(
      "answer",
    );
    expect(order).toEqual(["send", "compact", "send", "compact", "send"]);
  });

  it("with nothing oversized: a typed error, no rewrite", async () => {
    const { spillway, events } = await open();
    const { sent, send } = provider(20_000);
    const compactor = useless();
    const messages = [user(words(90_000)), ...turn("c1", words(900))];
    const error: unknown = await spillway
      .call(messages, send, { ...OPTIONS, compactor, ladder: "compact-first" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OverflowError);
    expect(compactor.compact).toHaveBeenCalledTimes(3);
    expect(sent).toHaveLength(1);
    const steps = events.flatMap(({ kind, more }) => (kind === "overflow-reduced" ? [more?.rung] : []));
    expect(steps).toEqual(["compact", "compact", "compact"]);
  });
});
