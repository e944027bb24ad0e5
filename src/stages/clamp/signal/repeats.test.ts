import { expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";

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
