import type { Limits } from "../contract/limits.ts";
import type { Extent, Size } from "../contract/size.ts";
import { UNITS } from "../stages/clamp/budget.ts";
import { headTail } from "../stages/clamp/strategies/head-tail.ts";
import { grouped } from "../stages/mark/texts.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { type AdmissionRequest, type Admitted, NOT_KEPT, startAdmission } from "./admission.ts";
import { withFaults } from "./with-faults.ts";

const LIMIT_OF = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;

/** True if a size is inside every limit. Units that have none are not read: counting tokens costs most. */
export function isWithin(size: Size, limits: Limits): boolean {
  return UNITS.every(
    (unit) => limits[LIMIT_OF[unit]] === undefined || size[unit] <= (limits[LIMIT_OF[unit]] as number),
  );
}

/**
 * The promise of every receipt, checked: what is shown is within the limits. Where a fault of ours, or a counter that
 * changes its mind, would pass one, a plain clamp of what would have been shown stands in and the receipt says so.
 */
export function holdLimits<A extends Admitted>(
  request: AdmissionRequest,
  admitted: A,
  put: (text: string) => Pick<A, "text">,
): A {
  const { limits, counter, off } = request;
  const { receipt } = admitted;
  const { shown } = receipt;
  if (off || isWithin(shown, limits)) return admitted;
  const over = UNITS.filter((unit) => shown[unit] > (limits[LIMIT_OF[unit]] ?? Number.POSITIVE_INFINITY));
  const said = over.map((unit) => `${grouped(shown[unit])} ${unit} would be over ${limits[LIMIT_OF[unit]]}`).join(", ");
  const changed = put(plainClamp(admitted.text, request));
  const size = measureText(changed.text, counter);
  const { total, redacted, kept: wasKept } = receipt;
  const part = (join: (unit: keyof Extent) => number): Extent => ({ bytes: join("bytes"), lines: join("lines") });
  const kept = part((unit) => Math.min(wasKept[unit], size[unit]));
  const held = {
    ...receipt,
    strategy: headTail.name,
    kept,
    folded: { bytes: 0, lines: 0 },
    omitted: part((unit) => total[unit] - redacted[unit] - kept[unit]),
    shown: size,
    cutBy: over[0] ?? null,
    saved: receipt.saved ?? "no",
  };
  return { ...admitted, ...changed, receipt: withFaults(held, [`${said}: a plain clamp stood in`]) };
}

/** A text within the limits by the plainest strategy; nothing where even that is over. */
function plainClamp(text: string, request: AdmissionRequest): string {
  const { marker: _marker, focus: _focus, source: _source, note: _note, isMedia: _isMedia, ...plain } = request;
  const admission = startAdmission({ ...plain, strategy: headTail, fold: false, exitCode: null });
  for (const bytes of encodeText(text)) admission.add(bytes);
  const { text: clamped, receipt } = admission.end().write(NOT_KEPT, null, text);
  return isWithin(receipt.shown, request.limits) ? clamped : "";
}
