import type { Cut, ExplainedBlock, Room } from "./cut.ts";
import type { Limits } from "./limits.ts";
import type { Total } from "./size.ts";
import type { Span } from "./span.ts";
import type { TokenCounter } from "./token-counter.ts";

/** What a strategy is told before the output comes. */
export interface StrategyRequest {
  limits: Limits;
  /** Share of the room that the output's start gets where a strategy keeps both ends. */
  headShare: number;
  counter: TokenCounter;
  /** A command's exit code, where known from the start. */
  exitCode?: number;
  /** The tool whose output it is, and the command where that is known. */
  tool?: string;
  command?: string;
  /** What somebody is after in this output: what matches is kept before what does not. */
  focus?: Focus;
  /** The last good run of the same command: a line of a sort that it has tells less. */
  known?: KnownLines;
}

/** Knows the sorts of lines of another run. Time is linear in the line. */
export interface KnownLines {
  /** How new a line is: 0 for a sort that the run has, 1 for one that it has not, a half if only names in it are others. */
  novelty(line: string, template: number): 0 | 0.5 | 1;
}

/** Knows the lines that somebody is after. Time is linear in the line. */
export interface Focus {
  /** How many words it has, 31 at most; a pattern counts as one. */
  words: number;
  /** Says which of them stand in a line, which is without its break: one bit for each, 0 for none. */
  find(line: Uint8Array): number;
  /** If it has only words: the first four bytes of each, a character for a byte, in lower case and in every way to write it. */
  starts?: readonly (readonly string[])[];
  /**
   * True if nobody asked for these words: they are what the call seems to be for. Lines in which the rare ones stand get a
   * part of the room, and what tells of a failure stays.
   */
  isSoft?: boolean;
  /** The words that name or quote something, one bit for each: they count even if they are not very rare. */
  names?: number;
  /** The words themselves, where they are known. */
  texts?: readonly string[];
  /** The words that a policy keeps and those that it drops, one bit for each. */
  keeps?: number;
  drops?: number;
  /** What went wrong while lines were looked at. */
  faults?: readonly string[];
}

/** A built-in strategy's name, or that of one handed in. */
export type StrategyName =
  | "auto"
  | "signal"
  | "json"
  | "table"
  | "diff"
  | "matches"
  | "listing"
  | "sections"
  | "outline"
  | "head"
  | "tail"
  | "head-tail"
  | (string & {});

/** Chooses which part of an output that is over its limits is shown. */
export interface Strategy {
  name: string;
  /** Takes the source as it is: nothing is folded before it. */
  exact?: boolean;
  /** The strategy that takes an output which begins so, for one that stands for others. `sample` is the first 8 KiB. */
  choose?(sample: Uint8Array, request: StrategyRequest): Choice;
  start(request: StrategyRequest): Sieve;
}

/** A strategy for one output, and the kind of output that it was chosen for. */
export interface Choice {
  strategy: Strategy;
  kind: string;
}

/** One output passing through a strategy. Memory stays O(limits). */
export interface Sieve {
  /** The span's bytes are the caller's again when this returns, and may then be overwritten: copy what you keep. */
  add(span: Span): void;
  /**
   * `exitCode` is the command's, where it became known only with the end. `plain` keeps both ends of the output as it
   * came, for what a strategy cannot choose from.
   */
  end(total: Total, exitCode?: number, plain?: Cutter): Cutter;
}

/** Makes a cut of what a sieve held on to. `cut` may be called again with other room: it decides anew and changes nothing. */
export interface Cutter {
  /** The strategy that it is from, where another one stood in. */
  strategy?: string;
  cut(room: Room): Cut;
  /** Why each part of a cut that it gave is shown or not. */
  explain?(cut: Cut): ExplainedBlock[];
}
