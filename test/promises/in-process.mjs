import { isDeepStrictEqual } from "node:util";
import { memoryLedger, memoryStore } from "../../dist/extend.js";
import { createSpillway } from "../../dist/index.js";
import { clampText } from "../../dist/stages.js";
import { checkBlocks } from "./blocks.mjs";
import { chunksOf } from "./cases.mjs";
import { checkText, Findings } from "./promises.mjs";
import { Source } from "./source.mjs";

/** The door `clampText`: a text, no store. */
export async function throughClampText(given) {
  const found = new Findings();
  if (given.shape === "blocks") return throughAdmit(given);
  const source = new Source(given.bytes);
  // It takes a text; what a decoder made of other bytes is one too.
  const text = source.isValid ? source : new Source(Buffer.from(source.text));
  const { limits, strategy, fold, exitCode, tool } = given;
  const options = { strategy, fold, tool, ...(exitCode !== null && { exitCode }) };
  const once = clampText(text.text, limits, options);
  checkText({ ...given, source: text }, once, found, { saves: false, hasCeiling: false });
  const twice = clampText(once.text, limits, options).text;
  found.that(twice === once.text, exitCode === null ? "twice as once" : "twice as once (exit code)", () =>
    differ(once.text, twice),
  );
  return found.list;
}

let parts = null;

/** A Spillway with a memory of its own, new after a while so that it does not grow. */
async function spillways() {
  if (parts === null || ++parts.uses > 200) {
    const store = memoryStore({ maxBytes: 1e9 });
    const common = { ledger: memoryLedger(), env: {}, redact: "off" };
    parts = {
      uses: 0,
      store,
      keeping: await createSpillway({ ...common, store }),
      other: await createSpillway({ ...common, store }),
      bare: await createSpillway({ ...common, store: null, htmlReader: null }),
    };
  }
  return parts;
}

/** The door `admit`: a text, bytes, a stream or blocks, with a store. */
export async function throughAdmit(given) {
  const found = new Findings();
  const { keeping, other, bare, store } = await spillways();
  const { limits, strategy, fold, exitCode, tool } = given;
  const request = { tool, limits, strategy, fold, ...(exitCode !== null && { exitCode }) };
  if (given.shape === "blocks") {
    await checkBlocks(
      given,
      (output) => keeping.admit({ ...request, output }),
      (id) => readAll(store, id),
      found,
    );
    return found.list;
  }
  const source = new Source(given.bytes);
  const output = given.shape === "text" && source.isValid ? source.text : Buffer.from(given.bytes);
  const { text, receipt } = await keeping.admit({ ...request, output });
  if (Buffer.isBuffer(output)) found.that(output.equals(given.bytes), "hands off", "the bytes were changed");
  const kept = receipt.artifact === null ? null : await readAll(store, receipt.artifact);
  const isPage = receipt.original !== undefined;
  const page = isPage && receipt.original !== receipt.artifact ? new Source(kept) : null;
  if (kept !== null && !isPage)
    found.that(source.bytes.equals(kept), "saved byte for byte", `artifact ${receipt.artifact}`);
  if (isPage)
    found.that(
      source.bytes.equals(await readAll(store, receipt.original)),
      "saved byte for byte",
      `original ${receipt.original}`,
    );
  if (isPage && page === null) checkConverted(text, receipt, found);
  else checkText({ ...given, source }, { text, receipt }, found, { saves: true, hasCeiling: true, page });
  // However it was chunked: a Spillway that has not seen this output reads it as a stream.
  const streamed = await other.admit({ ...request, output: streamOf(chunksOf(given)) });
  found.that(streamed.text === text, "however chunked", () => differ(text, streamed.text));
  found.that(isDeepStrictEqual({ ...streamed.receipt }, { ...receipt }), "however chunked", () =>
    differ(JSON.stringify(receipt), JSON.stringify(streamed.receipt)),
  );
  const twice = await keeping.admit({ ...request, output: text });
  found.that(twice.text === text, exitCode === null ? "twice as once" : "twice as once (exit code)", () =>
    differ(text, twice.text),
  );
  if (!isPage && source.isValid) {
    const plain = clampText(source.text, receipt.limits, {
      strategy,
      fold,
      tool,
      ...(exitCode !== null && { exitCode }),
    });
    const same = await bare.admit({ ...request, output });
    found.that(plain.text === same.text, "same by every door", () => differ(plain.text, same.text));
  }
  return found.list;
}

/** A web page of which all text is shown: the page itself is kept. */
function checkConverted(text, receipt, found) {
  found.that(receipt.saved === "yes", "receipt: saved", `saved is ${receipt.saved}`);
  found.that(/\[HTML of [\d,]+ bytes shown as text/.test(text), "never silent", text.slice(-200));
}

async function readAll(store, id) {
  const artifact = await store.find(id, "local");
  return artifact === null
    ? Buffer.alloc(0)
    : Buffer.from(await store.read(id, "local", { from: 0, to: artifact.bytes }));
}

async function* streamOf(chunks) {
  for (const chunk of chunks) {
    yield chunk;
    // Whoever lends memory uses it again.
    chunk.fill(88);
  }
}

/** Where two texts differ. */
export function differ(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 40);
  return `${one.length} and ${other.length} characters, from ${at} on: ${JSON.stringify(one.slice(from, at + 160))} and ${JSON.stringify(other.slice(from, at + 160))}`;
}
