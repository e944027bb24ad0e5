import type { Unit } from "./limits.ts";
import type { Extent, Size, Total } from "./size.ts";

/** A stretch of the output that is shown. */
export interface Piece {
  text: string;
  /** Source bytes from the piece's first to its last. */
  source: [from: number, to: number];
  /** First and last source line of which something is shown. */
  lines: [from: number, to: number];
  /** The piece begins (or ends) inside a source line. */
  startsInside: boolean;
  endsInside: boolean;
  /** How many of these lines were folded, or have a note in the piece that stands for them. */
  foldedLines?: number;
}

/** A stretch that is not shown. */
export interface Gap {
  /** First and last source line of which something is missing here. */
  fromLine: number;
  toLine: number;
  /** Lines of which nothing is shown. */
  lines: number;
  bytes: number;
  chars: number;
  /** Said already by a note inside a piece (lines of the same shape): counted here, not marked again. */
  noted?: boolean;
}

/** What a clamp gave: which parts are shown, in order, and where every source byte went. */
export interface Cut {
  parts: (Piece | Gap)[];
  total: Total;
  kept: Extent;
  folded: Extent;
  omitted: Extent;
  /** The limit that bound; null when nothing was omitted. */
  cutBy: Unit | null;
  /** What a strategy only took a quick look at, because there was so much. */
  unscanned?: Extent;
  /** What was folded is white space between values, or that and keys that repeat, not repeats and terminal codes. */
  folds?: "space" | "keys";
  /** What a reader will miss: it stands in the output and not in the pieces. */
  hidden?: Hidden[];
  /** A strategy wrote notes into a piece, and the source has a text like them: they should carry a tag. */
  isQuoting?: boolean;
}

/** Lines that are not shown though somebody looks for them, and the pattern that finds them. */
export interface Hidden {
  pattern: string;
  /** They name failures: so many does the output count, and so many are named in what is shown. Else they have words that were asked for. */
  failures?: { counted: number; shown: number };
}

/** Room that markers take: upper bounds, charged by the clamp before it keeps anything. */
export interface Room {
  /** Everything that stands once: header, footer, exit line. */
  fixed: Size;
  gap: Size;
  /** All that may be shown, in characters, where the limits alone would let markers make an output longer than it came. */
  mostChars?: number;
  /** What a strategy's own notes carry, so that they are told from the source's; nothing unless the source quotes us. */
  tag?: string;
}

/** A stretch of lines with the reason why it is shown or not. */
export interface ExplainedBlock {
  fromLine: number;
  toLine: number;
  shown: boolean;
  /** What the stretch is to the strategy: failure, start, surroundings, repeats ... */
  kind: string;
  /** The highest score in it; natural logarithm of a line's worth. */
  score: number;
  /** What spoke most for that line, and against it. */
  features: string[];
  /** The line itself, shortened. */
  line: string;
  lineNumber?: number;
}
