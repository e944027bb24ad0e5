import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import { estimateCounter } from "../../measure/estimate-tokens.ts";
import { strategies } from "./index.ts";
import type { KindStrategy } from "./kind.ts";

const repeated = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const kindOf = (text: string, about: { tool?: string; command?: string; exitCode?: number } = {}) =>
  strategies[0]?.choose?.(new TextEncoder().encode(text), {
    limits: {},
    headShare: 0.5,
    counter: estimateCounter,
    ...about,
  }).kind;

const SAMPLES: [name: string, kind: string, text: string][] = [
  ["an array", "json", `[${repeated(300, (n) => `{"id":${n}},`)}`],
  ["JSON lines", "json", repeated(300, (n) => `{"id":${n},"level":"info"}`)],
  ["a page", "html", `<!DOCTYPE html>\n<html><body>${repeated(50, (n) => `<p>${n}</p>`)}`],
  ["a diff", "diff", `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,40 @@\n${repeated(40, (n) => `+line ${n}`)}`],
  [
    "a commit",
    "diff",
    `commit 0123456789abcdef\nAuthor: A\n\n    Say why\n\ndiff --git a/x b/x\n@@ -1 +1,40 @@\n${repeated(40, (n) => `-line ${n}`)}`,
  ],
  ["search results", "matches", repeated(60, (n) => `src/a${n % 7}.ts:${n}:  call(${n});`)],
  ["a tree", "listing", `.\n${repeated(40, (n) => `${n % 4 === 0 ? "├── " : "│   ├── "}file${n}.ts`)}`],
  ["ls -l", "listing", `total 12\n${repeated(40, (n) => `-rw-r--r-- 1 a a ${n} Jan  1 00:00 f${n}`)}`],
  ["find", "listing", repeated(60, (n) => `./src/dir${n % 5}/file${n}.ts`)],
  ["comma separated", "table", `id,name,mail\n${repeated(60, (n) => `${n},"a, b",x@y.z`)}`],
  ["tab separated", "table", `id\tname\n${repeated(60, (n) => `${n}\tname ${n}`)}`],
  [
    "columns",
    "table",
    `NAME        READY   STATUS\n${repeated(30, (n) => `pod-${String(n).padEnd(8)}1/1     Running`)}`,
  ],
  [
    "columns of numbers set to the right",
    "table",
    `Filesystem   1K-blocks    Used Avail Use% Mounted on\n${repeated(30, (n) => `/dev/sd${n}  ${String(n * 7919).padStart(9)} ${String(n * 104729).padStart(7)}  ${n + 100}  ${n}% /mnt/disk ${n}`)}`,
  ],
  [
    "processes",
    "table",
    `USER   PID %CPU %MEM TTY   STAT COMMAND\n${repeated(30, (n) => `daemon ${String(n).padStart(3)}  0.${n}  1.0 ?     Ss   /bin/task ${n} --loud`)}`,
  ],
  [
    "comma separated with line breaks in quotes",
    "table",
    `id,note,sum\n${repeated(60, (n) => `${n},"first, ${n}\nsecond ""${n}""",${n}`)}`,
  ],
  ["packages", "listing", `app@1.0.0\n${repeated(40, (n) => `${n % 4 === 0 ? "├─┬ " : "│ ├── "}name${n}@1.0.${n}`)}`],
  [
    "an access log",
    "log",
    repeated(
      60,
      (n) => `192.0.2.${n} - - [03/Feb/2024:10:00:${n + 10} +0000] "GET /p/${n} HTTP/1.1" 200 ${n} "-" "x/1"`,
    ),
  ],
  [
    "traced calls",
    "log",
    repeated(60, (n) => `read(${n}, "a, b", ${n}, NULL) = ${n % 2 === 0 ? n : "-1 EAGAIN (Try again)"}`),
  ],
  ["numbers that nothing heads", "unknown", repeated(60, (n) => `${n}  ${n * 2} ${n * 3} ${n * 5}`)],
  ["a log with levels", "log", repeated(60, (n) => `12:00:${n} INFO request ${n} took ${n} ms`)],
  [
    "a traceback",
    "log",
    `starting\nTraceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: no`,
  ],
  ["a test run", "log", repeated(60, (n) => `ok ${n} - does thing ${n}`)],
  ["compiler messages", "unknown", repeated(60, (n) => `src/a.c:${n}:3: warning: unused variable 'x${n}'`)],
  [
    "a source file",
    "source",
    `import a from "a";\n${repeated(40, (n) => `export function f${n}() {\n  return ${n};\n}`)}`,
  ],
  ["text for people", "prose", `# Title\n\n${repeated(40, (n) => `This is sentence ${n}. It goes on for a while.`)}`],
  ["nothing in particular", "unknown", repeated(60, (n) => `lorem ${n} ipsum`)],
  ["one long line", "unknown", "x".repeat(9000)],
  ["almost JSON", "unknown", `[INFO${"x ".repeat(300)}`],
];

describe("auto", () => {
  it.each(SAMPLES)("%s is %s", (_name, kind, text) => {
    expect(kindOf(text)).toBe(kind);
  });

  it("takes a page that was read from a file for a source", () => {
    const text = `<!DOCTYPE html>\n<html><body>${repeated(50, (n) => `<p>${n}</p>`)}`;
    expect(kindOf(text, { tool: "Read" })).toBe("source");
    expect(kindOf(text, { tool: "bash", command: "cat index.html" })).toBe("source");
    expect(kindOf(text, { tool: "bash", command: "curl -s https://x.test" })).toBe("html");
    expect(kindOf(text, { tool: "web_fetch" })).toBe("html");
  });

  it("takes what a command wrote for a log where it is nothing else, but not what a command only shows", () => {
    const text = repeated(60, (n) => `lorem ${n} ipsum`);
    expect(kindOf(text, { tool: "bash" })).toBe("log");
    expect(kindOf(text, { exitCode: 1 })).toBe("log");
    expect(kindOf(text, { tool: "bash", command: "cd /srv && cat notes.txt" })).toBe("unknown");
    expect(kindOf(text, { tool: "bash", command: "cat notes.txt | ./check" })).toBe("log");
    expect(kindOf(text, { tool: "read_file" })).toBe("prose");
  });

  it("takes a file with numbered lines for what it is", () => {
    expect(
      kindOf(
        repeated(40, (n) => `${String(n).padStart(6)}\treturn x${n};`),
        { tool: "bash", command: "nl -ba a.ts" },
      ),
    ).toBe("source");
  });

  it("shows the one block of another sort in what a command wrote, though it looks like source", () => {
    const block = (n: number) =>
      n === 47
        ? '  # app[47].db.orders must be replaced\n-/+ resource "db" "orders" {\n      ~ version = "14" -> "16" # forces replacement'
        : `  # app[${n}].web will be updated in-place\n  ~ resource "web" "app" {\n      ~ tags = {`;
    const plan = repeated(90, (n) => `${block(n)}\n        # (31 unchanged attributes hidden)\n    }\n`);
    const { text, receipt } = clampText(
      plan,
      { maxChars: 3000 },
      { strategy: "auto", command: "terraform plan", exitCode: 0 },
    );
    expect(receipt).toMatchObject({ kind: "source", strategy: "signal" });
    expect(text).toContain("must be replaced");
    expect(text).toContain("# forces replacement");
  });

  it("knows compiler messages by a command for what they are", () => {
    expect(
      kindOf(SAMPLES.find(([name]) => name === "compiler messages")?.[2] ?? "", { tool: "bash", exitCode: 2 }),
    ).toBe("log");
  });
});

it("asks each kind in an order of its own, and the strategies for one kind are one", () => {
  const kinds = strategies.flatMap((strategy) =>
    ((strategy as KindStrategy).kinds ?? []).map(({ name, order }) => ({ name, order, strategy: strategy.name })),
  );
  expect(new Set(kinds.map(({ order }) => order)).size).toBe(kinds.length);
  expect(kinds.toSorted((a, b) => a.order - b.order).map(({ name }) => name)).toEqual(
    "json source html diff sections log matches listing table source log prose".split(" "),
  );
  for (const name of new Set(kinds.map((kind) => kind.name))) {
    expect(new Set(kinds.filter((kind) => kind.name === name).map(({ strategy }) => strategy)).size).toBe(1);
  }
});

it("takes time in proportion to what it looks at, however crafted", () => {
  const lines = repeated(40, () => "x");
  for (const crafted of [`${"a/".repeat(60)}a:\n${lines}`, `${"<!---->".repeat(60)}x\n${lines}`])
    expect(typeof kindOf(crafted)).toBe("string");
});

it.each([
  ["diff -u old new", 1, "diff"],
  ["/usr/bin/git --no-pager diff --exit-code", 1, "diff"],
  ["diff -u old new", 2, "signal"],
  ["npm test", 1, "signal"],
])("%s with exit code %i is shown by %s, though the lines speak of errors", (command, exitCode, strategy) => {
  const text = `--- a/x\n+++ b/x\n@@ -1,3 +1,400 @@\n${repeated(400, (n) => `${"+-"[n % 2]}throw new Error("failed ${n}");`)}\n`;
  const { receipt } = clampText(text, { maxLines: 60 }, { exitCode, command, tool: "bash" });
  expect(receipt.strategy).toBe(strategy);
});

it("knows in little time what a very long word is", () => {
  const cpuOf = (text: string) => {
    const began = process.cpuUsage();
    for (let n = 0; n < 40; n++) clampText(`${text}${n}`, { maxChars: 2000 });
    return process.cpuUsage(began).user;
  };
  const [word, words] = ["x".repeat(50_000), "xx ".repeat(17_000)];
  for (const text of [words, word]) cpuOf(text);
  // A pattern that tried every place of the word with all of its rest took 20 times as long as with many words.
  expect(cpuOf(word)).toBeLessThan(6 * cpuOf(words));
});
