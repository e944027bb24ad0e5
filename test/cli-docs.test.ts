import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { beforeAll, expect, it } from "vitest";
import { COMMANDS } from "../src/entrypoints/cli/main.ts";
import { type Page, readPage } from "./docs/read-page.ts";

const PAGE = "docs/guide/command-line.md";
const program = new Command("spillway").enablePositionalOptions();
let page: Page;
let text: string;

beforeAll(async () => {
  for (const load of Object.values(COMMANDS)) await (await load())(program);
  text = await readFile(PAGE, "utf8");
  page = readPage(PAGE, text);
});

const flagsOf = (command: Command) => command.options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());

it("every command has a place in the headings of its page, and every heading is of a command", () => {
  const told = [...text.matchAll(/^## spillway (.*)$/gm)].flatMap(([, names = ""]) => names.split(", "));
  expect(told.toSorted()).toEqual(program.commands.map((command) => command.name()).toSorted());
});

it("the page's table has every flag, as the help says it (vitest -u writes it)", async () => {
  const between = /(<!-- flags:start[^>]*-->\n)[^]*?(<!-- flags:end -->)/;
  expect(text).toMatch(between);
  const shown = text.replace(between, (_all, start, end) => `${start}\n${printFlags()}\n\n${end}`);
  await expect(shown).toMatchFileSnapshot(`../${PAGE}`);
});

it("every flag that the page uses is a flag of its command, or of any where no command stands before it", () => {
  const known = new Set([...program.commands.flatMap(flagsOf), "--help", "--version"]);
  const words = [...text.matchAll(/`(--?[a-zA-Z][\w-]*)[^`]*`/g)].map(([, flag = ""]) => flag);
  expect(words.length).toBeGreaterThan(10);
  expect(words.filter((flag) => !known.has(flag))).toEqual([]);
  const wrong: string[] = [];
  for (const { language, text: script, line } of page.fences.filter((fence) => fence.language === "sh"))
    for (const [, name = "", rest = ""] of script.matchAll(/\bspillway (\w+)((?:(?! -- )[^|\n])*)/g)) {
      const command = program.commands.find((each) => each.name() === name);
      const used = [...rest.matchAll(/ (--?[a-zA-Z][\w-]*)/g)].map(([, flag = ""]) => flag);
      const unknown = command ? used.filter((flag) => !flagsOf(command).includes(flag)) : [name];
      wrong.push(...unknown.map((each) => `${PAGE}:${line}: spillway ${name}: ${each} (${language})`));
    }
  expect(wrong).toEqual([]);
});

/** A row for each flag and meaning, with the commands that have it. */
function printFlags(): string {
  const rows = new Map<string, string[]>();
  for (const command of program.commands)
    for (const { flags, description } of command.options) {
      const row = `\`${flags}\` | ${description.replaceAll("|", "\\|")}`;
      rows.set(row, [...(rows.get(row) ?? []), command.name()]);
    }
  const lines = [...rows].map(([row, names]) => `| ${row} | ${names.toSorted().join(", ")} |`);
  return ["| flag | meaning | commands |", "| --- | --- | --- |", ...lines.toSorted(byFlag)].join("\n");
}

function byFlag(one: string, other: string): number {
  const [a, b] = [one, other].map((line) => line.replace(/^\| `(-\w, )?--(no-)?/, "")) as [string, string];
  return a < b ? -1 : 1;
}
