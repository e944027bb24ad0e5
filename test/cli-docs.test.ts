import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import { Command } from "../src/entrypoints/cli/command.ts";
import { type CommandRow, tableOf } from "../src/entrypoints/cli/command-table.ts";
import { COMMANDS } from "../src/entrypoints/cli/main.ts";
import { readPage } from "./docs/read-page.ts";
import { readTracked } from "./tree.ts";

const PAGE = "docs/guide/command-line.md";
const program = new Command("spillway").enablePositionalOptions();
let text: string;

beforeAll(async () => {
  for (const load of Object.values(COMMANDS)) await (await load())(program);
  text = await readFile(PAGE, "utf8");
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
});

it("every command that a page writes out is one of ours, with flags that it has", async () => {
  const pages = (await readTracked()).filter((path) => /^docs\/guide\/.*\.md$|README\.md$/.test(path));
  expect(pages.length).toBeGreaterThan(20);
  const wrong: string[] = [];
  let seen = 0;
  for (const path of pages) {
    const { fences, lines } = readPage(path, await readFile(path, "utf8"));
    const scripts = fences.filter(({ language }) => language === "sh").flatMap((fence) => fence.text.split("\n"));
    const spans = lines.flatMap((line) => line.match(/(?<=`)spillway [^`]*(?=`)/g) ?? []);
    for (const line of [...scripts.filter((each) => !each.includes("npm ")), ...spans])
      for (const [, name = "", rest = ""] of line.matchAll(/(?<![\w/])spillway (\w+)((?:(?! -- | # )[^|])*)/g)) {
        const command = program.commands.find((each) => each.name() === name);
        const used = [...rest.matchAll(/ (--?[a-zA-Z][\w-]*)/g)].map(([, flag = ""]) => flag);
        const unknown = command ? used.filter((flag) => ![...flagsOf(command), "--help"].includes(flag)) : [name];
        wrong.push(...unknown.map((each) => `${path}: ${line}: ${each}`));
        seen += 1;
      }
  }
  expect(seen).toBeGreaterThan(100);
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
