/** A file of Claude Code's settings, as far as hooks go; all else in it stays. */
type Settings = Record<string, unknown>;

interface HookRow {
  matcher?: string;
  hooks?: { type?: string; command?: string; timeout?: number }[];
}

/** Tools whose results can be large. Others are not worth a start of Node for each call. */
const MATCHER = "Bash|Read|Grep|Glob|WebFetch|WebSearch|Task|Agent|TaskOutput|ReadMcpResourceTool|mcp__.*";
const COMMAND = "spillway hook";
const TIMEOUT_SECONDS = 10;

/** Which hooks to set. */
export interface HookChoice {
  /** Also put shell commands under `spillway run`, before they run. */
  wrapCommands: boolean;
}

/** The settings with our hooks, and everything that was there. */
export function withHooks(settings: Settings, { wrapCommands }: HookChoice): Settings {
  const clean = withoutHooks(settings);
  const row = (matcher: string) => ({
    matcher,
    hooks: [{ type: "command", command: COMMAND, timeout: TIMEOUT_SECONDS }],
  });
  const hooks = hooksOf(clean);
  const added = {
    ...hooks,
    PostToolUse: [...(hooks.PostToolUse ?? []), row(MATCHER)],
    ...(wrapCommands && { PreToolUse: [...(hooks.PreToolUse ?? []), row("Bash")] }),
  };
  return { ...clean, hooks: added };
}

/** The settings without our hooks. */
export function withoutHooks(settings: Settings): Settings {
  const kept = Object.entries(hooksOf(settings)).flatMap(([event, rows]): [string, HookRow[]][] => {
    if (!Array.isArray(rows)) return [[event, rows]];
    const others = rows.flatMap((row) => {
      if (!row.hooks?.some(isOurs)) return [row];
      const hooks = row.hooks.filter((hook) => !isOurs(hook));
      return hooks.length > 0 ? [{ ...row, hooks }] : [];
    });
    return others.length > 0 || rows.length === 0 ? [[event, others]] : [];
  });
  const { hooks, ...rest } = settings;
  if (hooks === undefined) return settings;
  return kept.length > 0 || Object.keys(hooks as object).length === 0
    ? { ...settings, hooks: Object.fromEntries(kept) }
    : rest;
}

function hooksOf({ hooks }: Settings): Record<string, HookRow[]> {
  return typeof hooks === "object" && hooks !== null ? (hooks as Record<string, HookRow[]>) : {};
}

function isOurs({ command }: { command?: string }): boolean {
  return typeof command === "string" && /(^|[\\/])spillway(\.cmd)? hook\b/.test(command);
}
