import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Command } from "../../../entrypoints/cli/command.ts";
import { addSearchCommand } from "../../../entrypoints/cli/commands/search.ts";
import { memoryStore } from "../../../extend.ts";
import { createSpillway } from "../../../index.ts";
import { hiddenText } from "../../mark/access.ts";
import { FailureNames } from "./hidden.ts";

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
      /names (\d+) failures, (\d+) of them here; find the others with: search\((.*?)\)\]/.exec(text) ?? [];
    expect([count, told]).toEqual(["60", String(shown)]);
    const asked = JSON.parse(call ?? "");
    expect(asked.id).toBe(id);
    expect((await by.search(id, asked)).total).toBe(60);
    const known = await by.admit({ tool: "run_command", output: text, limits: { maxChars: 1800 } });
    expect(known.text).toBe(text);
  });

  const bodies = Array.from({ length: 24 }, (_, n) => [
    `--- FAIL: TestPart${n} (0.0${n}s)`,
    ...Array.from(
      { length: 30 },
      (_each, line) => `    part_test.go:${line}: error: value ${n * line} is wrong, expected ${n}`,
    ),
    `=== RUN   TestNext${n}`,
  ]).flat();

  it("gives room to the names of failures that its summary counts", async () => {
    const by = await open();
    const { text } = await cut(by, {
      output: [...bodies, "24 failed, 3 passed"].join("\n"),
      limits: { maxChars: 3000 },
    });
    expect(text.match(/--- FAIL: TestPart/g)?.length).toBe(24);
    expect(text).not.toContain("of them here");
    expect(text).toContain("part_test.go:");
  });

  it("is within its limits and adds up, whatever is counted, asked for and missing", async () => {
    const by = await open();
    const line = fc.oneof(
      fc.constantFrom(...bodies.slice(0, 64), "3 failed", "errors: 40", "not ok 3 parse", "FAIL src/a.test.ts", ""),
      fc.string({ maxLength: 60 }),
    );
    const given = fc.record({
      lines: fc.array(line, { minLength: 20, maxLength: 400 }),
      maxChars: fc.integer({ min: 300, max: 4000 }),
      intent: fc.constantFrom("what of TestPart1?", "why is part_test.go wrong", "anything"),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ lines, maxChars, intent }) => {
        const output = lines.join("\n");
        const { text, receipt } = await by.admit({
          tool: "run_command",
          output,
          exitCode: 1,
          intent,
          limits: { maxChars },
        });
        expect(text.length).toBeLessThanOrEqual(maxChars);
        const { kept, folded, omitted, total } = receipt;
        expect(kept.bytes + folded.bytes + omitted.bytes).toBe(total.bytes);
        expect(receipt.faults).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("says nothing if all are named, if nothing is counted, or if the reader cannot search", async () => {
    const by = await open();
    const few = [...names.slice(0, 2), ...Array.from({ length: 400 }, (_, n) => `ok ${n} fine`), "2 failed"].join("\n");
    expect((await cut(by, { output: few })).text).not.toContain("of them here");
    const uncounted = (await cut(by, { output: names.join("\n") })).text;
    expect(uncounted).not.toContain("of them here");
    expect((await cut(await open({ by: "operator" }))).text).not.toContain("of them here");
    const shell = await cut(await open({ by: "shell" }));
    expect(shell.text).toContain(`find the others with: spillway search ${shell.id} '^ *FAIL(ED)?:? '`);
  });

  it.each([
    ["--- FAIL: TestSome", "--- FAIL: "],
    ["not ok 1 some test", "^ *not ok "],
    ["FAIL test/some.ts", "^ *FAIL(ED)?:? "],
    ["test/some.py FAILED", "(FAILED|FAIL|<<< (FAILURE|ERROR)!)$"],
    ["src/some.ts: error TS2304: no name", "error(:|\\[| TS[0-9])"],
  ])("prints a search that the command line reads as it is meant: %s", async (line, pattern) => {
    const seen = new FailureNames();
    for (const each of [line, "1 failed"]) seen.see(new TextEncoder().encode(each));
    const [id, access] = ["k3v7q2m4x5ya", { by: "shell", dir: "/tmp/a b" }] as const;
    const text = hiddenText([seen.missingIn([], [])?.hidden ?? { pattern: "" }], {
      id,
      saved: "yes",
      savedBytes: 9,
      access,
    });
    const [, printed = ""] = /find the others with: spillway (search .*)/.exec(text) ?? [];
    const words = [...printed.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
    const program = new Command().exitOverride();
    addSearchCommand(program);
    const read: unknown[] = [];
    program.commands[0]?.exitOverride().action((...args: unknown[]) => void read.push(...args.slice(0, 2)));
    await program.parseAsync(words, { from: "user" });
    expect(read).toEqual([id, pattern]);
  });

  it("names what to look for in the file, for a reader who has the whole output as a file", () => {
    const seen = new FailureNames();
    for (const each of ["--- FAIL: TestSome", "1 failed"]) seen.see(new TextEncoder().encode(each));
    const hidden = [seen.missingIn([], [])?.hidden ?? { pattern: "" }, { pattern: "zeta-77" }];
    const access = { by: "file", path: "/tmp/whole.txt" } as const;
    expect(hiddenText(hidden, { id: "k3v7q2m4x5ya", saved: "yes", savedBytes: 9, access })).toBe(
      " The output names 1 failure, 0 of them here; find the others by searching that file for /--- FAIL: /." +
        " What was asked for stands only in what is omitted; find it by searching that file for /zeta-77/i.",
    );
  });

  it.each(["errors: 999999", "port 8080 failed", "999999 failed, 0 passed"])(
    "counts no more failures than it has seen named: %s",
    async (forged) => {
      const { text } = await cut(await open(), { output: [...names, forged].join("\n") });
      expect(text).toContain("names 60 failures, ");
    },
  );

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
