import { type Redact, type Redaction, redactionOf } from "../admit/redaction.ts";
import { SpillwayError } from "../errors.ts";

/** What replaces secrets. Throws if what is said about it is wrong, rules included: that should show before the first output. */
export async function openRedaction(redact: Redact | undefined, preload = false): Promise<Redaction | null> {
  const hasRules = typeof redact === "object" && Array.isArray(redact?.rules);
  if (!hasRules && redact !== undefined && !["off", "on", "model"].includes(redact as string)) {
    throw new SpillwayError(
      "bad-input",
      `redact must be "off", "on", "model" or { rules, model }; got ${String(redact)}`,
    );
  }
  const redaction = redactionOf(redact);
  if (preload || hasRules) await redaction?.loadRedactor();
  return redaction;
}
