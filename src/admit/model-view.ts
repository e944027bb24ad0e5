import type { RedactionRule } from "../stages/redact/redaction-rule.ts";
import type { SourceAccount } from "./admission.ts";
import { DETAILS } from "./admit-texts.ts";
import { type RedactedResult, type ReplacedSource, redactCopy, redactResult, SummedSource } from "./redact-result.ts";
import { RedactedSource } from "./redacted-source.ts";

/** Replaces secrets in what the model reads; loaded only where that was asked for. */
export interface ModelView {
  /** One text or stream. */
  source(): RedactedSource;
  /** A structured result; null if it is larger than anyone should walk. */
  result<T extends object>(result: T): RedactedResult<T> | null;
  /** A bounded copy of one that is. */
  copy(result: object, maxBytes: number): object;
  /** The fields beside the content that reach a model too. */
  details<T extends object>(result: T, maxBytes: number): T;
  sum(sources: readonly ReplacedSource[]): SourceAccount;
}

/** The model's view by these rules. */
export function modelView(rules: readonly RedactionRule[]): ModelView {
  return {
    source: () => new RedactedSource(rules),
    result: (result) => redactResult(rules, result),
    copy: (result, maxBytes) => redactCopy(rules, result, maxBytes),
    details(result, maxBytes) {
      const changed: [string, unknown][] = [];
      for (const key of DETAILS) {
        if (!Object.hasOwn(result, key)) continue;
        const held = { [key]: Reflect.get(result, key) as unknown };
        const redacted: object = redactResult(rules, held)?.result ?? redactCopy(rules, held, maxBytes);
        if (redacted !== held) changed.push([key, Reflect.get(redacted, key)]);
      }
      return changed.length === 0 ? result : { ...result, ...Object.fromEntries(changed) };
    },
    sum: (sources) => new SummedSource(sources),
  };
}
