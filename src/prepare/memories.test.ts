import { expect, it } from "vitest";
import { newBreaker } from "../deadline.ts";
import { Memories } from "./memories.ts";

const memories = (maxConversations: number) =>
  new Memories({
    ledger: null,
    breaker: newBreaker(1, 1, () => 0),
    deadlineMs: 1000,
    sha256: (text) => text,
    seal: { close: (_key, text) => text, open: (_key, sealed) => sealed },
    weigh: () => ({ chars: 0, tokens: 0, bytes: 0 }),
    maxConversations,
    maxChars: 1000,
  });

it("holds as many conversations as it may; the one that was not used for longest is forgotten first", async () => {
  const known = memories(3);
  const [first, second, third] = [await known.of("first"), await known.of("second"), await known.of("third")];
  expect(await known.of("first")).toBe(first);
  await known.of("fourth");
  expect(await known.of("first")).toBe(first);
  expect(await known.of("third")).toBe(third);
  expect(await known.of("second")).not.toBe(second);
});

it("remembers the smallest answered request of each model, and its newest window; a conversation's own come first", async () => {
  const known = memories(2);
  const own = await known.of("own");
  const about = { model: "a model", counter: "estimate" };
  const learn = (inputTokens: number, windowTokens?: number) =>
    known.learn(own, null, {
      ...about,
      answered: { tokens: inputTokens - 10, inputTokens },
      ...(windowTokens !== undefined && { windowTokens }),
    });
  for (const [inputTokens, windowTokens] of [[500, 8000], [300], [400, 4000], [300]] as [number, number?][])
    await learn(inputTokens, windowTokens);
  await known.learn(own, null, { ...about, model: "another", answered: { tokens: 1, inputTokens: 2 } });
  expect(known.learnedOf([own], about)).toEqual({
    windowTokens: 4000,
    answered: [{ tokens: 290, inputTokens: 300 }],
  });
  const shared = await known.of("shared");
  await known.learn(shared, null, { ...about, answered: { tokens: 3, inputTokens: 4 } });
  expect(known.learnedOf([shared, own], about).answered).toEqual([
    { tokens: 290, inputTokens: 300 },
    { tokens: 3, inputTokens: 4 },
  ]);
});
