import { LINE_FEATURES } from "./line-features.ts";
import { LINE_WEIGHTS } from "./weights.ts";

const MOST_FEATURES = 160;

/** What one line is like. One object serves line after line. */
export class LineLook {
  /** Sum of the weights of its features. */
  score = 0;
  /** Its features, `count` of them, once they are asked for. */
  features = new Uint16Array(0);
  count = 0;
  blank = false;
  /** Has bytes that are not ASCII. */
  wide = false;
  indent = 0;
  /** Hash of its shape, and of the shape of its start. */
  shape = 0;
  startShape = 0;
  /** Hash of its text. */
  textHash = 0;
  /** Ends a step that failed (1) or went well (2). */
  exit = 0;
  isFrame = false;
  isHeader = false;
  isCommand = false;
  isWarning = false;
  /** Says that something failed. */
  tellsFailure = false;
  #stamps = new Uint32Array(LINE_FEATURES);
  #stamp = 0;

  /** From now on says which features a line has. */
  record(): void {
    this.features = new Uint16Array(MOST_FEATURES);
  }

  /** Adds a feature once. */
  put(feature: number): void {
    if (this.#stamps[feature] === this.#stamp) return;
    this.#stamps[feature] = this.#stamp;
    this.score += LINE_WEIGHTS[feature] as number;
    if (this.count < this.features.length) this.features[this.count++] = feature;
  }

  /** Adds a feature that nothing else adds, and that nobody asks for with `has`. */
  putNew(feature: number): void {
    this.score += LINE_WEIGHTS[feature] as number;
    if (this.count < this.features.length) this.features[this.count++] = feature;
  }

  has(feature: number): boolean {
    return this.#stamps[feature] === this.#stamp;
  }

  /** Forgets the line before. */
  begin(): void {
    this.score = 0;
    this.count = 0;
    this.blank = false;
    this.wide = false;
    this.indent = 0;
    this.exit = 0;
    this.isFrame = this.isHeader = this.isCommand = this.isWarning = this.tellsFailure = false;
    this.#stamp++;
  }
}
