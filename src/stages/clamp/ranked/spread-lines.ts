import { copyOf, type HeldLine, type LineHolder, lineCost } from "./ranked-lines.ts";

/** Lines of one rank, as many as about `mostBytes` hold, from all over the output: each second one, each fourth ... */
export class SpreadLines implements LineHolder {
  readonly #mostBytes: number;
  #lines: HeldLine[] = [];
  #bytes = 0;
  #count = 0;
  #stride = 1;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(line: HeldLine): void {
    if (this.#count++ % this.#stride !== 0) return;
    this.#lines.push(copyOf(line));
    this.#bytes += lineCost(line);
    if (this.#bytes <= this.#mostBytes || this.#lines.length < 2) return;
    this.#lines = this.#lines.filter((_, index) => index % 2 === 0);
    this.#bytes = this.#lines.reduce((sum, held) => sum + lineCost(held), 0);
    this.#stride *= 2;
  }

  lines(): HeldLine[] {
    return this.#lines;
  }
}
