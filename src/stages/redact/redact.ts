import { WINDOW_BYTES } from "./bounds.ts";
import { findHeads, maskAt } from "./find-heads.ts";
import { KeyBlock } from "./key-block.ts";
import { look } from "./look.ts";
import { type Entry, prefilterOf } from "./prefilter.ts";
import type { Found, RedactionRule } from "./redaction-rule.ts";
import type { Replacements } from "./replacements.ts";
import { Replacer } from "./replacer.ts";
import { Tail } from "./tail.ts";
import { View } from "./view.ts";

/** One output passing through redaction. Memory is bounded, whatever the output. */
export interface Redact {
  /** Takes the next bytes; hands on what is certain by now. */
  add(bytes: Uint8Array): void;
  /** Hands on the rest. How many secrets were replaced, and how many source bytes they had. */
  end(): { count: number; bytes: number };
}

/**
 * Replaces secrets by `[redacted:name]`. Line breaks stay where they are, so every line keeps its number; without a
 * match the very bytes that came are handed on. What `take` is handed is only valid during the call. `seen` is told
 * where something was replaced.
 */
export function startRedact(
  rules: readonly RedactionRule[],
  take: (bytes: Uint8Array) => void,
  seen?: Replacements,
): Redact {
  if (rules.length === 0) return { add: take, end: () => ({ count: 0, bytes: 0 }) };
  const prefilter = prefilterOf(rules);
  const view = new View(prefilter.slots);
  const replacer = new Replacer(view, take, seen);
  const block = new KeyBlock();
  const tail = new Tail();
  /** Places where a rule could begin, from the stream's first byte; those before `next` were looked at. */
  const places: number[] = [];
  let next = 0;
  /** Where the view begins in the stream. */
  let base = 0;
  let scannedTo = 0;
  /** Whose key block it is. */
  let blockOf: Entry | null = null;

  const lookAt = (place: number): boolean => {
    let decided = true;
    replacer.lookFrom(place);
    let mask = maskAt(prefilter, view.bytes, place);
    while (mask !== 0) {
      const bit = 31 - Math.clz32(mask);
      mask &= ~(1 << bit);
      for (const entry of prefilter.entries[bit] ?? []) {
        const seen = look(view, entry, place);
        if (seen === "more") decided = false;
        else if (seen !== "none") {
          replacer.found(seen, entry.rule.name, entry.rank);
          if (seen.opensBlock) {
            block.begin(seen.from);
            blockOf = entry;
          }
        }
      }
    }
    return decided;
  };

  /** Looks at what can be decided; returns up to where all is. */
  const decide = (): number => {
    const keyLine = (found: Found) => replacer.found(found, blockOf?.rule.name ?? "", blockOf?.rank ?? 0);
    scannedTo = findHeads(prefilter, view.bytes, scannedTo, places, base);
    if (view.final) for (; scannedTo < view.end; scannedTo++) places.push(scannedTo + base);
    let decided = scannedTo;
    for (; next < places.length; next++) {
      const place = (places[next] as number) - base;
      if (block.at >= 0) block.advance(view, place, keyLine);
      if (lookAt(place)) continue;
      decided = place;
      break;
    }
    if (next === places.length) places.length = next = 0;
    else if (next > WINDOW_BYTES) {
      places.splice(0, next);
      next = 0;
    }
    if (block.at >= 0 && decided === scannedTo) block.advance(view, view.end, keyLine);
    return block.at >= 0 ? Math.min(decided, block.at) : decided;
  };

  const step = (bytes: Uint8Array): void => {
    view.bytes = tail.join(bytes);
    replacer.extend();
    const decided = decide();
    replacer.handOn(decided);
    tail.keep(view.bytes, decided);
    replacer.drop(decided);
    block.drop(decided);
    view.drop(decided);
    scannedTo -= decided;
    base += decided;
  };

  return {
    add(bytes) {
      for (let at = 0; at < bytes.length; at += WINDOW_BYTES)
        step(bytes.length <= WINDOW_BYTES ? bytes : bytes.subarray(at, at + WINDOW_BYTES));
    },
    end() {
      view.final = true;
      step(new Uint8Array(0));
      seen?.end();
      return { count: replacer.count, bytes: replacer.bytes };
    },
  };
}
