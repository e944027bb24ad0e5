import { describe, expect, it } from "vitest";
import type { SpillwayEvent } from "../src/contract/event.ts";
import { createSpillway } from "../src/index.ts";
import { memoryStore } from "../src/storage/stores/memory.ts";

// Conversations that no provider would take: nothing lost, nothing thrown into the agent, and somebody is told.

const user = { role: "user", content: "go" };
const call = (...ids: unknown[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "bash", input: {} })),
});
const result = (id: unknown, content: unknown) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const end = Array.from({ length: 3 }, () => ({ role: "assistant", content: "so" }));
const large = (seed: string) => `${seed} `.repeat(8000);

async function prepared(messages: unknown[], wire: string | null = "anthropic") {
  const events: SpillwayEvent[] = [];
  const store = memoryStore();
  const spillway = await createSpillway({ store, ledger: null, env: {}, onEvent: (event) => void events.push(event) });
  const before = JSON.stringify(messages);
  const { messages: sent, report } = await spillway.prepare(messages, {
    ...(wire !== null && { wire }),
    window: 20_000,
  });
  for (const message of messages) await spillway.guard(message, wire === null ? {} : { wire });
  spillway.cap(messages);
  expect(JSON.stringify(messages)).toBe(before);
  expect(report.faults).toEqual([]);
  // What is not shown can be read back.
  for (const { artifact, to } of report.changes) {
    expect(to).toMatch(/trimmed|cleared|insured/);
    expect((await spillway.recall(artifact as string)).text).not.toBe("");
  }
  return { sent, report, kinds: events.map(({ kind }) => kind), events };
}

describe("bad messages", () => {
  it("orphan results are passed on or pruned like others, and told", async () => {
    const { sent, report, kinds } = await prepared([user, call("a"), result("nobody", large("o")), ...end]);
    expect(sent).toHaveLength(6);
    expect(report.warnings).toContain("1 result without a call before it in the request");
    expect(kinds).toContain("request-pruned");
  });

  it("results before their calls stay where they are, and are told", async () => {
    const messages = [user, result("a", "early"), call("a"), ...end];
    const { sent, report, kinds } = await prepared(messages);
    expect(sent).toBe(messages);
    expect(report.warnings).toEqual(["1 result without a call before it in the request"]);
    expect(kinds).toContain("request-pruned");
  });

  it("duplicate ids are told apart by their order", async () => {
    const turns = ["one", "two"].flatMap((text) => [call("same"), result("same", large(text))]);
    const { report } = await prepared([user, ...turns, ...end]);
    expect(report.warnings.join()).not.toContain("without a call");
    expect(new Set(report.changes.map(({ artifact }) => artifact)).size).toBe(2);
  });

  it.each([
    ["empty content", ""],
    ["an empty list", []],
    ["no content", undefined],
  ])("%s is nothing to prune", async (_, content) => {
    const messages = [user, call("a"), result("a", content), ...end];
    expect((await prepared(messages)).sent).toBe(messages);
  });

  it.each([
    ["null blocks", [null, { type: "text", text: "kept" }, null]],
    ["numbers where text should be", [{ type: "text", text: 5 }, 7]],
    ["a number as content", 5],
  ])("%s are passed on, counted and told once", async (_, content) => {
    const messages = [user, call("a"), result("a", content), ...end];
    const { sent, report, events } = await prepared(messages);
    expect(sent).toBe(messages);
    expect(report.malformed).toBeGreaterThan(0);
    expect(events.filter(({ kind }) => kind === "request-pruned")).toMatchObject([
      { more: { warnings: [expect.stringMatching(/could not be read: passed on unchanged$/)] } },
    ]);
    expect(events.filter(({ kind }) => kind === "history-guarded")).toHaveLength(1);
  });

  it("messages that are null or numbers are passed on and counted", async () => {
    const messages = [user, null, 5, "text", [], ...end];
    const { sent, report } = await prepared(messages);
    expect(sent).toBe(messages);
    expect(report.malformed).toBe(4);
  });

  it("lists of 100,000 elements take no longer than their size", async () => {
    const blocks = Array.from({ length: 100_000 }, (_, at) => ({ type: "text", text: `${at}` }));
    const { report } = await prepared([user, call("a"), result("a", blocks), ...end]);
    expect(report.changes).toHaveLength(1);
  });

  it("a format that is not known is left as it is, and said", async () => {
    const messages = [{ speaker: "me", says: 5 }];
    const { sent, report } = await prepared(messages, null);
    expect(sent).toBe(messages);
    expect(report.why).toMatch(/format is not known/);
  });
});
