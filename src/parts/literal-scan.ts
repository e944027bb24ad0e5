import type { SearchHit, SearchRequest } from "../contract/searcher.ts";
import type { Scan } from "./scan.ts";

/** Finds a literal in bytes, however they are chunked, in memory of a chunk. */
export function startLiteralScan({ pattern, fromLine, maxHits }: SearchRequest): Scan {
  const literal = Buffer.from(pattern);
  const hits: SearchHit[] = [];
  let total = 0;
  let line = 1;
  let lineByte = 0;
  let isCounted = false;
  let held = Buffer.alloc(0);
  let heldAt = 0;

  // Goes to `to`, counting the lines that begin on the way.
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
        // A line that is counted has nothing more to say.
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
      // What may be the start of a match stays; at the end there is none.
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
