import type { Searcher, SearchHit, SearchOutcome, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { stopAfter } from "../deadline.ts";
import { type Scan, startRegexWorker } from "./regex-worker.ts";
import { readChunks } from "./source-chunks.ts";

/** A step is small enough that the outcome can say exactly how far a search came. */
const STEP_BYTES = 1024 * 1024;

/**
 * Searches with nothing but Node. It is used if there is no ripgrep. Literals are found in bytes: 100 MB take 50 ms of CPU,
 * where the thread takes 200 ms, and 20 ms to start for the smallest output. Expressions are JavaScript's and may take
 * exponential time, so they run in their own thread, which ends at the deadline.
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
    // An empty chunk says that the last line has ended.
    isThrough &&= await scan.add(new Uint8Array(0));
    request.signal?.throwIfAborted();
    const found = scan.found();
    return { ...found, reachedLine: isThrough ? null : found.reachedLine };
  } finally {
    await scan.end();
  }
}

/** Finds a literal in bytes. How the bytes are split into chunks makes no difference. Memory holds one chunk. */
export function startLiteralScan({ pattern, fromLine, maxHits }: SearchRequest): Scan {
  const literal = Buffer.from(pattern);
  const hits: SearchHit[] = [];
  let total = 0;
  let line = 1;
  let lineByte = 0;
  let isCounted = false;
  let held = Buffer.alloc(0);
  let heldAt = 0;

  // Moves to `to` and counts the lines that begin on the way.
  function advance(bytes: Buffer, from: number, to: number): void {
    for (let brk = bytes.indexOf(10, from); brk >= 0 && brk < to; brk = bytes.indexOf(10, brk + 1)) {
      line++;
      lineByte = heldAt + brk + 1;
      isCounted = false;
    }
  }

  return {
    add(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      let at = 0;
      for (;;) {
        // If the line is counted already, skips to the next line.
        const start = isCounted ? bytes.indexOf(10, at) : at;
        const match = start < 0 ? -1 : bytes.indexOf(literal, start);
        if (match < 0) break;
        advance(bytes, at, match);
        at = match;
        isCounted = true;
        total++;
        if (line >= fromLine && hits.length < maxHits) {
          hits.push({ line, lineByte, column: heldAt + match - lineByte });
        }
      }
      // Keeps the bytes that may be the start of a match in the next chunk.
      const keepFrom = Math.max(at, bytes.length - literal.length + 1);
      advance(bytes, at, keepFrom);
      held = Buffer.from(bytes.subarray(keepFrom));
      heldAt += keepFrom;
      return true;
    },
    found: () => ({ total, hits, reachedLine: line - 1 }),
    end() {},
  };
}
