import type { Limits } from "../../contract/limits.ts";
import type { Policy, PolicyRow, ToolOverride, ToolPolicy, ToolRule } from "../../contract/policy.ts";
import { LIMIT_NAMES } from "./check-limits.ts";
import { checkRow, mergeRows, projectLimits, smallerOf } from "./check-row.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "./defaults.ts";

/**
 * What applies to one tool's output. Overrides (of a session, of a call) come weakest first. From weak to strong:
 * the profile, the default row, what the tool declares, rows that name the tool, what is forced, overrides. Nothing but
 * a row that raises it passes the ceiling.
 */
export function resolveToolPolicy(
  policy: Policy,
  toolName: string,
  ...overrides: readonly (ToolOverride | undefined)[]
): ToolPolicy {
  const checked = overrides.map((override) => checkRow(override, `limits for ${toolName}`));
  const declared = checked.filter((override) => override.declared);
  const last = checked.filter((override) => !override.declared);
  const base = [policy.builtIn.default, ...rowsFor(policy.builtIn.rules, toolName)];
  const named = rowsFor(policy.rules, toolName);
  const own = [policy.default, ...declared, ...named];
  const alone = mergeRows(...base, ...own);
  const merged = mergeRows(tightened(base, policy.project, own, toolName), policy.force, ...last);
  const off = policy.profile === "off" || merged.off === true;
  return {
    limits: off ? {} : smallerOf(merged.limits ?? {}, commandCeiling(policy, toolName, toolCeiling(policy, named))),
    shortChars:
      limitsLines(policy, [...own, policy.force, ...last]) || projectLimitsLines(policy, toolName, alone)
        ? 0
        : NUMBERS.shortOutputChars.default,
    strategy: merged.strategy ?? DEFAULT_STRATEGY,
    headShare: merged.headShare ?? NUMBERS.headShare.default,
    fold: merged.fold ?? true,
    since: merged.since ?? true,
    lines: { focus: merged.focus ?? [], keep: merged.keep ?? [], drop: merged.drop ?? [] },
    off,
    summarize: merged.summarize ?? false,
    triggerChars: merged.triggerChars ?? policy.summarization.triggerChars,
    options: { ...merged.options },
  };
}

/** The ceiling with `commands.maxChars` in it, for tools that run commands. The usual number lowers no tool's limit. */
function commandCeiling({ commands: { maxChars } }: Policy, toolName: string, ceiling: Limits): Limits {
  const isLowered = maxChars < NUMBERS.commandChars.default;
  const isCommand = isLowered && familyOf(lastSegment(toolName.toLowerCase()))?.keys.includes("run_command");
  return isCommand ? { ...ceiling, maxChars: Math.min(ceiling.maxChars ?? maxChars, maxChars) } : ceiling;
}

/** Returns true if the user, the tool itself or a call limits a tool's lines. */
function limitsLines({ ceiling }: Policy, rows: readonly ToolOverride[]): boolean {
  return ceiling.maxLines !== NUMBERS.ceilingLines.default || rows.some(({ limits }) => limits?.maxLines !== undefined);
}

/** Returns true if a project limits a tool's lines. A row of its own that is above what holds without it has no effect. */
function projectLimitsLines({ project, ceiling }: Policy, toolName: string, alone: ToolOverride): boolean {
  if (project === null) return false;
  const theirs = mergeRows(project.default, ...rowsFor(project.rules, toolName)).limits?.maxLines;
  return theirs !== undefined && theirs <= (smallerOf(ceiling, alone.limits ?? {}).maxLines ?? Infinity);
}

function rowsFor(rules: readonly ToolRule[], toolName: string): PolicyRow[] {
  return matchRules(rules, toolName).map(({ row }) => row);
}

/**
 * The built-in rows and the user's own, with a project's between them. Of each limit and each option the smaller counts,
 * however well a row matches: a clone lifts none and does not switch the clamp off.
 */
function tightened(
  base: readonly ToolOverride[],
  project: Policy["project"],
  own: readonly ToolOverride[],
  toolName: string,
): ToolOverride {
  const alone = mergeRows(...base, ...own);
  if (project === null) return alone;
  const { builtIn, default: row, rules } = project;
  const theirs = mergeRows(builtIn.default, ...rowsFor(builtIn.rules, toolName), row, ...rowsFor(rules, toolName));
  return {
    ...mergeRows(...base, theirs, ...own),
    limits: smallerOf(alone.limits ?? {}, projectLimits(theirs.limits ?? {})),
    options: smallerOf(alone.options ?? {}, theirs.options ?? {}),
    off: alone.off,
    // What is not worth showing is for the user to say.
    drop: alone.drop,
  };
}

/** The ceiling for one tool: each limit of its strongest row counts, and lifts the ceiling if that row raises it. */
function toolCeiling(policy: Policy, named: readonly PolicyRow[]): Limits {
  const ceiling: Limits = { ...policy.ceiling };
  for (const name of LIMIT_NAMES) {
    if (policy.force.limits?.[name] !== undefined) continue;
    const strongest = named.findLast((row) => row.limits?.[name] !== undefined);
    const value = strongest?.limits?.[name];
    const before = ceiling[name];
    if (!strongest?.raisesCeiling || value === undefined || before === undefined) continue;
    ceiling[name] = Math.max(before, name === "maxBytes" ? Math.min(value, NUMBERS.ceilingBytes.ceiling) : value);
  }
  return ceiling;
}

// Agents call the same tool by different names. A family's `keys` are the names that stand for all of it in a policy.

/** Tools of one sort. */
interface ToolFamily {
  keys: readonly string[];
  members: readonly string[];
}

const words = (text: string) => text.trim().split(/\s+/);

/** The families known by name, all lower case. */
export const TOOL_FAMILIES: readonly ToolFamily[] = [
  {
    keys: ["run_command"],
    members: words(`
      exec bash shell sh zsh cmd command terminal powershell pwsh process run execute
      run_command runcommand run_shell_command run_terminal_cmd run_terminal_command run_in_terminal runterminalcmd
      execute_command executecommand exec_command execcommand shell_command shell_exec local_shell bash_tool
      execute_bash execute_shell bashoutput bash_output get_terminal_output run_script run_tests`),
  },
  {
    keys: ["read_file"],
    members: words(`
      read read_file readfile read_files readfiles read_many_files read_text_file read_multiple_files
      view view_file viewfile view_source cat open_file openfile file_read get_file_contents get_file_content fs_read
      read_resource notebookread`),
  },
  {
    keys: ["list_directory"],
    members: words(`
      ls dir list list_directory listdirectory list_dir listdir list_files listfiles list_directory_with_sizes
      read_folder read_directory glob find find_files findfiles file_search glob_search find_by_name`),
  },
  {
    keys: ["search_files", "grep_search"],
    members: words(`
      grep grep_search grepsearch search_files searchfiles search_file_content searchtext search_text search_code
      codebase_search code_search ripgrep rg find_in_files findinfiles search_in_files grep_tool search`),
  },
  { keys: ["repo_map"], members: words("repo_map repomap repository_map code_map get_repo_map") },
  {
    keys: ["get_repo_structure"],
    members: words(`
      get_repo_structure repo_structure get_repository_structure directory_tree get_directory_tree tree
      get_directory_structure project_structure get_project_structure`),
  },
  { keys: ["sessions_history"], members: words("sessions_history session_history get_session_history") },
  {
    // Exact content: a folded diff or JSON text is a wrong one.
    keys: ["exact_content"],
    members: words(`
      diff git_diff gitdiff git_show get_diff show_diff view_diff compare apply_patch applypatch patch
      edit edit_file editfile multiedit multi_edit str_replace str_replace_editor str_replace_based_edit_tool
      write write_file writefile create_file notebookedit
      jq read_json get_json query_json json http_request fetch_json`),
  },
];

const familyByMember = new Map<string, ToolFamily>();
for (const family of TOOL_FAMILIES) for (const member of family.members) familyByMember.set(member, family);
for (const family of TOOL_FAMILIES) for (const key of family.keys) familyByMember.set(key, family);

/** The family that a lower-case name belongs to. */
export function familyOf(name: string): ToolFamily | undefined {
  return familyByMember.get(name);
}

// Ranks of a match; a wildcard's literal characters are added to its own.
const EXACT = 1_000_000;
const WILDCARD = 1000;
const LAST_SEGMENT = 3;
const FAMILY = 2;
const ANY = 1;

const SEPARATOR = /__|[./:]/;

/** The part of a prefixed name after its last `__`, `.`, `/` or `:`: `mcp__files__read_file` is a `read_file`. */
export function lastSegment(name: string): string {
  return name.split(SEPARATOR).findLast((segment) => segment !== "") ?? name;
}

/** Returns true if `name` has the pattern's literal parts in order. `*` stands for any text; no regular expression is made. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const text = name.toLowerCase();
  const first = parts[0] ?? "";
  if (parts.length === 1) return text === first;
  const last = parts[parts.length - 1] ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * How well a rule's name or pattern fits a tool's name; 0 is not at all. An exact name ranks highest, then a wildcard
 * (more literal characters first), then the last segment of a prefixed name, then the family, then a lone `*`.
 */
export function rankMatch(pattern: string, tool: string): number {
  const wanted = pattern.toLowerCase();
  const name = tool.toLowerCase();
  if (wanted.includes("*")) {
    const literal = wanted.length - (wanted.split("*").length - 1);
    if (literal === 0) return ANY;
    return matchesPattern(wanted, name) ? WILDCARD + literal : 0;
  }
  if (wanted === name) return EXACT;
  const segment = lastSegment(name);
  if (wanted === segment) return LAST_SEGMENT;
  return familyOf(segment)?.keys.includes(wanted) ? FAMILY : 0;
}

/** The rules that fit a tool, weakest first; of equal ones the later is the stronger. */
export function matchRules(rules: readonly ToolRule[], tool: string): ToolRule[] {
  return rules
    .map((rule) => ({ rule, rank: rankMatch(rule.tool, tool) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => a.rank - b.rank)
    .map(({ rule }) => rule);
}
