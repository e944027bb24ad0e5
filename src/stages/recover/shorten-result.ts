import type { Limits } from "../../contract/limits.ts";
import { subtract, type Weight } from "../prune/weight.ts";
import type { RungCut, RungItem } from "./rung.ts";

/** A result cut to limits; it frees about its texts' share over them. */
export function clampTo(item: RungItem, limits: Limits): RungCut {
  const { chars, bytes, lines } = item.texts;
  const share = Math.min(1, part(limits.maxChars, chars), part(limits.maxBytes, bytes), part(limits.maxLines, lines));
  return { item, to: "clamped", limits, frees: portion(item.texts, 1 - share) };
}

/** A result in a form that weighs this much. */
export function shortenTo(item: RungItem, to: "trimmed" | "cleared", after: Weight): RungCut {
  return { item, to, frees: subtract(item.shown, after) };
}

function part(limit: number | undefined, size: number): number {
  return limit === undefined || size <= limit ? 1 : limit / size;
}

function portion({ chars, tokens, bytes }: Weight, share: number): Weight {
  return { chars: Math.floor(chars * share), tokens: Math.floor(tokens * share), bytes: Math.floor(bytes * share) };
}
