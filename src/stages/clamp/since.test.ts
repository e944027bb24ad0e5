import { describe, expect, it } from "vitest";
import { changesText } from "../mark/changes-text.ts";
import { compareRuns, RunLines, templateOf } from "./since.ts";

const encoder = new TextEncoder();
const runOf = (text: string, step = text.length) => {
  const run = new RunLines();
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += step) run.add(bytes.subarray(at, at + step));
  return run.end();
};
const compare = (before: string, after: string) => compareRuns(runOf(before), runOf(after));

describe("a template", () => {
  it.each([
    ["2024-05-01T10:00:00.123Z start", "2025-11-18T23:59:59Z start"],
    ["Wed Nov 18 08:00:00 2026 up", "Mon, Dec 3 9:10:11 2026 up"],
    ["built in 12.3s", "built in 950 ms"],
    ["built in 1m 12s", "built in 59.1 seconds"],
    ["object at 0x7ffe3a12", "object at 0xdeadbeef"],
    ["commit 3f2a9c1d8e", "commit aa01bb77cc"],
    ["job 123e4567-e89b-12d3-a456-426614174000 done", "job 00000000-aaaa-bbbb-cccc-abcdefabcdef done"],
    ["wrote /tmp/pytest-of-root/x1/out.txt", "wrote /var/folders/9x/ab_c/T/out.txt"],
    [
      String.raw`wrote C:\Users\ann\AppData\Local\Temp\abc.txt`,
      String.raw`wrote C:\Users\bo\AppData\Local\Temp\q\r.txt`,
    ],
    ["\u001b[32mok\u001b[0m  all   good", "ok all good"],
    ["downloaded 12.3 kB", "downloaded 4 MB"],
    ["pid 4711 on port 3000", "pid 12 on port 41234"],
  ])("is the same for %j and %j", (one, other) => {
    expect(templateOf(one)).toBe(templateOf(other));
  });

  it.each([
    ["FAIL test/a.test.ts", "FAIL test/b.test.ts"],
    ["cannot find name 'foo'", "cannot find name 'bar'"],
    ["error: refused", "error: denied"],
    ["wrote /srv/app/out.txt", "wrote /srv/app/log.txt"],
  ])("tells %j from %j", (one, other) => {
    expect(templateOf(one)).not.toBe(templateOf(other));
  });

  it("takes linear time", () => {
    for (const unit of ["a", "0", "f0", "# ", "/tmp/", "0x", "- "])
      expect(templateOf(unit.repeat(1e6)).length).toBeLessThan(700);
    // A path ends where another drive begins: the same characters are not looked at for each drive before them.
    expect(templateOf("a:\\a:\\u\\Temp\\x b")).toBe("a:\\# b");
  });
});

describe("two runs", () => {
  const before =
    "10:00:01 compiling\n10:00:02 job a done\n10:00:03 job b done\nold warning here\nTests: 12 failed, 40 passed, 52 total (3.1s)\n";
  const after =
    "11:00:01 compiling\n11:00:02 job b done\n11:00:03 job a done\nError: new trouble\nTests: 3 failed, 49 passed, 52 total (950 ms)\n";

  it("differ in what is new, what is gone and which counts moved, and not in times or order", () => {
    expect(compare(before, after)).toEqual({
      added: [{ line: 4, text: "Error: new trouble", count: 1, score: expect.any(Number) }],
      gone: [{ line: 4, text: "old warning here", count: 1, score: expect.any(Number) }],
      moved: [{ line: 5, counts: ["12 failed -> 3 failed", "40 passed -> 49 passed"] }],
      total: { added: 1, gone: 1, moved: 1, same: 4 },
    });
    const none = { added: [], gone: [], moved: [] };
    expect(compare(before, before)).toMatchObject(none);
    expect(compare(before, before.replaceAll("10:", "23:").replace("3.1s", "1m 2s"))).toMatchObject(none);
    expect(compare("", "")).toMatchObject(none);
  });

  it.each([
    ["Tests run: 5, Failures: 0, Errors: 1", "Tests run: 5, Failures: 2, Errors: 1", ["Failures: 0 -> Failures: 2"]],
    ["ok=51 changed=35 failed=0", "ok=47 changed=35 failed=1", ["ok=51 -> ok=47", "failed=0 -> failed=1"]],
    ["added 120 packages in 3s", "added 1,121 packages in 9s", ["120 packages -> 1,121 packages"]],
    ["listening on port 3000, line 12, pid 9", "listening on port 4000, line 13, pid 10", []],
    ["Found 0 vulnerabilities", "Found 3 vulnerabilities", ["0 vulnerabilities -> 3 vulnerabilities"]],
  ])("have the counts of %j and %j compared", (one, other, counts) => {
    expect(compare(one, other).moved.flatMap((moved) => moved.counts)).toEqual(counts);
  });

  it("compare the same however the output is cut into pieces, carriage returns included", () => {
    const text = "é 1%\ré 50%\r\nnéw line\r\nlast";
    for (const step of [1, 2, 3, 7]) expect([...runOf(text, step).sorts.keys()]).toEqual([...runOf(text).sorts.keys()]);
    expect(runOf("a\r\nb\r\n", 2).lines).toBe(2);
  });

  it("are told in the room there is, the lines that tell most first", () => {
    const many = Array.from(
      { length: 3000 },
      (_, n) => `plain thing ${"abcdefghij"[n % 10]}${"klmnopqrst"[((n / 10) % 10) | 0]} of ${"x".repeat(n % 70)}`,
    );
    const changes = compare("nothing\n", [...many, "Error: cannot connect to database", ...many].join("\n"));
    expect(changes.added).toHaveLength(500);
    expect(changes.total.added).toBeGreaterThan(500);
    const [one, other] = [
      { id: "aaaaaaaaaaaa", exitCode: 0 },
      { id: "bbbbbbbbbbbb", exitCode: 1 },
    ];
    for (const room of [0, 1, 100, 300, 1000, 4000]) {
      const text = changesText(changes, one, other, room);
      expect(text.length).toBeLessThanOrEqual(room);
      if (room >= 1000) expect(text).toContain("Error: cannot connect to database");
    }
    // Nothing is said of what there is none of.
    expect(changesText(changes, one, other, 4000)).not.toMatch(/ 0 not shown|Counts that moved/);
    expect(changesText(compare(before, after), one, other, 4000)).toMatchInlineSnapshot(`
      "[bbbbbbbbbbbb (exit code 1) against aaaaaaaaaaaa (exit code 0). Lines: 1 new, 1 gone, 4 in both, of these 1 with other counts. Lines that differ only in numbers, times, addresses, hashes or temporary paths count as one. Their order does not count]
      Counts that moved:
      5: 12 failed -> 3 failed, 40 passed -> 49 passed
      New:
      +4: Error: new trouble
      Gone:
      -4: old warning here"
    `);
  });

  it("are bounded in what is held of them", () => {
    const run = new RunLines();
    for (let n = 0; n < 60_000; n++) run.take(`word ${n.toString(2).replaceAll("0", "o").replaceAll("1", "l")}`);
    expect(run.sorts.size).toBe(50_000);
    run.take("x".repeat(1e6));
    expect(Math.max(...[...run.sorts.values()].map(({ first }) => first.length))).toBeLessThanOrEqual(4000);
  });
});
