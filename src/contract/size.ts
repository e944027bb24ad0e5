/** Four ways to say how large a text is. Chars are UTF-16 units, as JavaScript and most providers count them. */
export interface Size {
  bytes: number;
  chars: number;
  lines: number;
  tokens: number;
}

/** How much of a source: what a receipt accounts for. */
export interface Extent {
  bytes: number;
  lines: number;
}

/** A whole output as it came: chars are those of its decoded text, an invalid sequence counting as one U+FFFD. */
export interface Total extends Extent {
  chars: number;
  /** One less than the lines if the last one has no break. */
  breaks: number;
}
