/** A secret is known by its first 16 KiB; once known, it is covered for as long as its shape goes on. */
export const MAX_SECRET_BYTES = 16 * 1024;

/** How much is looked at in one go: bounds the queue of candidates and what is copied. */
export const WINDOW_BYTES = 64 * 1024;

/** Bytes kept of what went before, so that a word's border can be judged at a chunk's start. */
export const BEHIND_BYTES = 32;

/** A rule shows itself by its first bytes: this many are compared before a rule is tried. */
export const HEAD_BYTES = 4;
