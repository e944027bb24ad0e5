import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { writeJsonSchema } from "../src/config/json-schema.ts";
import { strategies } from "../src/stages/clamp/strategies/index.ts";
import type { KindStrategy } from "../src/stages/clamp/strategies/kind.ts";

// Pages of the reference that are written from the code: `npx vitest run test/reference-docs.test.ts -u`.

const WRITTEN = "This page is written from the code by `npx vitest run test/reference-docs.test.ts -u`.";
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim();
const rowsOf = (rows: string[][]) => rows.map((row) => `| ${row.join(" | ")} |`).join("\n");

interface Schema {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  definitions?: Record<string, Schema>;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const root = JSON.parse(writeJsonSchema()) as Schema;

/** The schema with what it refers to. */
function whole({ $ref, allOf = [], ...schema }: Schema): Schema {
  const named = root.definitions?.[$ref?.replace("#/definitions/", "") ?? ""];
  const parts = named === undefined ? allOf : [named, ...allOf];
  return Object.assign({}, schema, ...parts.map(whole)) as Schema;
}

/** Every key under a place of the schema, with its type and what it says. Another spelling of a key is left out. */
function keysIn(given: Schema, place: string, seen: readonly string[] = []): string[][] {
  const { properties = {} } = whole(given);
  const rows: string[][] = [];
  for (const [name, found] of Object.entries(properties)) {
    if (name === "$schema" || (snake(name) !== name && snake(name) in properties)) continue;
    const path = place === "" ? name : `${place}.${name}`;
    const value = whole(found);
    rows.push([`\`${path}\``, cell(typeOf(value)), cell(value.description ?? "")]);
    if (seen.includes(found.$ref ?? name)) continue;
    const within = [...seen, found.$ref ?? name];
    for (const each of [value, ...(value.anyOf ?? []).map(whole)]) {
      // Where a key is an older name of another one, its keys stand there.
      if (!/^(agents?|tool_output_limits)\b/.test(path)) rows.push(...keysIn(each, path, within));
      if (typeof each.additionalProperties === "object")
        rows.push(...keysIn(each.additionalProperties, `${path}.NAME`, within));
      if (each.items !== undefined) rows.push(...keysIn(each.items, `${path}[]`, within));
    }
  }
  return rows;
}

const TYPES: Record<string, string> = { object: "mapping", array: "list", string: "text", integer: "whole number" };

function typeOf({ type = "", enum: values, anyOf }: Schema): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(", ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(whole).map(typeOf))].join(" or ");
  return TYPES[type] ?? type;
}

it("the page of the config has every key", async () => {
  const rows = keysIn(root, "");
  expect(rows.length).toBeGreaterThan(60);
  // A mapping or a list may leave it to its keys.
  expect(rows.filter(([, type, words]) => words === "" && !/^(mapping|list)/.test(type ?? ""))).toEqual([]);
  const page = `# Every key of the config

${WRITTEN} What they are for, and where the
file stands, is in [configuration](../guide/configuration.md). Every key can also be written with capitals (\`maxLines\` for
\`max_lines\`). \`NAME\` stands for a name that you choose, \`[]\` for each entry of a list.

| key | value | meaning |
| --- | --- | --- |
${rowsOf(rows)}
`;
  await expect(page).toMatchFileSnapshot("../docs/reference/config.md");
});

it("the page of events has every kind and field", async () => {
  const source = readFileSync("src/contract/event.ts", "utf8");
  const kinds = [...source.matchAll(/\/\*\* ([^\n]*?) \*\/\n {2}\| "([a-z-]+)"/g)];
  expect(kinds.length).toBe([...source.matchAll(/^ {2}\| "/gm)].length);
  const page = `# Every event

${WRITTEN} \`spillway events --json\` prints events, \`/api/events\` gives them, \`onEvent\` is
told them, and the config's \`events\` names a file for them.

An event has \`id\`, \`kind\`, \`atMs\` (milliseconds since 1970), \`session\`, \`tool\`, \`call\`, \`artifact\`, \`receipt\` and \`more\`. What does not apply is
null. In \`more.by\` stand the \`user\`, the \`host\` and the \`process\` that recorded it. An event has an artifact's id, never its bytes.

| kind | what happened |
| --- | --- |
${rowsOf(kinds.map(([, words = "", kind]) => [`\`${kind}\``, cell(words)]))}
`;
  await expect(page).toMatchFileSnapshot("../docs/reference/events.md");
});

it("the page of strategies has every one, and the kinds that auto leaves to it", async () => {
  const folder = "src/stages/clamp/strategies";
  const code = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
  const said = new Map(
    code
      .flatMap((text) => [...text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport (?:const|function) (\w+)/g)])
      .map(([, words = "", name = ""]) => [name, cell(words.replaceAll(/^ \* ?/gm, ""))]),
  );
  const nameInCode = (name: string) =>
    name === "auto" ? "autoOf" : name.replaceAll(/-(.)/g, (_dash, letter) => letter.toUpperCase());
  const rows = strategies.map((strategy: KindStrategy) => {
    const kinds = [...new Set(strategy.kinds?.map(({ name }) => `\`${name}\``))];
    return [`\`${strategy.name}\``, said.get(nameInCode(strategy.name)) ?? "", kinds.join(", ")];
  });
  expect(rows.filter(([, words]) => words === "")).toEqual([]);
  const page = `# Every strategy

${WRITTEN} When to use which is in [strategies](../guide/strategies.md).

| name | what it does | kinds of output that \`auto\` leaves to it |
| --- | --- | --- |
${rowsOf(rows)}
`;
  await expect(page).toMatchFileSnapshot("../docs/reference/strategies.md");
});

it("the README and the page of figures repeat the page of retention; the README has what the default keeps", () => {
  const read = (path: string) => readFileSync(path, "utf8");
  const [retention, figures, readme] = ["docs/reference/retention.md", "docs/reference/figures.md", "README.md"].map(
    read,
  );
  const row = (set: string, name: string): string[] => {
    const section = retention?.split(`\n### ${set}`)[1]?.split("\n### ")[0] ?? "";
    const line = section.split("\n").find((each) => each.startsWith(`| ${name} |`)) ?? "";
    return line
      .split(" | ")
      .slice(1)
      .map((text) => text.replace(/ \|$/, ""));
  };
  const names = {
    "`signal`": "spillway signal",
    "the end only": "tail",
    "pi 0.73.1 `truncateTail`": "pi 0.73.1 truncateTail",
    "gemini-cli 0.61.0": "gemini 0.61.0 formatTruncatedToolOutput",
    "30 % start, 70 % end": "30/70",
    "the best possible": "oracle",
  };
  for (const [here, there] of Object.entries(names))
    expect(figures).toContain(`| ${[here, ...row("logchunks: 438", there)].join(" | ")} |`);
  const [shipped = "", end = ""] = ["spillway run, as shipped", "tail, same limits"].map(
    (name) => row("As shipped", name)[0],
  );
  expect(figures).toContain(`(20,000 characters, 200 lines): ${shipped}, where the end alone keeps ${end}.`);
  const means = (set: string, column: number) =>
    ["spillway auto, tool and exit code known", "tail"].map((name) => row(set, name)[column]?.split(" / ")[0]);
  for (const [what, set, column] of [
    ["CI logs in 20,000 characters", "logchunks: 438", 2],
    ["63 tools in 8,000 characters", "tools: 326", 2],
    ["compilers and scanners, kept in 4,000 characters", "compilers:", 2],
  ] as const) {
    const [ours, theirs] = means(set, column);
    expect(readme).toContain(`${what} | ${ours} %; the end alone keeps ${theirs} % |`);
  }
});
