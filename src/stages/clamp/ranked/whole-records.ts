import type { HeldLine } from "./ranked-lines.ts";

/** Lines in order, without those whose record is not there as a whole; what a call is after stays. */
export function wholeRecords(lines: readonly HeldLine[]): HeldLine[] {
  const whole: HeldLine[] = [];
  for (let index = 0; index < lines.length; ) {
    const first = lines[index] as HeldLine;
    const record = [first];
    for (let last = first; last.goesOn; last = record.at(-1) as HeldLine) {
      const next = lines[index + record.length];
      if (next?.line !== last.line + 1) break;
      record.push(next);
    }
    index += record.length;
    const isWhole = !first.continues && !record.at(-1)?.goesOn;
    whole.push(...(isWhole ? record : record.filter(({ isWanted }) => isWanted)));
  }
  return whole;
}
