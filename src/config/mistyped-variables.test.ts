import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mistypedVariables } from "./load-config.ts";

it("knows every variable that the source reads, and names it to who mistypes it", () => {
  const src = join(import.meta.dirname, "..");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const named = files.flatMap(
    (file) => readFileSync(join(src, file), "utf8").match(/\bSPILLWAY_[A-Z_]*[A-Z]\b/g) ?? [],
  );
  const read = [...new Set(named)];
  expect(read).toContain("SPILLWAY_MAX_LINES");
  expect(mistypedVariables(Object.fromEntries(read.map((name) => [name, "1"])))).toEqual([]);
  for (const name of read)
    expect(mistypedVariables({ [`${name}X`]: "1" })).toEqual([`${name}X is ignored; did you mean ${name}?`]);
  expect(mistypedVariables({ SPILLWAY_SOMETHING_ELSE: "1", OTHER: "1" })).toEqual([]);
});
