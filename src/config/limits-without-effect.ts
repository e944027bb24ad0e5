import type { Limits } from "../contract/limits.ts";
import type { PolicyInput } from "../contract/policy.ts";
import { LIMIT_NAMES, readSize } from "../stages/policy/check-limits.ts";
import { SELF_CAPPED_RULES } from "../stages/policy/profiles.ts";
import { resolvePolicy } from "../stages/policy/resolve-policy.ts";
import { rankMatch, resolveToolPolicy } from "../stages/policy/resolve-tool-policy.ts";
import { grouped } from "../values.ts";
import { printable } from "./config-node.ts";
import type { FoundEntry } from "./project-trust.ts";
import { pathText } from "./validate-config.ts";

/** Who said something. */
interface Source {
  kind: "project" | "user" | "environment";
  path: string | null;
  /** What it and all weaker sources say together. */
  policy: PolicyInput;
}

/** Says of each limit that a project's file asks for and does not get what holds in its place, and who said so. */
export function limitsWithoutEffect(asked: readonly FoundEntry[], sources: readonly Source[]): string[] {
  const project = printable(sources.find(({ kind }) => kind === "project")?.path ?? "");
  const whole = sources.at(-1)?.policy ?? {};
  return asked.flatMap(({ at, path, node }) => {
    const key = String(path.at(-1)).replaceAll("_", "").toLowerCase();
    const name = LIMIT_NAMES.find((each) => each.toLowerCase() === key);
    const written = node.kind === "scalar" ? node.value : null;
    const limit = typeof written === "string" ? readSize(written) : Number(written);
    if (name === undefined || limit === null || limit <= limitOf(whole, path, name)) return [];
    let holds = limitOf({}, path, name);
    let from: Source | undefined;
    for (const source of sources) {
      const now = limitOf(source.policy, path, name);
      if (now !== holds) [holds, from] = [now, source];
    }
    const said = from === undefined ? "the default" : from.path === null ? "the environment" : printable(from.path);
    const ceiling = resolvePolicy(whole).ceiling[name] ?? Infinity;
    const raise = limit > ceiling ? ", and raise the ceiling there" : "";
    // A variable wins over one's own file, and a project's tighter word over its looser one.
    const isYours = from === undefined || from.kind === "user";
    const advice = isYours ? `; put it into your own file${raise}` : "";
    const what = `${pathText(path)} ${typeof written === "string" ? printable(written) : grouped(limit)}`;
    return [`${what} in ${project}:${at.line} has no effect here: ${grouped(holds)} holds (from ${said})${advice}`];
  });
}

/** What holds where a file names a limit. A row that stands for many tools has an effect if it has one on any of them. */
function limitOf(input: PolicyInput, path: FoundEntry["path"], name: keyof Limits): number {
  const policy = resolvePolicy(input);
  const tool = path.at(-3) === "tools" ? String(path.at(-2)) : null;
  if (tool === null && path.at(-2) === "ceiling") return policy.ceiling[name] ?? Infinity;
  const untouched = new Set(SELF_CAPPED_RULES.map((rule) => rule.tool));
  const others = policy.rules
    .map((rule) => rule.tool)
    .filter((each) => (tool === null ? !untouched.has(each) : rankMatch(tool, each) > 0));
  const isOne = tool !== null && !tool.includes("*");
  const tools = isOne ? [tool] : [tool ?? "", ...others];
  return Math.max(...tools.map((each) => resolveToolPolicy(policy, each).limits[name] ?? Infinity));
}
