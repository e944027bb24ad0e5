/** What went wrong, for programs. */
export type SpillwayErrorCode =
  | "bad-limit"
  | "bad-policy"
  | "bad-config"
  | "bad-input"
  | "unknown-strategy"
  | "unknown-artifact"
  | "missing-part"
  | "store-full"
  | "store-damaged"
  | "store-unavailable"
  | "overflow";

const MARK = Symbol.for("spillway.error");

/** Every error that Spillway throws at the people who set it up. Inside an agent's call it never throws. */
export class SpillwayError extends Error {
  readonly code: SpillwayErrorCode;

  constructor(code: SpillwayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SpillwayError";
    this.code = code;
    Object.defineProperty(this, MARK, { value: true });
  }

  /** Also true for an error of another copy of this package. */
  static is(value: unknown): value is SpillwayError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/** The error for what a caller or a person said wrong. */
export function badInput(message: string, options?: ErrorOptions): SpillwayError {
  return new SpillwayError("bad-input", message, options);
}

/** A cap on what a model may cost is reached. That is no failure of the model. */
export class SpendingCapError extends Error {}

/** One thing that was tried to make a refused request smaller. */
export interface OverflowStep {
  rung: string;
  /** By our estimate. */
  freedTokens: number;
  freedBytes: number;
  /** What went wrong with it. */
  fault: string | null;
}

/** Sizes, what was tried and what a person can do. */
export interface OverflowFacts {
  /** Why the provider refused: a verdict's kind. */
  kind: string;
  provider: string | null;
  /** The request's tokens and the most it takes, by the provider's own count; null where it did not say. */
  observedTokens: number | null;
  limitTokens: number | null;
  /** The messages before and after all that was tried, by our estimate. */
  estimatedTokens: number;
  leftTokens: number;
  bytes: number;
  leftBytes: number;
  tried: OverflowStep[];
  /** How often the request was sent. */
  sends: number;
  advice: string[];
}

/** A provider refused a request for its size, and it could not be made to fit. What the provider said is the cause. */
export class OverflowError extends SpillwayError {
  readonly facts: OverflowFacts;

  constructor(message: string, facts: OverflowFacts, options?: ErrorOptions) {
    super("overflow", message, options);
    this.name = "OverflowError";
    this.facts = facts;
  }
}

/** What an error says, whatever was thrown. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : thrown;
    return typeof message === "string" ? message : String(message);
  } catch {
    return "unknown error";
  }
}

/** The code of an error of the system or of a database, such as ENOENT; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The error for an address at which no server can listen. */
export function cannotListen(host: string, port: number, error: unknown): SpillwayError {
  const way = "another program may listen there, perhaps a Spillway already; port 0 takes a free one";
  return badInput(`cannot listen at ${host}:${port}: ${messageOf(error)} (${way})`);
}

/** The error for a pattern that is no regular expression. `literal` is what tools call it, `-F` what the command does. */
export function badPattern(why: string): SpillwayError {
  return badInput(`The pattern cannot be used: ${why}; mend it, or search for the text itself (literal, -F).`);
}

const REASONS: Record<string, string> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
};

/** Why a file cannot be read, in plain words. */
export function whyUnreadable(error: unknown): string {
  return REASONS[codeOf(error)] ?? messageOf(error);
}

/** What else stands in the way of writing. Node says ENOENT where it cannot make the folder. */
const WRITE_REASONS: Record<string, string> = {
  ...REASONS,
  ENOENT: "its folder is not there and cannot be made",
  ENOSPC: "its disk is full",
  EROFS: "its disk can only be read",
};

/** The error for a file that cannot be written. What was said wrong of it stays as it is. */
export function cannotWrite(path: string, error: unknown): SpillwayError {
  if (SpillwayError.is(error)) return error;
  const why = WRITE_REASONS[codeOf(error)] ?? messageOf(error);
  return badInput(`cannot write ${path}: ${why}. Check who may write there, and the room on its disk`, {
    cause: error,
  });
}

const MAX_NAME_CHARS = 60;

/** The known name that a mistyped one most likely means; undefined if none is near. */
export function nearestName(typed: string, known: Iterable<string>): string | undefined {
  if (typed.length > MAX_NAME_CHARS) return undefined;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const key of known) {
    const distance = editDistance(bare(typed), bare(key));
    // Offers that one of the two spellings that looks like what was typed.
    const tie = distance === bestDistance && key.includes("_") === typed.includes("_");
    if (distance < bestDistance || tie) [best, bestDistance] = [key, distance];
  }
  return bestDistance <= Math.max(1, Math.floor(typed.length / 3)) ? best : undefined;
}

function bare(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
