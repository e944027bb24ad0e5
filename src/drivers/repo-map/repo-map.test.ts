import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { drawMap, rankDefinitions } from "./rank-definitions.ts";
import { rankFiles } from "./rank-files.ts";
import { type FileNames, isKnownFile, LANGUAGES, loadNameReader } from "./read-names.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-map-"));
afterAll(() => rmSync(folder, { recursive: true }));
const reader = await loadNameReader();

async function namesOf(file: string, source: string): Promise<FileNames> {
  writeFileSync(join(folder, file), source);
  return (await reader.read(join(folder, file), file)) as FileNames;
}

const SAMPLES: [file: string, source: string, definitions: string[], reference: string][] = [
  [
    "a.ts",
    "export interface A { x: B }\nexport const run = () => helper();\nclass C { go() {} }",
    ["A", "run", "C", "go"],
    "helper",
  ],
  ["a.tsx", "export function View(p: Props) { return <div>{show(p)}</div> }", ["View"], "show"],
  ["a.mjs", "function f() { g() }\nclass K {}", ["f", "K"], "g"],
  ["a.py", "LIMIT = 3\ndef f():\n    g(LIMIT)\nclass K:\n    def m(self): pass", ["LIMIT", "f", "K", "m"], "g"],
  ["a.go", "package a\ntype T struct{}\nfunc (t T) M() { f() }", ["T", "M"], "f"],
  ["a.rs", "struct S;\nfn f() { g(); }", ["S", "f"], "g"],
  ["A.java", "class A { void m() { go(); } }", ["A", "m"], "go"],
];

test.each(SAMPLES)("reads the names of %s", async (file, source, definitions, reference) => {
  const names = await namesOf(file, source);
  expect(names.definitions.map(({ name }) => name)).toEqual(definitions);
  expect(names.references.get(reference)).toBe(1);
});

test("every language has a sample here", () => {
  const known = SAMPLES.map(
    ([file]) => LANGUAGES.find(({ extensions }) => extensions.some((each) => file.endsWith(each)))?.name,
  );
  expect(new Set(known)).toEqual(new Set(LANGUAGES.map(({ name }) => name)));
  expect(isKnownFile("notes.txt")).toBe(false);
});

test("broken source and odd bytes are read as far as they go", async () => {
  expect((await namesOf("broken.ts", "function ok() {}\nfunction (((( \0 }}}")).definitions[0]?.name).toBe("ok");
});

test("what is used most comes first", async () => {
  const files = [
    await namesOf("used.ts", "export function used() {}\nexport function lonely() {}"),
    await namesOf("one.ts", "used();\nused();"),
    await namesOf("two.ts", "export function two() { used(); }"),
  ];
  const ranked = rankDefinitions(files);
  expect(ranked[0]).toMatchObject({ name: "used", path: "used.ts", line: 1 });
  expect(rankDefinitions(files)).toEqual(ranked);
  expect(drawMap(ranked.slice(0, 1))).toEqual({ text: "used.ts:\n  1: export function used() {}", files: 1 });
  expect(drawMap([])).toEqual({ text: "", files: 0 });
});

const PUBLIC: [file: string, source: string, publics: string[]][] = [
  [
    "p.ts",
    "export class A { go() {}\n private no() {}\n #never() {} }\nfunction inner() {}\nexport function f() { function local() {} }\nconst late = 1;\nconst not = 2;\nexport { late };",
    ["A", "go", "f", "late"],
  ],
  ["p.mjs", "export function f() {}\nfunction g() {}", ["f"]],
  ["p.cjs", "function f() {}\nfunction _g() {}\nmodule.exports = { f };", ["f"]],
  [
    "p.py",
    "def f():\n    def local(): pass\ndef _g(): pass\nclass K:\n    def m(self): pass\n    def __init__(self): pass",
    ["f", "K", "m"],
  ],
  ["p.go", "package p\nfunc F() {}\nfunc f() {}\ntype T struct{}", ["F", "T"]],
  ["p.rs", "pub fn f() {}\nfn g() {}\npub struct S;", ["f", "S"]],
  ["P.java", "public class P {\n public void m() {}\n private void no() {}\n}", ["P", "m"]],
];

test.each(PUBLIC)("knows what is public in %s", async (file, source, publics) => {
  const { definitions } = await namesOf(file, source);
  expect(definitions.filter(({ isPublic }) => isPublic).map(({ name }) => name)).toEqual(publics);
});

test("public definitions come first, then the others, then those of tests", async () => {
  const files = [
    await namesOf("a.ts", "function inner() {}\nexport function outer() { inner(); inner(); }"),
    { ...(await namesOf("b.ts", "export function tested() {}\ntested(); inner();")), path: "test/b.ts" },
    { ...(await namesOf("c.ts", "export function helps() {}\nhelps();")), path: "src/c.test.ts" },
  ];
  const [first, second, ...others] = rankDefinitions(files).map(({ name }) => name);
  expect([first, second, others.toSorted()]).toEqual(["outer", "inner", ["helps", "tested"]]);
});

test("a use by a test counts less than one by the program", async () => {
  const files = [
    await namesOf("lib.ts", "export function byTests() {}\nexport function byProgram() {}"),
    await namesOf("main.ts", "byProgram();"),
    ...(await Promise.all(
      [1, 2, 3].map(async (i) => ({ ...(await namesOf(`t${i}.ts`, "byTests();")), path: `test/t${i}.ts` })),
    )),
  ];
  expect(rankDefinitions(files)[0]?.name).toBe("byProgram");
});

test("a call of a built-in method is no use of a definition of that name", async () => {
  const files = [
    await namesOf("list.ts", "export class List { map() {}\n push() {} }\nexport class Queue { enqueue() {} }"),
    await namesOf("user.ts", "[].map(x); [].push(1); [].map(y); [].push(2); queue.enqueue(1);"),
  ];
  expect([...(files[1] as FileNames).references.keys()]).toEqual(["enqueue"]);
  expect(rankDefinitions(files)[0]?.name).toBe("enqueue");
});

test("a definition shows all its parameters on one line", async () => {
  const { definitions } = await namesOf(
    "long.ts",
    "export function long(\n  one: string,\n  two = f(1),\n): void {\n  g(\n1);\n}",
  );
  expect(definitions[0]?.text).toBe("export function long(one: string, two = f(1),): void {");
});

test("a file is read again only if it has changed", async () => {
  const path = join(folder, "kept.ts");
  const files = [{ path, shown: "kept.ts" }];
  const then = new Date(1_000_000_000_000);
  writeFileSync(path, "export function before() {}");
  utimesSync(path, then, then);
  const first = await rankFiles(files);
  expect(first.ranked.map(({ name }) => name)).toEqual(["before"]);
  // The same time and size: nothing tells that it changed, so what is kept serves, ranking and all.
  writeFileSync(path, "export function behind() {}");
  utimesSync(path, then, then);
  expect(await rankFiles(files)).toBe(first);
  utimesSync(path, then, new Date(then.getTime() + 5000));
  expect((await rankFiles(files)).ranked.map(({ name }) => name)).toEqual(["behind"]);
});

test("where one of several files has changed, only that one is read", async () => {
  const files = ["one.ts", "two.ts", "three.ts"].map((name) => ({ path: join(folder, name), shown: name }));
  for (const { path } of files) writeFileSync(path, "export const x = 1;");
  await rankFiles(files);
  const read = vi.spyOn(reader, "read");
  writeFileSync(join(folder, "two.ts"), "export const changed = 1;");
  const { ranked } = await rankFiles(files);
  expect(read.mock.calls).toEqual([[join(folder, "two.ts"), "two.ts"]]);
  read.mockRestore();
  expect(ranked.map(({ name }) => name).toSorted()).toEqual(["changed", "x", "x"]);
});

test("what was skipped is counted", async () => {
  writeFileSync(join(folder, "large.ts"), `export const x = "${"x".repeat(600_000)}";`);
  const files = ["large.ts", "none.ts", "used.ts"].map((name) => ({ path: join(folder, name), shown: name }));
  expect((await rankFiles(files)).skipped).toEqual({ large: 1, unreadable: 1, beyond: 0 });
});
