import { expect, it } from "vitest";
import { type Logger, logCut, logFault } from "./events.ts";

function listening(fails = false) {
  const said: unknown[][] = [];
  const take =
    (level: string) =>
    (...args: unknown[]) => {
      said.push([level, ...args]);
      if (fails) throw new Error("the log is full");
    };
  const logger: Logger = { info: take("info"), warn: take("warn") };
  return { said, logger };
}

it("tells what was cut, at the level asked for, and nothing where nothing was", () => {
  const { said, logger } = listening();
  logCut(logger, "info", { tool: "bash", beforeChars: 3000, afterChars: 1000 });
  logCut(logger, "warn", { tool: "bash", beforeChars: 1001, afterChars: 1000 });
  for (const beforeChars of [999, 1000]) logCut(logger, "warn", { tool: "bash", beforeChars, afterChars: 1000 });
  logCut(undefined, "info", { tool: "bash", beforeChars: 2, afterChars: 1 });
  expect(said).toEqual([
    [
      "info",
      "bash output cut: 3000 -> 1000 chars (66.7 % less)",
      { tool: "bash", beforeChars: 3000, afterChars: 1000, reducedPercent: 66.7 },
    ],
    [
      "warn",
      "bash output cut: 1001 -> 1000 chars (0.1 % less)",
      { tool: "bash", beforeChars: 1001, afterChars: 1000, reducedPercent: 0.1 },
    ],
  ]);
});

it("a log that fails is nobody's fault", () => {
  const { said, logger } = listening(true);
  logFault(logger, "the store is gone");
  logCut(logger, "info", { tool: "bash", beforeChars: 2, afterChars: 1 });
  logFault(undefined, "nobody listens");
  expect(said).toHaveLength(2);
  expect(said[0]).toEqual(["warn", "the store is gone", { fault: "the store is gone" }]);
});
