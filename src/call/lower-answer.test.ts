import { describe, expect, it } from "vitest";
import { createSpillway, OverflowError } from "../index.ts";
import type { CallOptions } from "./call-options.ts";

// A request that reserves more for its answer than the provider leaves room for.

const LIMIT = 20_000;
const messages = (chars: number) => [
  { role: "user", content: "go" },
  { role: "assistant", content: [{ type: "tool_use", id: "a", name: "bash", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "word ".repeat(chars / 5) }] },
];

async function send(chars: number, asked: number, options: CallOptions, isDeaf = false) {
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const sends: { reserved: number; tokens: number }[] = [];
  const reply = await spillway
    .call(
      messages(chars),
      (request, { answerTokens }) => {
        const reserved = isDeaf ? asked : Math.min(asked, answerTokens ?? asked);
        const tokens = Math.ceil(JSON.stringify(request).length / 4);
        sends.push({ reserved, tokens });
        if (tokens + reserved <= LIMIT) return "answer";
        const words = `input length and \`max_tokens\` exceed context limit: ${tokens} + ${reserved} > ${LIMIT}, decrease input length or \`max_tokens\` and try again`;
        throw Object.assign(new Error(words), { status: 400 });
      },
      { wire: "anthropic", systemAndTools: {}, pruning: { insure: false }, ...options },
    )
    .catch((error: unknown) => error);
  return { reply, sends };
}

describe("a reservation for the answer that is too large", () => {
  it("is lowered if the sender takes the number, and nothing is cut for it", async () => {
    const { reply, sends } = await send(8000, 32_000, { lowersAnswer: true });
    expect(reply).toBe("answer");
    expect(sends.map(({ reserved }) => reserved)).toEqual([32_000, 10_000]);
    expect(sends[0]?.tokens).toBe(sends[1]?.tokens);
  });

  it("is lowered, and the messages are cut to the rest", async () => {
    const { reply, sends } = await send(60_000, 32_000, { lowersAnswer: true });
    expect(reply).toBe("answer");
    expect(sends.at(-1)?.reserved).toBe(10_000);
    expect(sends.at(-1)?.tokens).toBeLessThan(10_000);
  });

  it("ends at once with advice on it, if the sender does not take the number", async () => {
    for (const [options, isDeaf, count] of [
      [{}, false, 1],
      [{ lowersAnswer: true }, true, 2],
    ] as const) {
      const { reply, sends } = await send(8000, 32_000, options, isDeaf);
      expect(sends).toHaveLength(count);
      expect(reply).toBeInstanceOf(OverflowError);
      expect(String(reply)).toContain("leaves none for the messages");
      expect((reply as OverflowError).facts.advice).toEqual(["reserve less for the answer (max_tokens)"]);
    }
  });

  it("is lowered once, and the messages are cut if the sender reserves more than that again", async () => {
    const { reply, sends } = await send(60_000, 12_000, { lowersAnswer: true, answerTokens: 12_000 }, true);
    expect(reply).toBe("answer");
    expect(sends.map(({ reserved }) => reserved)).toEqual(sends.map(() => 12_000));
    expect(sends.at(-1)?.tokens).toBeLessThan(8000);
  });

  it("counts as what it was lowered to, if the next refusal does not say how much it is", async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const reply = spillway.call(
      messages(60_000),
      (_request, { attempt, answerTokens }) => {
        if (attempt > 2) return answerTokens;
        const words = `Please reduce the length of the messages or completion. Current length is ${attempt === 1 ? 47_000 : LIMIT + 500} while limit is ${LIMIT}`;
        throw Object.assign(new Error(words), { status: 400, code: "context_length_exceeded" });
      },
      { wire: "anthropic", systemAndTools: {}, pruning: { insure: false }, lowersAnswer: true, answerTokens: 32_000 },
    );
    expect(await reply).toBe(10_000);
  });

  it("is the caller's number: if a refusal names a larger one, there is nothing to lower", async () => {
    for (const answerTokens of [0, 10, 10_000]) {
      const { sends } = await send(8000, 32_000, { lowersAnswer: true, answerTokens });
      expect(sends.map(({ reserved }) => reserved)).toEqual([32_000]);
    }
  });

  it("that leaves room is kept, and the messages are cut", async () => {
    const { reply, sends } = await send(60_000, 12_000, {});
    expect(reply).toBe("answer");
    expect(sends.at(-1)?.reserved).toBe(12_000);
  });
});
