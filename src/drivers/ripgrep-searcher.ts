import { type ChildProcess, spawn } from "node:child_process";
import type { Searcher, SearchHit, SearchOutcome, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { stopAfter } from "../deadline.ts";
import { badPattern, SpillwayError } from "../errors.ts";
import { readChunks } from "./source-chunks.ts";

/**
 * How many rows are read one by one. Beyond this a second run only counts, because printing rows costs more than
 * searching again.
 */
const MOST_ROWS = 5000;

/** Searches with ripgrep, which takes linear time for every pattern. If ripgrep cannot be started, uses `plain`. */
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
  // With --crlf, $ matches before \r\n, but a pattern cannot contain \r itself.
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
      // The store may have removed the file after it named it.
      else if ("file" in input && /\(os error \d+\)/.test(end.complaint)) file = null;
      else throw patternFault(end);
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
  /** True if the search ended with rows unread. */
  isFull: boolean;
}

/**
 * Reads one row for each matching line: its number and the offset at which it begins. Leaves the text out, so that rows
 * are short.
 */
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

/** Passes a literal as an escaped expression, so that both kinds take the same path and a NUL can be written. */
function patternArguments({ pattern, literal, ignoreCase }: SearchRequest): string[] {
  const escaped = literal ? pattern.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, "\\$&") : pattern;
  return [`--regexp=${escaped.replaceAll("\0", "\\x00")}`, ignoreCase ? "--ignore-case" : "--case-sensitive"];
}

/** Returns ripgrep's reason, without its advice about options that a reader does not have. */
function patternFault({ complaint }: RipgrepEnd): SpillwayError {
  const [first = "", ...more] = complaint.split("\n").filter((line) => line.trim() !== "");
  const reason = more.find((line) => line.startsWith("error:"))?.slice("error:".length) ?? first.replace(/^rg: /, "");
  return badPattern(reason.trim().slice(0, 200));
}

function isStartFault(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn");
}

// To report a column, ripgrep remembers every match of a line. For one line of 100 MB that takes gigabytes. So the
// columns of a page's hits are found afterwards, and long lines are searched piece by piece.

const FIRST_BYTES = 4096;
const PIECE_BYTES = 65_536;
/** The overlap of two pieces. A match across two pieces is found if it is not longer than this. */
const OVERLAP_BYTES = 1024;

interface Piece {
  hit: number;
  /** The offset in the line at which the piece begins. */
  from: number;
  bytes: Uint8Array;
}

/** Returns where each hit's line first matches, as an offset in bytes. */
async function literalColumns(
  source: SearchSource,
  hits: SearchHit[],
  literal: Buffer,
  signal: AbortSignal,
): Promise<number[]> {
  const columns: number[] = [];
  for (const [index, hit] of hits.entries()) {
    for await (const { from, bytes } of piecesOf(source, hit, index)) {
      const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(literal);
      if (at >= 0) columns[index] = from + at;
      if (at >= 0 || signal.aborted) break;
    }
  }
  return columns;
}

/** Does the same for an expression. Ripgrep gets the pieces as lines. */
async function ripgrepColumns(
  source: SearchSource,
  hits: SearchHit[],
  run: (args: string[], onOutput: (chunk: Buffer) => boolean, chunks: AsyncIterable<Uint8Array>) => Promise<RipgrepEnd>,
): Promise<number[]> {
  const columns: number[] = [];
  if (hits.length === 0) return columns;
  const pieces: Omit<Piece, "bytes">[] = [];
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (const [index, hit] of hits.entries()) {
      for await (const { bytes, ...piece } of piecesOf(source, hit, index)) {
        // The position in `pieces` is ripgrep's line number less one.
        pieces.push(piece);
        yield Buffer.concat([bytes, LINE_BREAK]);
        if (columns[index] !== undefined) break;
      }
    }
  }
  let rest = "";
  await run(
    ["--line-number", "--column", "--max-columns=1"],
    (chunk) => {
      const rows = (rest + chunk.toString("latin1")).split("\n");
      rest = rows.pop() ?? "";
      for (const row of rows) {
        const [line, column] = row.split(":", 2).map(Number) as [number, number];
        const piece = pieces[line - 1];
        if (piece !== undefined) columns[piece.hit] ??= piece.from + column - 1;
      }
      return false;
    },
    lines(),
  );
  return columns;
}

const LINE_BREAK = Uint8Array.of(10);

/** Yields a hit's line without its line feed, whole or in pieces that overlap. */
async function* piecesOf(source: SearchSource, { lineByte }: SearchHit, hit: number): AsyncGenerator<Piece> {
  for (let from = 0, size = FIRST_BYTES; ; size = PIECE_BYTES) {
    const bytes = await source.read({ from: lineByte + from, to: lineByte + from + size });
    const end = bytes.indexOf(10);
    if (end >= 0) return yield { hit, from, bytes: bytes.subarray(0, end) };
    const isLast = lineByte + from + bytes.length >= source.bytes || bytes.length === 0;
    // If the short first read does not hold the whole line, the same place is read again as a full piece.
    if (isLast || size === PIECE_BYTES) yield { hit, from, bytes };
    if (isLast) return;
    if (size === PIECE_BYTES) from += PIECE_BYTES - OVERLAP_BYTES;
  }
}

/** What ripgrep reads: a file, or bytes that come in chunks. */
type RipgrepInput = { file: string } | { chunks: AsyncIterable<Uint8Array> };

interface RipgrepRun {
  args: string[];
  input: RipgrepInput;
  /** Returns true to end the run, because enough was seen. */
  onOutput: (chunk: Buffer) => boolean;
  /** Ends the run if it aborts. */
  signal: AbortSignal;
}

interface RipgrepEnd {
  /** 0: found something, 1: found nothing, 2: failed, null: this process ended the run. */
  code: number | null;
  complaint: string;
}

const MAX_COMPLAINT_CHARS = 4096;
/** How many chunks are written ahead, so that ripgrep never waits for input. */
const CHUNKS_AHEAD = 4;

// Ripgrep reads no config file, guesses no encoding, walks no folder and does not backtrack. Its lines are those that
// the store counts.
const ALWAYS = (
  "--no-config --text --encoding=none --engine=default --no-ignore --hidden --no-filename --no-heading --color=never " +
  "--threads=1 --regex-size-limit=10M --dfa-size-limit=10M"
).split(" ");

/** Starts ripgrep directly, never a shell. Resolves when its process has ended. Rejects if it cannot be started. */
function runRipgrep(rgPath: string, run: RipgrepRun): Promise<RipgrepEnd> {
  const { input, signal } = run;
  const isFile = "file" in input;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve({ code: null, complaint: "" });
    const child = spawn(rgPath, [...ALWAYS, ...run.args, "--", isFile ? input.file : "-"], {
      env: process.platform === "win32" ? { SystemRoot: process.env.SystemRoot } : {},
      stdio: [isFile ? "ignore" : "pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    let complaint = "";
    let fault: unknown;
    const end = () => void child.kill("SIGKILL");
    signal.addEventListener("abort", end);
    child.stdout?.on("data", (chunk: Buffer) => {
      if (fault === undefined && run.onOutput(chunk)) end();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
    });
    child.on("error", (error) => {
      fault = error;
      // If the process never started, there is no close event.
      if (child.pid === undefined) finish(null);
    });
    child.on("close", finish);
    if (!isFile) {
      feed(child, input.chunks).catch((error: unknown) => {
        fault ??= error;
        end();
      });
    }
    function finish(code: number | null): void {
      signal.removeEventListener("abort", end);
      if (fault !== undefined) reject(fault);
      else resolve({ code, complaint });
    }
  });
}

async function feed({ stdin, exitCode }: ChildProcess, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  if (stdin === null || exitCode !== null) return;
  // Ripgrep may stop reading before the end. That is no fault.
  stdin.on("error", () => {});
  const writing: Promise<void>[] = [];
  for await (const chunk of chunks) {
    if (stdin.destroyed) return;
    // The callback also runs if the write fails.
    writing.push(new Promise((resolve) => stdin.write(chunk, () => resolve())));
    if (writing.length > CHUNKS_AHEAD) await writing.shift();
  }
  stdin.end();
}
