import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { wrapCommand } from "../wrap-command.ts";
import { isRuled, readClaudeRules } from "./claude-rules.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "spillway-rules-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The rules of a project that is at `home/project`, with these files. */
function rulesWith(files: Record<string, unknown>, env: NodeJS.ProcessEnv = {}): string[] {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return readClaudeRules({
    env: { CLAUDE_CONFIG_DIR: join(root, "config"), CLAUDE_CODE_MANAGED_SETTINGS_PATH: join(root, "managed"), ...env },
    platform: "linux",
    folders: [join(root, "home/project/src")],
  });
}

async function isWrapped(command: string, rules: readonly string[]): Promise<boolean> {
  const answer = await wrapCommand({
    kind: "command",
    tool: "Bash",
    command,
    isRuled: async (wrapped) => isRuled(wrapped, rules),
    answer: () => ({}),
  });
  return answer !== null;
}

const deny = (...rules: string[]) => ({ permissions: { deny: rules } });
const ask = (...rules: string[]) => ({ permissions: { ask: rules } });

describe("a command is wrapped only if no rule could match any part of it", () => {
  test.each<[string, object, string, "wrapped" | "left alone"]>([
    ["no settings", {}, "touch x", "wrapped"],
    ["hooks only", { hooks: { PreToolUse: [] }, model: "m" }, "touch x", "wrapped"],
    ["only allowed", { permissions: { allow: ["Bash(npm test:*)"], defaultMode: "plan" } }, "touch x", "wrapped"],
    ["denied", deny("Bash(touch:*)"), "touch x", "left alone"],
    ["asked", ask("Bash(touch:*)"), "touch x", "left alone"],
    ["denied and allowed", { permissions: { allow: ["Bash"], deny: ["Bash(touch *)"] } }, "touch x", "left alone"],
    ["another program", deny("Bash(touch:*)"), "npm test 2>&1 | tail -5", "wrapped"],
    ["exact", deny("Bash(touch x)"), "touch x", "left alone"],
    ["other arguments", deny("Bash(git push:*)"), "git status && git log -5", "wrapped"],
    ["arguments elsewhere", deny("Bash(git push:*)"), "git -C a push", "left alone"],
    ["a wildcard first", deny("Bash(* --force)"), "git push --force", "left alone"],
    ["a wildcard in a word", deny("Bash(npm*lish)"), "npm publish", "left alone"],
    ["flags apart", deny("Bash(curl -X POST:*)"), "curl  -s -X  POST http://x", "left alone"],
    ["every command", deny("Bash"), "ls", "left alone"],
    ["every command, as a pattern", ask("Bash(*)"), "ls", "left alone"],
    ["every tool", deny("*"), "ls", "left alone"],
    ["a rule that is not closed", deny("Bash(touch"), "ls", "left alone"],
    ["a rule without words", deny("Bash(. :*)"), "ls", "left alone"],
    ["files", deny("Read(./.env)"), "cat link", "left alone"],
    ["files to write", ask("Edit(src/**)"), "sed -i s/a/b/ src/a.ts", "left alone"],
    ["a tool we do not know", deny("Shell(x)"), "ls", "left alone"],
    ["tools that run no command", deny("mcp__github", "WebFetch(domain:x.com)", "Agent(Explore)"), "ls", "wrapped"],
    ["after another", deny("Bash(touch:*)"), "a && touch x", "left alone"],
    ["after a semicolon", deny("Bash(touch:*)"), "a;touch x", "left alone"],
    ["in a pipe", deny("Bash(touch:*)"), "a|xargs touch", "left alone"],
    ["in a shell", deny("Bash(touch:*)"), "sh -c 'touch x'", "left alone"],
    ["in a shell, no space", deny("Bash(touch:*)"), `sh -c"t'ou'ch x"`, "left alone"],
    ["in a substitution", deny("Bash(touch:*)"), "echo $(touch x) `touch y`", "left alone"],
    ["in a process substitution", deny("Bash(touch:*)"), "cat <(touch x)", "left alone"],
    ["behind variables", deny("Bash(touch:*)"), "A=1 B=2 touch x", "left alone"],
    ["on a later line", deny("Bash(touch:*)"), "ls\ntouch x", "left alone"],
    ["in a heredoc", deny("Bash(touch:*)"), "sh <<E\ntouch x\nE", "left alone"],
    ["by find", deny("Bash(touch:*)"), "find . -exec touch x ;", "left alone"],
    ["behind wrappers", deny("Bash(touch:*)"), "sudo timeout 5 nice -n 1 touch x", "left alone"],
    ["by its path", deny("Bash(touch:*)"), "/usr/bin/touch x", "left alone"],
    ["quoted", deny("Bash(touch:*)"), `'to'"uc"h x`, "left alone"],
    ["escaped", deny("Bash(touch:*)"), "to\\uch x", "left alone"],
    ["broken over lines", deny("Bash(touch:*)"), "to\\\nuch x", "left alone"],
    ["in other case", deny("Bash(touch:*)"), "TOUCH x", "left alone"],
    ["a variable that could be it", deny("Bash(touch:*)"), "A=tou; ${A}ch x", "left alone"],
    ["an ANSI string that could be it", deny("Bash(touch:*)"), "$'\\x74ouch' x", "left alone"],
    ["a pattern that could be it", deny("Bash(touch:*)"), "/usr/bin/tou?h x", "left alone"],
    ["a list that could be it", deny("Bash(touch:*)"), "t{ou,x}ch x", "left alone"],
    ["a home that could be it", deny("Bash(/home/u/run.sh:*)"), "~/run.sh", "left alone"],
    ["expansions where no rule is", {}, "for f in *.ts; do echo $f; done", "wrapped"],
    ["excluded from the sandbox", { sandbox: { excludedCommands: ["docker:*"] } }, "docker ps", "left alone"],
    ["another excluded", { sandbox: { excludedCommands: ["docker:*"] } }, "npm test", "wrapped"],
    ["we are excluded", { sandbox: { excludedCommands: ["spillway *"] } }, "npm test", "left alone"],
    ["removal, no rule", {}, "a && rm -rf /", "left alone"],
    ["removal, quoted", {}, `"r"mdir x`, "left alone"],
    ["removal in a shell", {}, `sh -c"rm x"`, "left alone"],
    ["only the letters of removal", {}, "npm run format", "wrapped"],
    ["a folder that is asked about", {}, "echo x > .git/config", "left alone"],
  ])("%s: %j, %j: %s", async (_name, settings, command, expected) => {
    const rules = rulesWith({ "home/project/.claude/settings.json": settings });
    expect((await isWrapped(command, rules)) ? "wrapped" : "left alone").toBe(expected);
  });

  test("a rule about what is added counts as one about the command", async () => {
    for (const rule of ["Bash(spillway:*)", "Bash(spillway run:*)", "Bash(bash -c:*)"])
      expect([rule, await isWrapped("npm test", [rule])]).toEqual([rule, false]);
  });

  test("a program that a rule names is never wrapped, wherever it stands in a command", async () => {
    const program = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}[a-z0-9]$/);
    const textOf = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 30 });
    // Half of them without what a shell expands, which is left alone for that reason already.
    const text = fc.oneof(textOf("ab \t\n;|&<>()'\"\\=-/."), textOf("ab ;|$`*{}[]?~"));
    /** The same word to a shell. */
    const spelled = (word: string, ways: readonly number[]) =>
      [...word].map(
        (letter, at) => [letter, `\\${letter}`, `'${letter}'`, `"${letter}"`, `\\\n${letter}`][ways[at] ?? 0],
      );
    await fc.assert(
      fc.asyncProperty(
        program,
        text,
        text,
        fc.array(fc.nat(4), { maxLength: 10 }),
        fc.constantFrom("deny", "ask"),
        fc.constantFrom(":*", " *", "*", ""),
        async (name, head, tail, ways, kind, end) => {
          const settings = { permissions: { [kind]: [`Bash(${name}${end})`] } };
          const rules = rulesWith({ "home/project/.claude/settings.local.json": settings });
          const command = `${head} ${spelled(name, ways).join("")} ${tail}`;
          expect(await isWrapped(command, rules)).toBe(false);
        },
      ),
    );
  });
});

describe("rules are read from every file that can be in force", () => {
  test.each([
    "managed/managed-settings.json",
    "managed/managed-settings.d/10-own.json",
    "config/settings.json",
    "home/project/.claude/settings.json",
    "home/project/.claude/settings.local.json",
    "home/project/src/.claude/settings.json",
    "home/.claude/settings.json",
  ])("%s", (name) => {
    expect(rulesWith({ [name]: deny("Bash(touch:*)") })).toContain("Bash(touch:*)");
    expect(rulesWith({ [name]: `\ufeff${JSON.stringify(ask("Bash(curl:*)"))}` })).toContain("Bash(curl:*)");
  });

  test("of all of them together, and not of other folders", () => {
    const rules = rulesWith({
      "config/settings.json": deny("Bash(a:*)"),
      "home/project/.claude/settings.json": { permissions: { deny: ["Bash(b:*)"], ask: ["Bash(c:*)"] } },
      "home/other/.claude/settings.json": deny("Bash(d:*)"),
    });
    expect(rules.toSorted()).toEqual(["Bash(a:*)", "Bash(b:*)", "Bash(c:*)"]);
  });

  test("a linked worktree has those of the checkout it belongs to", () => {
    const rules = rulesWith({
      "home/project/.git": `gitdir: ${join(root, "main")}/.git/worktrees/project\n`,
      "main/.claude/settings.local.json": deny("Bash(touch:*)"),
    });
    expect(rules).toEqual(["Bash(touch:*)"]);
  });

  test.each<[string, Record<string, unknown>, NodeJS.ProcessEnv?]>([
    ["no JSON", { "config/settings.json": "{ // a comment\n}" }],
    ["no object", { "config/settings.json": [] }],
    ["permissions that are no object", { "config/settings.json": { permissions: ["Bash"] } }],
    ["a list that is none", { "config/settings.json": { permissions: { deny: "Bash(touch:*)" } } }],
    ["a rule that is no text", { "home/project/.claude/settings.json": { permissions: { ask: [{ tool: "Bash" }] } } }],
    ["a folder in its place", { "config/settings.json/x": "" }],
    ["rules of a server", { "config/remote-settings.json": "{}" }],
    ["rules that a program makes", { "managed/managed-settings.json": { policyHelper: { path: "/x" } } }],
    ["a registry", {}, { WSL_DISTRO_NAME: "Ubuntu" }],
    ["a folder that depends on where the agent was started", {}, { CLAUDE_CONFIG_DIR: "conf" }],
  ])("what cannot be read throws, and so leaves every command alone: %s", (_name, files, env) => {
    expect(() => rulesWith(files, env)).toThrow(/JSON|must be|not read|EISDIR/);
  });

  test("an empty file has none", () => {
    expect(rulesWith({ "config/settings.json": "", "home/project/.claude/settings.json": " \n" })).toEqual([]);
  });
});
