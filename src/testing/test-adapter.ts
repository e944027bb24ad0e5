import assert from "node:assert/strict";
import { createSpillway, type Spillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import type { Runner } from "./test-strategy.ts";

/** A tool of the agent that is run. */
export interface AdapterTool {
  name: string;
  /** What it does: a text, a value for the application, what `adapter.image` made, or an error. */
  run(args: Record<string, unknown>, signal: AbortSignal | undefined): Promise<unknown>;
}

/** One request as the mock model gets it. */
export interface AdapterRequest {
  /** The messages as the framework sends them, without what differs from run to run (dates, random ids). */
  messages: unknown;
  /** The names of the tools that it may call. */
  tools: readonly string[];
}

/** What the mock model answers: calls, all at once, or a text. */
export type AdapterReply = { calls: { id: string; name: string; args: Record<string, unknown> }[] } | { text: string };

/** One run of an agent in the real framework. */
export interface AdapterRun {
  /** Null for the same agent without Spillway. */
  spillway: Spillway | null;
  tools: readonly AdapterTool[];
  prompt: string;
  /** The mock model. What it throws, the framework must take for a refusal of the provider. */
  model(request: AdapterRequest): AdapterReply;
  /** The model has the tools with which it reads back. */
  readBack: boolean;
  /** The model's window in tokens, where it matters. */
  window?: number | undefined;
  /** The answer is to be streamed. */
  stream: boolean;
  signal?: AbortSignal | undefined;
}

/** What came of a run. An error that the framework throws is thrown. */
export interface AdapterOutcome {
  text: string;
  /** What the framework keeps of the conversation. */
  history: unknown;
  /** The values that the application got from tools, by the id of the call, where the framework gives them. */
  outputs?: Record<string, unknown>;
  /** The pieces of the last answer as they came, where it was streamed. */
  pieces?: string[];
}

/** What an adapter may lack: with the reason. */
export type AdapterAbility = "prune" | "recover" | "stream" | "values" | "images" | "abort";

/** An adapter and the framework that it is for, with a mock model. */
export interface AdapterUnderTest {
  name: string;
  run(run: AdapterRun): Promise<AdapterOutcome>;
  /** A tool's result with an image beside a text, in the framework's form. */
  image?(text: string, base64: string): unknown;
  lacks?: Partial<Record<AdapterAbility, string>>;
}

const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const lines = (label: string, count = 9000) =>
  Array.from({ length: count }, (_, at) => `${label} ${at + 1} of it`).join("\n");
/** What is sent of one long result at most: the default limits, twice over for what JSON adds. */
const BOUND_CHARS = 110_000;

const tool = (name: string, run: AdapterTool["run"]): AdapterTool => ({ name, run });
const call = (id: string, name: string, args: Record<string, unknown> = { q: "x" }) => ({ id, name, args });

/** Answers with these replies in turn, and remembers what it was sent. */
function scripted(...replies: (AdapterReply | ((request: AdapterRequest) => AdapterReply))[]) {
  const sent: AdapterRequest[] = [];
  const model = (request: AdapterRequest): AdapterReply => {
    sent.push({ messages: structuredClone(request.messages), tools: [...request.tools] });
    const reply = replies.shift() ?? { text: "done" };
    return typeof reply === "function" ? reply(request) : reply;
  };
  const last = () => JSON.stringify(sent.at(-1)?.messages);
  return { model, sent, last };
}

const open = () =>
  createSpillway({ store: memoryStore({ maxBytes: 1e9 }), ledger: memoryLedger(), env: {}, policy: "balanced" });

/** Runs what every adapter promises, through the real framework. */
export function testAdapter(adapter: AdapterUnderTest, { describe, it }: Runner): void {
  const { lacks = {} } = adapter;
  const may = (ability: AdapterAbility, name: string, body: () => Promise<void>) => {
    if (lacks[ability] === undefined) it(name, body);
  };
  const plain = { prompt: "go", readBack: false, stream: false };

  /** The same run without Spillway and with it. */
  async function both(run: (spillway: Spillway | null) => { run: AdapterRun; script: ReturnType<typeof scripted> }) {
    const outcomes = [];
    for (const spillway of [null, await open()]) {
      const { run: given, script } = run(spillway);
      const outcome = await adapter.run(given).then(
        (value) => ({ value, error: null }),
        (error: unknown) => ({ value: null, error }),
      );
      outcomes.push({ ...outcome, sent: script.sent });
    }
    const [without, withUs] = outcomes;
    return { without: without as NonNullable<typeof without>, withUs: withUs as NonNullable<typeof withUs> };
  }

  describe(`adapter ${adapter.name}`, () => {
    it("sends small results, values and errors exactly as the framework does without it", async () => {
      const tools = [
        tool("text", async () => "a short text"),
        tool("value", async () => ({ rows: [{ n: 1, name: "a" }], note: null, yes: true })),
        tool("fails", async () => {
          throw new TypeError("boom");
        }),
      ];
      const { without, withUs } = await both((spillway) => {
        const script = scripted({ calls: [call("c1", "text"), call("c2", "value")] }, { calls: [call("c3", "fails")] });
        return { run: { ...plain, spillway, tools, model: script.model }, script };
      });
      assert.deepEqual(withUs.sent, without.sent);
      assert.deepEqual(errorOf(withUs.error), errorOf(without.error));
      assert.deepEqual(withUs.value?.text, without.value?.text);
    });

    it("bounds long results of calls side by side, in their places, and changes nothing that the tools gave", async () => {
      const values = [lines("first"), { rows: lines("second").split("\n") }, lines("third")];
      const before = structuredClone(values);
      const tools = values.map((value, at) => tool(`tool${at}`, async () => value));
      const calls = values.map((_, at) => call(`call_${at}`, `tool${at}`));
      const { without, withUs } = await both((spillway) => {
        const script = scripted({ calls });
        return { run: { ...plain, spillway, tools, model: script.model }, script };
      });
      assert.equal(withUs.value?.text, "done");
      assert.deepEqual(values, before);
      const request = JSON.stringify(withUs.sent[1]?.messages);
      const ids = (text: string) => text.match(/call_\d/g);
      assert.deepEqual(ids(request), ids(JSON.stringify(without.sent[1]?.messages)));
      assert.ok(request.length < 3 * BOUND_CHARS, `${request.length} characters were sent`);
      for (const label of ["first", "second", "third"]) assert.ok(request.includes(`${label} 1 of it`), label);
      assert.ok(!request.includes("first 4500 of it"), "the middle of the first result was sent");
      assert.match(request, /artifact [a-z2-7]{12}/);
      // Where the application gets what the model gets, it is bounded before the framework keeps it.
      const kept = JSON.stringify(withUs.value?.history);
      if (lacks.values !== undefined) assert.ok(kept.length < 3 * BOUND_CHARS, `${kept.length} characters are kept`);
      if (lacks.values === undefined)
        for (const [at, { id }] of calls.entries()) assert.deepEqual(withUs.value?.outputs?.[id], before[at]);
    });

    it("bounds long errors, and the framework treats them as it did", async () => {
      const tools = [
        tool("fails", async () => {
          throw new RangeError(lines("fault"));
        }),
      ];
      const { without, withUs } = await both((spillway) => {
        const script = scripted({ calls: [call("c1", "fails")] });
        return { run: { ...plain, spillway, tools, model: script.model }, script };
      });
      assert.equal(withUs.error === null, without.error === null);
      assert.equal(withUs.sent.length, without.sent.length);
      assert.ok(JSON.stringify(withUs.sent.at(-1)).length < BOUND_CHARS);
    });

    may("images", "keeps an image beside a text that is cut", async () => {
      const image = adapter.image?.bind(adapter);
      assert.ok(image, "adapter.image is missing");
      const tools = [
        tool("shot", async () => image(lines("seen"), IMAGE)),
        tool("small", async () => image("ok", IMAGE)),
      ];
      const { without, withUs } = await both((spillway) => {
        const script = scripted({ calls: [call("c1", "small")] }, { calls: [call("c2", "shot")] });
        return { run: { ...plain, spillway, tools, model: script.model }, script };
      });
      assert.deepEqual(withUs.sent[1], without.sent[1]);
      const request = JSON.stringify(withUs.sent[2]?.messages);
      assert.equal(request.split(IMAGE).length, 3);
      assert.ok(request.length < BOUND_CHARS);
    });

    it("lets the model read back by the call that a marker names", async () => {
      const spillway = await open();
      let named = "";
      const script = scripted({ calls: [call("c1", "long")] }, ({ messages, tools }) => {
        const [, name = "", id = ""] =
          /([\w-]+)\(\{\\*"id\\*":\\*"([a-z2-7]{12})\\*",\\*"lines/.exec(JSON.stringify(messages)) ?? [];
        named = name;
        assert.ok(tools.includes(name), `the marker names "${name}", the model has ${tools.join(", ")}`);
        return { calls: [call("c2", name, { id, lines: [4500, 4502] })] };
      });
      const tools = [tool("long", async () => lines("line"))];
      await adapter.run({ ...plain, spillway, tools, model: script.model, readBack: true });
      assert.notEqual(named, "");
      assert.ok(script.last().includes("line 4501 of it"), "what was read back was not sent");
      assert.ok(!script.last().includes("line 4600 of it"));
    });

    it("names no call where the model has none", async () => {
      const script = scripted({ calls: [call("c1", "long")] });
      const tools = [tool("long", async () => lines("line"))];
      await adapter.run({ ...plain, spillway: await open(), tools, model: script.model });
      assert.ok(script.last().includes("the operator can read"));
      assert.deepEqual(script.sent[0]?.tools, ["long"]);
    });

    may("prune", "prunes old results in requests only: what the framework keeps is whole", async () => {
      const replies = Array.from({ length: 12 }, (_, at) => ({ calls: [call(`c${at}`, "page", { q: String(at) })] }));
      const script = scripted(...replies);
      const tools = [tool("page", async ({ q }) => lines(`page${q}x`, 1000))];
      const outcome = await adapter.run({
        ...plain,
        spillway: await open(),
        tools,
        model: script.model,
        window: 40_000,
      });
      const shown = (text: string) => replies.filter((_, at) => text.includes(`page${at}x 500 of it`)).length;
      assert.equal(outcome.text, "done");
      assert.equal(shown(JSON.stringify(outcome.history)), replies.length);
      assert.ok(shown(script.last()) < replies.length, "nothing was pruned");
      assert.ok(script.last().includes("page11x 500 of it"), "the newest result was pruned");
    });

    for (const stream of lacks.stream === undefined ? [false, true] : [false])
      may(
        "recover",
        `sends a smaller request if the provider refuses one for its size${stream ? ", streamed" : ""}; what is kept stays whole`,
        async () => {
          const spillway = await open();
          let refusals = 0;
          const replies = Array.from({ length: 6 }, (_, at) => ({
            calls: [call(`c${at}`, "page", { q: String(at) })],
          }));
          const script = scripted(...replies);
          const model = (request: AdapterRequest) => {
            const tokens = Math.ceil(JSON.stringify(request.messages).length / 4);
            if (tokens <= 15_000) return script.model(request);
            refusals += 1;
            const message = `prompt is too long: ${tokens} tokens > 15000 maximum`;
            throw Object.assign(new Error(message), { status: 400, statusCode: 400, error: { message } });
          };
          const tools = [tool("page", async ({ q }) => lines(`page${q}x`, 1000))];
          const outcome = await adapter.run({ ...plain, spillway, tools, model, stream });
          assert.equal(outcome.text, "done");
          assert.ok(refusals > 0 && refusals <= 4, `${refusals} refusals`);
          for (const at of replies.keys()) assert.ok(JSON.stringify(outcome.history).includes(`page${at}x 500 of it`));
        },
      );

    it("passes on what else a provider refuses, as it came", async () => {
      const { without, withUs } = await both((spillway) => {
        const script = scripted(() => {
          throw Object.assign(new Error("invalid api key"), { status: 401, statusCode: 401 });
        });
        return { run: { ...plain, spillway, tools: [], model: script.model }, script };
      });
      assert.deepEqual(errorOf(withUs.error), errorOf(without.error));
      assert.equal(withUs.sent.length, without.sent.length);
      assert.deepEqual(withUs.value?.text, without.value?.text);
    });

    may("stream", "streams an answer in the same pieces", async () => {
      const { without, withUs } = await both((spillway) => {
        const script = scripted({ calls: [call("c1", "long")] }, { text: "one two three four ".repeat(60) });
        const tools = [tool("long", async () => lines("line"))];
        return { run: { ...plain, spillway, tools, model: script.model, stream: true }, script };
      });
      assert.ok((without.value?.pieces?.length ?? 0) > 1, "the answer does not come in pieces");
      assert.deepEqual(withUs.value?.pieces, without.value?.pieces);
      assert.ok(JSON.stringify(withUs.sent[1]).length < BOUND_CHARS);
    });

    may("abort", "ends as the framework does if it is aborted while a tool runs", async () => {
      const { without, withUs } = await both((spillway) => {
        const stop = new AbortController();
        const script = scripted({ calls: [call("c1", "waits")] });
        const waits = tool("waits", async (_args, signal) => {
          const ended = new Promise((_, reject) => {
            const fail = () => reject(signal?.reason ?? new Error("no signal"));
            if (signal?.aborted) fail();
            else signal?.addEventListener("abort", fail);
          });
          stop.abort();
          return ended;
        });
        return { run: { ...plain, spillway, tools: [waits], model: script.model, signal: stop.signal }, script };
      });
      assert.deepEqual(errorOf(withUs.error), errorOf(without.error));
      assert.equal(withUs.sent.length, without.sent.length);
    });
  });
}

/** What an application tells an error by. */
function errorOf(error: unknown): { name: string; message: string } | null {
  if (error === null) return null;
  return error instanceof Error ? { name: error.name, message: error.message } : { name: "", message: String(error) };
}
