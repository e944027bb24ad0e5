// What is known of a line from the lines around it, and at the end from the whole output. Each is one of a few steps.
const groups: [name: string, size: number][] = [
  ["own level", 32],
  ["level before", 16],
  ["level after", 16],
  ["levels 2-3 before", 16],
  ["levels 2-3 after", 16],
  ["levels 4-8 before", 16],
  ["levels 4-8 after", 16],
  ["levels 9-20 before", 16],
  ["levels 9-20 after", 16],
  ["paragraph level", 16],
  ["paragraph's first level", 16],
  ["place in paragraph", 7],
  ["paragraph ahead", 7],
  ["parent level", 17],
  ["since header", 10],
  ["place among frames", 7],
  ["strong near", 8],
  ["strong around", 8],
  ["since command", 9],
  ["strong since command", 7],
  ["failed steps before", 4],
  ["good steps before", 5],
  ["shape seen", 8],
  // Known only at the end.
  ["chars to the end", 13],
  ["lines to the end", 11],
  ["position", 10],
  ["lines to a failed step", 12],
  ["next step", 3],
  ["shape in all", 8],
  ["start in all", 8],
  ["rank", 9],
  ["strong in all, level", 40],
  ["failed steps, level", 24],
];
const starts: number[] = [];
let total = 0;
for (const [, size] of groups) {
  starts.push(total);
  total += size;
}

/** Where each group of steps begins, in the order above. */
export const CONTEXT_AT: readonly number[] = starts;
/** How many there are in all. @public for the script that learns the weights */
export const CONTEXT_FEATURES = total;
/** Groups whose steps have an order: neighbours should not differ much. @public for the script that learns the weights */
export const ORDERED: readonly [from: number, to: number][] = groups
  .map(([name, size], index): [string, number, number] => [name, starts[index] as number, size])
  .filter(([name]) => !name.includes(", level") && name !== "next step")
  .map(([, start, size]) => [start, start + size]);
/** Groups before this one are known without the rest of the output. */
export const LATE_GROUP = groups.findIndex(([name]) => name === "chars to the end");

/** A step in words, for people who ask why. @public for the script that learns the weights */
export function contextName(feature: number): string {
  const group = starts.findLastIndex((start) => start <= feature);
  const [name, size] = groups[group] as [string, number];
  return `${name} ${feature - (starts[group] as number)}/${size}`;
}

/** The step of a count: 0, 1, 2, up to 4, 8, 16 ... */
export function doubling(count: number, most: number): number {
  if (count < 3) return count < 0 ? 0 : count;
  const step = 34 - Math.clz32(count - 1) - 1;
  return step < most ? step : most;
}
