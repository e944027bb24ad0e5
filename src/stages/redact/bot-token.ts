import { DIGIT } from "./byte-set.ts";
import type { Look } from "./redaction-rule.ts";
import type { View } from "./view.ts";

const LEAST_DIGITS = 6;

/** Finds what follows the number of a Telegram bot; its colon stands at `at`, its token ends at `end`. */
export function findBotToken(view: View, at: number, end: number): Look {
  for (let back = 1; back <= LEAST_DIGITS; back++) {
    const byte = view.byteAt(at - back);
    if (byte < 0 || DIGIT[byte] === 0) return "none";
  }
  return { from: at + 1, to: end };
}
