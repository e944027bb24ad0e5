import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import { Command } from "../src/entrypoints/cli/command.ts";
import { type CommandRow, tableOf } from "../src/entrypoints/cli/command-table.ts";
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

const flagsOf = (command: Pick<Command, "options">) =>
  command.options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());

it("every command has a place in the headings of its page, and every heading is of a command", () => {
  const told = [...text.matchAll(/^## spillway (.*)$/gm)].flatMap(([, names = ""]) => names.split(", "));
  expect(told.toSorted()).toEqual(program.commands.map((command) => command.name()).toSorted());
});

it("the reference has every command and flag, as the help says them (vitest -u writes it)", async () => {
  await expect(printReference(tableOf(program))).toMatchFileSnapshot("../docs/reference/cli.md");
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

function printReference(table: readonly CommandRow[]): string {
  const sections = table.map(({ name, usage, description, words, flags, after }) => {
    const rows = [
      ...words.map((word) => [word.name, word.description]),
      ...flags.map((flag) => [flag.flags, flag.description]),
    ];
    const lines = rows.map(([what = "", meaning = ""]) => `| \`${what}\` | ${meaning.replaceAll("|", "\\|")} |`);
    return `## spillway ${name}

${description.charAt(0).toUpperCase()}${description.slice(1)}.

\`\`\`text
${usage}
\`\`\`

| word or flag | meaning |
| --- | --- |
${lines.join("\n")}
${after === "" ? "" : `\n\`\`\`text\n${after}\n\`\`\`\n`}`;
  });
  return `# Every command and flag

This page is written from the code of the commands by \`npx vitest run test/cli-docs.test.ts -u\`. What the commands are for is
in [the command line](../guide/command-line.md). \`spillway --version\` prints the version.

${sections.join("\n")}`;
}
