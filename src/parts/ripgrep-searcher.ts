import { type ChildProcess, spawn } from "node:child_process";
import type { Searcher, SearchHit, SearchOutcome, SearchRequest, SearchSource } from "../contract/searcher.ts";
import { SpillwayError } from "../errors.ts";
import { readChunks, stopAfter } from "./source-chunks.ts";

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

// Ripgrep remembers every match of a line to name the first one's column: in one line of 100 MB that is gigabytes. So the
// columns of a page's hits are found afterwards, and long lines are looked through piece by piece.

const FIRST_BYTES = 4096;
const PIECE_BYTES = 65_536;
/** A match across two pieces is seen whole if it is not longer. */
const OVERLAP_BYTES = 1024;

interface Piece {
  hit: number;
  /** Where in the line it begins. */
  from: number;
  bytes: Uint8Array;
}

/** Where each hit's line first matches, in bytes; found in bytes. */
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

/** The same for an expression: the pieces are ripgrep's lines. */
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
        // Pieces are numbered as ripgrep numbers its lines.
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

/** A hit's line without its \n: whole, or in pieces that overlap. */
async function* piecesOf(source: SearchSource, { lineByte }: SearchHit, hit: number): AsyncGenerator<Piece> {
  for (let from = 0, size = FIRST_BYTES; ; size = PIECE_BYTES) {
    const bytes = await source.read({ from: lineByte + from, to: lineByte + from + size });
    const end = bytes.indexOf(10);
    if (end >= 0) return yield { hit, from, bytes: bytes.subarray(0, end) };
    const isLast = lineByte + from + bytes.length >= source.bytes || bytes.length === 0;
    // A short first look that does not hold the whole line is taken again as a piece.
    if (isLast || size === PIECE_BYTES) yield { hit, from, bytes };
    if (isLast) return;
    if (size === PIECE_BYTES) from += PIECE_BYTES - OVERLAP_BYTES;
  }
}

/** What ripgrep is given to read: a file, or bytes that come one after another. */
type RipgrepInput = { file: string } | { chunks: AsyncIterable<Uint8Array> };

/** One run. */
interface RipgrepRun {
  args: string[];
  input: RipgrepInput;
  /** True ends the run: enough was seen. */
  onOutput: (chunk: Buffer) => boolean;
  /** Ends the run when aborted. */
  signal: AbortSignal;
}

/** How a run ended. */
interface RipgrepEnd {
  /** 0 found, 1 found nothing, 2 failed; null when it was ended from here. */
  code: number | null;
  complaint: string;
}

const MAX_COMPLAINT_CHARS = 4096;
/** So that ripgrep never waits for us while we wait for it. */
const CHUNKS_AHEAD = 4;

// No config file, no encoding guessed, no folder walked, no backtracking engine: lines are as the store counts them.
const ALWAYS = [
  "--no-config",
  "--text",
  "--encoding=none",
  "--engine=default",
  "--no-ignore",
  "--hidden",
  "--no-filename",
  "--no-heading",
  "--color=never",
  "--threads=1",
  "--regex-size-limit=10M",
  "--dfa-size-limit=10M",
];

/** Starts ripgrep itself, never a shell, and resolves once its process is gone. Rejects if it cannot be started. */
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
      // A process that never started has no end of its own.
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
  // Ripgrep may stop reading before the end; what it did not want is no fault.
  stdin.on("error", () => {});
  const writing: Promise<void>[] = [];
  for await (const chunk of chunks) {
    if (stdin.destroyed) return;
    // Called with a fault, too.
    writing.push(new Promise((resolve) => stdin.write(chunk, () => resolve())));
    if (writing.length > CHUNKS_AHEAD) await writing.shift();
  }
  stdin.end();
}
