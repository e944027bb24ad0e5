import { messageOf } from "../errors.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { AdmissionRequest } from "./admission.ts";
import type { AdmittedOutput } from "./admit-output.ts";
import { clampText } from "./clamp-text.ts";

/** What stands in should admitting fail by a fault of ours: a plain clamp of what can still be read, and the reason. */
export function admitPlainly(
  { tool, limits, exitCode }: AdmissionRequest,
  output: unknown,
  error: unknown,
): AdmittedOutput {
  const reason = messageOf(error);
  const faults = [`admitting failed, a plain clamp stood in: ${reason}`];
  const { value } = boundValue(output, limits.maxBytes ?? NUMBERS.ceilingBytes.default);
  const readable = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const whole = readable === "" || readable === "{}" ? `[output lost: ${reason}]` : readable;
  const { text, receipt } = clampText(whole, limits, {
    tool,
    strategy: "head-tail",
    ...(exitCode !== null && { exitCode }),
  });
  return {
    output: typeof output === "object" && typeof value === "object" && value !== null ? value : text,
    text,
    receipt: { ...receipt, faults },
  };
}
