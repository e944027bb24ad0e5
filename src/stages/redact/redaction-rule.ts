import type { ByteSet } from "./byte-set.ts";
import type { Window } from "./window.ts";

/** A rule shows itself by its first bytes: this many are compared before a rule is tried. */
export const HEAD_BYTES = 4;

/** A stretch of one set's bytes within a program. */
export interface Item {
  set: ByteSet;
  min: number;
  /** Infinity where it has no end. */
  max: number;
}

/**
 * One way a rule's secret can look: items one after another, each taken as far as it goes. No item that may be longer is
 * followed by one that shares a byte with it, so taking it whole is never wrong and nothing is ever tried twice.
 */
export interface Program {
  items: readonly Item[];
  /** Which items are replaced: from the first to before the last. */
  secret: [from: number, to: number];
  /** None of these bytes stands right before it: it does not begin within a word. Null where it may. */
  startsAfter: ByteSet | null;
  /** No word goes on after it. */
  endsWord: boolean;
}

/** Source bytes to replace. `goesOn`: further bytes of this set belong to it, should they come. */
export interface Found {
  from: number;
  to: number;
  goesOn?: ByteSet | undefined;
  /** The lines that follow may belong to it: a key block begins. */
  opensBlock?: boolean;
}

/** What a look at one place gave: a secret, none, or that more bytes are needed to tell. */
export type Look = Found | "none" | "more";

/** What would be a secret if its word ended: it is one if another secret begins from `least` to `most`. */
export interface Touching {
  from: number;
  least: number;
  most: number;
}

/** What became of a stream's bytes, in order. */
export interface Sightings {
  /** Source bytes that were handed on as they came. They are only read during the call. */
  passed(bytes: Uint8Array): void;
  /** This mark was handed on in a secret's place. */
  mark(mark: Uint8Array): void;
  /** The last mark stands for this many source bytes more. */
  covered(bytes: number): void;
}

/** A shape of secrets, and the name that stands in their place. */
export interface RedactionRule {
  readonly name: string;
  /** Where to look: a place is a candidate if a program could begin there. */
  readonly programs: readonly Program[];
  /** What must stand right before it, byte by byte. */
  readonly before?: readonly ByteSet[];
  /** What stands right before it is a part of the secret. */
  readonly hidesBefore?: boolean;
  /** What else must hold for the bytes found. */
  readonly accept?: (bytes: Uint8Array, from: number, to: number) => boolean;
  /** Takes the programs' place once one of them has matched: `at` is where it began, `end` where it ended. */
  readonly find?: (window: Window, at: number, end: number) => Look;
}

/** A rule as a person writes it: a regular expression of the subset that takes linear time, or a text taken literally. */
export type RuleInput = { name: string; ignoreCase?: boolean } & (
  | { pattern: string; literal?: never }
  | { literal: string; pattern?: never }
);
