// The stages by themselves: no store, no Node module, so that they run in a browser or at the edge too.
import assert from "node:assert/strict";
import { clampText, measureText } from "spillway/stages";

const output = Array.from({ length: 5000 }, (_, at) => (at === 3210 ? "ERROR: disk full" : `ok ${at + 1}`)).join("\n");
const { text, receipt } = clampText(output, { maxLines: 12, maxChars: 800 }, { tool: "run_command" });
console.log(text);
assert(text.includes("ERROR: disk full"), "the line that matters is shown");
assert(text.length <= 800 && measureText(text).lines <= 12, "it is within its limits, markers included");
const { kept, folded, redacted, omitted, total } = receipt;
assert.equal(kept.bytes + folded.bytes + redacted.bytes + omitted.bytes, total.bytes, "every byte is accounted for");
