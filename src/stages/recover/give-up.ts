import type { Verdict } from "../../contract/verdict.ts";
import { OverflowError, type OverflowStep } from "../../errors.ts";
import { counted, grouped } from "../../values.ts";
import type { Weight } from "../prune/weight.ts";
import { fillsLimit } from "./recovery-goal.ts";

/** What is known when nothing more can be tried. */
export interface GivenUp {
  verdict: Verdict;
  /** The weight of the messages as they came, and after all rungs, by our estimate. */
  before: Weight;
  after: Weight;
  tried: readonly OverflowStep[];
  sends: number;
  /** Why it ends here: a deadline, no sends left, or nothing more to remove. */
  why: string;
  canCompact: boolean;
  hasOutsideMedia: boolean;
  cause: unknown;
}

/** Makes the error that ends a recovery. It gives sizes, what was tried, and what a person can do. */
export function giveUp(state: GivenUp): OverflowError {
  const { verdict, before, after, tried, sends, why, cause } = state;
  const size = verdict.kind === "payload-too-large" ? inBytes(state) : inTokens(state);
  const steps = tried.map(({ rung, freedTokens, fault }) =>
    fault === null ? `${rung} (about ${counted(freedTokens, "token")} freed)` : `${rung} (${fault})`,
  );
  const advice = adviceOf(state);
  const message = [
    `The provider refused the request for its size, and it could not be made to fit: ${why}.`,
    size,
    steps.length === 0 ? "Nothing could be taken away." : `Tried: ${steps.join(", ")}.`,
    `What helps: ${advice.join("; ")}.`,
  ].join(" ");
  return new OverflowError(
    message,
    {
      kind: verdict.kind,
      provider: verdict.provider,
      observedTokens: verdict.observedTokens ?? null,
      limitTokens: verdict.limitTokens ?? null,
      estimatedTokens: before.tokens,
      leftTokens: after.tokens,
      bytes: before.bytes,
      leftBytes: after.bytes,
      tried: [...tried],
      sends,
      advice,
    },
    { cause },
  );
}

function inTokens({ verdict: { observedTokens, limitTokens }, before, after }: GivenUp): string {
  const was = observedTokens === undefined ? `about ${grouped(before.tokens)}` : grouped(observedTokens);
  const limit = limitTokens === undefined ? "" : ` of at most ${grouped(limitTokens)}`;
  return `It had ${was} tokens${limit}; its messages were about ${grouped(before.tokens)} and are now about ${grouped(after.tokens)}.`;
}

function inBytes({ before, after }: GivenUp): string {
  return `Its messages had ${counted(before.bytes, "byte")} and now have ${grouped(after.bytes)}.`;
}

function adviceOf({ canCompact, hasOutsideMedia, verdict }: GivenUp): string[] {
  const lowers = verdict.outputTokens === undefined ? [] : ["reserve less for the answer (max_tokens)"];
  if (fillsLimit(verdict)) return lowers;
  return [
    ...(canCompact ? [] : ["hand in a `compactor`, so that old turns can be summarised"]),
    ...(hasOutsideMedia ? ['allow images and files of messages to be left out with `media: "all"`'] : []),
    "shorten the system prompt, the tools or the newest message, which are never cut",
    verdict.kind === "request-ceiling"
      ? "use an account with a higher limit for one request"
      : "use a model with a larger window, or begin a new session",
    ...lowers,
  ];
}
