import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Verdict, VerdictContext } from "../src/contract/verdict.ts";
import { claims, classify } from "../src/stages/recover/classify.ts";
import { classifyResponse } from "../src/stages/recover/peek-response.ts";
import { readEvidence } from "../src/stages/recover/read-evidence.ts";
import { bare, guards, last, litellm, pages, providers } from "../src/stages/recover/signatures.ts";
import { disguises } from "./overflow/disguises.ts";
import { type OverflowFixture, printMatrix, printRules } from "./overflow/print-matrix.ts";

const PAGE = "docs/reference/overflow-errors.md";
const files = (await readdir("test/overflow")).filter((name) => name.endsWith(".json")).toSorted();
const fixtures: Record<string, OverflowFixture[]> = {};
for (const file of files)
  fixtures[file.replace(".json", "")] = JSON.parse(await readFile(`test/overflow/${file}`, "utf8"));
const all = Object.entries(fixtures).flatMap(([file, rows]) =>
  rows.map((row) => ({ ...row, title: `${file}: ${row.name}` })),
);

const plain = ({ evidence: _evidence, ...verdict }: Verdict) => verdict;

describe("real refusals", () => {
  it.each(all)("$title", (fixture) => {
    for (const [form, subject] of disguises(fixture)) {
      expect(plain(classify(subject, fixture.context)), form).toEqual(fixture.expect);
    }
  });

  it.each(all.filter(({ body }) => body !== undefined))(
    "$title, as a Response that is still to be read",
    async (fixture) => {
      const body = typeof fixture.body === "string" ? fixture.body : JSON.stringify(fixture.body);
      const response = new Response(body, {
        status: fixture.status ?? 400,
        headers: { "content-type": "application/json" },
      });
      expect(plain(await classifyResponse(response, fixture.context))).toEqual(fixture.expect);
      expect(await response.text()).toBe(body);
    },
  );

  // No rule stands for these: nothing was said.
  const UNSAID = new Set(["usage-over-window", "empty-at-full-window", "truncated-by-server", "answer-cut-off"]);
  it.each(all)("$title: exactly one rule claims it, and none what is not about size", (fixture) => {
    for (const [, subject] of disguises(fixture)) {
      const evidence = readEvidence(subject);
      const context: VerdictContext = { ...fixture.context };
      const provider = classify(subject, context).provider;
      if (provider !== null) context.provider = provider;
      const { rule } = fixture.expect;
      const claimed = claims(evidence, context).map((claim) => claim.rule);
      expect(claimed).toEqual(rule === null || UNSAID.has(rule) ? [] : [rule]);
    }
  });

  it("every rule of a provider has a body, and rule names are unique", () => {
    const rules = [...providers, pages, guards, litellm, last, bare].flatMap(({ signatures }) =>
      signatures.map(({ rule }) => rule),
    );
    expect(new Set(rules).size).toBe(rules.length);
    const claimed = new Set(all.map(({ expect: { rule } }) => rule));
    expect(rules.filter((rule) => !claimed.has(rule))).toEqual([]);
  });

  it("every body has its source", () => {
    expect(all.filter(({ source }) => source.length < 12).map(({ title }) => title)).toEqual([]);
    expect(all.filter(({ source }) => source.startsWith("https://")).length).toBeGreaterThan(all.length / 2);
  });
});

it("the reference page shows the rules and the bodies (vitest -u writes it)", async () => {
  const page = await readFile(PAGE, "utf8");
  const written = fill(fill(page, "rules", printRules()), "bodies", printMatrix(fixtures));
  await expect(written).toMatchFileSnapshot(`../${PAGE}`);
});

function fill(page: string, name: string, text: string): string {
  const between = new RegExp(`(<!-- ${name}:start[^]*?-->\\n)[^]*?(<!-- ${name}:end -->)`);
  expect(page).toMatch(between);
  return page.replace(between, (_all, start: string, end: string) => `${start}\n${text}\n\n${end}`);
}
