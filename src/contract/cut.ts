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
}

/** Room that markers take: upper bounds, charged by the clamp before it keeps anything. */
export interface Room {
  /** Everything that stands once: header, footer, exit line. */
  fixed: Size;
  /** Each gap. */
  gap: Size;
}
