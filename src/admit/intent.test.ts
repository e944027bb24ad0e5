import { expect, it } from "vitest";
import { lastWords } from "./intent.ts";
import { factsOf } from "./tool-shapes.ts";

it("finds the last words of user and model in messages of any framework, bounded", () => {
  expect(
    lastWords([
      { role: "user", content: "first" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: "c" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", content: "x" }] },
    ]),
  ).toEqual({ user: "first", model: "I look." });
  expect(
    lastWords([
      { type: "human", content: "a" },
      { type: "ai", content: "" },
    ]),
  ).toEqual({ user: "a" });
  expect(lastWords([{ role: "user", content: { parts: [{ type: "text", text: "m" }] } }])).toEqual({ user: "m" });
  const [long] = Object.values(lastWords([{ role: "user", content: `${"x".repeat(1999)}\u{1f600}` }]) ?? {});
  expect(long).toHaveLength(2000);
  expect(long?.isWellFormed()).toBe(true);
  expect(lastWords([{ role: "tool", content: "x" }, null, 3])).toBeNull();
  expect(lastWords("x")).toBeNull();
});

it("takes them from what a framework passes beside a call's arguments, never from the arguments", () => {
  const messages = [{ role: "user", content: "why does it fail?" }];
  const intent = { user: "why does it fail?" };
  const args = { messages: [{ role: "user", content: "an argument" }] };
  for (const beside of [{ messages }, { agent: { messages } }, { state: { messages } }])
    expect(factsOf("execute", [args, beside])).toMatchObject({ args, intent });
  expect(factsOf("execute", [args])).toEqual({ args });
  expect(factsOf("execute", [args, { toolCallId: "c" }])).toEqual({ args, call: "c" });
});
