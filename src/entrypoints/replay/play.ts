import { type ReplayInput, type ReplayPolicy } from "./policies/policy.ts";
import { type Charge, charge, type Prices } from "./prices.ts";
import type { Rendered, Renderer } from "./render.ts";
import { type Needle, type Place, partsOf } from "./sources.ts";
import type { Turn } from "./turns.ts";

/** One request as it would have been sent. */
export interface PlayedRequest extends Charge {
  tokens: number;
  bytes: number;
  /** The bytes of the request before, and how many of them this request begins with too; 0 for the first request. */
  previousBytes: number;
  unchangedBytes: number;
  /** True if the request is larger than the window. */
  isOver: boolean;
  /** What the answer says and only cleared or trimmed results and calls said before. */
  missed: string[];
  /** The tokens for reading that back: this request once more, and a page of each result. */
  recallTokens: number;
  recallCost: number;
}

/** A conversation as it would have gone under a policy. */
export interface Played {
  policy: string;
  /** True if results were changed. */
  fired: boolean;
  requests: PlayedRequest[];
}

/** A conversation made ready to be played under any policy. */
export interface Score extends ReplayInput {
  turns: readonly Turn[];
  needles: readonly (readonly Needle[])[];
}

/** What one call of `recall` gives. */
const PAGE_CHARS = 20_000;

/** Plays a conversation request by request. */
export async function play(score: Score, policy: ReplayPolicy, prices: Prices): Promise<Played> {
  const { turns, needles, renderer, rendered, windowTokens } = score;
  const prune = await policy.start(score);
  const requests: PlayedRequest[] = [];
  let fired = false;
  let before: Sent | null = null;
  for (const [index, turn] of turns.entries()) {
    const messages = await prune(turn.end, turn.atMs);
    const sent = send(messages, turn, renderer);
    const { bytes, tokens } = before === null ? NOTHING : common(before, sent, renderer);
    fired ||= sent.rendered.some((one, at) => one !== rendered[at]);
    const missed = (needles[index] ?? []).filter((needle) => isMissing(needle, sent.rendered, rendered));
    const warm = before === null || !isCold(before.atMs, turn.atMs, prices.cacheTtlMs) ? tokens : 0;
    const pages = pageTokens(missed, rendered, renderer);
    requests.push({
      tokens: sent.tokens,
      bytes: sent.bytes,
      previousBytes: before?.bytes ?? 0,
      unchangedBytes: bytes,
      ...charge(prices, sent.tokens, warm),
      isOver: sent.tokens > windowTokens,
      missed: missed.map(({ text }) => text),
      recallTokens: missed.length === 0 ? 0 : sent.tokens + pages,
      recallCost: missed.length === 0 ? 0 : charge(prices, sent.tokens + pages, sent.tokens).cost,
    });
    before = sent;
  }
  return { policy: policy.name, fired, requests };
}

interface Sent {
  rendered: Rendered[];
  tokens: number;
  bytes: number;
  atMs: number | null;
}

const NOTHING = { bytes: 0, tokens: 0 };

function send(messages: readonly unknown[], { atMs }: Turn, renderer: Renderer): Sent {
  const rendered = messages.map((message) => renderer.render(message));
  const sum = (of: "tokens" | "bytes") => rendered.reduce((total, one) => total + one[of], 0);
  return { rendered, tokens: sum("tokens"), bytes: sum("bytes"), atMs };
}

/** The common start of two requests. */
function common(before: Sent, now: Sent, renderer: Renderer): { bytes: number; tokens: number } {
  let [bytes, tokens] = [0, 0];
  for (const [at, one] of before.rendered.entries()) {
    const other = now.rendered[at];
    if (other === undefined) break;
    if (one !== other && one.text !== other.text) {
      let same = 0;
      while (one.text.charCodeAt(same) === other.text.charCodeAt(same)) same++;
      const start = one.text.slice(0, same);
      return { bytes: bytes + Buffer.byteLength(start), tokens: tokens + renderer.count(start) };
    }
    bytes += one.bytes;
    tokens += one.tokens;
  }
  return { bytes, tokens };
}

function isCold(beforeMs: number | null, nowMs: number | null, ttlMs: number): boolean {
  return beforeMs !== null && nowMs !== null && nowMs - beforeMs > ttlMs;
}

function isMissing({ text, sources }: Needle, shown: readonly Rendered[], whole: readonly Rendered[]): boolean {
  return sources.every(({ message }) => {
    const now = shown[message];
    return now !== whole[message] && now?.text.includes(text) !== true;
  });
}

/** A page of each result that would have to be read back: the latest that has what is missing. */
function pageTokens(missed: readonly Needle[], rendered: readonly Rendered[], renderer: Renderer): number {
  const latest = new Map<string, Place>();
  for (const { sources } of missed) {
    const place = sources.at(-1);
    if (place !== undefined) latest.set(`${place.message}:${place.part}`, place);
  }
  let tokens = 0;
  for (const { message, part } of latest.values()) {
    tokens += renderer.count(partsOf(rendered[message])[part]?.slice(0, PAGE_CHARS) ?? "");
  }
  return tokens;
}
