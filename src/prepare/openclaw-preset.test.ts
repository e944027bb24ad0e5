import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/token-samples.ts";
import type { PruningInput } from "../contract/policy.ts";
import { createSpillway } from "../index.ts";
import { resolvePolicy } from "../stages/policy/resolve-policy.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// OpenClaw's published rules of session pruning, written out from their description: nothing of ours is used. Before each
// request, only results of tools, never past the last assistants, nothing before the first user, no result with an image.

type Block = { type: string; text?: string; thinking?: string; data?: string; name?: string; arguments?: unknown };
interface Message {
  role: string;
  content: string | Block[];
  toolCallId?: string;
  toolName?: string;
}
interface Settings {
  mode: "adaptive" | "aggressive" | "off";
  keepLastAssistants: number;
  softTrimRatio: number;
  hardClearRatio: number;
  minPrunableToolChars: number;
  softTrim: { maxChars: number; headChars: number; tailChars: number };
  hardClear: { enabled: boolean; placeholder: string };
  tools: { allow: string[]; deny: string[] };
}

const DEFAULTS: Settings = {
  mode: "adaptive",
  keepLastAssistants: 3,
  softTrimRatio: 0.3,
  hardClearRatio: 0.5,
  minPrunableToolChars: 50_000,
  softTrim: { maxChars: 4000, headChars: 1500, tailChars: 1500 },
  hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" },
  tools: { allow: [], deny: [] },
};
const IMAGE_CHARS = 8000;

function charsOf({ content }: Message): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => {
    if (block.type === "text") return sum + (block.text ?? "").length;
    if (block.type === "thinking") return sum + (block.thinking ?? "").length;
    if (block.type === "image") return sum + IMAGE_CHARS;
    return sum + JSON.stringify(block.arguments ?? {}).length;
  }, 0);
}

function matches(pattern: string, name: string): boolean {
  const words = pattern.trim().toLowerCase().split("*");
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "s").test(name.trim().toLowerCase());
}

function reference(messages: Message[], settings: Settings, windowTokens: number): Message[] {
  if (settings.mode === "off") return messages;
  const assistants = messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  if (assistants.length < settings.keepLastAssistants) return messages;
  const cutoff = assistants[assistants.length - settings.keepLastAssistants] as number;
  const firstUser = messages.findIndex(({ role }) => role === "user");
  const { allow, deny } = settings.tools;
  const isAllowed = (tool: string) =>
    !deny.some((one) => matches(one, tool)) && (allow.length === 0 || allow.some((one) => matches(one, tool)));
  const eligible = messages.flatMap((message, at) => {
    if (message.role !== "toolResult" || firstUser < 0 || at < firstUser || at >= cutoff) return [];
    const blocks = message.content as Block[];
    return isAllowed(message.toolName ?? "") && !blocks.some(({ type }) => type === "image") ? [at] : [];
  });
  const shown = [...messages];
  const replace = (at: number, text: string) => {
    shown[at] = { ...(messages[at] as Message), content: [{ type: "text", text }] };
  };
  if (settings.mode === "aggressive") {
    for (const at of eligible) replace(at, settings.hardClear.placeholder);
    return shown;
  }
  const charWindow = windowTokens * 4;
  let total = messages.reduce((sum, message) => sum + charsOf(message), 0);
  if (total / charWindow < settings.softTrimRatio) return messages;
  const { maxChars, headChars, tailChars } = settings.softTrim;
  for (const at of eligible) {
    const message = messages[at] as Message;
    const text = (message.content as Block[])
      .flatMap((block) => (block.type === "text" ? [block.text ?? ""] : []))
      .join("\n");
    if (text.length <= maxChars || headChars + tailChars >= text.length) continue;
    const tail = tailChars === 0 ? "" : text.slice(-tailChars);
    replace(
      at,
      `${text.slice(0, headChars)}\n...\n${tail}\n\n[Tool result trimmed: kept first ${headChars} chars and last ${tailChars} chars of ${text.length} chars.]`,
    );
    total += charsOf(shown[at] as Message) - charsOf(message);
  }
  if (total / charWindow < settings.hardClearRatio || !settings.hardClear.enabled) return shown;
  const prunable = eligible.reduce((sum, at) => sum + charsOf(shown[at] as Message), 0);
  if (prunable < settings.minPrunableToolChars) return shown;
  for (const at of eligible) {
    if (total / charWindow < settings.hardClearRatio) break;
    total -= charsOf(shown[at] as Message);
    replace(at, settings.hardClear.placeholder);
    total += charsOf(shown[at] as Message);
  }
  return shown;
}

const TOOLS = ["exec", "read", "Web_Fetch", "screenshot", "image_tool"];

/** A conversation as hosts have them: several blocks in a result, none, empty ones, images, thinking, results in a row. */
function randomConversation(random: () => number): Message[] {
  const int = (most: number) => Math.floor(random() * (most + 1));
  const text = (most: number) => "lorem ipsum dolor sit amet\n".repeat(Math.ceil(most / 27) + 1).slice(0, int(most));
  const messages: Message[] = [];
  const resultOf = (id: string, toolName: string): Message => {
    const blocks: Block[] = Array.from({ length: random() < 0.7 ? 1 : int(4) }, () => ({
      type: "text",
      text: random() < 0.1 ? "" : text(random() < 0.3 ? 40_000 : 6000),
    }));
    if (random() < 0.08) blocks.push({ type: "image", data: "aGk=" });
    return { role: "toolResult", toolCallId: id, toolName, content: blocks };
  };
  if (random() < 0.15) messages.push(resultOf("before", "exec"));
  if (random() < 0.97)
    messages.push({ role: "user", content: random() < 0.5 ? text(4000) : [{ type: "text", text: text(900) }] });
  const turns = int(14);
  for (let turn = 0; turn < turns; turn++) {
    const calls = Array.from({ length: int(3) }, (_, at) => ({
      id: `c${turn}-${at}`,
      tool: TOOLS[int(TOOLS.length - 1)] as string,
    }));
    const thinking: Block[] = random() < 0.2 ? [{ type: "thinking", thinking: text(2000) }] : [];
    messages.push({
      role: "assistant",
      content: [
        ...thinking,
        { type: "text", text: text(1500) },
        ...calls.map(({ id, tool }) => ({
          type: "toolCall",
          id,
          name: tool,
          arguments: { path: text(200), at: turn },
        })),
      ],
    });
    for (const { id, tool } of calls) messages.push(resultOf(id, tool));
    if (random() < 0.2) messages.push({ role: "user", content: text(800) });
  }
  return messages;
}

function randomSettings(random: () => number): Partial<Settings> {
  if (random() < 0.4) return {};
  const int = (most: number) => Math.floor(random() * (most + 1));
  return {
    mode: random() < 0.12 ? "aggressive" : "adaptive",
    keepLastAssistants: 1 + int(4),
    softTrimRatio: random(),
    hardClearRatio: random(),
    minPrunableToolChars: int(80_000),
    softTrim: { maxChars: int(8000), headChars: int(3000), tailChars: int(3000) },
    hardClear: { enabled: random() < 0.85, placeholder: random() < 0.5 ? "[cleared]" : DEFAULTS.hardClear.placeholder },
    tools:
      random() < 0.5 ? { allow: [], deny: [] } : { allow: random() < 0.5 ? ["exec", "READ*"] : [], deny: ["*image*"] },
  };
}

describe("pruning.preset openclaw", () => {
  it("gives what the published rules give, to the byte, on 2,000 random conversations, with a store", {
    timeout: 300_000,
  }, async () => {
    const random = seededRandom(17);
    const spillway = await createSpillway({
      store: memoryStore(),
      ledger: null,
      env: {},
      policy: { pruning: { preset: "openclaw" } },
    });
    let cut = 0;
    for (let run = 0; run < 2000; run++) {
      const messages = randomConversation(random);
      const settings = randomSettings(random);
      const total = messages.reduce((sum, message) => sum + charsOf(message), 0);
      // Half of them at a ratio, where a few characters decide.
      const { softTrimRatio, hardClearRatio } = { ...DEFAULTS, ...settings };
      const ratio = [0.1 + random(), softTrimRatio, hardClearRatio, 0.1 + random()][run % 4] as number;
      const window = Math.max(1, Math.ceil(total / 4 / Math.max(ratio, 0.01)) + Math.floor(random() * 3) - 1);
      const expected = reference(messages, { ...DEFAULTS, ...settings }, window);
      const { messages: pruned } = await spillway.prepare(messages, {
        wire: "pi",
        window,
        pruning: settings as PruningInput,
      });
      expect(pruned, `run ${run}`).toEqual(expected);
      if (expected !== messages && expected.some((message, at) => message !== messages[at])) cut++;
    }
    expect(cut).toBeGreaterThan(500);
  });

  describe("mode cache-ttl", () => {
    const result = (at: number): Message[] => [
      { role: "assistant", content: [{ type: "toolCall", name: "exec", arguments: {} }] },
      {
        role: "toolResult",
        toolCallId: `c${at}`,
        toolName: "exec",
        content: [{ type: "text", text: "x".repeat(9000) }],
      },
    ];
    const session = (turns: number): Message[] => [
      { role: "user", content: "go" },
      ...Array.from({ length: turns }, (_, at) => result(at)).flat(),
    ];
    const MINUTE = 60_000;

    async function ask(minutes: number[], pruning: PruningInput) {
      let nowMs = 0;
      const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, now: () => nowMs });
      const found: [isPruned: boolean, why: string][] = [];
      for (const [at, minute] of minutes.entries()) {
        nowMs = minute * MINUTE;
        const messages = session(10 + at);
        const options = { wire: "pi", window: 30_000, pruning: { preset: "openclaw" as const, ...pruning } };
        const { messages: sent, report } = await spillway.prepare(messages, options);
        const expected = sent === messages ? messages : reference(messages, DEFAULTS, 30_000);
        expect(sent).toEqual(expected);
        found.push([sent !== messages, report.why]);
      }
      return found;
    }

    it("prunes once the last request is as long ago as the ttl, as adaptive would, and then not until it is again", async () => {
      const found = await ask([0, 1, 6, 6.5, 11.4, 17], { mode: "cache-ttl" });
      expect(found.map(([isPruned]) => isPruned)).toEqual([false, false, true, false, false, true]);
      expect(found[0]?.[1]).toBe("no earlier request of this conversation is known");
      expect(found[1]?.[1]).toBe("the last request was 60000 ms ago, within 300000");
    });

    it("takes the time from cacheTtlMs, and never prunes if that is 0", async () => {
      const long = await ask([0, 59, 119], { mode: "cache-ttl", cacheTtlMs: 60 * MINUTE });
      expect(long.map(([isPruned]) => isPruned)).toEqual([false, false, true]);
      const never = await ask([0, 900], { mode: "cache-ttl", cacheTtlMs: 0 });
      expect(never.map(([isPruned]) => isPruned)).toEqual([false, false]);
    });

    it("is adaptive where forms stay", async () => {
      const policy = resolvePolicy({ pruning: { mode: "cache-ttl" } });
      expect(policy.pruning).toMatchObject({ mode: "adaptive", sticky: true });
      expect(() => resolvePolicy({ pruning: { mode: "cold" as never } })).toThrow(
        /adaptive, aggressive, cache-ttl or off/,
      );
    });
  });
});
