import type { Store } from "../contract/store.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { within } from "../stages/spill/within.ts";
import { startSplit } from "../stages/summarize/split-text.ts";

/** Read at a time: no more of an artifact is ever held than this and one piece. */
const READ_BYTES = 256 * 1024;

/** An artifact's text in pieces of at most `maxChars`. Throws if it cannot be read to its end. */
export async function* artifactPieces(
  store: Store,
  id: string,
  scope: string,
  bytes: number,
  maxChars: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const split = startSplit(maxChars);
  for (let from = 0; from < bytes; ) {
    const reading = Promise.resolve(store.read(id, scope, { from, to: from + READ_BYTES }));
    const read = await within(reading, NUMBERS.spillDeadlineMs.default, "reading an artifact");
    if (!(read instanceof Uint8Array) || read.length === 0) throw new Error("its artifact could not be read");
    from += read.length;
    yield* split.add(decoder.decode(read, { stream: from < bytes }));
  }
  yield* split.end();
}
