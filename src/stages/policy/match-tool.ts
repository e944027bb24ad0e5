import type { ToolRule } from "../../contract/policy.ts";
import { familyOf } from "./tool-families.ts";

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

/** Whether `name` has the pattern's literal parts in order. `*` stands for any text; no regular expression is made. */
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
