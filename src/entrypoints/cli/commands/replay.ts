import { writeFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import { createSpillway } from "../../../index.ts";
import { estimateCounter } from "../../../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted, grouped } from "../../../values.ts";
import {
  FIGURES,
  figuresOf,
  PRICES,
  type Prices,
  policies,
  type Replayed,
  replay,
  type Totals,
  writePage,
} from "../../replay/index.ts";
import { readDuration } from "../amounts.ts";
import type { Command } from "../command.ts";
import { readWindow, wholeNumber } from "../flags.ts";
import { onScreen, type Screen } from "../screen.ts";
import { startStatus } from "../status-line.ts";
import { alignTable } from "../table.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface ReplayFlags {
  policy?: string[];
  window: number;
  prices: string;
  inputPrice?: number;
  cacheReadPrice?: number;
  cacheWritePrice?: number;
  minCacheTokens?: number;
  cacheTtl?: number;
  wire?: string;
  html?: string;
  json?: boolean;
}

const POLICIES = policies.map(({ name }) => name);
const HEAD = FIGURES.map((name) => name.toUpperCase());
const NUMBER_COLUMNS = new Set(HEAD.slice(1).map((_, at) => at + 1));

/** Makes the same ids in every run, so that the figures are the same too. */
const NO_SECRET = new Uint8Array(32);

/** `spillway replay`: what a conversation would have taken under other policies. */
export function addReplayCommand(program: Command): void {
  program
    .command("replay")
    .description(
      "play recorded conversations under several pruning policies, and compare tokens, cost and what was missed",
    )
    .argument("<file...>", "JSON or JSON lines of any message format; a run with its messages, or a list of runs")
    .option(
      "--policy <name>",
      `a policy to compare with none; may be repeated (default: all): ${POLICIES.join(", ")}`,
      addPolicy,
    )
    .option("--window <tokens>", "the model's context in tokens", readWindow, NUMBERS.contextTokens.default)
    .addOption(
      new Option("--prices <name>", "the prices of input tokens and of the prompt cache")
        .choices(PRICES.map(({ name }) => name))
        .default("anthropic"),
    )
    .option("--input-price <dollars>", "the price of a million input tokens", readPrice)
    .option("--cache-read-price <dollars>", "the price of a million tokens read from the prompt cache", readPrice)
    .option("--cache-write-price <dollars>", "the price of a million tokens written to the prompt cache", readPrice)
    .option("--min-cache-tokens <n>", "the shortest prefix that is cached", wholeNumber("--min-cache-tokens"))
    .option("--cache-ttl <time>", "the pause after which the cache is cold (5m, 1h), if messages have times", readTtl)
    .wireFlag()
    .option("--html <file>", "also write a page with charts")
    .option("--json", "print one JSON object, with each request of each conversation")
    .notes(`
NET takes off what reading back would cost where an answer missed something. UNCHANGED is how much of a request
the next one repeats at its start. The provider can read that part from its prompt cache.

Examples:
  spillway replay session.jsonl --window 64000
  spillway replay runs/*.json --policy ours --policy each-request --html replay.html
  spillway replay session.jsonl --json | jq '.totals[] | {policy, cost, misses}'`)
    .action((files: string[], flags: ReplayFlags) => onScreen(flags, ({ width }) => replayFiles(files, flags, width)));
}

async function replayFiles(files: string[], flags: ReplayFlags, width: Screen["width"]): Promise<void> {
  const [{ readRecorded }, { memoryStore }] = await Promise.all([
    import("../read-recorded.ts"),
    import("../../../storage/stores/memory.ts"),
  ]);
  const asked = new Set(["none", ...(flags.policy ?? POLICIES)]);
  let played = 0;
  const status = startStatus((seconds) => `replaying ${seconds}, ${counted(played, "conversation")}`);
  const replayed = await replay(conversations(), {
    policies: policies.filter(({ name }) => asked.has(name)),
    windowTokens: flags.window,
    prices: pricesOf(flags),
    counter: estimateCounter,
    // A replay keeps nothing, so nothing has to be redacted.
    makeSpillway: ({ keeps, ...parts }) => {
      status.tick();
      return createSpillway({
        ...parts,
        store: keeps ? memoryStore({ secret: NO_SECRET }) : null,
        ledger: null,
        env: {},
        redact: "off",
      });
    },
  }).finally(() => status.stop());
  if (flags.html !== undefined) writeFileSync(flags.html, writePage(replayed));
  if (flags.json) return writeJson(replayed);
  await writeOut(told(replayed, width));

  function* conversations() {
    for (const file of files)
      for (const conversation of readRecorded(file, flags.wire)) {
        yield conversation;
        played += 1;
      }
  }
}

/** As far as they have no room on the screen, these columns are left out, in this order. */
const MAY_GO = ["UNCHANGED", "CACHE WRITE", "CACHE READ", "OVER", "SAVED"];

function told(replayed: Replayed, width: Screen["width"]): string {
  const { totals, conversations, windowTokens, prices, leftOut, counted: usage } = replayed;
  const requests = totals[0]?.requests ?? 0;
  const about = `${counted(conversations.length, "conversation")}, ${counted(requests, "request")}, window ${grouped(windowTokens)}, prices ${prices.name} (${prices.source})`;
  const left = leftOut === 0 ? "" : `${counted(leftOut, "request")} of other branches left out\n`;
  const rows = [HEAD, ...totals.map((one) => figuresOf(one, totals[0] as Totals))];
  const estimate = usage.estimated + usage.beside;
  const parts = `${grouped(usage.estimated)} for messages, ${grouped(usage.beside)} beside them`;
  const off = `${((estimate / usage.tokens - 1) * 100).toFixed(1)} %`;
  const recorded = `recorded usage: ${grouped(usage.tokens)} tokens in ${counted(usage.requests, "request")}; estimate: ${grouped(estimate)} (${parts}), ${off} off\n`;
  return `${about}\n${left}${usage.requests === 0 ? "" : recorded}\n${alignTable(rows, NUMBER_COLUMNS, { width, drops: MAY_GO.map((name) => HEAD.indexOf(name)) })}`;
}

function pricesOf(flags: ReplayFlags): Prices {
  const named = PRICES.find(({ name }) => name === flags.prices) as Prices;
  const given = {
    input: flags.inputPrice,
    cacheRead: flags.cacheReadPrice,
    cacheWrite: flags.cacheWritePrice,
    minCacheTokens: flags.minCacheTokens,
    cacheTtlMs: flags.cacheTtl,
  };
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(stated).length === 0) return named;
  return { ...named, ...stated, name: `${named.name}, changed`, source: `${named.source}; changed by flags` };
}

function readTtl(text: string): number {
  const most = NUMBERS.pruneCacheTtlMs.ceiling;
  const ttlMs = readDuration(text);
  if (ttlMs <= most) return ttlMs;
  throw new InvalidArgumentError(`--cache-ttl takes at most ${most / 3_600_000}h; got "${text}"`);
}

function addPolicy(name: string, others: string[] = []): string[] {
  if (POLICIES.includes(name)) return [...others, name];
  throw new InvalidArgumentError(`--policy takes one of ${POLICIES.join(", ")}; got "${name}"`);
}

function readPrice(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`a price is a number of dollars, such as 3 or 0.25; got "${text}"`);
}
