import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { withParents } from "../read-event.ts";

/** Where Claude Code looks for its settings, from a hook's point of view. */
export interface ClaudePlace {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** The folders the session is in. */
  folders: readonly string[];
}

/** Rules of these tools never look at a shell command. Those of files do: `Read(.env)` refuses `cat .env`. */
const OTHER_TOOLS = /^(mcp__.*|WebFetch|WebSearch|Agent|Task|Skill|SlashCommand)$/;
/** Characters that a shell expands, so that the command gets other words than are written. */
const EXPANDS = /[$`*?[{~]/;
/** Claude Code asks about these even in bypassPermissions; older versions also ask before writing to these folders. */
const ALWAYS_ASKED = /\brm(dir)?\b|\.(git|claude|vscode|idea)\b/;
/** Flags that give rules to the agent when it is started. Such rules stand in no file. */
const RULE_FLAGS = /--(disallowed-?tools|(managed-)?settings)\b/i;

/**
 * Returns true if one of these rules, or a check that is built in, could match a command or any part of it. In doubt the answer is
 * yes: it is enough that each word of the rule stands somewhere in the command, with quotes and escapes taken out.
 */
export function isRuled(command: string, rules: readonly string[]): boolean {
  const bare = command.replaceAll(/\\\r?\n|["'\\]/g, "");
  // The command as written is tested too, since quotes also stand between words.
  return [bare, command].some((text) => ALWAYS_ASKED.test(text)) || rules.some((rule) => couldMatch(rule, bare));
}

function couldMatch(rule: string, bare: string): boolean {
  const [, tool = rule, inside = ""] = /^([^(]*)\((.*)\)$/s.exec(rule.trim()) ?? [];
  if (OTHER_TOOLS.test(tool.trim())) return false;
  if (tool.trim() !== "Bash" || EXPANDS.test(bare)) return true;
  const words = inside.replaceAll(/["'\\]/g, "").match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.every((word) => bare.toLowerCase().includes(word.toLowerCase()));
}

/** Reads the deny and ask rules of every settings file that can be in force. Throws if one of them cannot be read. */
export function readClaudeRules({ env, platform, folders }: ClaudePlace): string[] {
  if (platform === "win32" || env.WSL_DISTRO_NAME) throw new Error("rules in the Windows registry are not read");
  const home = env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude");
  // The agent reads a relative folder from where it was started, which a hook does not know.
  if (!isAbsolute(home)) throw new Error(`CLAUDE_CONFIG_DIR must be an absolute path to be read; got ${home}`);
  const policies = "/Library/Managed Preferences";
  for (const path of [
    join(home, "remote-settings.json"),
    ...["", userInfo().username].map((user) => join(policies, user, "com.anthropic.claudecode.plist")),
  ])
    if (existsSync(path)) throw new Error(`the rules in ${path} are not read`);
  const managed = [
    platform === "darwin" ? "/Library/Application Support/ClaudeCode" : "/etc/claude-code",
    env.CLAUDE_CODE_MANAGED_SETTINGS_PATH,
  ].filter((folder) => folder !== undefined);
  const projects = folders.flatMap(withParents).flatMap((folder) => [folder, ...mainCheckout(folder)]);
  const files = [
    ...managed.flatMap((folder) => [join(folder, "managed-settings.json"), ...listJson(folder)]),
    join(home, "settings.json"),
    ...projects.flatMap((folder) => ["settings.json", "settings.local.json"].map((n) => join(folder, ".claude", n))),
  ];
  return [...new Set(files)].flatMap(rulesOf);
}

/** Throws if the agent was started with rules, which stand in no file, or if that cannot be told. */
export function checkStart(platform: NodeJS.Platform): void {
  for (let pid = process.ppid; pid > 1; ) {
    const [parent, args] = platform === "linux" ? fromProc(pid) : fromPs(pid);
    if (RULE_FLAGS.test(args)) throw new Error("rules that the agent was started with are not read");
    pid = parent;
  }
}

function fromProc(pid: number): [number, string] {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
  const line = read("cmdline");
  // An agent that set its title has written over the words it was started with, and the rest is filled with zeros.
  if (/^claude\b/i.test(line) && line.endsWith("\0\0")) throw new Error("the agent does not tell how it was started");
  return [Number(/^PPid:\s*(\d+)/m.exec(read("status"))?.[1]), line];
}

function fromPs(pid: number): [number, string] {
  const text = execFileSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], { encoding: "utf8" });
  return [Number.parseInt(text, 10), text];
}

/** A linked worktree has the settings of the checkout it belongs to. */
function mainCheckout(folder: string): string[] {
  const text = readIfThere(join(folder, ".git"), "EISDIR");
  const linked = /^gitdir: (.*)[\\/]\.git[\\/]worktrees[\\/]/m.exec(text ?? "")?.[1];
  return linked === undefined ? [] : [resolve(folder, linked)];
}

function listJson(managed: string): string[] {
  const folder = join(managed, "managed-settings.d");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function rulesOf(path: string): string[] {
  const text = readIfThere(path)?.replace(/^\ufeff/, "") ?? "";
  if (text.trim() === "") return [];
  const settings = objectOf(JSON.parse(text), path);
  if (settings.policyHelper !== undefined) throw new Error(`the rules that policyHelper of ${path} makes are not read`);
  const { deny, ask } = objectOf(settings.permissions ?? {}, `permissions of ${path}`);
  // Under our name an excluded command would run inside the sandbox. If our name is excluded, every command would run outside.
  const { excludedCommands } = objectOf(settings.sandbox ?? {}, `sandbox of ${path}`);
  return [
    ...listOf(deny, `deny of ${path}`),
    ...listOf(ask, `ask of ${path}`),
    ...listOf(excludedCommands, `excludedCommands of ${path}`).map((command) => `Bash(${command})`),
  ];
}

function readIfThere(path: string, ...others: string[]): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", ...others].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${what} must be an object; got ${JSON.stringify(value)}`);
}

function listOf(value: unknown, what: string): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw new Error(`${what} must be a list of texts; got ${JSON.stringify(value)}`);
}
