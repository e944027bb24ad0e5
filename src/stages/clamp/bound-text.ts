import { counted } from "../mark/texts.ts";

// Strings as JSON: what they cost in UTF-8 bytes, and how they are shortened. Never scans further than its limit.

/** From this much room on, a shortened text keeps its end as well as its start. */
const BOTH_ENDS_BYTES = 256;
/** A note that left less room than this for the text itself would not be worth its place. */
const LEAST_TEXT_BYTES = 8;

/** Bytes of the text as a JSON string, quotes included; Infinity as soon as it is over `maxBytes`. */
export function jsonTextBytes(text: string, maxBytes: number): number {
  if (text.length + 2 > maxBytes) return Infinity;
  let bytes = 2;
  for (let at = 0; at < text.length; ) {
    const step = stepAt(text, at);
    bytes += step.bytes;
    if (bytes > maxBytes) return Infinity;
    at += step.chars;
  }
  return bytes;
}

/**
 * The text in at most `maxBytes` bytes of JSON: whole, or its ends with a note of how many characters (UTF-16 units)
 * are missing, or with three dots where the note has no room. Cut between code points; lone surrogates become U+FFFD.
 */
export function shortenJsonText(text: string, maxBytes: number): string {
  if (jsonTextBytes(text, maxBytes) <= maxBytes) return text.toWellFormed();
  const room = maxBytes - 2;
  const bothEnds = room >= BOTH_ENDS_BYTES;
  // Reserved for the largest count there can be: the true one is never longer.
  const noteRoom = omittedNote(text.length, bothEnds).length;
  if (room < noteRoom + LEAST_TEXT_BYTES) return room < 3 ? "" : `${startOf(text, room - 3)}...`;
  const textRoom = room - noteRoom;
  const start = startOf(text, bothEnds ? Math.ceil(textRoom / 2) : textRoom);
  const end = bothEnds ? endOf(text, Math.floor(textRoom / 2)) : "";
  return start + omittedNote(text.length - start.length - end.length, bothEnds) + end;
}

function omittedNote(chars: number, bothEnds: boolean): string {
  return `... [${counted(chars, "character")} omitted]${bothEnds ? " ..." : ""}`;
}

function startOf(text: string, maxBytes: number): string {
  let at = 0;
  for (let bytes = 0; at < text.length; ) {
    const step = stepAt(text, at);
    bytes += step.bytes;
    if (bytes > maxBytes) break;
    at += step.chars;
  }
  return text.slice(0, at).toWellFormed();
}

function endOf(text: string, maxBytes: number): string {
  let at = text.length;
  for (let bytes = 0; at > 0; ) {
    const pair = at > 1 && isPair(text, at - 2);
    bytes += stepAt(text, pair ? at - 2 : at - 1).bytes;
    if (bytes > maxBytes) break;
    at -= pair ? 2 : 1;
  }
  return text.slice(at).toWellFormed();
}

interface Step {
  bytes: number;
  chars: number;
}

const ESCAPED: Step = { bytes: 2, chars: 1 };
const CONTROL: Step = { bytes: 6, chars: 1 };
const STEPS: readonly Step[] = [1, 2, 3].map((bytes) => ({ bytes, chars: 1 }));
const PAIR: Step = { bytes: 4, chars: 2 };

function stepAt(text: string, at: number): Step {
  const unit = text.charCodeAt(at);
  if (unit < 0x20) return unit >= 8 && unit <= 13 && unit !== 11 ? ESCAPED : CONTROL;
  if (unit === 0x22 || unit === 0x5c) return ESCAPED;
  if (isPair(text, at)) return PAIR;
  // A lone surrogate is shown as U+FFFD, which takes three bytes as well.
  return STEPS[unit < 0x80 ? 0 : unit < 0x800 ? 1 : 2] as Step;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
