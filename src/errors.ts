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
  | "store-unavailable";

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

/** What an error says, whatever was thrown. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : thrown;
    return typeof message === "string" ? message : String(message);
  } catch {
    return "unknown error";
  }
}
