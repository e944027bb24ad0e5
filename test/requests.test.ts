import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { createSpillway, type Spillway } from "../src/index.ts";
import { memoryLedger } from "../src/storage/ledgers/memory.ts";
import { memoryStore } from "../src/storage/stores/memory.ts";
import { loadTokenCount } from "../src/testing/fake-provider/start-fake-provider.ts";
import { pairResults, wireNamed } from "../src/wire/index.ts";
import { textOf } from "./recovery/conversation.ts";
import { type Format, formats, notesIn, unseenIn } from "./recovery/formats.ts";

// Requests as hosts send them: a conversation grows message by message, its objects are built anew for each request, several
// conversations share one store, they go back and go another way, and the process starts again.

const LIMIT = 8000;
const TURNS = 36;
const CHARS = 2000;
/** What every third call says by itself, and the calls at the end that stay whole. */
const NOTE_CHARS = 1500;
const KEPT_CALLS = 3;
const count = await loadTokenCount(1);
const PLACEHOLDER = "[Old tool result content cleared]";

/** Counts by itself what a provider would get, and refuses what is over its limit. */
class Provider {
  readonly #format: Format;
  readonly #says: "numbers" | "nothing";
  sends: unknown[][] = [];

  constructor(format: Format, says: "numbers" | "nothing") {
    this.#format = format;
    this.#says = says;
  }

  tokensIn(messages: readonly unknown[]): number {
    return count(messages.map((message) => this.#format.sent(message)));
  }

  send(messages: unknown[]): { usage: { input_tokens: number } } {
    this.sends.push(messages);
    const tokens = this.tokensIn(messages);
    if (tokens <= LIMIT) return { usage: { input_tokens: tokens } };
    const words =
      this.#says === "numbers"
        ? `prompt is too long: ${tokens} tokens > ${LIMIT} maximum`
        : "Prompt exceeds max length";
    throw Object.assign(new Error(words), { status: 400, ...(this.#says === "nothing" && { code: "1261" }) });
  }
}

/** A conversation of a host: it holds its messages as they came. */
interface Talk {
  session: string | undefined;
  name: string;
  messages: unknown[];
}

/** What must hold for every request that was sent. */
function faultsOf(format: Format, sent: readonly unknown[], given: readonly unknown[]): string[] {
  const wire = wireNamed(format.wire);
  if (wire === null) return ["no wire"];
  const views = sent.map((message) => wire.read(message));
  const pairs = pairResults(views);
  const calls = views.reduce((sum, view) => sum + view.calls.length, 0);
  const orphans = pairs.filter(({ call }) => call === null).length + Math.abs(calls - pairs.length);
  const notes = notesIn(format, sent).slice(-KEPT_CALLS);
  const came = notesIn(format, given).slice(-notes.length);
  return [
    ...(isDeepStrictEqual(notes, came) ? [] : ["arguments of one of the newest calls were changed"]),
    ...(orphans === 0 ? [] : [`${orphans} orphans`]),
    ...(unseenIn(format, sent).some((text) => text.startsWith(PLACEHOLDER)) ? ["an unseen result was cleared"] : []),
    ...(unseenIn(format, sent).length === unseenIn(format, given).length ? [] : ["an unseen result was left out"]),
  ];
}

class Host {
  readonly #format: Format;
  readonly #parts = { store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger() };
  readonly #provider: Provider;
  readonly #most: number;
  #spillway: Promise<Spillway>;
  readonly faults: string[] = [];
  refusals = 0;
  recovered = 0;
  /** Calls whose arguments were sent shorter than they came. */
  shortened = 0;

  constructor(format: Format, says: "numbers" | "nothing") {
    this.#format = format;
    this.#provider = new Provider(format, says);
    this.#most = says === "numbers" ? 2 : 3;
    this.#spillway = this.#open();
  }

  #open(): Promise<Spillway> {
    return createSpillway({ ...this.#parts, env: {} });
  }

  restart(): void {
    this.#spillway = this.#open();
  }

  /** One request, with every object built anew. */
  async ask({ name, session, messages }: Talk): Promise<unknown[]> {
    const given = messages.map((message) => this.#format.rebuild(message));
    const before = given.map((message) => this.#format.rebuild(message));
    this.#provider.sends = [];
    const spillway = await this.#spillway;
    await spillway.call(given, (sent: unknown[]) => this.#provider.send(sent), {
      wire: this.#format.wire,
      session,
      systemAndTools: "",
    });
    const { sends } = this.#provider;
    const found = sends.flatMap((sent) => faultsOf(this.#format, sent, given));
    if (sends.length > this.#most) found.push(`sent ${sends.length} times`);
    if (!isDeepStrictEqual(given, before)) found.push("the host's messages were changed");
    this.faults.push(...found.map((fault) => `${name}, ${messages.length} messages: ${fault}`));
    this.refusals += sends.length - 1;
    this.recovered += Number(sends.length > 1);
    this.shortened += notesIn(this.#format, sends.at(-1) ?? []).filter((note) =>
      note?.startsWith("[Argument of"),
    ).length;
    return sends.at(-1) ?? [];
  }
}

describe.each(Object.keys(formats))("requests of a host that builds its messages anew: %s", (name) => {
  const format = formats[name] as Format;
  const turn = (who: string, at: number) => {
    const note = name !== "mcp" && at % 3 === 0 ? textOf((at + 1) % 5, NOTE_CHARS, at) : undefined;
    return format.turn(`${who}-${at}`, textOf(at % 5, CHARS, at + who.length), note);
  };
  const start = (who: string, session?: string): Talk => ({ name: who, session, messages: [format.user("go")] });

  it.each(["numbers", "nothing"] as const)("a provider that says %s", async (says) => {
    const host = new Host(format, says);
    // Two have a name, two have none and begin with the same words.
    const talks = [start("a", "a"), start("bb", "b"), start("ccc"), start("dddd")];
    for (let at = 0; at < TURNS; at++) {
      if (at === TURNS / 2) host.restart();
      for (const talk of talks) {
        talk.messages.push(...turn(talk.name, at));
        await host.ask(talk);
      }
      if (at % 10 === 9) {
        // One is asked again from an earlier turn on, and goes on from there; the other goes on another way.
        const [again, fork] = [talks[at % 4] as Talk, talks[(at + 1) % 4] as Talk];
        again.messages = again.messages.slice(0, -8);
        await host.ask(again);
        fork.messages = [...fork.messages.slice(0, -6), ...turn(`${fork.name}-fork-${at}`, at)];
        await host.ask(fork);
      }
    }
    expect(host.faults).toEqual([]);
    expect(host.recovered).toBeGreaterThan(3);
    if (name !== "mcp") expect(host.shortened).toBeGreaterThan(3);
    // Far fewer than one in each of the requests over the limit. A server's results are not pruned: nobody speaks there.
    if (name !== "mcp") expect(host.refusals).toBeLessThan(TURNS);
  });

  it("a restart changes nothing of what is sent", async () => {
    const [steady, restarted] = [new Host(format, "numbers"), new Host(format, "numbers")];
    const talk = start("a", "s");
    for (let at = 0; at < TURNS; at++) {
      talk.messages.push(...turn("a", at));
      restarted.restart();
      const [one, other] = [await steady.ask(talk), await restarted.ask(talk)];
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    }
    expect(restarted.refusals).toBe(steady.refusals);
    expect(steady.refusals).toBeGreaterThan(0);
  });
});
