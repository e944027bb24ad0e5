import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { memoryStore } from "../src/extend.ts";
import { createSpillway, type Receipt } from "../src/index.ts";
import { readPage } from "./docs/read-page.ts";
import { readTree } from "./tree.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-statements-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pageOf = (path: string) => readPage(path, readFileSync(path, "utf8"));

/** What the docs say in words and no block shows. Numbers are read from the page. */
describe("statements of the docs", () => {
  it("README: what a wrapped tool's result stays within", async () => {
    const [, kib, lines, chars, commandLines, shortChars] = (
      /within (\d+) KiB and ([\d,]+) lines.*?within ([\d,]+) characters and ([\d,]+) lines.*?under ([\d,]+) characters/.exec(
        readFileSync("README.md", "utf8").replaceAll("\n", " "),
      ) ?? []
    ).map((number) => Number(number.replace(",", "")));
    if (shortChars === undefined) throw new Error("the README does not say it any more");
    const receipts: Receipt[] = [];
    const spillway = await createSpillway({
      store: null,
      ledger: null,
      env: {},
      onReceipt: (receipt) => void receipts.push(receipt),
    });
    const tools = spillway.wrapTools({
      my_tool: async (text: string) => text,
      bash: async (text: string) => text,
    });
    const rows = (count: number, row: string) => Array.from({ length: count }, (_, at) => `${at} ${row}\n`).join("");
    for (const text of [rows(30_000, "x"), rows(900, "y".repeat(400)), rows(1, "z".repeat(400_000))]) {
      const mine = await tools.my_tool(text);
      expect(Buffer.byteLength(mine)).toBeLessThanOrEqual((kib ?? 0) * 1024);
      expect(mine.split("\n").length).toBeLessThanOrEqual(lines ?? 0);
      const command = await tools.bash(text);
      expect(command.length).toBeLessThanOrEqual(chars ?? 0);
      expect(command.split("\n").length).toBeLessThanOrEqual(commandLines ?? 0);
    }
    const short = rows(300, "").slice(0, shortChars - 1);
    expect(short.split("\n").length).toBeGreaterThan(commandLines ?? 0);
    expect(await tools.bash(short)).toBe(short);
    expect(receipts.some(({ cutBy }) => cutBy === "lines")).toBe(true);
  });

  it("README: the program for a library's user runs as it stands, and reads back what was cut", () => {
    const block = pageOf("README.md").fences.find(({ language }) => language === "js");
    const { status, stdout, stderr } = runAlone("try.mjs", block?.text ?? "");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      / Read it with recall\(\{"id":"[a-z2-7]{12}","lines":\[from,to\]\}\) or find in it with search\(.*\]\n\[ 'recall', 'search' \]\n/,
    );
    expect(stdout).toMatch(/\]\nline 25000 of a log\nline 25001 of a log\nline 25002 of a log\n\n1\n$/);
  });

  it("README: what readBack gives for the framework of its example, and for the AI SDK", async () => {
    const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
    const call = (name: string) => ({ id: "1", type: "function" as const, function: { name, arguments: "{not JSON" } });
    const { answer } = spillway.readBack("openai");
    expect(await answer(call("mine"))).toBeNull();
    expect((await answer(call("recall")))?.content).toBe(
      'the arguments must be an object of JSON; got the text "{not JSON"',
    );
    const tools = Object.entries(spillway.readBack("ai")).map(([name, { execute }]) => [name, typeof execute]);
    expect(tools).toEqual([
      ["recall", "function"],
      ["search", "function"],
    ]);
  });

  it("README: npm start serves the dashboard with the session that is played, where the page says", async () => {
    const [, told] =
      /`npm start` in\s+the clone serves it with [^`]*`(http:[^`]*)`/.exec(readFileSync("README.md", "utf8")) ?? [];
    const { start } = JSON.parse(readFileSync("package.json", "utf8")).scripts as { start: string };
    const [, program = "", port] = /^node (.*) --port (\d+)$/.exec(start) ?? [];
    expect(told).toBe(`http://127.0.0.1:${port}/`);
    const server = spawn(process.execPath, [...program.split(" "), "--port", "0"]);
    try {
      let said = "";
      for await (const chunk of server.stdout) {
        said += chunk;
        if (said.includes("until Ctrl-C")) break;
      }
      const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\//.exec(said) ?? [];
      expect(await (await fetch(url)).text()).toContain("<title>Spillway</title>");
      const { items } = (await (await fetch(`${url}api/sessions`)).json()) as { items: object[] };
      expect(items).toMatchObject([{ session: "demo", cutCalls: 2, recalls: 1, recoveries: 1 }]);
    } finally {
      server.kill("SIGKILL");
    }
  });

  it("the page of questions: what a model sees in 12 lines of 5,000 with one error among them", async () => {
    const sample = pageOf("docs/guide/questions.md").fences.find(({ text }) => text.includes("disk full"))?.text;
    const spillway = await createSpillway({
      dir: join(folder, "questions"),
      env: {},
      reader: { by: "tool", recall: "recall", search: "search" },
    });
    const lines = Array.from({ length: 5000 }, (_, at) => (at === 3210 ? "ERROR: disk full" : `ok ${at + 1}`));
    const { text, receipt } = await spillway.admit({
      tool: "bash",
      output: `${lines.join("\n")}\n`,
      exitCode: 1,
      limits: { maxLines: 12 },
    });
    expect(receipt.artifact).toMatch(/^[a-z2-7]{12}$/);
    expect(text.replaceAll(receipt.artifact ?? "", "k3v7q2m4x5ya").trim()).toBe(sample?.trim());
  });

  it("the guide to configuration: every variable that is read stands in its table", async () => {
    const table = readFileSync("docs/guide/configuration.md", "utf8").split("## Environment variables")[1] ?? "";
    const rows = table.split("\n").filter((line) => line.startsWith("| `"));
    const told = new Set(rows.join("\n").match(/\bSPILLWAY_[A-Z_]+/g));
    const files = (await readTree("src")).filter((file) => !file.endsWith(".test.ts"));
    const sources = files.map((file) => readFileSync(file, "utf8"));
    const read = sources.flatMap((source) => source.match(/(?<=\benv(?:\[["']|\.))SPILLWAY_[A-Z_]+/g) ?? []);
    expect(read.length).toBeGreaterThan(5);
    expect([...new Set(read)].filter((name) => !told.has(name))).toEqual([]);
  });

  it("the guide to bundlers: every package that may be added stands in its table", () => {
    const table = readFileSync("docs/guide/bundlers.md", "utf8").split("## Packages to add")[1] ?? "";
    const { optionalDependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const framework = "@langchain/core"; // whoever uses that adapter has it
    const packages = Object.keys({ ...optionalDependencies, ...peerDependencies }).filter((name) => name !== framework);
    expect(packages.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
  });

  it("the guide to the library: what the logger of its example is told", async () => {
    const [said] = /^\/\/ bash output cut: .*(?= \{)/m.exec(readFileSync("docs/guide/library.md", "utf8")) ?? [];
    const told: string[] = [];
    const logger = { info: (message: string) => void told.push(message), warn: () => {} };
    const spillway = await createSpillway({ logger, dir: join(folder, "logged"), env: {} });
    const output = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join("");
    await spillway.admit({ tool: "bash", output });
    expect(told.map((message) => `// ${message}`)).toEqual([said]);
  });

  it("the guide to testing: its example of testStore passes, and leaves the reader's own store alone", () => {
    const block = pageOf("docs/guide/testing.md").fences.find(({ text }) => text.includes("testStore(makeStore"));
    const { home, status, stdout } = runAlone("store.test.mjs", block?.text ?? "", ["--test"]);
    expect([status, /^# pass (\d+)/m.exec(stdout)?.[1] !== "0"], stdout).toEqual([0, true]);
    expect(existsSync(join(home, ".local"))).toBe(false);
  });
});

/** Runs a program in a home folder of its own where the package is installed. */
function runAlone(name: string, program: string, flags: string[] = []) {
  const home = mkdtempSync(join(folder, "home-"));
  mkdirSync(join(home, "node_modules"));
  symlinkSync(resolve("."), join(home, "node_modules", "spillway"), "dir");
  writeFileSync(join(home, name), program);
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: mkdtempSync(join(folder, "tmp-")) };
  const options = { cwd: home, env, encoding: "utf8", timeout: 240_000 } as const;
  return { home, ...spawnSync(process.execPath, [...flags, name], options) };
}
