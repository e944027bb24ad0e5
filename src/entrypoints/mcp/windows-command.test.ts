import fc from "fast-check";
import { expect, test } from "vitest";
import { windowsCommand } from "./windows-command.ts";

const files = new Set([
  "C:\\Program Files\\nodejs\\npm.cmd",
  "C:\\Program Files\\nodejs\\node.exe",
  "C:\\tools\\my server.exe",
  "D:\\app\\run.bat",
]);
const machine = {
  env: { Path: '"C:\\Program Files\\nodejs";.;C:\\tools', PathExt: ".COM;.EXE;.BAT;.CMD", comspec: "C:\\cmd.exe" },
  isFile: (path: string) => files.has(path) || path === ".\\npm.cmd" || path === "npm.cmd",
};

test("a script on the PATH is run by cmd.exe, and never one in the current folder", () => {
  expect(windowsCommand(["npm", "test"], machine)).toEqual({
    file: "C:\\cmd.exe",
    args: ["/d", "/s", "/c", '"C:\\Program^ Files\\nodejs\\npm.cmd ^^^"test^^^""'],
    options: { windowsVerbatimArguments: true },
  });
  const { PathExt: _, ...bare } = machine.env;
  expect(windowsCommand(["npm"], { ...machine, env: bare })).toMatchObject({ file: "C:\\cmd.exe" });
  expect(windowsCommand(["NPM.CMD"], { ...machine, env: { path: ".;" } })).toMatchObject({ options: {} });
});

test("a program takes its words as they are, in folders with spaces too", () => {
  const words = ["C:\\tools\\my server.exe", "--root", "C:\\My Files", 'a "b"'];
  expect(windowsCommand(words, machine)).toEqual({ file: words[0], args: words.slice(1), options: {} });
  expect(windowsCommand(["node", "x y"], machine)).toEqual({
    file: "C:\\Program Files\\nodejs\\node.exe",
    args: ["x y"],
    options: {},
  });
  expect(windowsCommand(["nosuch", "a"], machine)).toEqual({ file: "nosuch", args: ["a"], options: {} });
});

/** What cmd.exe makes of a line: a caret takes the meaning from the next character. */
const readByCmd = (line: string) => line.replaceAll(/\^(.)/gs, "$1");

/** The words that a program reads from its command line. */
function readByProgram(line: string): string[] {
  const words: string[] = [];
  let word = "";
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
    const next = line[at + slashes];
    if (next === '"' && slashes > 0) {
      word += "\\".repeat(Math.floor(slashes / 2));
      at += slashes;
      if (slashes % 2 === 1) word += '"';
      else isQuoted = !isQuoted;
    } else if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === " " && !isQuoted) {
      words.push(word);
      word = "";
    } else word += line[at];
  }
  return [...words, word];
}

test("whatever the words hold, the program behind a script gets them, and cmd.exe runs nothing else", () => {
  const piece = fc.constantFrom(
    '"',
    "\\",
    "&",
    "|",
    "%PATH%",
    "^",
    " ",
    "a",
    "é",
    "(",
    ")",
    "<",
    ">",
    "!x!",
    "*",
    ";",
    ",",
  );
  const word = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), (words) => {
      const { args } = windowsCommand(["D:\\app\\run.bat", ...words], machine);
      const line = (args.at(-1) ?? "").slice(1, -1);
      // No special character is without its caret, so none ends the command or begins another.
      expect(line.replaceAll(/\^./gs, "")).not.toMatch(/[()%!"<>&|]/);
      const inScript = readByCmd(line);
      expect(inScript.startsWith("D:\\app\\run.bat")).toBe(true);
      const read = readByProgram(readByCmd(inScript.slice("D:\\app\\run.bat".length)));
      expect(read).toEqual(words.length === 0 ? [""] : ["", ...words]);
    }),
  );
});
