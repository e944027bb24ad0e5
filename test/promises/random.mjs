/** The same numbers for the same seed, in the forms that cases are made of. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  int(from, to) {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** A whole number whose length in digits is as likely as any other: small ones are as frequent as large ones. */
  scale(from, to) {
    return Math.min(to, Math.floor(from * ((to + 1) / from) ** this.next()));
  }

  chance(share) {
    return this.next() < share;
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  list(count, make) {
    return Array.from({ length: count }, (_, index) => make(index));
  }

  words(count) {
    return this.list(count, () => this.pick(WORDS)).join(" ");
  }
}

const WORDS =
  "alpha build cache delta every first given house index joint known later month never order place query route state table under value where yield zebra".split(
    " ",
  );
