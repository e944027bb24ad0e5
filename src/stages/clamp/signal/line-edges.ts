import { CLASS, DIGIT, LOWER, OTHER, UPPER } from "./byte-kinds.ts";
import { CALLED, CAPS, CONCEPT_AT, PLAIN } from "./line-features.ts";
import type { LineLook } from "./line-look.ts";
import {
  AT,
  BUILD,
  ERROR,
  F_ARROW,
  F_BACKTICK,
  F_CALL,
  F_CARET,
  F_COLON_END,
  F_COLONS,
  F_CROSS,
  F_DOTTED,
  F_EQUALS,
  F_EXIT_FAILED,
  F_EXIT_GOOD,
  F_FILE_LINE,
  F_FRAME,
  F_GUTTER_ANGLE,
  F_GUTTER_BAR,
  F_GUTTER_E,
  F_HEADER,
  F_MINUS,
  F_NUMBERED_DOT,
  F_NUMBERED_PAREN,
  F_PATH,
  F_PERCENT,
  F_PLUS,
  F_PROMPT,
  F_QUOTE,
  F_RULE,
  F_STARS,
  F_TAG,
  F_URL,
  FAIL,
  FILE,
  MAKE,
  W,
  WARN,
} from "./line-marks.ts";

/** What a line's first and last bytes tell, and what follows from all that was found on it. */
export function lookAtEdges(
  scan: LineLook,
  bytes: Uint8Array,
  start: number,
  stop: number,
  first: number,
  last: number,
  alphanumeric: number,
  firstConcept: number,
): void {
  const second = start + 1 < stop ? (bytes[start + 1] as number) : 32;
  const length = stop - start;
  const isSpaced = second === 32 || second === 9;
  if (alphanumeric === 0 && length >= 3) {
    scan.put(first === 94 || first === 126 || last === 94 ? F_CARET : F_RULE);
  } else if (length >= 8 && first === second && (first === 61 || first === 45 || first === 42 || first === 35)) {
    scan.put(F_RULE);
  }
  if (first === 43 && !isSpaced) scan.put(F_PLUS);
  if (first === 45 && second !== 45) scan.put(F_MINUS);
  if (first === 69 && isSpaced && (start + 2 >= stop || bytes[start + 2] === 32)) scan.put(F_GUTTER_E);
  if (first === 62 && isSpaced) scan.put(F_GUTTER_ANGLE);
  if (first === 124) scan.put(F_GUTTER_BAR);
  if (first === 91) scan.put(F_TAG);
  if (last === 58) scan.put(F_COLON_END);
  if ((first === 36 && isSpaced) || (first === 43 && second === 32)) {
    scan.put(F_PROMPT);
    scan.isCommand = first === 36;
  }
  if (CLASS[first] === DIGIT) {
    let to = start + 1;
    while (to < stop && CLASS[bytes[to] as number] === DIGIT) to++;
    if (to - start < 4 && bytes[to] === 41) scan.put(F_NUMBERED_PAREN);
    else if (to - start < 4 && bytes[to] === 46 && bytes[to + 1] === 32) scan.put(F_NUMBERED_DOT);
  }
  scan.isFrame =
    (firstConcept === AT && second === 116) ||
    (firstConcept === FILE && scan.has(F_QUOTE) && scan.has(F_FILE_LINE)) ||
    (first === 35 && CLASS[second] === DIGIT) ||
    isAddressFrame(bytes, start, stop);
  if (scan.isFrame) scan.put(F_FRAME);
  if (scan.exit === 0) {
    const stars = scan.has(F_STARS);
    if (firstConcept === MAKE && (stars || scan.has(CONCEPT_AT + ERROR * W + CALLED))) scan.exit = 1;
    else if (isPlain(scan, BUILD) && scan.has(CONCEPT_AT + FAIL * W + CAPS)) scan.exit = 1;
  }
  if (scan.exit === 1) {
    scan.put(F_EXIT_FAILED);
    scan.tellsFailure = true;
  } else if (scan.exit === 2) scan.put(F_EXIT_GOOD);
  scan.isWarning = isPlain(scan, WARN);
  const cross = scan.has(F_CROSS);
  if (cross) scan.tellsFailure = true;
  scan.isHeader =
    cross ||
    scan.has(CONCEPT_AT + FAIL * W + CAPS) ||
    scan.has(F_NUMBERED_PAREN) ||
    (last === 58 && (isPlain(scan, FAIL) || isPlain(scan, ERROR)));
  if (scan.isHeader) scan.put(F_HEADER);
}

/** `#3 0x4fb97b in ...` behind a few marks that a tool puts before each line. */
function isAddressFrame(bytes: Uint8Array, start: number, stop: number): boolean {
  let at = start;
  while (at < stop && at < start + 10 && CLASS[bytes[at] as number] !== LOWER && bytes[at] !== 35) at++;
  if (bytes[at] !== 35 || CLASS[bytes[at + 1] as number] !== DIGIT) return false;
  do at++;
  while (at < stop && CLASS[bytes[at] as number] === DIGIT);
  return bytes[at] === 32 && bytes[at + 1] === 48 && bytes[at + 2] === 120;
}

function isPlain(scan: LineLook, concept: number): boolean {
  return scan.has(CONCEPT_AT + concept * W + PLAIN);
}

/** What a punctuation mark at `at` tells. */
export function lookAtMark(
  scan: LineLook,
  bytes: Uint8Array,
  at: number,
  stop: number,
  byte: number,
  previous: number,
): void {
  switch (byte) {
    case 37:
      if (CLASS[previous] === DIGIT) scan.put(F_PERCENT);
      break;
    case 58:
      if (previous === 58) scan.put(F_COLONS);
      else if (at + 2 < stop && bytes[at + 1] === 47 && bytes[at + 2] === 47) scan.put(F_URL);
      break;
    case 42:
      if (previous === 42 && at + 1 < stop && bytes[at + 1] === 42) scan.put(F_STARS);
      break;
    case 34:
    case 39:
      scan.put(F_QUOTE);
      break;
    case 96:
      scan.put(F_BACKTICK);
      break;
    case 62:
      if (previous === 45 || previous === 61) scan.put(F_ARROW);
      break;
    case 40:
      if (CLASS[previous] === LOWER || CLASS[previous] === UPPER) scan.put(F_CALL);
      break;
    case 61:
      if (previous !== 61) scan.put(F_EQUALS);
      break;
    case 47:
      if (CLASS[previous] === LOWER && at + 1 < stop && CLASS[bytes[at + 1] as number] === LOWER) scan.put(F_PATH);
      break;
    case 46:
      if (
        CLASS[previous] === LOWER &&
        at + 1 < stop &&
        (CLASS[bytes[at + 1] as number] as number) <= UPPER &&
        CLASS[bytes[at + 1] as number] !== OTHER
      )
        scan.put(F_DOTTED);
      break;
  }
}
