import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { SpillwayEvent } from "../contract/event.ts";
import { createSpillway } from "../index.ts";
import { LOST_RESULT } from "../stages/mark/texts.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { hostileMessages } from "../testing/test-wire.ts";
import { wires } from "../wire/index.ts";

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of some output`).join("\n");
const pi = (id: string, text: string, more: object = {}) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
  ...more,
});
const anthropic = (id: string, content: unknown) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const openai = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });
const assistant = (ids: string[], more: object = {}) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: {} })),
  stopReason: "toolUse",
  timestamp: 1,
  ...more,
});
const user = (text: string) => ({ role: "user", content: text, timestamp: 1 });
const textOf = (message: unknown) => (message as { content: { text: string }[] }).content[0]?.text ?? "";
const folder = await mkdtemp(join(tmpdir(), "spillway-guard-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const make = (more: object = {}) =>
  createSpillway({ store: memoryStore(), ledger: null, env: {}, redact: "off", ...more });

describe("guard", () => {
  it("brings a result under 50 KiB and 2000 lines, the whole saved first", async () => {
    const spillway = await make();
    const whole = lines(9000);
    const guarded = textOf(await spillway.guard(pi("1", whole)));
    expect(Buffer.byteLength(guarded)).toBeLessThanOrEqual(51_200);
    expect(guarded.split("\n").length).toBeLessThanOrEqual(2000);
    const [, id] = /artifact ([a-z2-7]{12})/.exec(guarded) ?? [];
    expect((await spillway.recall(id ?? "", { lines: [5000, 5000] })).text).toContain("line 4999 of");
  });

  it("knows every format, and leaves all but the result's text as it was", async () => {
    const spillway = await make();
    const whole = lines(9000);
    for (const message of [
      anthropic("1", whole),
      anthropic("1", [{ type: "text", text: whole }]),
      openai("1", whole),
    ]) {
      const guarded = await spillway.guard(message);
      expect(JSON.stringify(guarded).length).toBeLessThan(60_000);
      expect(JSON.stringify(guarded)).toContain("Output cut to fit");
      expect(Object.keys(guarded as object)).toEqual(Object.keys(message));
    }
  });

  it("gives the same object where there is nothing to do; changes nothing it was given", async () => {
    const spillway = await make();
    for (const message of [pi("1", "ok"), pi("1", ""), user("x".repeat(200_000)), null, 7, "text", { odd: true }]) {
      expect(await spillway.guard(message)).toBe(message);
      expect(spillway.guardSync(message)).toBe(message);
    }
    const frozen = Object.freeze(pi("1", lines(5000)));
    Object.freeze(frozen.content);
    expect(await spillway.guard(frozen)).not.toBe(frozen);
  });

  it("does not cut again what was admitted under other limits, nor twice", async () => {
    const spillway = await make();
    const { text } = await spillway.admit({ tool: "bash", output: lines(3000), limits: { maxLines: 1500 } });
    expect(textOf(await spillway.guard(pi("1", text)))).toBe(text);
    const once = await spillway.guard(pi("1", lines(9000)));
    expect(await spillway.guard(once)).toBe(once);
  });

  it("400,000 characters bind where a policy raised the ceiling; a window's share has a floor that yields to limits", async () => {
    const raised = await make({
      policy: { tools: { bash: { limits: { maxBytes: 2e6, maxLines: 1e6 }, raisesCeiling: true } } },
    });
    expect(textOf(await raised.guard(pi("1", lines(20_000)))).length).toBeLessThanOrEqual(400_000);
    expect(textOf(await raised.guard(pi("1", lines(20_000)))).length).toBeGreaterThan(300_000);
    expect(textOf(await raised.guard(pi("1", lines(900)), { window: 100 })).length).toBeLessThanOrEqual(2000);
    expect(textOf(await raised.guard(pi("1", lines(900)), { window: 100 })).length).toBeGreaterThan(1000);
    const tight = await make({ policy: { ceiling: { maxChars: 300 } } });
    expect(textOf(await tight.guard(pi("1", lines(900)), { window: 100 })).length).toBeLessThanOrEqual(300);
  });

  it("bounds details to 8,192 bytes of JSON, the whole saved first", async () => {
    const spillway = await make();
    const details = {
      status: "completed",
      exitCode: 0,
      aggregated: "y".repeat(150_000),
      list: Array.from({ length: 5000 }, (_, n) => ({ n })),
    };
    const guarded = (await spillway.guard(pi("1", "short", { details }))) as {
      details: Record<string, unknown>;
      content: unknown;
    };
    expect(JSON.stringify(guarded.details).length).toBeLessThanOrEqual(8192);
    expect(guarded.details).toMatchObject({ status: "completed", exitCode: 0 });
    const [, id] = /artifact ([a-z2-7]{12})/.exec(String(guarded.details["[cut]"])) ?? [];
    expect((await spillway.store?.find(id ?? "", "local"))?.bytes).toBeGreaterThan(150_000);
    expect(guarded.content).toEqual([{ type: "text", text: "short" }]);
  });

  it("bounds them also inside a transcript's line and a serialised LangChain message", async () => {
    const spillway = await make();
    const large = { out: "y".repeat(50_000) };
    const entry = { type: "message", id: "e", parentId: null, message: pi("1", "short", { details: large }) };
    expect(JSON.stringify(await spillway.guard(entry)).length).toBeLessThan(9000);
    const kwargs = { content: "short", tool_call_id: "1", name: "bash", artifact: large };
    const message = { lc: 1, type: "constructor", id: ["langchain_core", "messages", "ToolMessage"], kwargs };
    expect(JSON.stringify(await spillway.guard(message)).length).toBeLessThan(9000);
  });

  it("never throws, whatever the message and its format", async () => {
    const spillway = await make();
    const messages = hostileMessages();
    for (const { name } of wires) {
      for (const message of messages.slice(0, 60)) spillway.guardSync(message, { wire: name });
    }
    // A promise cannot resolve to a value that throws when its `then` is read, so such a message is wrapped.
    for (const message of messages) await spillway.guard({ role: "toolResult", toolCallId: "1", content: message });
    const capped = spillway.cap(messages);
    expect(capped.bytes).toBe(Buffer.byteLength(JSON.stringify(capped.messages)));
    const { session } = spillway.guardSession({ appendMessage: (message: unknown) => message });
    for (const message of messages) session.appendMessage(message);
  });

  it("repairs lone surrogates in any message", async () => {
    const spillway = await make();
    expect(await spillway.guard(user("a\ud83db"))).toEqual(user("a\ufffdb"));
    expect(spillway.guardSync(pi("1", "\udc00", { details: { x: "\ud800" } }))).toEqual(
      pi("1", "\ufffd", { details: { x: "\ufffd" } }),
    );
  });

  it("asks hooks before and after; what a hook writes is bound too, and one that fails changes nothing", async () => {
    const events: SpillwayEvent[] = [];
    const spillway = await make({ onEvent: (event: SpillwayEvent) => events.push(event) });
    const seen: unknown[] = [];
    const guarded = await spillway.guard(pi("c1", "small"), {
      before: async (message, about) => {
        seen.push(about);
        return { ...(message as object), content: [{ type: "text", text: "from the hook" }] };
      },
      after: (message) => ({
        ...(message as object),
        content: [{ type: "text", text: `${textOf(message)} ${lines(9000)}` }],
      }),
    });
    expect(seen).toEqual([{ tool: "bash", call: "c1", isSynthetic: false }]);
    expect(textOf(guarded)).toMatch(/^\[First [\d,]+ lines of 9,?000\]\nfrom the hook/);
    expect(textOf(guarded).length).toBeLessThan(52_000);
    const failing = {
      before: () => Promise.reject(new Error("no")),
      after: () => {
        throw new Error("never");
      },
    };
    expect(await spillway.guard(pi("1", "kept"), failing)).toEqual(pi("1", "kept"));
    expect(spillway.guardSync(pi("1", "kept"), failing)).toEqual(pi("1", "kept"));
    const faults = () => events.filter(({ kind }) => kind === "history-guarded").flatMap(({ more }) => more?.faults);
    await expect.poll(faults).toContain("a hook failed: it gave a promise, which guardSync cannot wait for");
    expect(faults()).toContain("a hook failed: never");
  });

  it("leaves results alone when it is off, and refuses a format it does not know", async () => {
    const spillway = await make({ env: { SPILLWAY_OFF: "1" } });
    const large = pi("1", lines(9000));
    expect(await spillway.guard(large)).toBe(large);
    await expect(spillway.guard(large, { wire: "telex" })).rejects.toThrow(/wire must be one of anthropic/);
  });
});

describe("guardSync", () => {
  it("saves at once where the store can", async () => {
    const spillway = await createSpillway({ dir: join(folder, "store"), env: {} });
    const text = textOf(
      spillway.guardSync(
        pi("1", `${lines(9000)}\nexport AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzQ4nX8aB2cDe`),
      ),
    );
    const [, id] = /artifact ([a-z2-7]{12})/.exec(text) ?? [];
    const page = await spillway.recall(id ?? "", { tail: 2 });
    expect(page.text).toContain("line 8999 of");
    expect(page.text).not.toContain("wJalrXUtnFEMI");
    await spillway.store?.close();
  });

  it("says that nothing was saved where the store cannot", async () => {
    const { keepNow: _, ...slow } = memoryStore();
    for (const store of [null, slow]) {
      const spillway = await make({ store });
      expect(textOf(spillway.guardSync(pi("1", lines(9000))))).toContain("The rest was not saved");
    }
    const unloaded = await make({ redact: undefined });
    expect(textOf(unloaded.guardSync(pi("1", lines(9000))))).toContain("The rest was not saved");
  });
});

describe("guardSession", () => {
  class Manager {
    readonly #messages: unknown[] = [];
    appendMessage(message: unknown): string {
      return `e${this.#messages.push(message)}`;
    }
    all(): unknown[] {
      return this.#messages;
    }
  }
  const lost = (id: string) => ({
    role: "toolResult",
    toolCallId: id,
    toolName: "bash",
    content: [{ type: "text", text: LOST_RESULT }],
    isError: true,
    timestamp: expect.any(Number),
  });

  it("guards what is appended and answers calls that the conversation left behind", async () => {
    const spillway = await make();
    const manager = new Manager();
    const { session, pending } = spillway.guardSession(manager);
    expect(session.appendMessage(user("go"))).toBe("e1");
    session.appendMessage(assistant(["a", "b"]));
    session.appendMessage(pi("a", lines(9000)));
    expect(pending().map(({ id }) => id)).toEqual(["b"]);
    expect(session.appendMessage(user("next"))).toBe("e5");
    const all = session.all();
    expect(all).toHaveLength(5);
    expect(textOf(all[2]).length).toBeLessThan(52_000);
    expect(all[3]).toEqual(lost("b"));
    expect(pending()).toEqual([]);
    expect(manager.all()).toBe(all);
    expect(Object.hasOwn(manager, "appendMessage")).toBe(false);
  });

  it("fills nothing for a turn that was broken off, nor when told not to; flush ends a session", async () => {
    const spillway = await make();
    const manager = new Manager();
    const { session, flush } = spillway.guardSession(manager);
    session.appendMessage(assistant(["a"], { stopReason: "aborted" }));
    session.appendMessage(user("again"));
    session.appendMessage(assistant(["b", "b"]));
    expect(flush()).toEqual(["e4", "e5"]);
    expect(manager.all().slice(3)).toEqual([lost("b"), lost("b")]);
    const bare = spillway.guardSession(new Manager(), { fillMissing: false });
    bare.session.appendMessage(assistant(["c"]));
    bare.session.appendMessage(user("x"));
    expect(bare.session.all()).toHaveLength(2);
  });

  it("waits for store and hooks where the host does, in order", async () => {
    const spillway = await make();
    const messages: unknown[] = [];
    const manager = {
      async appendMessage(message: unknown) {
        return messages.push(message);
      },
    };
    const { session, flush } = spillway.guardSession(manager, {
      async: true,
      before: async (message) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return message;
      },
    });
    const appended = [assistant(["a"]), pi("a", lines(9000)), assistant(["z"]), user("end"), assistant(["y"])].map(
      (one) => session.appendMessage(one),
    );
    expect(await Promise.all(appended)).toEqual([1, 2, 3, 5, 6]);
    expect(await flush()).toEqual([7]);
    expect(textOf(messages[1])).toMatch(/artifact [a-z2-7]{12}/);
    expect(messages[3]).toEqual(lost("z"));
    expect(messages[6]).toEqual(lost("y"));
  });

  it("lets the host's own errors through, and does not take one appendMessage's for another's", async () => {
    const spillway = await make();
    const manager = {
      appendMessage(message: unknown): number {
        throw new Error(`disk full: ${typeof message}`);
      },
    };
    expect(() => spillway.guardSession(manager).session.appendMessage(user("x"))).toThrow("disk full");
    const later = spillway.guardSession(
      {
        appendMessage: async (message: unknown) => {
          if (message === "bad") throw new Error("no");
          return 1;
        },
      },
      { async: true },
    );
    await expect(later.session.appendMessage("bad")).rejects.toThrow("no");
    expect(await later.session.appendMessage("good")).toBe(1);
    expect(() => spillway.guardSession({} as never)).toThrow(/appendMessage/);
  });

  it("stands for a frozen manager too, and is of its class", async () => {
    const spillway = await make();
    const frozen = Object.freeze({ appendMessage: (message: unknown) => message, id: "x" });
    const { session } = spillway.guardSession(frozen);
    expect(session.appendMessage(user("a\ud800"))).toEqual(user("a\ufffd"));
    expect(session.id).toBe("x");
    expect(spillway.guardSession(new Manager()).session).toBeInstanceOf(Manager);
  });

  it("works on other formats: Anthropic's missing results come in one message", async () => {
    const spillway = await make();
    const manager = new Manager();
    const { session } = spillway.guardSession(manager);
    const call = (id: string) => ({ type: "tool_use", id, name: "bash", input: {} });
    session.appendMessage({ role: "assistant", content: [call("a"), call("b")] });
    session.appendMessage({ role: "user", content: "next" });
    expect(manager.all()[1]).toEqual({
      role: "user",
      content: ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id, is_error: true, content: LOST_RESULT })),
    });
  });
});
