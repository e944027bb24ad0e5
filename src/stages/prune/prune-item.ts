import type { PruningPolicy } from "../../contract/policy.ts";
import { matchesPattern } from "../policy/resolve-tool-policy.ts";
import { shortenedChars } from "./trim-text.ts";
import type { Weight } from "./weight.ts";

/** How far a result's form is from the result itself. Forms only grow in this. */
export const STEP = { whole: 0, clamped: 1, trimmed: 2, cleared: 3 } as const;

/** A result, or the long strings of a call, as pruning sees it. */
export interface PruneItem {
  /** Its message's place in the request. */
  message: number;
  tool: string;
  isError: boolean;
  /** It is not ours to change: never trimmed or cleared. */
  untouchable: boolean;
  /** The images, audio and files that it holds, and whether a user sent them. Left out if it holds none. */
  heldMedia?: { count: number; isUsers: boolean };
  /** The same file was read again later. */
  superseded: boolean;
  /** What a model is shown now. */
  shown: Weight;
  step: number;
  /** It is the long strings of a call, and its message is the one that makes the call. */
  isCall?: boolean;
}

/** A request as pruning sees it. */
export interface PruneFrame<Item extends PruneItem = PruneItem> {
  /** All results and all calls with long strings, in order. */
  items: readonly Item[];
  /** Where assistants speak, in order. */
  assistants: readonly number[];
  /** The first message of a user; null if there is none. */
  firstUser: number | null;
  messages: number;
  /** All that is sent, as shown now. */
  total: Weight;
  windowTokens: number;
  /** What the item would take trimmed; null if it is not over the size from which results are trimmed. */
  afterTrim(item: Item): Weight | null;
  afterClear(item: Item): Weight;
  /** The line breaks that join an item's texts, which its characters include. No provider gets them. */
  joints(item: Item): number;
  /** The characters that are neither in texts nor in calls' arguments. */
  excessChars(): number;
}

/** One item to be shown shorter. */
export interface PruneCut<Item extends PruneItem = PruneItem> {
  item: Item;
  to: "trimmed" | "cleared";
}

/** Returns true if a tool's results may be pruned: deny wins, an empty allow means all, letter case does not count. */
function isSelected({ allow, deny }: PruningPolicy["tools"], tool: string): boolean {
  const name = tool.trim();
  const isNamed = (patterns: readonly string[]) => patterns.some((pattern) => matchesPattern(pattern.trim(), name));
  return !isNamed(deny) && (allow.length === 0 || isNamed(allow));
}

/** What may be pruned, or why nothing may. */
type Selected<Item extends PruneItem> = { items: Item[]; why: null } | { items: []; why: string };

/** What of a request says which of its items may be pruned. */
type Places = Pick<PruneFrame, "firstUser" | "assistants" | "items">;

/**
 * Returns true if a result may be pruned: it stands between the first user's message and the cutoff, which is the assistant message
 * that is `keepLastAssistants` from the end, and its tool is selected. What came before a user spoke, and what is still in
 * use, is left alone, and so are the newest images, audio and files. In words why, where none may.
 */
export function mayPrune(
  { firstUser, assistants, items }: Places,
  { mode, keepLastAssistants: keep, tools, callArguments, media: which, keepLastMedia }: PruningPolicy,
): { may(item: PruneItem): boolean; why: null } | { may(): false; why: string } {
  const none = (why: string) => ({ may: () => false as const, why });
  if (mode === "off") return none("mode is off");
  if (firstUser === null) return none("no user has spoken yet");
  if (assistants.length < keep)
    return none(`there are ${assistants.length} assistant messages; the last ${keep} are kept`);
  // Results behind the last answer were seen by no model yet, so they stay even if no answer is to be kept.
  const cutoff = assistants[assistants.length - Math.max(1, keep)] ?? 0;
  const known = new Map<string, boolean>();
  const isAllowed = (tool: string) => {
    const before = known.get(tool) ?? isSelected(tools, tool);
    known.set(tool, before);
    return before;
  };
  const newest = which === "off" ? null : newestMedia(items, keepLastMedia);
  const mayMedia = (item: PruneItem) =>
    item.heldMedia === undefined || (newest?.has(item) === false && (which === "all" || !item.heldMedia.isUsers));
  const may = (item: PruneItem) => {
    const { message, untouchable, tool, isCall } = item;
    const isOld = message < cutoff && message >= firstUser;
    return isOld && !untouchable && (callArguments || !isCall) && mayMedia(item) && isAllowed(tool);
  };
  return { may, why: null };
}

/** The items with the newest images, audio and files: as many as it takes for the number that is kept. */
function newestMedia(items: readonly PruneItem[], keep: number): Set<PruneItem> {
  const newest = new Set<PruneItem>();
  let count = 0;
  for (let at = items.length - 1; at >= 0 && count < keep; at--) {
    const item = items[at] as PruneItem;
    if (item.heldMedia === undefined || item.untouchable) continue;
    newest.add(item);
    count += item.heldMedia.count;
  }
  return newest;
}

/** Returns true if requests are pruned as others do it, to the letter: a placeholder may then be longer than what it stands for. */
export function isLiteral({ sticky, estimate }: PruningPolicy): boolean {
  return !sticky && estimate === "chars/4";
}

/** The results that may be pruned and have something that can go. To the letter, what is empty is cleared too. */
export function selectItems<Item extends PruneItem>(
  frame: Omit<Places, "items"> & Pick<PruneFrame<Item>, "items">,
  policy: PruningPolicy,
): Selected<Item> {
  const { may, why } = mayPrune(frame, policy);
  if (why !== null) return { items: [], why };
  const all = isLiteral(policy);
  return { items: frame.items.filter((item) => (all || item.shown.chars > 0) && may(item)), why };
}

/** About what the long strings of a call weigh once they are shorter, with a note on them; null if none gets shorter. */
export function shortenedWeight(
  lengths: readonly number[],
  { tokens, bytes }: Weight,
  to: PruneCut["to"],
  softTrim: PruningPolicy["softTrim"],
  note: Weight,
): Weight | null {
  const before = lengths.reduce((sum, length) => sum + length, 0);
  const chars = shortenedChars(lengths, to, softTrim);
  if (chars === before) return null;
  return {
    chars: chars + note.chars,
    tokens: Math.ceil((tokens * chars) / before) + note.tokens,
    bytes: Math.ceil((bytes * chars) / before) + note.bytes,
  };
}
