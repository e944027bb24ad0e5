import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../extend.ts";
import { createSpillway } from "../../../index.ts";

const open = (reader: object = { by: "tool", recall: "recall", search: "search" }) =>
  createSpillway({ store: memoryStore(), ledger: null, env: {}, reader: reader as never });
const names = Array.from(
  { length: 60 },
  (_, n) => `FAIL test/unit/part-${n}/some-rather-long-name-of-a-suite-${n}.test.ts`,
);
const output = [...names, "Tests: 60 failed, 3 passed, 63 total"].join("\n");
const cut = async (by: Awaited<ReturnType<typeof open>>, more: object = {}) => {
  const { text, receipt } = await by.admit({
    tool: "run_command",
    output,
    exitCode: 1,
    limits: { maxChars: 1800 },
    ...more,
  });
  expect(text.length).toBeLessThanOrEqual((more as { limits?: { maxChars: number } }).limits?.maxChars ?? 1800);
  expect(receipt.faults).toBeUndefined();
  return { text, id: receipt.artifact as string };
};

describe("a cut that lacks what its reader will miss", () => {
  it("says that fewer failures are named than are counted, with a search that finds them all", async () => {
    const by = await open();
    const { text, id } = await cut(by);
    const shown = text.match(/^FAIL /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(0);
    const [, count, told, call] =
      /counts (\d+) failures, and (\d+) are named here; find the others with: search\((.*?)\)\]/.exec(text) ?? [];
    expect([count, told]).toEqual(["60", String(shown)]);
    const asked = JSON.parse(call ?? "");
    expect(asked.id).toBe(id);
    expect((await by.search(id, asked)).total).toBe(60);
    const known = await by.admit({ tool: "run_command", output: text, limits: { maxChars: 1800 } });
    expect(known.text).toBe(text);
  });

  it("says nothing if all are named, if nothing is counted, or if the reader cannot search", async () => {
    const by = await open();
    const few = [...names.slice(0, 2), ...Array.from({ length: 400 }, (_, n) => `ok ${n} fine`), "2 failed"].join("\n");
    expect((await cut(by, { output: few })).text).not.toContain("are named here");
    const uncounted = (await cut(by, { output: names.join("\n") })).text;
    expect(uncounted).not.toContain("are named here");
    expect((await cut(await open({ by: "operator" }))).text).not.toContain("are named here");
    const shell = await cut(await open({ by: "shell" }));
    expect(shell.text).toContain(`find the others with: spillway search ${shell.id} '^ *FAIL(ED)?:? '`);
  });

  it("says that words which were asked for stand only in what is omitted", async () => {
    const by = await open();
    const lines = Array.from(
      { length: 3000 },
      (_, n) => `2024-05-01 10:00:${n % 60} INFO worker handled customer acme-${4000 + n} of region ${n % 9}`,
    );
    const long = `2024-05-01 10:00:00 INFO customer zeta-77 ${"payload ".repeat(900)}`;
    const { text, id } = await cut(by, { output: lines.with(1500, long).join("\n"), intent: "what about zeta-77?" });
    expect(text.match(/zeta-77/g)).toHaveLength(1);
    expect(text).toContain(`find it with: search({"id":"${id}","pattern":"zeta-77`);
    const all = await cut(by, { output: lines.join("\n"), intent: "what about acme-5500?" });
    expect(all.text).toContain("acme-5500");
    expect(all.text).not.toContain("What was asked for");
  });
});
