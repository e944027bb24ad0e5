import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { createSpillway } from "../../src/index.ts";
import { memoryLedger } from "../../src/storage/ledgers/memory.ts";
import { memoryStore } from "../../src/storage/stores/memory.ts";

const LIMIT = 8000;
const words = "lorem ipsum ".repeat(400);

/** Built anew for each request, as from a checkpointer; every field stands in `lc_kwargs` too. */
const talk = (turns: number): BaseMessage[] => [
  new HumanMessage("go"),
  ...Array.from({ length: turns }, (_, at) => [
    new AIMessage({ content: "", tool_calls: [{ id: `c${at}`, name: "lookup", args: { at } }] }),
    new ToolMessage({ content: `${at} ${words}`, tool_call_id: `c${at}`, artifact: words.repeat(3) }),
  ]).flat(),
];

it("instances of LangChain's messages recover, stay instances, and are not refused again", async () => {
  const parts = { store: memoryStore(), ledger: memoryLedger(), env: {} };
  const sends: number[] = [];
  const send = (messages: BaseMessage[]) => {
    for (const message of messages) expect(message).toHaveProperty("getType");
    const sent = messages.map((message) => [message.getType(), message.content, (message as AIMessage).tool_calls]);
    const tokens = Math.ceil(JSON.stringify(sent).length / 4);
    sends.push(tokens);
    if (tokens <= LIMIT) return "answer";
    throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`), { status: 400 });
  };
  for (const turns of [12, 13]) {
    const spillway = await createSpillway(parts);
    expect(await spillway.call(talk(turns), send, { systemAndTools: "" })).toBe("answer");
  }
  expect(sends.map((tokens) => tokens > LIMIT)).toEqual([true, false, false]);
  expect(sends[1]).toBeGreaterThan(LIMIT / 4);
});
