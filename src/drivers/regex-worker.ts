import { type MessagePort, Worker } from "node:worker_threads";
import type { SearchHit, SearchOutcome, SearchRequest } from "../contract/searcher.ts";
import { badPattern } from "../errors.ts";

/** Searches bytes chunk by chunk. The caller always calls `end`. */
export interface Scan {
  /** Reads the bytes only until it resolves. Returns false if the search was stopped before it finished. */
  add(bytes: Uint8Array): Promise<boolean> | boolean;
  found(): Omit<SearchOutcome, "reachedLine"> & { reachedLine: number };
  end(): Promise<void> | void;
}

/** The most bytes of a line that are held. A longer line is searched as if it ended here. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

interface Block {
  bytes: Uint8Array;
  /** The offset in the source at which the block begins. */
  at: number;
  /** The line that contains this offset, and the offset at which that line begins. */
  line: number;
  lineByte: number;
  maxHits: number;
}

interface BlockResult {
  total: number;
  /** Line numbers. Both are absent if nothing matched. */
  firstMatch?: number;
  lastMatch?: number;
  hits: SearchHit[];
}

/** Searches for an expression in a thread. If the signal aborts, the thread ends, even in the middle of a match. */
export async function startRegexWorker(request: SearchRequest, signal: AbortSignal): Promise<Scan> {
  const { source, flags } = compile(request);
  const worker = new Worker(`(${searchBlocks.toString()})(require("node:worker_threads"))`, {
    eval: true,
    workerData: { source, flags, fromLine: request.fromLine },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const hits: SearchHit[] = [];
  let total = 0;
  let line = 1;
  let lineByte = 0;
  let lastMatch = 0;
  let held = Buffer.alloc(0);
  let heldAt = 0;

  function ask(block: Block): Promise<BlockResult | null> {
    return new Promise((resolve) => {
      const finish = (result: BlockResult | null) => {
        worker.off("message", finish).off("exit", fail).off("error", fail);
        signal.removeEventListener("abort", fail);
        resolve(result);
      };
      const fail = () => finish(null);
      if (signal.aborted) return fail();
      worker.on("message", finish).on("exit", fail).on("error", fail);
      signal.addEventListener("abort", fail);
      worker.postMessage(block, []);
    });
  }

  return {
    async add(chunk) {
      const isEnd = chunk.length === 0;
      const bytes = Buffer.concat([held, chunk]);
      const lastBreak = bytes.lastIndexOf(10);
      const isTooLong = lastBreak < 0 && bytes.length > MAX_LINE_BYTES;
      const cut = isEnd || isTooLong ? bytes.length : lastBreak + 1;
      if (cut > 0) {
        const maxHits = request.maxHits - hits.length;
        const result = await ask({ bytes: bytes.subarray(0, cut), at: heldAt, line, lineByte, maxHits });
        if (result === null) return false;
        // If a line spans two blocks, it counts once.
        const isAgain = result.total > 0 && result.firstMatch === lastMatch;
        total += result.total - (isAgain ? 1 : 0);
        hits.push(...result.hits.filter((hit) => hit.line !== lastMatch));
        lastMatch = result.lastMatch ?? lastMatch;
        for (let brk = bytes.indexOf(10); brk >= 0 && brk < cut; brk = bytes.indexOf(10, brk + 1)) {
          line++;
          lineByte = heldAt + brk + 1;
        }
      }
      held = Buffer.from(bytes.subarray(cut));
      heldAt += cut;
      return true;
    },
    found: () => ({ total, hits, reachedLine: line - 1 }),
    end: async () => void (await worker.terminate()),
  };
}

function compile({ pattern, literal, ignoreCase }: SearchRequest): { source: string; flags: string } {
  const source = literal ? pattern.replace(/[\\.+*?()|[\]{}^$/]/g, "\\$&") : pattern;
  const insensitive = ignoreCase ? "i" : "";
  let reason: unknown;
  // Tries the strict form first, in which `.` and classes match whole characters. If that form refuses an escape, tries
  // the form that browsers accept.
  for (const flags of [`u${insensitive}`, insensitive]) {
    try {
      const expression = new RegExp(source, flags);
      return { source: expression.source, flags };
    } catch (error) {
      reason ??= error;
    }
  }
  const words = reason instanceof Error ? reason.message : String(reason);
  throw badPattern(words.slice(-200));
}

/** The part of node:worker_threads that the thread uses. */
interface ThreadSide {
  parentPort: MessagePort;
  workerData: { source: string; flags: string; fromLine: number };
}

/** The thread's whole program. It is sent as text, so it must not use anything outside itself. */
function searchBlocks({ parentPort, workerData }: ThreadSide): void {
  const pattern = new RegExp(workerData.source, workerData.flags);
  parentPort.on("message", (block: Block) => {
    const bytes = Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.length);
    const hits: SearchHit[] = [];
    const matches: number[] = [];
    let total = 0;
    for (let from = 0, line = block.line; from < bytes.length; line++) {
      const brk = bytes.indexOf(10, from);
      const end = brk < 0 ? bytes.length : brk;
      const isReturn = brk > from && bytes[brk - 1] === 13;
      const text = bytes.toString("utf8", from, isReturn ? end - 1 : end);
      const match = pattern.exec(text);
      if (match !== null) {
        total++;
        matches[0] ??= line;
        matches[1] = line;
        if (line >= workerData.fromLine && hits.length < block.maxHits) {
          const lineByte = line === block.line ? block.lineByte : block.at + from;
          const column = block.at + from - lineByte + Buffer.byteLength(text.slice(0, match.index));
          hits.push({ line, lineByte, column });
        }
      }
      from = end + 1;
    }
    const reply: BlockResult = { total, hits };
    if (total > 0) Object.assign(reply, { firstMatch: matches[0], lastMatch: matches[1] });
    parentPort.postMessage(reply, []);
  });
}
