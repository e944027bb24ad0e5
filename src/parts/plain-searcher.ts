import type { Searcher, SearchOutcome, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { startLiteralScan } from "./literal-scan.ts";
import { startRegexWorker } from "./regex-worker.ts";
import { readChunks } from "./source-chunks.ts";
import { stopAfter } from "./stop-after.ts";

/** Small enough to say well how far a search came. */
const STEP_BYTES = 1024 * 1024;

/**
 * Needs nothing but Node, for where there is no ripgrep. Literals are found in bytes. Expressions are JavaScript's and may
 * take exponential time, so they run in a thread of their own that ends at the deadline.
 */
export function plainSearcher(): Searcher {
  return {
    name: "plain",
    async search(source, request) {
      request.signal?.throwIfAborted();
      const stop = stopAfter(request.deadlineMs, request.signal);
      try {
        return await scanAll(source, request, stop.signal);
      } finally {
        stop.done();
      }
    },
  };
}

async function scanAll(source: SearchSource, request: SearchRequest, signal: AbortSignal): Promise<SearchOutcome> {
  const scan =
    request.literal && !request.ignoreCase ? startLiteralScan(request) : await startRegexWorker(request, signal);
  try {
    let isThrough = true;
    for await (const chunk of readChunks(source, STEP_BYTES)) {
      isThrough = !signal.aborted && (await scan.add(chunk));
      if (!isThrough) break;
    }
    // An empty chunk says that the last line has no more.
    isThrough &&= await scan.add(new Uint8Array(0));
    request.signal?.throwIfAborted();
    const found = scan.found();
    return { ...found, reachedLine: isThrough ? null : found.reachedLine };
  } finally {
    await scan.end();
  }
}
