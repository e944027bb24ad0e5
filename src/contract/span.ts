/**
 * A stretch of an output on its way into a strategy. Spans come in source order and cover the source without a hole.
 * `bytes` is what may be shown for it and is only valid during the call: copy what you keep with
 * `new Uint8Array(bytes)`, since `slice` of a Node Buffer is no copy.
 */
export interface Span {
  /**
   * source: `bytes` are exactly the source bytes `from` to `to`; may begin and end anywhere, also inside a character.
   * rewritten: whole source lines of which some bytes were left out or changed places; every byte shown is one of theirs.
   * note: our words for whole source lines that are not shown; never cut in two.
   */
  kind: "source" | "rewritten" | "note";
  bytes: Uint8Array;
  /** The source range, in bytes. */
  from: number;
  to: number;
  /** The source line (1-based) in which `from` stands. */
  line: number;
  /** Line breaks in the source range; the source's last line may have none. On a source span -1 where not counted. */
  breaks: number;
  /** UTF-16 units in the source range. On a source span -1 where not counted. */
  chars: number;
  /** What a note's lines count as on the receipt: exact repeats are folded, lines of the same shape omitted. */
  counts?: "folded" | "omitted";
}

/** Takes spans one after another. */
export type TakeSpan = (span: Span) => void;
