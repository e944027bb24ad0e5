import { expect, it } from "vitest";
import { type Format, formats } from "../../test/recovery/formats.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const LIMIT = 6000;

/** Sends a conversation request by request, and counts refusals. */
async function refusalsOf(format: Format, note: string): Promise<number> {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
  let refusals = 0;
  const send = (messages: unknown[]) => {
    const tokens = Math.ceil(messages.map((message) => format.sent(message)).join("").length / 4);
    if (tokens <= LIMIT) return { usage: { input_tokens: tokens } };
    refusals++;
    throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`), { status: 400 });
  };
  const messages = [format.user("go")];
  for (let turn = 0; turn < 120; turn++) {
    messages.push(...format.turn(`c${turn}`, `result ${turn} `.repeat(20), note));
    await spillway.call(messages, send, { wire: format.wire, systemAndTools: {} });
  }
  return refusals;
}

it("a recovery leaves room, so that the next turns are not refused too", async () => {
  // Arguments are too short to be pruned, and results have little to give. Without room there are 13.
  expect(await refusalsOf(formats.anthropic as Format, "note ".repeat(50))).toBeLessThanOrEqual(10);
});
