// Old results of a long conversation are shown shorter in the request, in rare steps, so that the prompt cache holds. The
// application's own messages stay as they are, and what is not shown can be read back.
import assert from "node:assert/strict";
import { createSpillway } from "spillway";
import { memoryLedger, memoryStore } from "spillway/extend";

const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
const messages = [{ role: "user", content: "Find out why the nightly build is slow." }];
const requests = [];
for (let step = 0; step < 24; step++) {
  const id = `call_${step}`;
  const file = Array.from({ length: 300 }, (_, at) => `file ${step}, line ${at + 1}`).join("\n");
  messages.push(
    { role: "assistant", content: [{ type: "tool_use", id, name: "read_file", input: { path: `${step}.ts` } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: file }] },
  );
  const prepared = await spillway.prepare(messages, { wire: "anthropic", session: "s", window: 32_000 });
  requests.push(JSON.stringify(prepared.messages));
}

const whole = JSON.stringify(messages).length;
const last = requests.at(-1);
console.log(`the conversation has ${whole} characters, its last request ${last.length}`);
assert(last.length < whole / 2, "the last request is shorter");
assert(
  last.includes("file 23, line 300") && !last.includes("file 0, line 150"),
  "the newest result is whole, the oldest is not",
);
assert(JSON.stringify(messages).includes("file 0, line 150"), "the application's messages were not changed");
// A request that begins as the one before it did is read from the provider's cache.
const isWarm = (at) => requests[at].startsWith(requests[at - 1].slice(0, -1));
const warm = requests.slice(1).filter((_request, at) => isWarm(at + 1)).length;
console.log(`${warm} of ${requests.length - 1} requests go on where the one before ended`);
assert(warm >= requests.length - 4);
const id = /artifact ([a-z2-7]{12})/.exec(last)?.[1];
const { text } = await spillway.recall(id, { lines: [150, 150] });
assert.match(text, /^file \d+, line 150\n$/);
console.log(`read back from ${id}: ${text.trim()}`);
