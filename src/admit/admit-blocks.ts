import type { Limits } from "../contract/limits.ts";
import { findTexts } from "../stages/clamp/find-texts.ts";
import type { AdmissionRequest, SourceAccount } from "./admission.ts";
import { admitObject, boundObject } from "./admit-object.ts";
import { type AdmittedBlocks, admitTexts, fitTogether, type SourceText } from "./admit-texts.ts";

/**
 * Clamps a structured result. Content blocks share one budget: small ones whole, large ones in fair shares. An object
 * without content reaches a model as JSON, so there its keys and numbers count too.
 */
export function admitBlocks<T extends object>(
  request: AdmissionRequest,
  result: T,
  sources: readonly SourceAccount[] = [],
): AdmittedBlocks<T> {
  const found = findTexts(result);
  if (request.off) return admitTexts(request, result, found?.texts ?? []);
  const texts = found?.texts.map((text, index): SourceText => ({ ...text, source: sources[index] })) ?? null;
  const isTooMany =
    found !== null && found.texts.length > mostTexts(request.limits) && !fitTogether(request, found.texts);
  if (found?.hasContent && isTooMany) return boundObject(request, result);
  return found?.hasContent ? admitTexts(request, result, texts ?? []) : admitObject(request, result, texts);
}

/** With more texts than this nothing of each could be shown: some are left out whole. */
function mostTexts({ maxBytes, maxChars, maxLines, maxTokens }: Limits): number {
  const none = Number.POSITIVE_INFINITY;
  const most = Math.min((maxBytes ?? none) / 64, (maxChars ?? none) / 64, maxLines ?? none, (maxTokens ?? none) / 32);
  return Math.max(1, Math.floor(most));
}
