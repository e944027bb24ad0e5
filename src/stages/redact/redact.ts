import { type ByteSet, WORD } from "./byte-set.ts";
import { type Entry, findHeads, prefilterOf } from "./find-heads.ts";
import { KeyBlock } from "./key-block.ts";
import { PastCodes } from "./past-codes.ts";
import type { Found, Item, Look, RedactionRule, Touching } from "./redaction-rule.ts";
import type { Replacements } from "./replacements.ts";
import { Replacer } from "./replacer.ts";
import { MAX_SECRET_BYTES, WINDOW_BYTES, Window } from "./window.ts";

/** One output passing through redaction. Memory is bounded, whatever the output. */
export interface RunningRedact {
  /** Takes the next bytes, which are only read during the call; hands on what is certain by now. */
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
): RunningRedact {
  if (rules.length === 0) return { add: take, end: () => ({ count: 0, bytes: 0 }) };
  const prefilter = prefilterOf(rules);
  const window = new Window();
  const past = new PastCodes(take, seen);
  const replacer = new Replacer(window, (bytes) => void (past.isOn || take(bytes)), past);
  const block = new KeyBlock();
  /** Places where a rule could begin, from the stream's first byte; those before `next` were looked at. */
  const places: number[] = [];
  let next = 0;
  let scannedTo = 0;
  /** Whose key block it is. */
  let blockOf: Entry | null = null;

  const lookAt = (place: number): boolean => {
    let decided = true;
    replacer.lookFrom(place);
    const pair = (window.bytes[place] as number) | ((window.bytes[place + 1] ?? 0) << 8);
    const third = window.bytes[place + 2];
    const fourth = window.bytes[place + 3];
    for (const entry of prefilter.entries.get(pair) ?? []) {
      // What is not there yet may be any byte.
      if (entry.third[third ?? 0] === 0 && third !== undefined) continue;
      if (entry.fourth[fourth ?? 0] === 0 && fourth !== undefined) continue;
      const seen = look(window, entry, place);
      if (seen === "more") decided = false;
      else if (seen !== "none" && "least" in seen) replacer.waits(seen, entry);
      else if (seen !== "none") {
        replacer.found(seen, entry.rule.name, entry.rank);
        if (seen.opensBlock) {
          block.begin(seen.from);
          blockOf = entry;
        }
      }
    }
    return decided;
  };

  /** Looks at what can be decided; returns up to where all is. */
  const decide = (): number => {
    const push = (place: number) => void places.push(place + window.start);
    const keyLine = (found: Found) => replacer.found(found, blockOf?.rule.name ?? "", blockOf?.rank ?? 0);
    scannedTo = findHeads(prefilter, window.bytes, scannedTo, push);
    if (window.final) for (; scannedTo < window.end; scannedTo++) push(scannedTo);
    let decided = scannedTo;
    for (; next < places.length; next++) {
      const place = (places[next] as number) - window.start;
      if (block.at >= 0) block.advance(window, place, keyLine);
      if (lookAt(place)) continue;
      decided = place;
      break;
    }
    if (next === places.length) places.length = next = 0;
    else if (next > WINDOW_BYTES) {
      places.splice(0, next);
      next = 0;
    }
    if (block.at >= 0 && decided === scannedTo) block.advance(window, window.end, keyLine);
    return block.at >= 0 ? Math.min(decided, block.at) : decided;
  };

  const step = (bytes: Uint8Array): void => {
    window.append(bytes);
    replacer.extend();
    let decided = decide();
    // A secret that shows itself by its end may begin here.
    const least = window.final ? decided : Math.max(0, decided - prefilter.mostBack);
    while (decided > least && prefilter.backBytes[window.bytes[decided - 1] as number] === 1) decided--;
    decided = replacer.settle(decided);
    replacer.handOn(decided);
    replacer.drop(decided);
    block.drop(decided);
    window.drop(decided);
    scannedTo -= decided;
  };

  return {
    add(bytes) {
      for (let at = 0; at < bytes.length; at += WINDOW_BYTES) {
        step(past.strip(bytes.length <= WINDOW_BYTES ? bytes : bytes.subarray(at, at + WINDOW_BYTES)));
        past.flush();
      }
    },
    end() {
      const rest = past.strip(new Uint8Array(0), true);
      window.final = true;
      step(rest);
      past.flush(true);
      seen?.end();
      return { count: replacer.count, bytes: past.coveredBytes };
    },
  };
}

/** Looks whether a rule's program has a secret that begins at a place. */
function look(window: Window, entry: Entry, start: number): Look | Touching {
  if (!mayStartAt(window, entry, start)) return "none";
  const { program, rule } = entry;
  const { items, secret } = program;
  let at = start;
  let from = start;
  let to = start;
  let least = start;
  let goesOn: ByteSet | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Item;
    const isLast = index === items.length - 1;
    // What tells a secret stands in its first 16 KiB; only the last item may go on.
    const most = isLast ? item.max : Math.min(item.max, MAX_SECRET_BYTES);
    const stop = itemEnd(window, item, at, most);
    if (stop < 0) return stop === MORE ? "more" : "none";
    if (stop === window.end && stop - at < most && !window.final) {
      if (!isLast || item.max !== Infinity || stop - start < MAX_SECRET_BYTES) return "more";
      if (secret[1] === items.length) goesOn = item.set;
    }
    if (index === secret[0]) from = at;
    if (index === secret[1] - 1) to = stop;
    least = at + item.min;
    at = stop;
    if (at - start > MAX_SECRET_BYTES && !isLast) return "none";
  }
  const border = program.endsWord && at - start < MAX_SECRET_BYTES ? borderAt(window, at) : "border";
  if (border === "more") return border;
  if (rule.hidesBefore === true) from = start - (rule.before?.length ?? 0);
  if (border === "none") return to === at ? { from, least, most: at } : border;
  if (rule.find !== undefined) return rule.find(window, start, at);
  const known = Math.min(to, start + MAX_SECRET_BYTES);
  if (rule.accept !== undefined && !rule.accept(window.bytes, from, known)) return "none";
  return { from, to, goesOn };
}

/** True if what stands before a place lets a rule's secret begin there. */
function mayStartAt(window: Window, { program, rule }: Entry, place: number): boolean {
  if (program.startsAfter !== null && !window.wordStarts(place, program.startsAfter)) return false;
  const { before } = rule;
  return before === undefined || before.every((set, index) => set[window.byteAt(place - before.length + index)] === 1);
}

/** Whether a word that ends at a place goes on there. */
function borderAt(window: Window, at: number): "border" | "none" | "more" {
  if (at >= window.end && !window.final) return "more";
  return WORD[window.byteAt(at)] === 1 ? "none" : "border";
}

const NONE = -1;
const MORE = -2;

/** Where an item that begins at a place ends; NONE if there are too few of its bytes, MORE if that cannot be told yet. */
function itemEnd(window: Window, item: Item, at: number, most: number): number {
  const { set, min, max } = item;
  const { bytes } = window;
  let end = at;
  if (max > 1) end = Math.min(window.runEnd(set, at, item), at + most);
  else if (at < bytes.length && set[bytes[at] as number] === 1) end++;
  if (end - at >= min) return end;
  return end === bytes.length && !window.final ? MORE : NONE;
}
