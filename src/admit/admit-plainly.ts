import { messageOf } from "../errors.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { headTail } from "../stages/clamp/strategies/head-tail.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { AdmissionRequest } from "./admission.ts";
import type { AdmittedOutput } from "./admit-output.ts";
import { clampWith } from "./clamp-with.ts";
import type { ModelView } from "./model-view.ts";

/**
 * What stands in should admitting fail by a fault of ours: a plain clamp of what can still be read, and the reason. With a
 * `view` secrets are replaced in it.
 */
export function admitPlainly(
  { tool, limits, exitCode }: AdmissionRequest,
  output: unknown,
  error: unknown,
  view: ModelView | null = null,
): AdmittedOutput {
  const reason = messageOf(error);
  const faults = [`admitting failed, a plain clamp stood in: ${reason}`];
  const { value: copy } = boundValue(output, limits.maxBytes ?? NUMBERS.ceilingBytes.default);
  const value = view === null ? copy : redacted(copy, view);
  const readable = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const whole = readable === "" || readable === "{}" ? `[output lost: ${reason}]` : readable;
  const admitted = clampWith(headTail, whole, limits, { tool, ...(exitCode !== null && { exitCode }) });
  return {
    ...admitted,
    output: typeof output === "object" && typeof value === "object" && value !== null ? value : admitted.text,
    receipt: { ...admitted.receipt, faults },
  };
}

function redacted(value: unknown, view: ModelView): unknown {
  if (typeof value === "string") return view.source().readText(value);
  return typeof value === "object" && value !== null ? (view.result(value)?.result ?? {}) : value;
}
