import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { clampText } from "../src/admit/clamp-text.ts";

/** An output of a real tool that is no log, and what a reader of it looks for; in the form that `bench/retention.mjs` reads. */
interface Case {
  id: string;
  group: string;
  file: string;
  truth: string[];
  exitCode: number;
  tool: string;
  command: string;
  focus?: string;
}

const read = (name: string) => readFileSync(new URL(`kinds/${name}`, import.meta.url));
const cases = read("cases.jsonl")
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);
const BUDGETS = [2000, 4000, 8000] as const;

/** The share of the truth that a text has. */
const shareOf = ({ truth }: Case, text: string) => truth.filter((part) => text.includes(part)).length / truth.length;

const scored = cases.map((one) => {
  const output = gunzipSync(read(one.file)).toString();
  const { tool, command, exitCode, focus } = one;
  const cut = (maxChars: number) =>
    clampText(output, { maxChars }, { tool, command, exitCode, fold: true, ...(focus !== undefined && { focus }) });
  const texts = BUDGETS.map((budget) => cut(budget).text);
  const shares = texts.map((text) => shareOf(one, text));
  const plain = (slice: (budget: number) => string) => BUDGETS.map((budget) => shareOf(one, slice(budget)));
  const head = plain((budget) => output.slice(0, budget));
  const tail = plain((budget) => output.slice(-budget));
  const { kind, strategy } = cut(2000).receipt;
  return { ...one, output, kind, strategy, texts, shares, head, tail };
});

describe("what a reader looks for in outputs that are no logs", () => {
  it.each(scored)("stands in each output, whose cuts are within their limits: $id", ({ output, truth, texts }) => {
    expect(truth.filter((part) => !output.includes(part))).toEqual([]);
    expect(texts.every(({ length }, at) => length <= (BUDGETS[at] as number))).toBe(true);
  });

  it("is kept at least as often as at either end, but for a report on one line", () => {
    const least = scored.filter(({ shares, head, tail }) =>
      shares.some((share, at) => share < Math.max(head[at] as number, tail[at] as number)),
    );
    expect(least.map(({ id }) => id)).toEqual(["junit-one-line"]);
  });

  it.each([
    [2000, 0.8],
    [4000, 0.9],
    [8000, 0.95],
  ])("is kept in %d characters: a share of %d on average", (budget, mean) => {
    const at = BUDGETS.indexOf(budget as (typeof BUDGETS)[number]);
    const sum = scored.reduce((total, { shares }) => total + (shares[at] as number), 0);
    expect(sum / scored.length).toBeGreaterThanOrEqual(mean);
  });
});

it("the reference has a row for each output (vitest -u writes it)", async () => {
  const percent = (shares: readonly number[]) => shares.map((share) => (100 * share).toFixed(0)).join(" / ");
  const rows = scored.map(({ id, command, output, kind, strategy, shares, head, tail }) => {
    const size = `${(output.length / 1000).toFixed(0)} KB`;
    const cells = [id, `\`${command.replaceAll("|", "\\|")}\``, size, `\`${kind}\``, `\`${strategy}\``];
    return `| ${[...cells, percent(shares), percent(head), percent(tail)].join(" | ")} |`;
  });
  const page = `# What is kept of outputs that are no logs

This page is written from the outputs in \`test/kinds\` by \`npx vitest run test/kinds.test.ts -u\`. Each is the output of a real tool.
In each the lines are known that a reader looks for: the one row in another state, the record with the odd number, the failed
case, the lines that the next commit changed. The cells are the share of these in percent at 2,000 / 4,000 / 8,000 characters. The two source
files were read with the subject of that commit as \`focus\`, all others without. The strategies were built with these outputs at hand, so
expect less on others. Logs have [a page of their own](retention.md).

| output | command | size | kind | strategy | Spillway | start | end |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
  await expect(page).toMatchFileSnapshot("../docs/reference/kinds.md");
});
