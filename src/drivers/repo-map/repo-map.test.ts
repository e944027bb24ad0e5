import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { drawMap, rankDefinitions } from "./rank-definitions.ts";
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

test("what is used most comes first, and the map fits", async () => {
  const files = [
    await namesOf("used.ts", "export function used() {}\nexport function lonely() {}"),
    await namesOf("one.ts", "used();\nused();"),
    await namesOf("two.ts", "export function two() { used(); }"),
  ];
  const ranked = rankDefinitions(files);
  expect(ranked[0]).toMatchObject({ name: "used", path: "used.ts", line: 1 });
  expect(rankDefinitions(files)).toEqual(ranked);
  const map = drawMap(ranked, 50);
  expect(map.text).toBe("used.ts:\n  1: export function used() {}");
  expect(drawMap(ranked, 10_000).shown).toBe(3);
  expect(drawMap(ranked, 0).text).toBe("");
});
