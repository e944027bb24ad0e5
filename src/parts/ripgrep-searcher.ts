import type { Searcher, SearchHit, SearchOutcome, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { SpillwayError } from "../errors.ts";
import { literalColumns, ripgrepColumns } from "./match-columns.ts";
import { type RipgrepEnd, type RipgrepInput, type RipgrepRun, runRipgrep } from "./run-ripgrep.ts";
import { readChunks } from "./source-chunks.ts";
import { stopAfter } from "./stop-after.ts";

/** Rows read one by one before a second run only counts: beyond this, printing costs more than searching again. */
const MOST_ROWS = 5000;

/** Runs ripgrep, whose time is linear in the text whatever the pattern. Where it cannot be started, `plain` serves. */
export function ripgrepSearcher(rgPath: string, plain: Searcher): Searcher {
  return {
    name: "ripgrep",
    async search(source, request) {
      request.signal?.throwIfAborted();
      const stop = stopAfter(request.deadlineMs, request.signal);
      try {
        return await searchWith(rgPath, source, request, stop.signal);
      } catch (error) {
        if (!isStartFault(error)) throw error;
        return plain.search(source, request);
      } finally {
        stop.done();
      }
    },
  };
}

async function searchWith(
  rgPath: string,
  source: SearchSource,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const pattern = patternArguments(request);
  // With --crlf a $ matches before \r\n, but \r itself cannot be asked for.
  let lineEnds = ["--crlf"];
  let file = source.file;

  async function run(args: string[], onOutput: RipgrepRun["onOutput"], chunks?: AsyncIterable<Uint8Array>) {
    let hasOutput = false;
    const take = (chunk: Buffer) => {
      hasOutput = true;
      return onOutput(chunk);
    };
    for (;;) {
      const input: RipgrepInput = chunks || file === null ? { chunks: chunks ?? readChunks(source) } : { file };
      const end = await runRipgrep(rgPath, {
        args: [...lineEnds, ...pattern, ...args],
        input,
        onOutput: take,
        signal,
      });
      request.signal?.throwIfAborted();
      if (end.code !== 2) return end;
      if (hasOutput) throw new SpillwayError("store-unavailable", "The artifact could not be read to its end.");
      if (lineEnds.length > 0 && end.complaint.includes('literal "\\r" is not allowed')) lineEnds = [];
      // The store may have packed the file away since it named it.
      else if ("file" in input && /\(os error \d+\)/.test(end.complaint)) file = null;
      else throw badPattern(end);
    }
  }

  const found = await findRows(run, request);
  let { total, reachedLine } = found;
  if (found.isFull && !signal.aborted) {
    let text = "";
    const { code } = await run(["--count", "--include-zero"], (chunk) => {
      text += chunk.toString("latin1");
      return false;
    });
    if (code !== null) {
      total = Number.parseInt(text, 10);
      reachedLine = null;
    }
  }
  const columns =
    request.literal && !request.ignoreCase
      ? await literalColumns(source, found.hits, Buffer.from(request.pattern), signal)
      : await ripgrepColumns(source, found.hits, run);
  request.signal?.throwIfAborted();
  return { total, hits: found.hits.map((hit, index) => ({ ...hit, column: columns[index] ?? 0 })), reachedLine };
}

type Run = (args: string[], onOutput: RipgrepRun["onOutput"]) => Promise<RipgrepEnd>;

interface Rows extends SearchOutcome {
  /** Ended with rows unread. */
  isFull: boolean;
}

/** One row a matching line: its number and where it begins. Its text is left out, so rows are short. */
async function findRows(run: Run, { fromLine, maxHits }: SearchRequest): Promise<Rows> {
  const hits: SearchHit[] = [];
  let total = 0;
  let rest = "";
  let lastLine = 0;
  let isFull = false;
  const { code } = await run(["--line-number", "--byte-offset", "--max-columns=1"], (chunk) => {
    const rows = (rest + chunk.toString("latin1")).split("\n");
    rest = rows.pop() ?? "";
    for (const row of rows) {
      const [line, lineByte] = row.split(":", 2).map(Number) as [number, number];
      total++;
      lastLine = line;
      if (line >= fromLine && hits.length < maxHits) hits.push({ line, lineByte, column: 0 });
    }
    isFull = hits.length >= maxHits && total > MOST_ROWS;
    return isFull;
  });
  return { total, hits, isFull, reachedLine: code === null ? lastLine : null };
}

/** A literal goes as an escaped expression, so that one path serves both and NUL can be said. */
function patternArguments({ pattern, literal, ignoreCase }: SearchRequest): string[] {
  const escaped = literal ? pattern.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, "\\$&") : pattern;
  return [`--regexp=${escaped.replaceAll("\0", "\\x00")}`, ignoreCase ? "--ignore-case" : "--case-sensitive"];
}

/** Ripgrep's own words, without advice about options that a reader does not have. */
function badPattern({ complaint }: RipgrepEnd): SpillwayError {
  const [first = "", ...more] = complaint.split("\n").filter((line) => line.trim() !== "");
  const reason = more.find((line) => line.startsWith("error:"))?.slice("error:".length) ?? first.replace(/^rg: /, "");
  return new SpillwayError("bad-input", `The pattern cannot be used: ${reason.trim().slice(0, 200)}.`);
}

function isStartFault(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn");
}
