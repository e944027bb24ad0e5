import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { clampText } from "../src/admit/clamp-text.ts";

// Outputs that the corpus factory made, with what names the faults in them.
const folder = new URL("../bench/corpus-factory/sample/tools/", import.meta.url);
interface Sample {
  id: string;
  file: string;
  truth: string[];
  exitCode: number;
}
const samples = readFileSync(new URL("cases.jsonl", folder), "utf8")
  .trim()
  .split("\n")
  .map((line): Sample => JSON.parse(line));

const kept = ({ file, truth, exitCode }: Sample): number => {
  const output = gunzipSync(readFileSync(new URL(file, folder)));
  const { text } = clampText(output.toString(), { maxChars: 4000 }, { strategy: "signal", fold: true, exitCode });
  expect(text.length).toBeLessThanOrEqual(4000);
  return truth.filter((said) => text.includes(said)).length;
};

it.each(samples)("names a fault in 4,000 characters: $id", (sample) => {
  expect(kept(sample)).toBeGreaterThan(0);
});

it("names most faults of all samples together", () => {
  const told = samples.reduce((sum, { truth }) => sum + truth.length, 0);
  expect(samples.reduce((sum, sample) => sum + kept(sample), 0) / told).toBeGreaterThan(0.8);
});
