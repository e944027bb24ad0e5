import { PRICES, type Prices } from "../../src/entrypoints/replay/prices.ts";
import { exact } from "./amounts.ts";
import type { RecordedEvent } from "./api.ts";

/** The form in which a result is in a request. */
export type Form = "whole" | "cut" | "trimmed" | "cleared";

/** One request of a session, as events tell it. Tokens are the provider's, where it counted; else they are estimates. */
export interface RequestStory {
  event: number;
  atMs: number;
  model: string | null;
  /** Null where nobody weighed it. */
  windowTokens: number | null;
  /** The window is what the provider itself stated when it refused. */
  isWindowStated: boolean;
  tokens: number;
  estimatedTokens: number;
  systemAndToolsTokens: number;
  messageTokens: number;
  results: Record<Form, number>;
  /** As the provider counted; null if it did not say. */
  inputTokens: number | null;
  outputTokens: number | null;
  cacheReadTokens: number | null;
  sends: number;
  /** Why results were made shorter, where any were. */
  pruned: string | null;
  /** The refusals that were recovered on the way. */
  refusals: number;
  recalls: number;
  cacheBreak: CacheBreak | null;
}

/** What stood in a provider's cache and has to be read anew. */
export interface CacheBreak {
  tokens: number;
  /** False if the provider does not say what its cache gave: then this is an estimate. */
  isCounted: boolean;
  dollars: number;
  prices: Prices;
  why: string;
}

/** One result of a session and what became of it. */
export interface LifeStory {
  call: string;
  tool: string;
  command: string | null;
  artifact: string | null;
  event: number;
  bytes: number;
  /** When it came in, in which form and with how many tokens, and each change after that. */
  steps: { request: number; form: Form; tokens: number }[];
  /** Requests before which the model read part of it back. */
  recalledAt: number[];
}

/** A session as a story. */
export interface SessionStory {
  requests: RequestStory[];
  lives: LifeStory[];
  /** How often the model read back and was refused, before a request or with none after it. */
  recalls: number;
  refusals: number;
  /** When the agent did something, for the first time and the last. */
  firstMs: number;
  lastMs: number;
}

/** A change that leaves less than this is a line that says where the rest is. */
const CLEARED_CHARS = 400;

const READS: ReadonlySet<string> = new Set(["artifact-recalled", "artifact-searched"]);

/** Reads the story of a session from its events, the oldest first. */
export function storyOf(events: readonly RecordedEvent[]): SessionStory {
  const requests: RequestStory[] = [];
  const lives: LifeStory[] = [];
  const byCall = new Map<string, LifeStory>();
  const stated = new Map<unknown, number>();
  let [recalls, refusals] = [0, 0];
  let now: Pending = newPending();
  // What a person reads reaches no model, and is nothing that the agent did.
  const own = events.filter(({ kind, more }) => !READS.has(kind) || more?.["reads"] !== "person");
  const [firstMs, lastMs] = [own[0] ?? events[0], own.at(-1) ?? events[0]].map((event) => event?.atMs ?? 0);
  for (const event of own) {
    const { kind, receipt, call, artifact } = event;
    const more = event.more ?? {};
    const request = requests.length;
    const life = byCall.get(call ?? "") ?? lives.findLast((each) => artifact !== null && each.artifact === artifact);
    if (receipt !== null) {
      const form = receipt.omitted.bytes > 0 ? "cut" : "whole";
      const begun: LifeStory = {
        call: call ?? `event ${event.id}`,
        tool: receipt.tool,
        command: typeof more["command"] === "string" ? more["command"] : null,
        artifact,
        event: event.id,
        bytes: receipt.total.bytes,
        steps: [{ request, form, tokens: receipt.shown.tokens }],
        recalledAt: [],
      };
      lives.push(begun);
      byCall.set(begun.call, begun);
    } else if (kind === "request-pruned") {
      now.pruned = String(more["why"] ?? "");
      for (const change of changesIn(more)) {
        const form = change.to === "trimmed" || change.to === "cleared" ? change.to : "cut";
        if (shorten(byCall.get(change.call), request, form, change) && form !== "cut") now.isPrefixChanged = true;
      }
    } else if (kind === "overflow-detected") {
      if (more["isKept"] !== true) {
        now.refusals += 1;
        refusals += 1;
      }
      const limit = numberIn(more, "limitTokens");
      if (limit !== null && more["kind"] === "context-overflow") stated.set(more["model"], limit);
    } else if (kind === "overflow-reduced") {
      for (const change of changesIn(more)) {
        shorten(byCall.get(change.call), request, change.toChars < CLEARED_CHARS ? "cleared" : "trimmed", change);
      }
      now.isPrefixChanged = true;
    } else if (kind === "overflow-recovered") now.recoveredTokens = numberIn(more, "estimatedTokens");
    else if (READS.has(kind)) {
      now.recalls += 1;
      recalls += 1;
      life?.recalledAt.push(request);
    } else if (kind === "request-answered") {
      requests.push(requestOf(event, now, lives, requests.at(-1)));
      now = newPending();
    }
  }
  // A window was of this size before the provider said so, too.
  for (const request of requests) {
    const limit = stated.get(request.model);
    if (limit !== undefined) Object.assign(request, { windowTokens: limit, isWindowStated: true });
  }
  return { requests, lives, recalls, refusals, firstMs: firstMs ?? 0, lastMs: lastMs ?? 0 };
}

/** What happened since the last answer. */
interface Pending {
  pruned: string | null;
  isPrefixChanged: boolean;
  refusals: number;
  recoveredTokens: number | null;
  recalls: number;
}

function newPending(): Pending {
  return { pruned: null, isPrefixChanged: false, refusals: 0, recoveredTokens: null, recalls: 0 };
}

interface Change {
  call: string;
  to?: unknown;
  fromChars: number;
  toChars: number;
}

function changesIn(more: Record<string, unknown>): Change[] {
  const { changes } = more;
  return Array.isArray(changes) ? changes.filter(({ call, of }) => typeof call === "string" && of !== "call") : [];
}

/** Notes a shorter form. False if the result came in with it. */
function shorten(life: LifeStory | undefined, request: number, form: Form, { fromChars, toChars }: Change): boolean {
  const last = life?.steps.at(-1);
  if (life === undefined || last === undefined) return false;
  if (form === "cut" && last.form === "cut" && last.request === request) return false;
  life.steps.push({ request, form, tokens: Math.round((last.tokens * toChars) / Math.max(1, fromChars)) });
  return last.request < request;
}

/** Forms in words. */
export const FORM_WORDS: Record<Form, string> = {
  whole: "whole",
  cut: "cut as it came",
  trimmed: "trimmed",
  cleared: "cleared",
};

/** The life of a result of a session in one sentence. What came after its last request names none. */
export function lifeText({ steps, recalledAt }: LifeStory, { requests }: SessionStory): string {
  const place = (request: number, before: string, after = "") =>
    request < requests.length ? ` ${before} request ${request + 1}${after}` : "";
  const said = steps.map(
    ({ request, form, tokens }) => `${FORM_WORDS[form]}${place(request, "from", " on")}, ${exact(tokens)} tokens`,
  );
  return [...said, ...recalledAt.map((request) => `read back${place(request, "before")}`)].join("; ");
}

/** The form and the tokens of a result in a request; null before it came in. */
export function stepAt({ steps }: LifeStory, request: number): LifeStory["steps"][number] | null {
  return steps.findLast((step) => step.request <= request) ?? null;
}

function requestOf(
  { id, atMs, more }: RecordedEvent,
  now: Pending,
  lives: readonly LifeStory[],
  before: RequestStory | undefined,
): RequestStory {
  const said = more ?? {};
  const weighed = (said["request"] ?? {}) as Record<string, unknown>;
  const inputTokens = numberIn(said, "inputTokens");
  const shares: Record<Form, number> = { whole: 0, cut: 0, trimmed: 0, cleared: 0 };
  for (const life of lives) {
    const step = life.steps.at(-1);
    if (step !== undefined) shares[step.form] += step.tokens;
  }
  const known = Object.values(shares).reduce((sum, tokens) => sum + tokens, 0);
  const estimatedTokens = now.recoveredTokens ?? numberIn(weighed, "tokens") ?? inputTokens ?? known;
  const tokens = inputTokens ?? estimatedTokens;
  // The shares of a request are estimates. They are drawn in the provider's tokens, as its window is.
  const counted = (estimate: number) => Math.round((estimate * tokens) / Math.max(1, estimatedTokens));
  const systemAndToolsTokens = Math.min(tokens, counted(numberIn(weighed, "systemAndToolsTokens") ?? 0));
  const resultTokens = Math.min(
    tokens - systemAndToolsTokens,
    counted(now.recoveredTokens === null ? (numberIn(weighed, "resultTokens") ?? known) : known),
  );
  const scale = known === 0 ? 0 : resultTokens / known;
  const results = Object.fromEntries(
    Object.entries(shares).map(([form, share]) => [form, Math.round(share * scale)]),
  ) as Record<Form, number>;
  const request: RequestStory = {
    event: id,
    atMs,
    model: typeof said["model"] === "string" ? said["model"] : null,
    windowTokens: numberIn(weighed, "windowTokens"),
    isWindowStated: false,
    tokens,
    estimatedTokens,
    systemAndToolsTokens,
    messageTokens: Math.max(0, tokens - systemAndToolsTokens - resultTokens),
    results,
    inputTokens,
    outputTokens: numberIn(said, "outputTokens"),
    cacheReadTokens: numberIn(said, "cacheReadTokens"),
    sends: numberIn(said, "sends") ?? 1,
    pruned: now.pruned,
    refusals: now.refusals,
    recalls: now.recalls,
    cacheBreak: null,
  };
  request.cacheBreak = breakIn(request, before, now, String(said["wire"] ?? ""));
  return request;
}

/** A cache gives back less than this share of what it had: it broke. */
const WARM_SHARE = 0.9;

function breakIn(
  { cacheReadTokens, inputTokens, tokens }: RequestStory,
  before: RequestStory | undefined,
  now: Pending,
  wire: string,
): CacheBreak | null {
  if (before === undefined) return null;
  const prices = pricesOf(wire);
  const why = now.refusals > 0 ? "the request was refused and made smaller" : (now.pruned ?? "the beginning changed");
  const broken = (lost: number, isCounted: boolean): CacheBreak => {
    const dollars = (lost * (prices.cacheWrite - prices.cacheRead)) / 1e6;
    return { tokens: lost, isCounted, dollars, prices, why };
  };
  if (cacheReadTokens !== null) {
    const had = before.inputTokens ?? 0;
    const lost = Math.min(had, inputTokens ?? had) - cacheReadTokens;
    return had >= prices.minCacheTokens && cacheReadTokens < had * WARM_SHARE && lost > 0 ? broken(lost, true) : null;
  }
  return now.isPrefixChanged ? broken(Math.min(before.tokens, tokens), false) : null;
}

/** The prices of who speaks this wire. */
function pricesOf(wire: string): Prices {
  return (PRICES.find(({ name }) => wire.startsWith(name)) ?? PRICES[0]) as Prices;
}

function numberIn(values: Record<string, unknown>, name: string): number | null {
  const value = values[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
