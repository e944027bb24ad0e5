/** Why a request was refused, or an answer came out wrong, where size is the reason; "other" where it is not. */
export type VerdictKind =
  /** More tokens than the model's window. */
  | "context-overflow"
  /** More bytes than the endpoint takes: tokens may be well within the window. */
  | "payload-too-large"
  /** One request asks for more tokens than the account may ever send at once: waiting does not help, less does. */
  | "request-ceiling"
  /** Too much in too short a time: waiting helps, less does not. */
  | "rate-limit"
  /** The answer, not the request, is over a limit. */
  | "output-limit"
  /** The request that was to shorten the conversation was itself too large. */
  | "compaction-failure"
  | "other";

/** What `classify` found, and how it knows. */
export interface Verdict {
  kind: VerdictKind;
  /** The signature that claims it; null where none does. */
  rule: string | null;
  /** Who refused, as far as it is known. */
  provider: string | null;
  /** Tokens of the request by the provider's own count, those reserved for the answer included; an answer's, by its usage. */
  observedTokens?: number;
  /** The most it takes, in tokens. */
  limitTokens?: number;
  /** How many of the observed tokens are reserved for the answer, where the provider says it. */
  outputTokens?: number;
  /** They are counted among the observed tokens, but the provider does not say how many they are. */
  includesOutput?: true;
  /** How many of them are the tools', where the provider says it. */
  toolTokens?: number;
  /** The answer came whole by its own word; only its usage speaks against it. */
  isComplete?: true;
  /** Nothing was said: the request was near the limit, and that is all that speaks for it. */
  isHint?: true;
  /** The words, the code or the numbers that decided it. Never from the conversation. */
  evidence: string;
}

/** What the caller knows and the error does not say. All of it may be left out. */
export interface VerdictContext {
  /** The provider's name, as the signatures have it. */
  provider?: string;
  /** Where the request went: names the provider where the error does not. */
  url?: string;
  /** The model's context in tokens; an answer's usage is held against it. */
  window?: number;
  /** The request's size by the caller's own count. */
  estimatedTokens?: number;
  /** The request was to shorten the conversation. */
  compacting?: boolean;
}

/**
 * One way in which a refusal is known: everything that is given must hold. Texts are matched without regard to case,
 * white space and backticks; `{observed}`, `{limit}`, `{input}`, `{output}`, `{total}`, `{tools}` and `{number}` stand for a number, `...` for
 * anything. There are no regular expressions, so no text can take long.
 */
export interface Signature {
  /** Lower-case words with "-" between them. */
  rule: string;
  kind: VerdictKind;
  /** The HTTP status is one of these. */
  status?: readonly number[];
  /** The error's code, type, status word or name is one of these. */
  code?: readonly string[];
  /** The reason why the answer ended is one of these. */
  stop?: readonly string[];
  /** One of these stands in the error's text; the first that does gives the numbers. */
  text?: readonly string[];
  /** None of these stands in the text or is a code. */
  not?: readonly string[];
  /** Fields of the error that hold the numbers. */
  fields?: { observed?: string; limit?: string };
  /** The limit that these words stand for without naming it. A request that is far below it is not meant. */
  limitTokens?: number;
  /** True: the request must be over the limit that is named, by the provider's number or else the caller's. False: it must not. */
  over?: boolean;
  /** Too vague unless the caller or the address names this provider. */
  named?: boolean;
  /** The answer must have had no body. */
  empty?: boolean;
}

/** A signature as a person adds it. */
export interface SignatureInput extends Signature {
  provider?: string;
}
