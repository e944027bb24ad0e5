import { expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import { judge } from "./judge.ts";
import { HELD_NEW_GAIN, IS_NEW, IS_NEWLY_NAMED, ShapeCounts, UnitStore } from "./unit-store.ts";

it("shows which tests failed before it shows one body again and again", () => {
  const body = Array.from({ length: 40 }, (_, frame) => `    at step${frame}Of (lib/engine.js:${frame + 10}:7)`);
  const names = Array.from(
    { length: 30 },
    (_, test) => `Testcase: reads${String.fromCharCode(65 + test)}List took 1 s`,
  );
  const log = names.flatMap((name) => [name, "  Caused an ERROR", "TypeError: x is undefined", ...body, ""]);
  expect(log.join("\n").length).toBeGreaterThan(40_000);
  const { text } = clampText(log.join("\n"), { maxChars: 12_000 }, { strategy: "signal", exitCode: 1 });
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
  expect(text).toContain(body.join("\n"));
});

it("takes a line with another tag for another line: an error list that is logged once more is shown as it stands", () => {
  const steps = Array.from({ length: 300 }, (_, step) => [
    `[INFO] --- some-maven-plugin:2.${step}:compile (default-compile) @ part${step} ---`,
    `[INFO] Compiling ${step + 3} source files to /build/part${step}/target/classes`,
    "[INFO] ",
  ]).flat();
  const errors = Array.from({ length: 80 }, (_, error) => [
    `/build/src/acme/Reader${error % 7}.java:[${error + 10},21] error: incompatible types: Entry cannot be converted`,
    `    K extends Object declared in class Reader${error % 7}`,
  ]).flat();
  const log = [...steps, "[ERROR] COMPILATION ERROR :", ...errors, "[INFO] BUILD FAILURE"];
  log.push(...errors.map((line) => `[ERROR] ${line}`), "Finished: FAILURE");
  const room = errors.join("\n").length * 2 + 160 * "[ERROR] ".length;
  expect(log.join("\n").length).toBeGreaterThan(1.5 * room);
  const { text } = clampText(log.join("\n"), { maxChars: room + 2000 }, { strategy: "signal", exitCode: 1 });
  const shown = new Set(text.split("\n"));
  expect(errors.filter((line) => !shown.has(line))).toEqual([]);
  expect(errors.filter((line) => !shown.has(`[ERROR] ${line}`))).toEqual([]);
});

/** The final scores of a failing output of a thousand lines, of which these are the first. */
function scoresOf(scores: readonly number[], { hashes = [1, 2, 3], flags = [0, 0, 0], added = 0 } = {}) {
  const store = new UnitStore();
  const line = new TextEncoder().encode("some line\n");
  for (const [sequence, score] of scores.entries()) {
    const row = store.push(line, 0, line.length);
    store.sequence[row] = sequence;
    store.score[row] = score;
    store.textHash[row] = hashes[sequence] as number;
    store.flags[row] = flags[sequence] as number;
  }
  const none = new Int32Array(0);
  const counts = { shapes: new ShapeCounts(), starts: new ShapeCounts(), sorts: new ShapeCounts() };
  const seen = { units: 1000, chars: 10_000, failed: none, good: none, ranks: new Int32Array(32), strong: 0 };
  return judge(store, { ...seen, ...counts, words: null, added, counted: 0 }, true).scores;
}

it("of copies of a line spares the best, wherever it stands", () => {
  for (const scores of [
    [1, 5, 2],
    [5, 1, 2],
    [1, 2, 5],
  ]) {
    const best = scores.indexOf(5);
    const alone = scoresOf(scores);
    const copies = scoresOf(scores, { hashes: [7, 7, 7] });
    for (const row of scores.keys()) {
      if (row === best) expect(copies[row]).toBe(alone[row]);
      else expect(copies[row]).toBeLessThan(alone[row] as number);
    }
  }
});

it("gives a line in which only names are new half of what a new line gains", () => {
  const plain = scoresOf([1, 1, 1]);
  // What a new line has gained while it was held is taken back first.
  const known = scoresOf([1, 1 + HELD_NEW_GAIN, 1], { flags: [0, IS_NEW, IS_NEWLY_NAMED], added: 2 });
  const [none, all, half] = [0, 1, 2].map((row) => (known[row] as number) - (plain[row] as number));
  expect(none).toBe(0);
  expect(all).toBeGreaterThan(1);
  expect(half).toBeCloseTo((all as number) / 2, 4);
});

it("holds the start of a large output until it is known whether something failed", () => {
  const name = (n: number) => Math.imul(n + 1, 0x9e3779b1).toString(36);
  const log = Array.from({ length: 30_000 }, (_, n) => `placed ${name(n)} on ${name(n + 7)} for ${name(n + 9)}`);
  const { text } = clampText(log.join("\n"), { maxChars: 4000 }, { strategy: "signal", exitCode: 0 });
  expect(text).toContain(log.slice(0, 10).join("\n"));
});
