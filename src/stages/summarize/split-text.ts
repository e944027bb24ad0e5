import { splitsPair } from "../measure/encode-text.ts";

/** A line's end this near to a piece's own is where the piece ends. */
const NEAR_SHARE = 0.1;

/** Text that comes in chunks, given on in pieces. */
export interface TextSplit {
  add(text: string): string[];
  end(): string[];
}

/** Cuts a text into pieces of at most `maxChars`, at a line's end where one is near, never inside a character. */
export function startSplit(maxChars: number): TextSplit {
  const most = Math.max(2, maxChars);
  let rest = "";
  return {
    add(text) {
      rest += text;
      const pieces: string[] = [];
      let from = 0;
      while (rest.length - from > most) {
        const end = pieceEnd(rest, from, most);
        pieces.push(rest.slice(from, end));
        from = end;
      }
      if (from > 0) rest = rest.slice(from);
      return pieces;
    },
    end: () => (rest === "" ? [] : [rest]),
  };
}

function pieceEnd(text: string, from: number, maxChars: number): number {
  const end = from + maxChars;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > end - Math.floor(maxChars * NEAR_SHARE)) return line;
  return splitsPair(text, end) ? end - 1 : end;
}

/** The most pieces that a text of so many characters gives. */
export function mostPieces(chars: number, maxChars: number): number {
  if (chars <= maxChars) return 1;
  return Math.ceil(chars / Math.max(1, Math.floor(maxChars * (1 - NEAR_SHARE)) - 1));
}
