import { MAX_SECRET_BYTES } from "./bounds.ts";
import { type ByteSet, WORD } from "./byte-set.ts";
import type { Entry } from "./prefilter.ts";
import type { Item, Look } from "./redaction-rule.ts";
import type { View } from "./view.ts";

function runOf(view: View, slot: number, { set }: Item, at: number): number {
  if (slot >= 0) return view.runEnd(slot, set, at);
  return at < view.end && set[view.bytes[at] as number] === 1 ? at + 1 : at;
}

/** Looks whether a rule's program has a secret that begins at a place. */
export function look(view: View, { program, rule, slots }: Entry, start: number): Look {
  if (program.startsWord && !view.wordStarts(start)) return "none";
  const { bytes } = view;
  const { items, secret } = program;
  let at = start;
  let from = start;
  let to = start;
  let goesOn: ByteSet | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as (typeof items)[number];
    if (index === secret[0]) from = at;
    if (item.max === 1 && item.min === 1) {
      if (at >= bytes.length) return view.final ? "none" : "more";
      if (item.set[bytes[at] as number] === 0) return "none";
      at++;
    } else {
      const isLast = index === items.length - 1;
      // What tells a secret stands in its first 16 KiB; only the last item may go on.
      const most = isLast ? item.max : Math.min(item.max, MAX_SECRET_BYTES);
      const runEnd = runOf(view, slots[index] as number, item, at);
      const stop = Math.min(runEnd, at + most);
      const undecided = runEnd === bytes.length && stop === runEnd && stop - at < most && !view.final;
      if (stop - at < item.min) return undecided ? "more" : "none";
      if (undecided) {
        if (!isLast || item.max !== Infinity || stop - start < MAX_SECRET_BYTES) return "more";
        if (secret[1] === items.length) goesOn = item.set;
      }
      at = stop;
    }
    if (at - start > MAX_SECRET_BYTES && index < items.length - 1) return "none";
    if (index === secret[1] - 1) to = at;
  }
  if (program.endsWord && at - start < MAX_SECRET_BYTES) {
    if (at >= bytes.length && !view.final) return "more";
    if (at < bytes.length && WORD[bytes[at] as number] === 1) return "none";
  }
  if (rule.find !== undefined) return rule.find(view, start, at);
  if (to === from) return "none";
  const known = Math.min(to, start + MAX_SECRET_BYTES);
  if (rule.accept !== undefined && !rule.accept(bytes, from, known)) return "none";
  return goesOn === undefined ? { from, to } : { from, to, goesOn };
}
