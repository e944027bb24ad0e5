import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";

const passing = (count: number) =>
  Array.from({ length: count }, (_, test) => `ok ${test + 1} - test number ${test + 1} works`);
const failure = [
  "FAIL src/parse.test.ts",
  "  1) reads a nested list",
  "     AssertionError: expected 3 to equal 4",
  "      at Context.<anonymous> (src/parse.test.ts:41:12)",
  "      at processImmediate (node:internal/timers:478:21)",
];

describe("signal", () => {
  it("keeps a failure in the middle whole, where both ends would lose it", () => {
    const log = ["$ npm test", ...passing(900), "", ...failure, "", ...passing(900), "1 failed, 1800 passed"].join(
      "\n",
    );
    const { text, receipt } = clampText(log, { maxChars: 4000 }, { strategy: "signal" });
    expect(text).toContain(failure.join("\n"));
    expect(text).toContain("1 failed, 1800 passed");
    expect(receipt.strategy).toBe("signal");
    expect(clampText(log, { maxChars: 4000 }, { strategy: "head-tail" }).text).not.toContain("AssertionError");
  });

  it("shows the one line that tells of a failure in the least room", () => {
    const log = [...passing(900), "ERROR: the database refused", ...passing(900)].join("\n");
    for (const maxLines of [5, 8, 12])
      for (const exitCode of [undefined, 1]) {
        const { text } = clampText(log, { maxLines }, { strategy: "signal", ...(exitCode && { exitCode }) });
        expect(text, `${maxLines} lines, ${exitCode}`).toContain("ERROR: the database refused");
      }
  });

  it("shows the one error of another shape where another comes again and again", () => {
    const said = [
      (n: number) => `worker ${n} ready, 0 errors`,
      (n: number) => `processed ${n} orders in ${n % 80} ms`,
      (n: number) => `WARN  retrying request ${n} (1/3): connection reset by peer`,
      (n: number) => `GET /api/v1/items/${n} 200 ${n % 90}ms`,
    ];
    const lines = Array.from({ length: 190 }, (_, at) =>
      at % 9 === 5
        ? `ERROR simulated failure for listener ${at} (this is expected in the test)`
        : (said[at % said.length]?.(at) ?? ""),
    );
    lines.splice(95, 0, "dd: error writing '/mnt/full': No space left on device");
    for (const maxChars of [1500, 4000]) {
      const { text } = clampText(lines.join("\n"), { maxChars }, { strategy: "signal" });
      expect(text, `${maxChars}`).toContain("dd: error writing");
    }
  });

  it("shows the one line of another sort in a large log whose lines complain of something else each", () => {
    const name = (n: number) => Math.imul(n, 0x9e3779b1).toString(36).replace(/\d/g, "x");
    const complains = (n: number) =>
      n % 2 === 0 ? `GECKO(${n}) | error: ${name(n)}_FAILURE` : `TEST-PASS | dom/test_${name(n)}.html | ok`;
    const log = Array.from({ length: 40_000 }, (_, n) => `[task 2024-05-01T10:00:00Z] 10:00:00 INFO - ${complains(n)}`);
    const missed = "TEST-UNEXPECTED-TIMEOUT | layout/test_caret.html | no output for 370 seconds";
    log[20_123] = `[task 2024-05-01T10:00:00Z] 10:00:00 INFO - ${missed}`;
    for (const exitCode of [undefined, 1]) {
      const { text } = clampText(
        log.join("\n"),
        { maxChars: 4000 },
        { strategy: "signal", ...(exitCode && { exitCode }) },
      );
      expect(text, `${exitCode}`).toContain(missed);
    }
  });

  it("names as many failures as the summary counts, before what is around them and before commoner complaints", () => {
    const log = Array.from({ length: 6000 }, (_, line) => {
      const file = `dom/tests/test_${line % 700}.html`;
      if (line % 500 === 250) return `09:00:0${line % 10} INFO - CheckFailed | ${file} | the panel stays open ${line}`;
      if (line % 7 === 0) return `09:00:0${line % 10} INFO - WARNING: setPref(${line}) failed with result 0x8${line}`;
      return `09:00:0${line % 10} INFO - CheckPassed | ${file} | step ${line}`;
    });
    const housekeeping = Array.from(
      { length: 3000 },
      (_, file) => `09:10:00 INFO - uploading part-${file}.json, 0 errors`,
    );
    const all = [...log, "09:09:00 INFO - Failed: 12", ...housekeeping].join("\n");
    const { text } = clampText(all, { maxChars: 4000 }, { strategy: "signal", exitCode: 1 });
    expect(text.match(/CheckFailed/g)?.length).toBeGreaterThanOrEqual(10);
    expect(text).toContain("Failed: 12");
  });

  it("leaves the failure its block where many lines complain, some of them once", () => {
    const words = ["alpha", "beta", "gamma", "delta", "omega", "kappa"];
    const once = words.map((word) => `the ${word} service: error, refused ${`${word} `.repeat(25)}`);
    const lines = Array.from({ length: 1200 }, (_, line) =>
      line % 10 === 0 ? `retry of call ${line}: connection refused` : `ok ${line} - test number ${line} works`,
    );
    for (const [index, line] of once.entries()) lines.splice(40 * index, 0, line);
    const block = [
      ...failure,
      ...Array.from({ length: 24 }, (_, n) => `      at step${n} (src/parse/deep.ts:${n}:12)`),
    ];
    lines.splice(900, 0, "", ...block, "");
    const { text } = clampText(lines.join("\n"), { maxChars: 1500 }, { strategy: "signal", exitCode: 1 });
    expect(text).toContain(block.join("\n"));
  });

  it("shows lines of rare sorts in a log of a few sorts, whatever their words", () => {
    const routine = (line: number) =>
      `Jun  3 09:00:0${line % 10} node${line % 64} kernel: ${line % 3 === 0 ? "INFO" : "WARNING"} ${["cache parity error corrected", `lease ${line} renewed`, `session ${line} opened`][line % 3 === 0 ? 0 : line % 2 === 0 ? 1 : 2]}`;
    const odd = [
      "power module U24 is not accessible",
      "clock drifted, taken out of the pool",
      "scratch went read-only",
    ];
    const log = Array.from({ length: 400 }, (_, line) => routine(line));
    for (const [index, said] of odd.entries())
      log.splice(90 + 100 * index, 0, `Jun  3 09:00:05 node7 kernel: INFO ${said}`);
    const { text } = clampText(log.join("\n"), { maxChars: 4000 }, { strategy: "signal" });
    for (const said of odd) expect(text).toContain(said);
  });

  it("accounts for a last line without a break that is repeated", () => {
    const log = [...failure, ...passing(90), ...Array(40).fill("waiting for the database")].join("\n");
    const { text, receipt } = clampText(log, { maxLines: 30 }, { strategy: "signal", fold: true });
    expect(receipt.faults).toBeUndefined();
    expect(receipt.folded.lines).toBe(39);
    expect(text).toContain("waiting for the database\n[previous line repeated 39 more times]");
  });

  it("names the limit that bound, not the first there is", () => {
    const log = passing(900).join("\n");
    const limits = { maxLines: 800, maxChars: 3000 };
    expect(clampText(log, limits, { strategy: "signal" }).receipt.cutBy).toBe("chars");
  });

  it("shows one long line from both its ends, up to its limit", () => {
    const { text, receipt } = clampText(
      "x".repeat(200_000),
      { maxChars: 20_000, maxLines: 200 },
      { strategy: "signal" },
    );
    expect(receipt.cutBy).toBe("chars");
    expect(text.length).toBeGreaterThan(19_900);
  });

  it("takes time by the length of an output also where its lines are very short", () => {
    const log = Array.from({ length: 200_000 }, (_, line) => (line * 7919) % 97).join("\n");
    const { receipt } = clampText(log, { maxBytes: 51_200, maxLines: 2000 }, { strategy: "signal" });
    expect(receipt.total.lines).toBe(200_000);
  });

  it("keeps both ends where something failed and no line looks like it", () => {
    const log = Array.from({ length: 5000 }, (_, bottle) => `${bottle + 1} bottles of beer`).join("\n");
    const shown = (strategy: string) => clampText(log, { maxLines: 40 }, { strategy, exitCode: 1 }).text;
    expect(shown("signal")).toBe(shown("head-tail"));
  });

  it.each([
    "ERROR: connection refused",
    "2026-03-01 10:00:00 FATAL out of memory",
    "Error: ENOENT: no such file or directory, open 'x.json'",
    "Segmentation fault (core dumped)",
    "./run.sh: line 3: frobnicate: command not found",
    "AssertionError: 1 != 2",
  ])("keeps the one line of a quiet log that tells of a failure: %s", (sign) => {
    const quiet = (n: number) => `2026-03-01 10:00:00 INFO [worker-${n % 5}] request ${n} done in ${n % 97} ms`;
    const log = Array.from({ length: 3000 }, (_, n) => (n === 1500 ? sign : quiet(n))).join("\n");
    for (const limits of [{ maxChars: 4000 }, { maxChars: 20_000, maxLines: 200 }])
      for (const exitCode of [undefined, 0, 1])
        expect(
          clampText(log, limits, { strategy: "signal", ...(exitCode !== undefined && { exitCode }) }).text,
        ).toContain(sign);
  });

  const hits = (count: number, status: (hit: number) => number) =>
    Array.from(
      { length: count },
      (_, hit) =>
        `10.0.${hit % 4}.${hit % 250} - - [01/Mar/2026:10:00:${10 + (hit % 50)} +0000] "GET /${["", "api/users", "img/logo.png"][hit % 3]} HTTP/1.1" ${status(hit)} ${(hit * 37) % 9000}`,
    );

  it.each([
    { name: "a log that is held whole", count: 2000 },
    { name: "a log of which most is let go early", count: 11_000 },
  ])("keeps the lone request that failed among many that did not: $name", ({ count }) => {
    const log = hits(count, (hit) => (hit === count / 2 ? 500 : hit % 9 === 0 ? 304 : hit % 20 === 0 ? 404 : 200));
    for (const strategy of ["signal", "auto"])
      for (const exitCode of [undefined, 0, 1]) {
        const options = { strategy, ...(exitCode !== undefined && { exitCode }) };
        expect(clampText(log.join("\n"), { maxChars: 4000 }, options).text).toContain(log[count / 2]);
      }
  });

  it.each(["the disk is 97 percent full", "row 40 copied with 3 retries", "row 1777 SKIPPED"])(
    "keeps the one line that stands out from thousands that differ in a number only: %s",
    (odd) => {
      for (const count of [2000, 20_000]) {
        const log = Array.from({ length: count }, (_, row) => (row === count / 2 ? odd : `row ${row} copied`));
        for (const strategy of ["signal", "auto"])
          for (const exitCode of [undefined, 0, 1]) {
            const options = { strategy, ...(exitCode !== undefined && { exitCode }) };
            expect(clampText(log.join("\n"), { maxChars: 4000 }, options).text).toContain(odd);
          }
      }
    },
  );

  it("keeps the message and the causes of a trace before its frames", () => {
    const frames = (count: number) =>
      Array.from({ length: count }, (_, n) => `\tat com.acme.store.Reader${n}.read(Reader${n}.java:${n + 10})`);
    const trace = ["ERROR request failed", "java.lang.IllegalStateException: outer", ...frames(150)];
    trace.push("Caused by: java.net.ConnectException: root", ...frames(150));
    const log = [...passing(800), ...trace, ...passing(800)].join("\n");
    for (const maxChars of [2000, 8000]) {
      const { text } = clampText(log, { maxChars }, { strategy: "signal", exitCode: 1 });
      expect(text).toContain("ERROR request failed");
      expect(text).toContain("IllegalStateException: outer");
      expect(text).toContain("ConnectException: root");
    }
  });

  it("shows what somebody is after first, in little room, in a large log, and in any script", () => {
    const log = Array.from({ length: 60_000 }, (_, n) =>
      n === 30_000 ? "the Zebra ОШИБКА line" : `INFO request ${n}`,
    );
    for (const focus of ["zebra", "ошибка", "/z[e]bra/i"])
      for (const limits of [{ maxLines: 10 }, { maxChars: 2000 }])
        expect(clampText(log.join("\n"), limits, { strategy: "signal", focus }).text).toContain("Zebra");
  });

  it("shows a dull line that somebody is after, and some where many are, whatever the exit code", () => {
    const dull = Array.from({ length: 3000 }, (_, n) => `2026-03-01 INFO [worker-${n % 5}] request ${n} done`).join(
      "\n",
    );
    for (const limits of [{ maxLines: 12 }, { maxChars: 2000 }, { maxChars: 20_000, maxLines: 200 }])
      for (const exitCode of [0, 1]) {
        const shown = (focus: string) => clampText(dull, limits, { strategy: "signal", focus, exitCode });
        expect(shown('"request 1777"').text).toContain("request 1777 ");
        const { text, receipt } = shown("worker-3");
        expect(receipt.faults).toBeUndefined();
        expect(text.split("worker-3").length).toBeGreaterThan(text.split("worker-2").length);
      }
  });

  it("says of each gap which lines are missing", () => {
    const log = [
      ...passing(500),
      ...failure,
      ...passing(500),
      ...failure.map((line) => `${line}!`),
      ...passing(500),
    ].join("\n");
    const { text, receipt } = clampText(log, { maxChars: 3000 }, { strategy: "signal" });
    const gaps = [...text.matchAll(/^\[\.\.\. lines? (\d+)(?:-(\d+))? omitted/gm)];
    expect(gaps.map(([, from]) => Number(from))).toEqual(receipt.cuts.map(({ fromLine }) => fromLine));
    expect(gaps.length).toBeGreaterThan(1);
  });

  it("keeps within a limit on lines, and a passing log's warnings and summary", () => {
    const log = [
      ...passing(700),
      "warning: 'sprintf' is deprecated [-Wdeprecated]",
      ...passing(700),
      "All 1400 tests passed",
    ].join("\n");
    const { text } = clampText(log, { maxChars: 20_000, maxLines: 60 }, { strategy: "signal", exitCode: 0 });
    expect(text.split("\n").length).toBeLessThanOrEqual(60);
    expect(text).toContain("warning: 'sprintf' is deprecated");
    expect(text).toContain("All 1400 tests passed");
  });

  it.each(["problem", "message", "violation"])(
    "shows what a report in XML calls a %s before what it says of it",
    (name) => {
      const told = ["The parameter is never read.", "Both branches are the same.", "This name hides another one."];
      const findings = told.flatMap((text, at) => [
        `    <rule name="Rule${at}" uri="https://example.com/rules/of/this/tool/in/version/2/${"x".repeat(80)}${at}">`,
        `      <${name}>${text}</${name}>`,
        `      <solution>Write it in the way that was written down in the ${"long ".repeat(12)}guide ${at}.</solution>`,
        `      <target name="Shop.Part${at}::Sum()" assembly="Shop, Version=1.0.0.0, Culture=neutral, Token=${"0".repeat(60)}">`,
        `        <place at="Shop.Part${at}::Sum()" source="c:\\src\\shop\\Part${at}.cs" of="${"y".repeat(120)}"/>`,
        "      </target>",
        "    </rule>",
      ]);
      const words = ["unused", "hidden", "missing", "late", "raw", "empty", "dead", "null", "same", "static"];
      const rules = words.flatMap((one) =>
        words.map(
          (other, at) => `    <option key="lint.problem.${one}${other}" value="${["error", "warning"][at % 2]}"/>`,
        ),
      );
      const report = ["<report>", ...rules, "  <results>", ...findings, "  </results>", "</report>"].join("\n");
      const { text } = clampText(report, { maxChars: 1700 }, { strategy: "signal" });
      for (const each of told) expect(text).toContain(each);
    },
  );

  it("divides the room by the head share where nothing failed", () => {
    const log = ["building", ...passing(600), "warning: slow disk", ...passing(600), "All 1200 tests passed"].join(
      "\n",
    );
    const headLines = (headShare: number) => {
      const options = { strategy: "signal", exitCode: 0, headShare };
      const { receipt } = clampText(log, { maxChars: 6000 }, options);
      return (receipt.cuts[0]?.fromLine ?? 1) - 1;
    };
    expect(headLines(0.9)).toBeGreaterThan(1.3 * headLines(0.3));
    expect(headLines(0.3)).toBeGreaterThan(headLines(0));
  });

  it("finds a failure deep in a very large log by a quick look, and says how much it did not judge", () => {
    const quiet = (count: number) =>
      Array.from({ length: count }, (_, part) =>
        `reading part ${part} of a very long list, nothing to see`.padEnd(1000, " x"),
      );
    const log = [...quiet(34_500), ...failure, ...quiet(2000), "the end"].join("\n");
    const full = 32 * 1024 * 1024;
    const { text, receipt } = clampText(log, { maxChars: 4000 }, { strategy: "signal", exitCode: 1 });
    expect(log.length).toBeGreaterThan(full + 1_000_000);
    expect(text).toContain(failure.join("\n"));
    expect(text).toContain("the end");
    const { bytes, lines } = receipt.unscanned as { bytes: number; lines: number };
    expect(bytes).toBeGreaterThan(log.length - full - 100_000);
    expect(bytes).toBeLessThan(log.length - full);
    expect(lines).toBeGreaterThan(bytes / 1010);
  });

  it("says nothing of lines that were not judged where all were", () => {
    expect(
      clampText(passing(900).join("\n"), { maxChars: 2000 }, { strategy: "signal" }).receipt.unscanned,
    ).toBeUndefined();
  });
});
