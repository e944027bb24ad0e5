import type { PruningPolicy } from "../../contract/policy.ts";
import { matchesPattern } from "../policy/match-tool.ts";
import type { PruneFrame, PruneItem } from "./prune-item.ts";

/** Whether a tool's results may be pruned: deny wins, an empty allow means all, letter case does not count. */
function isSelected({ allow, deny }: PruningPolicy["tools"], tool: string): boolean {
  const name = tool.trim();
  const isNamed = (patterns: readonly string[]) => patterns.some((pattern) => matchesPattern(pattern.trim(), name));
  return !isNamed(deny) && (allow.length === 0 || isNamed(allow));
}

/** What may be pruned, or why nothing may. */
export type Selected<Item extends PruneItem> = { items: Item[]; why: null } | { items: []; why: string };

/**
 * The results between the first user's message and the cutoff, which is the assistant message that is
 * `keepLastAssistants` from the end: what came before a user spoke, and what is still in use, is left alone.
 */
export function selectItems<Item extends PruneItem>(frame: PruneFrame<Item>, policy: PruningPolicy): Selected<Item> {
  const { items, firstUser, assistants, messages } = frame;
  const { keepLastAssistants: keep, tools } = policy;
  if (firstUser === null) return { items: [], why: "no user has spoken yet" };
  if (assistants.length < keep) {
    return { items: [], why: `there are ${assistants.length} assistant messages; the last ${keep} are kept` };
  }
  const cutoff = keep === 0 ? messages : (assistants[assistants.length - keep] as number);
  const known = new Map<string, boolean>();
  const isAllowed = (tool: string) => {
    const before = known.get(tool) ?? isSelected(tools, tool);
    known.set(tool, before);
    return before;
  };
  const selected: Item[] = [];
  for (const item of items) {
    if (item.message >= cutoff) break;
    if (item.message < firstUser || item.untouchable || item.shown.chars === 0) continue;
    if (isAllowed(item.tool)) selected.push(item);
  }
  return { items: selected, why: null };
}
