import { expect, it } from "vitest";
import { CallMemory } from "./call-memory.ts";

const user = (content: string) => ({ role: "user", content });

it("remembers a conversation's smallest request that was answered, and no other conversation's", () => {
  const memory = new CallMemory();
  const messages = [{ role: "system", content: "careful" }, user("go")];
  const sent = (tokens: number) => [user(`${tokens} tokens`)];
  expect(memory.answeredOf(messages)).toBeNull();
  const known = [500, 800, 300, 300, 400].map((tokens, at) => {
    memory.rememberAnswered(messages, at === 3 ? sent(1) : sent(tokens), tokens);
    return memory.answeredOf([...messages, user("more")]);
  });
  expect(known.map((one) => one?.inputTokens)).toEqual([500, 500, 300, 300, 300]);
  expect(known.at(-1)?.messages).toEqual(sent(300));
  expect(memory.answeredOf([messages[0], user("go")])).toBeNull();
});
