import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { badInput, cannotWrite, codeOf } from "../../../errors.ts";
import { tell } from "../tell.ts";
import { writeError, writeOut } from "../write-out.ts";

interface Question {
  ask: string;
  answers: Record<string, string>;
  /** Taken for an empty line. */
  usual: string;
}

const PROFILE: Question = {
  ask: "How much of a tool's output may a model see?",
  answers: {
    balanced: "up to 50 KiB and 2,000 lines; 200 lines of a command",
    frugal: "up to 8,000 characters and 500 lines",
  },
  usual: "balanced",
};
const WINDOW: Question = {
  ask: "How large is the context of your model, in tokens?",
  answers: { 200000: "most models of today", 128000: "many open ones", 1000000: "the largest" },
  usual: "200000",
};
const WHOSE: Question = {
  ask: "Who is it for?",
  answers: { project: "everybody who works in this folder; it may only lower limits", user: "you, in all projects" },
  usual: "project",
};

/** Asks three questions and writes a config. A file that is there already is left alone. */
export async function askConfig(flags: { user?: boolean; project?: boolean; dryRun?: boolean }): Promise<void> {
  const terminal = createInterface({ input: process.stdin });
  const lines = terminal[Symbol.asyncIterator]();
  try {
    const profile = await ask(lines, PROFILE);
    const window = await ask(lines, WINDOW, (reply) => /^\d{4,8}$/.test(reply));
    const whose = flags.user ? "user" : flags.project ? "project" : await ask(lines, WHOSE);
    const text = configText(profile, window);
    await writeOut(text);
    const path = whose === "user" ? join(userFolder(), "spillway.yaml") : join(process.cwd(), "spillway.yaml");
    if (flags.dryRun) return await writeOut("Nothing was written.\n");
    write(path, text);
    tell(`${path} is written; "spillway config show" says what holds now`);
  } finally {
    terminal.close();
  }
}

async function ask(
  lines: AsyncIterator<string>,
  { ask, answers, usual }: Question,
  isFine = (reply: string) => Object.hasOwn(answers, reply),
): Promise<string> {
  const rows = Object.entries(answers).map(([answer, meaning]) => `  ${answer.padEnd(9)} ${meaning}\n`);
  for (;;) {
    writeError(`${ask}\n${rows.join("")}[${usual}] `);
    const { value, done } = await lines.next();
    if (done) throw badInput("nothing was written");
    const reply = value.trim().replaceAll(/[,_]/g, "") || usual;
    if (isFine(reply)) return reply;
    tell(`"${reply}" is none of them`);
  }
}

/** The names of the questions' answers are those of the config. */
function configText(profile: string, window: string): string {
  return `# What Spillway lets a model see. Every key: docs/guide/configuration.md of the package. Check it with: spillway config check
profile: ${profile}
context_tokens: ${window}
# Limits for one tool or a pattern of names:
# tools:
#   run_command:
#     max_lines: 150
`;
}

function userFolder(): string {
  const { XDG_CONFIG_HOME, APPDATA } = process.env;
  if (XDG_CONFIG_HOME) return join(XDG_CONFIG_HOME, "spillway");
  return process.platform === "win32" && APPDATA ? join(APPDATA, "spillway") : join(homedir(), ".config", "spillway");
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw cannotWrite(path, error);
    throw badInput(`${path} is there already and was left alone: put the lines above into it`);
  }
}
