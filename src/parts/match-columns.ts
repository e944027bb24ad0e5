import type { SearchHit, SearchSource } from "../contract/searcher.ts";
import type { RipgrepEnd } from "./run-ripgrep.ts";

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
export async function literalColumns(
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
export async function ripgrepColumns(
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
