import { describe, expect, it } from "vitest";
import type { PruningInput } from "../contract/policy.ts";
import { createSpillway } from "../index.ts";

// Pruning as others do it, to the letter: `estimate: "chars/4"` and `sticky: false`, no store.

type Message = { role: string; content?: unknown; toolCallId?: string; toolName?: string; isError?: boolean };

const user = (text: string): Message => ({ role: "user", content: text });
const assistant = (...calls: string[]): Message => ({
  role: "assistant",
  content: [
    { type: "text", text: "ok" },
    ...calls.map((id) => ({ type: "toolCall", id, name: "exec", arguments: {} })),
  ],
});
const result = (id: string, text: string, toolName = "exec"): Message => ({
  role: "toolResult",
  toolCallId: id,
  toolName,
  content: [{ type: "text", text }],
  isError: false,
});
const textOf = (message: Message | undefined) => (message as { content: { text: string }[] }).content[0]?.text;
const PLACEHOLDER = "[Old tool result content cleared]";

/** A user, then `sizes.length` calls with results of these sizes, then three assistants that protect nothing of it. */
function session(sizes: readonly number[], toolName = "exec"): Message[] {
  const messages = [user("go")];
  for (const [at, size] of sizes.entries())
    messages.push(assistant(`c${at}`), result(`c${at}`, "x".repeat(size), toolName));
  return [...messages, assistant(), assistant(), assistant()];
}

async function prune(messages: Message[], pruning: PruningInput = {}, window = 100_000) {
  const before = structuredClone(messages);
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const prepared = await spillway.prepare(messages, {
    wire: "pi",
    window,
    pruning: { sticky: false, estimate: "chars/4", ...pruning },
  });
  expect(messages, "the messages that came are not changed").toEqual(before);
  expect(prepared.report.faults).toEqual([]);
  return prepared;
}

const forms = (messages: Message[]) =>
  messages
    .filter(({ role }) => role === "toolResult")
    .map((message) => textOf(message))
    .map((text) => (text === PLACEHOLDER ? "cleared" : text?.includes("[Tool result trimmed:") ? "trimmed" : "whole"));

describe("pruning to the letter", () => {
  it("fewer than keepLastAssistants assistants: no pruning", async () => {
    const messages = [user("go"), assistant("c0"), result("c0", "x".repeat(300_000)), assistant()];
    const { messages: pruned, report } = await prune(messages);
    expect(pruned).toBe(messages);
    expect(report.why).toBe("there are 2 assistant messages; the last 3 are kept");
  });

  it("results after the cutoff are left alone", async () => {
    const messages = [...session([200_000]), user("more"), assistant("z"), result("z", "z".repeat(90_000))];
    const { messages: pruned } = await prune(messages);
    expect(forms(pruned)).toEqual(["trimmed", "whole"]);
    expect(pruned.at(-1)).toBe(messages.at(-1));
  });

  it("results before the first user message are left alone", async () => {
    const messages = [result("c", "x".repeat(200_000)), ...session([200_000])];
    const { messages: pruned } = await prune(messages, {}, 110_000);
    expect(forms(pruned)).toEqual(["whole", "trimmed"]);
  });

  it("without a user nothing is pruned", async () => {
    const messages = session([300_000]).slice(1);
    expect((await prune(messages)).messages).toBe(messages);
  });

  it("soft trim only above 4,000 ch, giving 1,500 + ... + 1,500 + note", async () => {
    const long = `${"a".repeat(1500)}${"b".repeat(1001)}${"c".repeat(1500)}`;
    const messages = [user("go"), assistant("a", "b"), result("a", "x".repeat(4000)), result("b", long)];
    const { messages: pruned, report } = await prune([...messages, assistant(), assistant(), assistant()], {}, 2500);
    expect(forms(pruned)).toEqual(["whole", "trimmed"]);
    expect(textOf(pruned[3])).toBe(
      `${"a".repeat(1500)}\n...\n${"c".repeat(1500)}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 4001 chars.]`,
    );
    expect(report.results).toMatchObject({ total: 2, trimmed: 1, cleared: 0 });
  });

  it("under softTrimRatio nothing is trimmed, at it everything large is", async () => {
    // "go" and seven "ok" and arguments take a few characters beside the result.
    const messages = session([5000]);
    const { before } = (await prune(messages)).report;
    // Of a call its arguments count, and not its tool's name.
    const chars = before.chars - "exec".length;
    const at = (all: number) => prune(messages, {}, Math.ceil(all / 4));
    expect(forms((await at(chars / 0.3 - 8)).messages)).toEqual(["trimmed"]);
    expect(forms((await at(chars / 0.3 + 8)).messages)).toEqual(["whole"]);
  });

  it("hard clear only if prunable text >= minPrunableToolChars", async () => {
    const messages = session([3000, 3000, 3000]);
    expect(forms((await prune(messages, {}, 2500)).messages)).toEqual(["whole", "whole", "whole"]);
    const enough = await prune(messages, { minPrunableToolChars: 9000 }, 2500);
    expect(forms(enough.messages)).toContain("cleared");
    expect(forms((await prune(messages, { minPrunableToolChars: 9001 }, 2500)).messages)).not.toContain("cleared");
  });

  it("hard clear: oldest first, until under hardClearRatio", async () => {
    const messages = session(Array.from({ length: 20 }, () => 3000));
    const { messages: pruned, report } = await prune(messages, {}, 22_500);
    // 60,000 of 90,000 characters; half of them is reached after six.
    expect(forms(pruned)).toEqual([...Array<string>(6).fill("cleared"), ...Array<string>(14).fill("whole")]);
    expect(report.after.chars / 90_000).toBeLessThan(0.5);
    expect((report.after.chars + 3000 - PLACEHOLDER.length) / 90_000).toBeGreaterThanOrEqual(0.5);
  });

  it("prunable text is counted after soft trim", async () => {
    const messages = session([400_000]);
    expect(forms((await prune(messages, { softTrimRatio: 0, hardClearRatio: 0 })).messages)).toEqual(["trimmed"]);
  });

  it("adaptive honours hardClear.enabled: false", async () => {
    const messages = session(Array.from({ length: 20 }, () => 3000));
    const { messages: pruned } = await prune(messages, { hardClear: { enabled: false } }, 15_000);
    expect(pruned).toBe(messages);
  });

  it("aggressive ignores hardClear.enabled and needs no ratio", async () => {
    const messages = session([10, 5000]);
    const { messages: pruned } = await prune(
      messages,
      { mode: "aggressive", hardClear: { enabled: false } },
      10_000_000,
    );
    expect(forms(pruned)).toEqual(["cleared", "cleared"]);
  });

  it.each([{ sticky: true }, { estimate: "tokens" } as const])(
    "only then is a result cleared that is shorter than the placeholder: not with %o",
    async (other) => {
      const { messages: pruned } = await prune(session([10, 5000]), { mode: "aggressive", ...other }, 10_000_000);
      expect(forms(pruned)).toEqual(["whole", "cleared"]);
    },
  );

  it("mode off prunes nothing", async () => {
    const messages = session([900_000]);
    expect((await prune(messages, { mode: "off" })).messages).toBe(messages);
  });

  it("empty allow = all; deny wins, case-insensitive; wildcards", async () => {
    const messages = session([200_000], "Read_File");
    const trimmed = async (tools: { allow?: string[]; deny?: string[] }) =>
      forms((await prune(messages, { tools })).messages)[0] === "trimmed";
    expect(await trimmed({ allow: [] })).toBe(true);
    expect(await trimmed({ allow: ["read_file"] })).toBe(true);
    expect(await trimmed({ allow: ["READ*"] })).toBe(true);
    expect(await trimmed({ allow: ["exec"] })).toBe(false);
    expect(await trimmed({ allow: ["read_file"], deny: ["*FILE"] })).toBe(false);
    expect(await trimmed({ deny: ["*image*"] })).toBe(true);
  });

  it("results with images are never trimmed or cleared", async () => {
    const image = result("c0", "x".repeat(200_000));
    (image.content as unknown[]).push({ type: "image", data: "AAAA", mimeType: "image/png" });
    const messages = [user("go"), assistant("c0"), image, assistant(), assistant(), assistant()];
    expect((await prune(messages)).messages).toBe(messages);
    expect((await prune(messages, { mode: "aggressive" })).messages).toBe(messages);
  });

  it("blocks are joined by a break and become one", async () => {
    const two = {
      ...result("c0", ""),
      content: ["a", "b"].map((one) => ({ type: "text", text: one.repeat(100_000) })),
    };
    const { messages: pruned } = await prune([user("go"), assistant("c0"), two, assistant(), assistant(), assistant()]);
    expect(pruned[2]?.content).toEqual([
      {
        type: "text",
        text: `${"a".repeat(1500)}\n...\n${"b".repeat(1500)}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 200001 chars.]`,
      },
    ]);
  });

  it("keeps ids, names, error flags and unknown fields; users and assistants are the same objects", async () => {
    const odd = { ...result("c0", "x".repeat(200_000)), isError: true, details: { a: 1 }, extra: [1] };
    const messages = [user("go"), assistant("c0"), odd, assistant(), assistant(), assistant()];
    const { messages: pruned } = await prune(messages);
    expect(pruned[2]).toEqual({ ...odd, content: [{ type: "text", text: textOf(pruned[2]) }] });
    for (const at of [0, 1, 3, 4, 5]) expect(pruned[at]).toBe(messages[at]);
  });

  it("never splits a character", async () => {
    const { messages: pruned } = await prune(
      session([]).toSpliced(1, 0, assistant("c"), result("c", `a${"😀".repeat(90_000)}`)),
    );
    expect(textOf(pruned[2])?.isWellFormed()).toBe(true);
    expect(textOf(pruned[2])).toContain("kept first 1499 chars and last 1500 chars of 180001 chars.");
  });

  it("needs no state: the same messages give the same, whatever came before", async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const options = { wire: "pi", window: 22_500, pruning: { sticky: false, estimate: "chars/4" } } as const;
    const messages = session(Array.from({ length: 20 }, () => 3000));
    const first = await spillway.prepare(messages, options);
    await spillway.prepare(messages, { ...options, window: 1000 });
    expect((await spillway.prepare(messages, options)).messages).toEqual(first.messages);
  });
});
