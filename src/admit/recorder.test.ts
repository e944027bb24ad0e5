import { hostname, userInfo } from "node:os";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { redactAll } from "../../test/redact-chunks.ts";
import type { SpillwayEvent } from "../contract/event.ts";
import type { CutFields } from "../extend.ts";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { mayHoldSecret } from "../stages/record/events.ts";
import { defaultRules } from "../stages/redact/default-rules.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { type Redaction, redactionOf, safeNames } from "./redaction.ts";

const make = (options: SpillwayOptions = {}) =>
  createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, ...options });
const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8".repeat(3).slice(0, 36)}`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("the logger", () => {
  type Log = (message: string, fields: CutFields) => void;
  const logger = () => ({ info: vi.fn<Log>(), warn: vi.fn<Log>() });

  it("is told what was cut at the tool boundary, in characters, to one decimal", async () => {
    const log = logger();
    const spillway = await make({ logger: log });
    const output = `é${lines(5000)}`;
    const { receipt } = await spillway.admit({ tool: "bash", output, limits: { maxLines: 12 } });
    const afterChars = receipt.shown.chars;
    const reducedPercent = Number(((1 - afterChars / output.length) * 100).toFixed(1));
    expect(log.info.mock.calls).toEqual([
      [
        `bash output cut: ${output.length} -> ${afterChars} chars (${reducedPercent.toFixed(1)} % less)`,
        { tool: "bash", beforeChars: output.length, afterChars, reducedPercent },
      ],
    ]);
    expect(log.warn).not.toHaveBeenCalled();
  });

  it("counts what came, also of streams, blocks and what is redacted", async () => {
    const log = logger();
    const spillway = await make({ logger: log, redact: "model" });
    const output = `password=hunter2x9Q\n${lines(5000)}`;
    await spillway.admit({ tool: "a", output });
    await spillway.admit({ tool: "b", output: new Response(output) });
    await spillway.admit({ tool: "c", output: { content: [{ type: "text", text: output }] } });
    expect(log.info.mock.calls.map(([, { tool, beforeChars }]) => [tool, beforeChars])).toEqual([
      ["a", output.length],
      ["b", output.length],
      ["c", output.length],
    ]);
  });

  it("is told nothing when nothing was cut, nor of an update", async () => {
    const log = logger();
    const spillway = await make({ logger: log, redact: "model" });
    await spillway.admit({ tool: "bash", output: "small" });
    await spillway.admit({ tool: "bash", output: TOKEN });
    await spillway.admit({ tool: "bash", output: lines(5000), isUpdate: true });
    expect(log.info).not.toHaveBeenCalled();
  });

  it("may throw or reject", async () => {
    for (const fault of [() => Promise.reject(new Error("no")), () => expect.unreachable()]) {
      const spillway = await make({ logger: { info: fault, warn: fault } });
      await expect(spillway.admit({ tool: "bash", output: lines(5000) })).resolves.toBeDefined();
    }
  });
});

describe("what is recorded", () => {
  it("has no secret in tool names, faults or its own words; a caller gets its own names back", async () => {
    const events: SpillwayEvent[] = [];
    const store = memoryStore();
    const faulty = { ...store, begin: () => Promise.reject(new Error(`cannot log in with ${TOKEN}`)) };
    for (const each of [store, faulty]) {
      const spillway = await make({ store: each, onEvent: (event) => events.push(event) });
      const { receipt } = await spillway.admit({ tool: `curl -H ${TOKEN}`, session: "s", output: lines(5000) });
      expect(receipt.tool).toBe(`curl -H ${TOKEN}`);
      expect(JSON.stringify(await spillway.ledger?.events())).not.toContain(TOKEN);
      expect(await spillway.ledger?.stats({ by: "tool" })).toMatchObject([{ tool: "curl -H [redacted:github-token]" }]);
    }
    expect(events.map(({ kind }) => kind)).toEqual([
      "output-clamped",
      "artifact-spilled",
      "output-clamped",
      "spill-failed",
    ]);
    expect(JSON.stringify(events)).not.toContain(TOKEN);
    expect((await store.list({ scope: "local" })).map(({ tool }) => tool)).toEqual(["curl -H [redacted:github-token]"]);
    expect(events[3]?.more).toMatchObject({
      faults: ["spill failed after 0 bytes: cannot log in with [redacted:github-token]"],
    });
  });

  it("keeps everything as it is where redaction is off, and own rules reach short words", async () => {
    const namesOf = async (options: SpillwayOptions) => {
      const spillway = await make(options);
      await spillway.admit({ tool: "heron", output: "x" });
      return (await spillway.ledger?.events())?.map(({ tool, receipt }) => [tool, receipt?.tool]);
    };
    expect(await namesOf({ redact: "off" })).toEqual([["heron", "heron"]]);
    expect(await namesOf({ redact: { rules: [{ name: "bird", literal: "heron" }] } })).toEqual([
      ["[redacted:bird]", "[redacted:bird]"],
    ]);
  });

  it("needs no look at short plain words: no well-known secret fits into one", () => {
    const word = fc.string({
      unit: fc.constantFrom(
        ..."abcdefXYZ0123456789_.-",
        "sk-",
        "ghp_",
        "AKIA",
        "npm_",
        "hf_",
        "eyJ",
        "xoxb-",
        "SG.",
        "sk_live_",
        "gho_",
      ),
      maxLength: 20,
    });
    fc.assert(
      fc.property(word, (text) => {
        if (!mayHoldSecret(text, false)) expect(redactAll(defaultRules, Buffer.from(text)).count).toBe(0);
      }),
      { numRuns: 5000 },
    );
  });

  it("loads what redacts only for a name that could hold a secret, and once for each", async () => {
    const redaction = redactionOf() as Redaction;
    const loadText = vi.fn<Redaction["loadText"]>(redaction.loadText);
    const safeName = safeNames({ ...redaction, loadText });
    expect(await Promise.all(["bash", "run_command", "read_file"].map(safeName))).toEqual([
      "bash",
      "run_command",
      "read_file",
    ]);
    expect(loadText).not.toHaveBeenCalled();
    for (let times = 0; times < 3; times++)
      expect(await safeName("mcp__a_long_name__of_a_tool")).toBe("mcp__a_long_name__of_a_tool");
    expect(loadText).toHaveBeenCalledTimes(1);
    const secret = `mcp__ghp_${"a1B2".repeat(9)}`;
    for (let times = 0; times < 3; times++) expect(await safeName(secret)).toBe("mcp__[redacted:github-token]");
  });

  it("goes to every log, though another fails or hangs", async () => {
    const spillway = await make({ ledger: { ...memoryLedger(), record: () => Promise.reject(new Error("down")) } });
    await expect(spillway.admit({ tool: "bash", output: "x" })).resolves.toMatchObject({ text: "x" });
  });
});

describe("what the host would have cut anyway", () => {
  // One store: the id in the marker, and so its tokens, is that store's own.
  const store = memoryStore();
  const saved = async (options: SpillwayOptions, hostLimits?: object) => {
    const spillway = await make({ store, ...options });
    await spillway.admit({ tool: "bash", output: lines(10_000), limits: { maxLines: 100 }, hostLimits });
    const [row] = (await spillway.ledger?.stats({ by: "all" })) ?? [];
    return { tokensIn: row?.tokensIn ?? 0, saved: (row?.tokensIn ?? 0) - (row?.tokensShown ?? 0) };
  };

  it("is not counted as saved, whether said for one output or for all", async () => {
    // A host without limits is said by one that nothing reaches.
    const alone = await saved({}, { maxLines: 1_000_000 });
    expect(alone.saved).toBeGreaterThan(10_000);
    for (const [unit, share] of [
      ["maxLines", 2000 / 10_000],
      ["maxChars", 20_000 / lines(10_000).length],
      ["maxBytes", 20_000 / lines(10_000).length],
    ] as const) {
      const host = { [unit]: unit === "maxLines" ? 2000 : 20_000 };
      const { tokensIn } = await saved({}, host);
      expect(Math.abs(tokensIn - alone.tokensIn * share)).toBeLessThanOrEqual(1);
      expect(await saved({ hostLimits: host })).toEqual(await saved({}, host));
    }
    expect((await saved({}, { maxTokens: 700 })).tokensIn).toBe(700);
    // Where nothing is said, the ceiling counts.
    expect(await saved({})).toEqual(await saved({}, { maxBytes: 51_200, maxLines: 2000 }));
    // An object counts as a line for each field, and a model gets all of it in one line.
    const spillway = await make({ store });
    const rows = Array.from({ length: 4000 }, (_, id) => ({ id, state: "paid", total: id * 3 }));
    const { receipt } = await spillway.admit({ tool: "list_orders", output: rows });
    const [row] = (await spillway.ledger?.stats({ by: "all" })) ?? [];
    expect(receipt.cutBy).not.toBeNull();
    expect(row?.tokensIn).toBeGreaterThanOrEqual(row?.tokensShown ?? Number.POSITIVE_INFINITY);
    await expect(saved({}, { maxLines: -1 })).rejects.toThrow(/hostLimits/);
    await expect(make({ hostLimits: { maxRows: 1 } as never })).rejects.toThrow(/hostLimits/);
  });
});

describe("who did what", () => {
  const events = (spillway: Awaited<ReturnType<typeof make>>) => spillway.ledger?.events() ?? [];

  it("every event names user, host and process; what is read back says who read", async () => {
    const spillway = await make();
    const { receipt } = await spillway.admit({ tool: "bash", session: "s", output: lines(5000) });
    const id = receipt.artifact ?? "";
    await spillway.recall(id, { head: 5 });
    await spillway.search(id, { pattern: "line 7" }, { reads: "person" });
    const by = { user: userInfo().username, host: hostname(), process: process.pid };
    for (const { more } of await events(spillway)) expect(more).toMatchObject({ by });
    expect((await events(spillway)).slice(-2)).toMatchObject([
      { kind: "artifact-recalled", more: { reads: "model" } },
      { kind: "artifact-searched", more: { reads: "person" } },
    ]);
    // Only what a model read counts as read back.
    expect(await spillway.ledger?.stats({ by: "all" })).toMatchObject([{ recalls: 1 }]);
  });

  it("an output that was cut before in its session saves nothing when its tool runs again", async () => {
    const spillway = await make();
    const admit = (session: string | null, output: string) =>
      spillway.admit({ tool: "bash", output, ...(session && { session }) });
    const first = await admit("s", lines(5000));
    const [sums] = (await spillway.ledger?.stats({ by: "all" })) ?? [];
    await admit("s", lines(5000));
    const again = await spillway.ledger?.stats({ by: "all" });
    const shown = first.receipt.shown.tokens;
    expect(again).toMatchObject([{ calls: 2, tokensIn: sums?.tokensIn, tokensShown: 2 * shown }]);
    // Another session, another output, none at all, and one that was shown whole are no re-runs.
    await admit("other", lines(5000));
    await admit("s", `${lines(5000)}more\n`);
    await admit(null, lines(5000));
    await admit(null, lines(5000));
    for (const _each of [1, 2]) await admit("s", "small");
    const reruns = (await events(spillway)).filter(({ more }) => more?.["isRerun"] !== undefined);
    expect(reruns.map(({ session, kind }) => [session, kind])).toEqual([["s", "output-clamped"]]);
  });
});
