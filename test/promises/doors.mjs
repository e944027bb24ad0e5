import { endServing, openPlace, throughClamp, throughMcp, throughRun, throughTools } from "./by-command.mjs";
import { makeCase } from "./cases.mjs";
import { throughAdmit, throughClampText } from "./in-process.mjs";

/** Every way by which an output reaches a model, with the number of cases that is tried without a flag. */
export const DOORS = {
  clampText: { cases: 100_000, through: throughClampText },
  admit: { cases: 100_000, through: throughAdmit },
  clamp: { cases: 1000, through: throughClamp, blocks: false },
  run: { cases: 300, through: throughRun, blocks: false },
  mcp: { cases: 300, through: throughMcp },
  tools: { cases: 300, through: throughTools, blocks: false },
};

/** Tries a door with cases from a seed on, and gives what was broken. Case n has the seed `seed + n`. */
export async function tryDoor(name, { seed, cases, onProgress = () => {}, onBroken = () => {} }) {
  const { through, blocks } = DOORS[name];
  const place = await openPlace();
  const broken = [];
  try {
    for (let index = 0; index < cases; index++) {
      const given = makeCase(seed + index, { blocks });
      for (const finding of await attempt(through, given, place)) {
        broken.push({ given, ...finding });
        await onBroken({ given, ...finding });
      }
      onProgress(index + 1, broken.length);
    }
  } finally {
    await endServing();
    await place.close();
  }
  return broken;
}

async function attempt(through, given, place) {
  try {
    return await through(given, place);
  } catch (error) {
    return [{ promise: "never in the way", why: error.stack }];
  }
}
