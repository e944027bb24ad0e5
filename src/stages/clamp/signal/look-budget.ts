/** Of what comes after the bytes that are judged in full at most so much is: times those, and a share of what passed. */
const LOOKED_FIRST = 3;
const LOOKED_SHARE = 0.002;
/** Looking at a line that then is not judged costs this share of judging it. */
const GLANCE_SHARE = 0.5;
/** What is looked at in one go before that is seen to. */
const BURST_BYTES = 8192;

/** How much of a very long output is looked at: where nearly every line could tell of a failure, only some of them are. */
export class LookBudget {
  readonly #firstBytes: number;
  #looked = 0;
  #waitUntil = 0;

  constructor(fullBytes: number) {
    this.#firstBytes = fullBytes * LOOKED_FIRST;
  }

  /** So many bytes were judged when `passed` had gone by. */
  judged(bytes: number, passed: number): void {
    this.#looked += bytes;
    const above = this.#looked - this.#firstBytes;
    if (above - passed * LOOKED_SHARE > BURST_BYTES) this.#waitUntil = Math.floor(above / LOOKED_SHARE);
  }

  /** So many were looked at and found dull. */
  glanced(bytes: number, passed: number): void {
    this.judged(bytes * GLANCE_SHARE, passed);
  }

  /** How many bytes go by unseen when `passed` have gone by; none if it is not above 0. */
  waits(passed: number): number {
    return this.#waitUntil - passed;
  }
}
