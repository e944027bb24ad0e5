import { nearestName, SpillwayError } from "../errors.ts";

/** Names that models use for an argument because other agents' tools call it so. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  path: [
    "file_path",
    "repo_path",
    "folder_path",
    "dir_path",
    "absolute_path",
    "target_file",
    "file",
    "filename",
    "folder",
    "directory",
    "dir",
  ],
  pattern: ["query", "regex", "regexp", "glob", "name"],
  glob: ["include", "include_pattern", "file_pattern"],
  literal: ["fixed_strings"],
  ignore_case: ["case_insensitive", "-i"],
  show_context: ["context", "context_lines", "-C"],
  context: ["show_context", "context_lines", "-C"],
  max_results: ["max", "max_count", "max_matches", "head_limit", "limit"],
  max: ["max_results", "max_count", "max_matches", "head_limit", "limit"],
  start_line: ["offset", "from_line", "line_start"],
  end_line: ["to_line", "line_end"],
  cwd: ["workdir", "working_directory"],
};
const MAX_SHOWN_CHARS = 60;

/**
 * A model's arguments under the names of the tool's schema. `ignoreCase` is taken for `ignore_case`. An argument without a
 * value is left out. Throws for one that the tool does not have, and says which one is nearest.
 */
export function namedArguments(args: unknown, names: readonly string[]): Record<string, unknown> {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object") throw bad(`the arguments must be an object; got ${typeof args}`);
  const known = new Map<string, string>();
  for (const name of names) for (const other of OTHER_NAMES[name] ?? []) known.set(bare(other), name);
  for (const name of names) known.set(bare(name), name);
  const named: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const name = names.includes(given) ? given : known.get(bare(given));
    if (name === undefined) throw unknown(given, names);
    if (Object.hasOwn(named, name) && named[name] !== value) {
      throw bad(`${name} was given twice, with different values; give it once`);
    }
    named[name] = value;
  }
  return named;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/(?<=.)[_-]/g, "");
}

function unknown(given: string, names: readonly string[]): SpillwayError {
  const near = nearestName(given, names);
  const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
  const shown = JSON.stringify(given.slice(0, MAX_SHOWN_CHARS));
  const takes = names.length === 0 ? "this tool takes none" : `there are ${names.join(", ")}`;
  return bad(`there is no argument ${shown}${meant}; ${takes}`);
}

function bad(message: string): SpillwayError {
  return new SpillwayError("bad-input", message);
}
