// Where a text in bytes may be cut: between characters, never inside one, and not between \r and \n.

/** Length of the character at `at`; negative for an invalid stretch, which is shown as one U+FFFD. */
function characterLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  let lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i <= more; i++) {
    const byte = bytes[at + i] as number;
    if (at + i >= end || byte < lowest || byte > highest) return -i;
    lowest = 0x80;
    highest = 0xbf;
  }
  return more + 1;
}

/** One step through a text: source bytes it takes, and what showing them costs. */
export interface Step {
  length: number;
  bytes: number;
  chars: number;
  isBreak: boolean;
}

/** Reads the step at `at` into `step`: a character, an invalid stretch, or \r\n. */
export function readStep(bytes: Uint8Array, at: number, end: number, step: Step): void {
  const byte = bytes[at] as number;
  step.isBreak = false;
  if (byte < 0x80) {
    if (byte === 13 && at + 1 < end && bytes[at + 1] === 10) {
      step.length = step.bytes = step.chars = 2;
      step.isBreak = true;
      return;
    }
    step.length = step.bytes = step.chars = 1;
    step.isBreak = byte === 10;
    return;
  }
  const length = characterLength(bytes, at, end);
  step.length = Math.abs(length);
  step.bytes = length < 0 ? 3 : length;
  step.chars = length === 4 ? 2 : 1;
}

/** The first position from `at` on that surely begins a character, for bytes whose start was cut off. */
export function nextCharacter(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && next < at + 3 && ((bytes[next] as number) & 0xc0) === 0x80) next++;
  return next;
}
