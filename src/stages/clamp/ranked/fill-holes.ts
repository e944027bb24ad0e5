import type { Size } from "../../../contract/size.ts";
import { overBudget } from "../budget.ts";
import type { HeldLine } from "./ranked-lines.ts";

/** Lines in order, with single ones between them that take no more than a marker in their place would. */
export function fillHoles(
  lines: readonly HeldLine[],
  held: (line: number) => HeldLine | undefined,
  gap: Size,
  measure: (line: HeldLine) => Size,
): HeldLine[] {
  const filled: HeldLine[] = [];
  let next = 1;
  for (const line of lines) {
    const between = line.line === next + 1 ? held(next) : undefined;
    if (between !== undefined && overBudget(measure(between), gap) === null) filled.push(between);
    filled.push(line);
    next = line.line + 1;
  }
  return filled;
}
