import { expect, test } from "vitest";
import { saysExit } from "./write-marked.ts";

test.each([
  ["[cut; exit code 1]", "[exit code 1]", true],
  ["[cut; exit code 1; more]", "[exit code 1]", true],
  ["[1,200 lines, 9 bytes not shown; exit code -1]", "[exit code -1]", true],
  ["[cut; exit code 1]", "[exit code 2]", false],
  ["[cut]", "[exit code 1]", false],
  ["exit code 1", "[exit code 1]", false],
])("%s says %s: %s", (text, exitLine, says) => {
  expect(saysExit(text, exitLine)).toBe(says);
});
