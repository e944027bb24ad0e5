import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { clampResults } from "./clamp-results.ts";
import { compact } from "./compact.ts";
import { dropMedia } from "./drop-media.ts";
import { prune } from "./prune.ts";
import { reclamp, rewriteResults } from "./reclamp.ts";
import type { Rung } from "./rung.ts";

const RUNGS = [clampResults, prune, dropMedia, compact, reclamp, rewriteResults] as const;

/** The names of the built-in rungs. */
export type RungName = "clamp-results" | "prune" | "drop-media" | "compact" | "reclamp" | "rewrite-results";

/** Which rungs are taken, in order: the built-in order, seed 000's, or one's own. */
export type Ladder = "default" | "seed" | readonly (RungName | Rung)[];

/** The rungs of a ladder, and how often a request is sent at most. */
export function ladderOf(ladder: Ladder): { rungs: readonly Rung[]; maxSends: number } {
  const maxSends = NUMBERS.recoverSends.default;
  if (ladder === "default") return { rungs: [clampResults, prune, dropMedia, compact, reclamp], maxSends };
  if (ladder === "seed") {
    return { rungs: [{ ...compact, insists: true }, rewriteResults], maxSends: NUMBERS.recoverSeedSends.default };
  }
  if (!Array.isArray(ladder))
    throw new SpillwayError("bad-input", 'ladder must be "default", "seed" or a list of rungs');
  return { rungs: ladder.map(rungOf), maxSends };
}

function rungOf(rung: RungName | Rung): Rung {
  if (typeof rung === "object" && rung !== null && typeof rung.plan === "function") return rung;
  const named = RUNGS.find(({ name }) => name === rung);
  if (named !== undefined) return named;
  const known = RUNGS.map(({ name }) => name).join(", ");
  throw new SpillwayError("bad-input", `a rung is one of ${known}, or an object with a plan; got ${String(rung)}`);
}
