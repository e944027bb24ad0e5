import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";

/** What a language prints when an exception is not caught: `frames` says how many, `said` what went wrong. */
type Trace = (frames: number, said: string) => string[];

const each = (count: number, line: (n: number) => string | string[]) =>
  Array.from({ length: count }, (_, n) => line(n + 1)).flat();

const TRACES: Record<string, Trace> = {
  Python: (frames, said) => [
    "Traceback (most recent call last):",
    ...each(frames, (n) => [
      `  File "/srv/app/step${n}.py", line ${n * 7}, in run_${n}`,
      `    return step_${n}(order)`,
    ]),
    `gw.Declined: ${said}`,
  ],
  "Python, chained": (frames, said) => [
    "Traceback (most recent call last):",
    ...each(frames, (n) => `  File "/srv/app/card${n}.py", line ${n * 7}, in run_${n}`),
    "KeyError: 'card'",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    ...each(frames, (n) => [`  File "/srv/app/pay${n}.py", line ${n * 9}, in pay_${n}`, `    charge(order, ${n})`]),
    `gw.Declined: ${said}`,
  ],
  pytest: (frames, said) => [
    "=================================== FAILURES ===================================",
    ...each(frames, (n) => [
      "",
      `    def charge_${n}(order):`,
      `        total = order.total(${n})`,
      `>       return charge_${n + 1}(order, total)`,
      "",
      `shop/order${n}.py:${n * 7}:`,
      "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _",
    ]),
    ">       raise Declined(reason)",
    `E       gw.Declined: ${said}`,
    "",
    "shop/gate.py:17: Declined",
  ],
  Java: (frames, said) => [
    `Exception in thread "main" com.gw.Declined: ${said}`,
    ...each(frames, (n) => `\tat com.shop.Step${n}.run(Step${n}.java:${n * 7})`),
  ],
  "Java, caused by": (frames, said) => [
    "java.lang.IllegalStateException: order 7 not paid",
    ...each(frames, (n) => `\tat com.shop.Order${n}.pay(Order${n}.java:${n * 7})`),
    `Caused by: com.gw.Declined: ${said}`,
    ...each(frames, (n) => `\tat com.gw.Client${n}.send(Client${n}.java:${n * 3})`),
    "\t... 23 more",
  ],
  Kotlin: (frames, said) => [
    `Exception in thread "DefaultDispatcher-worker-1" gw.Declined: ${said}`,
    ...each(frames, (n) => `\tat shop.PayKt.step${n}(Pay.kt:${n * 7})`),
  ],
  Node: (frames, said) => [
    "/srv/app/pay.js:12",
    "    throw new Declined(code);",
    "    ^",
    "",
    `Declined: ${said}`,
    ...each(frames, (n) => `    at step${n} (/srv/app/step${n}.js:${n * 7}:5)`),
    "",
    "Node.js v20.20.2",
  ],
  Go: (frames, said) => [
    `panic: gw: ${said}`,
    "",
    "goroutine 1 [running]:",
    ...each(frames, (n) => [`main.step${n}(0xc000012${n}80)`, `\t/srv/app/step${n}.go:${n * 7} +0x1d`]),
    "exit status 2",
  ],
  Rust: (frames, said) => [
    "thread 'main' panicked at src/pay.rs:12:5:",
    said,
    "stack backtrace:",
    ...each(frames, (n) => [`   ${n}: pay::step${n}`, `             at ./src/step${n}.rs:${n * 7}:5`]),
    "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
  ],
  Ruby: (frames, said) => [
    `/srv/app/pay.rb:12:in \`charge': ${said} (Gw::Declined)`,
    ...each(frames, (n) => `\tfrom /srv/app/step${n}.rb:${n * 7}:in \`step${n}'`),
  ],
  Haskell: (frames, said) => [
    `pay: ${said}`,
    "CallStack (from HasCallStack):",
    ...each(frames, (n) => `  step${n}, called at src/Pay.hs:${n * 7}:3 in main:Pay`),
  ],
  PHP: (frames, said) => [
    `PHP Fatal error:  Uncaught Gw\\Declined: ${said} in /srv/app/pay.php:12`,
    "Stack trace:",
    ...each(frames, (n) => `#${n - 1} /srv/app/step${n}.php(${n * 7}): step${n}()`),
    "  thrown in /srv/app/pay.php on line 12",
  ],
  "C#": (frames, said) => [
    `Unhandled exception. Gw.Declined: ${said}`,
    ...each(frames, (n) => `   at Shop.Step${n}.Run(Order order) in /srv/app/Step${n}.cs:line ${n * 7}`),
  ],
  "C++, sanitizer": (frames, said) => [
    "=================================================================",
    `==4711==ERROR: AddressSanitizer: ${said}`,
    "READ of size 8 at 0x602000000010 thread T0",
    ...each(frames, (n) => `    #${n - 1} 0x4f${n}a2b in step${n}() /srv/app/step${n}.cc:${n * 7}:5`),
    "",
  ],
  "C++, debugger": (frames, said) => [
    "terminate called after throwing an instance of 'gw::Declined'",
    `  what():  ${said}`,
    "",
    "Program received signal SIGABRT, Aborted.",
    ...each(frames, (n) => `#${n - 1}  0x00007ffff7${n}a2b in step${n} (order=...) at step${n}.cc:${n * 7}`),
  ],
  Elixir: (frames, said) => [
    `** (Gw.Declined) ${said}`,
    ...each(frames, (n) => `    (shop 0.1.0) lib/step${n}.ex:${n * 7}: Shop.Step${n}.run/1`),
  ],
  Erlang: (frames, said) => [
    `** exception error: ${said}`,
    ...each(frames, (n) => `     in function  step${n}:run/1 (step${n}.erl, line ${n * 7})`),
  ],
  Swift: (frames, said) => [
    `pay/main.swift:12: Fatal error: ${said}`,
    "Current stack trace:",
    ...each(frames, (n) => `${n - 1}    pay    0x000000010${n}a2b step${n} + 24`),
  ],
  Perl: (frames, said) => [
    `${said} at pay.pl line 12.`,
    ...each(frames, (n) => `\tmain::step${n - 1}("x") called at pay.pl line ${n - 1}`),
  ],
};

const log = (most: number) =>
  fc.array(
    fc
      .tuple(fc.integer({ min: 0, max: 59 }), fc.constantFrom("request served", "cache warm", "order stored"))
      .map(([second, said]) => `2026-03-01 10:00:${String(second).padStart(2, "0")} INFO ${said}`),
    { minLength: 3, maxLength: most },
  );

const limits = fc.oneof(
  fc.record({ maxLines: fc.integer({ min: 5, max: 20 }) }),
  fc.record({ maxChars: fc.integer({ min: 600, max: 2000 }) }),
  fc.record({ maxLines: fc.integer({ min: 6, max: 20 }), maxChars: fc.integer({ min: 800, max: 3000 }) }),
);

describe.each(Object.entries(TRACES))("a trace of %s", (_, trace) => {
  // Also in words that tell of no failure by themselves.
  const sayings = fc.constantFrom("card_declined (code 51)", "the issuer said 51");

  it.each(["auto", "signal"])("shows the message before its frames in little room, by %s", (strategy) => {
    const frames = fc.integer({ min: 3, max: 40 });
    const options = fc.record({ fold: fc.boolean(), exitCode: fc.constantFrom(undefined, 1), said: sayings });
    const property = fc.property(log(60), frames, log(60), limits, options, (before, count, after, within, given) => {
      const { exitCode, fold, said } = given;
      const text = [...before, ...trace(count, said), ...after].join("\n");
      const shown = clampText(text, within, { strategy, fold, ...(exitCode !== undefined && { exitCode }) }).text;
      expect(shown).toContain(said);
    });
    fc.assert(property, { numRuns: 40 });
  });

  it.each([9, 10, 12, 16])("also in the middle of a long log, at %i lines", (maxLines) => {
    const served = (name: string) =>
      each(
        60,
        (n) =>
          `2026-11-18 10:00:${String((n - 1) % 60).padStart(2, "0")} INFO worker-${(n - 1) % 4} handled request ${name}${n - 1}`,
      );
    const text = [...served("a"), ...trace(25, "the issuer said 51"), ...served("b"), ""].join("\n");
    expect(clampText(text, { maxLines }).text).toContain("the issuer said 51");
  });

  it.each([
    ["of GitHub Actions", "2026-03-01T10:00:00.1234567Z "],
    ["of docker compose", "web-1  | "],
    ["of kubectl", "[pod/web-6d4cf56db6-x7x9k/web] "],
    ["of the system's log", "Mar  1 10:00:00 host app[4711]: "],
    ["of a tag", "[web] "],
  ])("also where each line has what a log puts before it: that %s", (_, before) => {
    const served = each(60, (n) => `2026-11-18 10:00:${String(n - 1).padStart(2, "0")} INFO request ${n} served`);
    for (const maxLines of [9, 12, 16]) {
      const lines = [...served, ...trace(25, "the issuer said 51"), ...served].map((line) => `${before}${line}`);
      expect(clampText(lines.join("\n"), { maxLines }).text).toContain("the issuer said 51");
    }
  });

  it("also where lines of a log stand between", () => {
    const property = fc.property(log(30), log(4), log(30), limits, sayings, (before, between, after, within, said) => {
      const lines = trace(12, said);
      const at = lines.findLastIndex((line) => line.includes(said));
      const inside = lines.toSpliced(at === lines.length - 1 ? at : at + 1, 0, ...between);
      const shown = clampText([...before, ...inside, ...after].join("\n"), within, { strategy: "signal" }).text;
      expect(shown).toContain(said);
    });
    fc.assert(property, { numRuns: 40 });
  });
});

it("shows no frame of a trace without its message, however many traces there are", () => {
  const traces = fc.array(fc.tuple(fc.constantFrom(...Object.values(TRACES)), fc.integer({ min: 3, max: 9 })), {
    minLength: 4,
    maxLength: 12,
  });
  const property = fc.property(traces, log(9), limits, (all, between, within) => {
    const thrown = all.map(([trace, frames], index) => trace(frames, `reason ${index + 100}`));
    const own = thrown.map((lines, index) => lines.map((line) => line.replace(/step(?=\d)/i, `part${index + 100}_`)));
    const text = own.flatMap((lines) => [...lines, ...between]).join("\n");
    const shown = clampText(text, within, { strategy: "signal" }).text;
    for (const [, index] of shown.matchAll(/part(\d+)_/g)) expect(shown).toContain(`reason ${index}`);
  });
  // A frame as macOS writes it once stood first in the end that is shown, without its message.
  const chosen = ["Python", "Node", "Swift", "PHP"].map((name): [Trace, number] => [TRACES[name] as Trace, 3]);
  const calm = Array.from({ length: 3 }, () => "2026-03-01 10:00:00 INFO request served");
  fc.assert(property, { numRuns: 150, examples: [[chosen, calm, { maxChars: 759 }]] });
});

describe("a chain of exceptions shows its first and its last message before any frame", () => {
  const at = (count: number) => each(count, (n) => `\tat com.shop.Step${n}.run(Step${n}.java:${n * 7})`);
  const file = (count: number) => each(count, (n) => `  File "/srv/app/step${n}.py", line ${n * 7}, in run_${n}`);
  const CHAINS: Record<string, string[]> = {
    Java: [
      "com.shop.Failed: outer",
      ...at(25),
      "Caused by: com.shop.Between: neither",
      ...at(9),
      "Caused by: com.gw.Declined: root",
      ...at(25),
    ],
    "Python, while another was handled": [
      "Traceback (most recent call last):",
      ...file(15),
      "gw.Declined: root",
      "",
      "During handling of the above exception, another exception occurred:",
      "",
      "Traceback (most recent call last):",
      ...file(15),
      "shop.Failed: outer",
    ],
    "Python, by its cause": [
      "Traceback (most recent call last):",
      ...file(15),
      "gw.Declined: root",
      "",
      "The above exception was the direct cause of the following exception:",
      "",
      "Traceback (most recent call last):",
      ...file(15),
      "shop.Failed: outer",
    ],
    Node: [
      "shop.Failed: outer",
      ...each(9, (n) => `    at step${n} (/srv/app/step${n}.js:${n * 7}:5) ${n === 9 ? "{" : ""}`),
      "  [cause]: gw.Declined: root",
      ...each(9, (n) => `      at part${n} (/srv/app/part${n}.js:${n * 7}:5)`),
      "}",
    ],
    "C#": [
      "Unhandled exception. Shop.Failed: outer",
      " ---> Shop.Between: neither",
      " ---> Gw.Declined: root",
      ...each(9, (n) => `   at Gw.Step${n}.Run(Order order) in /srv/app/Step${n}.cs:line ${n * 7}`),
      "   --- End of inner exception stack trace ---",
      ...each(9, (n) => `   at Shop.Part${n}.Run(Order order) in /srv/app/Part${n}.cs:line ${n * 7}`),
    ],
    PHP: [
      "PHP Fatal error:  Uncaught Gw\\Declined: root in /srv/app/pay.php:12",
      "Stack trace:",
      ...each(9, (n) => `#${n - 1} /srv/app/step${n}.php(${n * 7}): step${n}()`),
      "",
      "Next Shop\\Failed: outer in /srv/app/shop.php:30",
      "Stack trace:",
      ...each(9, (n) => `#${n - 1} /srv/app/part${n}.php(${n * 7}): part${n}()`),
      "  thrown in /srv/app/shop.php on line 30",
    ],
  };
  const calm = each(60, (n) => `2026-03-01 10:00:${String(n - 1).padStart(2, "0")} INFO request ${n} served`);
  const isFrame = (line: string) => /^\s+at |^\s+File "|^#\d/.test(line);

  describe.each(Object.entries(CHAINS))("%s", (_, chain) => {
    it.each([7, 8, 9, 12])("at %i lines, in the middle of a log", (maxLines) => {
      const text = [...calm, ...chain, ...calm].join("\n");
      const shown = clampText(text, { maxLines }, { strategy: "signal", exitCode: 1 }).text;
      expect(shown).toMatch(/(?:outer[^]*root|root[^]*outer)/);
    });

    it("also where an end is at hand, in less room", () => {
      for (const text of [chain.join("\n"), [...chain, ...calm].join("\n"), [...calm, ...chain].join("\n")])
        for (let maxLines = 5; maxLines <= 20; maxLines++) {
          const shown = clampText(text, { maxLines }, { strategy: "signal" }).text;
          if (maxLines >= 7) expect(shown, `${maxLines} lines`).toMatch(/(?:outer[^]*root|root[^]*outer)/);
          expect(shown, `${maxLines} lines`).toMatch(/outer|root/);
        }
    });
  });

  it("where only both of them fit, no frame is shown", () => {
    const text = CHAINS["Java"]?.join("\n") ?? "";
    const lines = clampText(text, { maxLines: 5 }, { strategy: "signal", exitCode: 1 }).text.split("\n");
    expect(lines.filter((line) => /outer|root/.test(line))).toHaveLength(2);
    expect(lines.filter(isFrame)).toEqual([]);
  });
});

it("what pytest says first of a failure is shown before its details", () => {
  const source = each(40, (n) => `        step_${n}(order)`);
  const details = each(30, (n) => `E         item ${n} of the other list`);
  const text = [...source, ">       assert paid == due", "E       assert 51 == 50", ...details, "", ...source].join(
    "\n",
  );
  for (const maxLines of [6, 8, 12]) expect(clampText(text, { maxLines }).text).toContain("assert 51 == 50");
});
