import { mayHoldSecret } from "../stages/record/redact-event.ts";
import type { Redaction } from "./redaction.ts";

/** Tool names remembered; agents have fewer. */
const MAX_NAMES = 1000;

/** A tool's name as it may be stored and logged: nearly always itself, and then nothing is loaded. */
export function safeNames(redaction: Redaction | null): (name: string) => string | Promise<string> {
  const known = new Map<string, string>();
  return (name) => {
    if (redaction === null || !mayHoldSecret(name, redaction.hasOwnRules)) return name;
    return known.get(name) ?? redacted(name, redaction);
  };

  async function redacted(name: string, { loadText }: Redaction): Promise<string> {
    // A name that cannot be redacted is not told.
    const safe = await loadText().then(
      (redact) => redact(name),
      () => "tool",
    );
    if (known.size >= MAX_NAMES) known.clear();
    known.set(name, safe);
    return safe;
  }
}
