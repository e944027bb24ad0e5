import { GONE_SIZE, type JsonText } from "./json-node.ts";

/** Of what is shown of a long string, its start. */
const HEAD_SHARE = 0.6;
/** The longest escape: two surrogates. */
const LONGEST_ESCAPE = 12;
const BACKSLASH = 92;
const LETTER_U = 117;

/** A string with its two ends, in about `budget` bytes; never cut inside a character or an escape. */
export function shortenText(text: JsonText, budget: number): JsonText {
  const room = Math.max(0, budget - GONE_SIZE - 2);
  const head = text.head.slice(0, safeEnd(text.head, 1 + Math.floor(room * HEAD_SHARE)));
  const end = text.tail ?? text.head;
  const wanted = end.length - 1 - Math.ceil(room * (1 - HEAD_SHARE));
  const at = safeStart(end, Math.max(wanted, text.tail === null ? head.length + LONGEST_ESCAPE : LONGEST_ESCAPE));
  const tail = end.slice(at);
  return { ...text, head, tail, size: head.length + tail.length + GONE_SIZE };
}

/** The last place up to `most` that is between characters. */
function safeEnd(bytes: Uint8Array, most: number): number {
  let at = 1;
  for (;;) {
    const next = at + unitLength(bytes, at);
    if (next > most || next >= bytes.length) return at;
    at = next;
  }
}

/** Bytes of the character or escape at `at`; a pair of escapes that make one character counts as one. */
function unitLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === BACKSLASH) {
    if (bytes[at + 1] !== LETTER_U) return 2;
    const isHigh = isHexDigit(bytes[at + 2], "d") && /[89ab]/i.test(String.fromCharCode(bytes[at + 3] ?? 0));
    return isHigh && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U ? LONGEST_ESCAPE : 6;
  }
  let length = 1;
  while (length < 4 && ((bytes[at + length] ?? 0) & 0xc0) === 0x80) length++;
  return length;
}

function isHexDigit(byte: number | undefined, digit: string): boolean {
  return byte !== undefined && String.fromCharCode(byte).toLowerCase() === digit;
}

/** The first place from `least` on that is surely between characters: no escape begins within reach before it. */
function safeStart(bytes: Uint8Array, least: number): number {
  const closing = bytes.length - 1;
  for (let at = least; at < closing; at++) {
    const isContinuation = ((bytes[at] as number) & 0xc0) === 0x80;
    if (!isContinuation && !bytes.subarray(Math.max(0, at - LONGEST_ESCAPE), at).includes(BACKSLASH)) return at;
  }
  return closing;
}
