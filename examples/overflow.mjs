// Was that a refusal for size? The verdict by itself, for a loop of your own that recovers in its own way.
import assert from "node:assert/strict";
import { classify, compileSignatures } from "spillway/overflow";

const message = "prompt is too long: 212451 tokens > 200000 maximum";
const refusal = Object.assign(new Error(message), {
  status: 400,
  error: { type: "error", error: { type: "invalid_request_error", message } },
});
const verdict = classify(refusal);
console.log(`${verdict.kind}: ${verdict.observedTokens} tokens of at most ${verdict.limitTokens}`);
assert.deepEqual([verdict.kind, verdict.limitTokens], ["context-overflow", 200_000]);
const busy = classify(Object.assign(new Error("rate limit reached"), { status: 429 }));
assert.notEqual(busy.kind, "context-overflow");
// A provider that nobody knows yet: its words as data.
const rules = compileSignatures([{ rule: "mine", kind: "context-overflow", text: ["Kontext ist voll"] }]);
assert.equal(classify(new Error("Der Kontext ist voll."), { rules }).kind, "context-overflow");
console.log("a signature of one's own is known too");
