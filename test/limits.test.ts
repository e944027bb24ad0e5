import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Limits } from "../src/contract/limits.ts";
import type { PolicyInput, ProfileName, ToolOptions } from "../src/contract/policy.ts";
import { CLEARED_PLACEHOLDER, DEFAULT_STRATEGY, NUMBERS } from "../src/stages/policy/defaults.ts";
import { resolvePolicy } from "../src/stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "../src/stages/policy/resolve-tool-policy.ts";
import { SERVE_NUMBERS } from "../src/stages/policy/serve-numbers.ts";

const ALL_NUMBERS = { ...NUMBERS, ...SERVE_NUMBERS };
type NumberName = keyof typeof ALL_NUMBERS;
const TABLES = ["defaults", "serve-numbers"]
  .map((name) => readFileSync(join(import.meta.dirname, `../src/stages/policy/${name}.ts`), "utf8"))
  .join("\n");

/** What each number is promised to be, and the proof that it binds. A new number needs a row here. */
interface Promised {
  is: number;
  proof: (is: number) => void | Promise<void>;
}

/** A tool's limit is the number, however much more its own word, a session and a call ask for. */
function limit(name: keyof Limits, tool: string, profile: ProfileName = "balanced") {
  return (is: number) => {
    const more = { limits: { [name]: is * 10 } };
    expect(resolveToolPolicy(resolvePolicy(profile), tool).limits[name]).toBe(is);
    expect(resolveToolPolicy(resolvePolicy(profile, { tools: { [tool]: more } }), tool, more).limits[name]).toBe(
      Math.min(is * 10, resolvePolicy(profile).ceiling[name] ?? Infinity),
    );
  };
}

/** Nothing a row, a tool, a session or a call says passes it. */
function ceiling(name: keyof Limits) {
  return (is: number) => {
    const more = { limits: { [name]: is + 1 } };
    const policy = resolvePolicy({ default: more, tools: { x: more } });
    for (const tool of ["x", "y"]) {
      expect(resolveToolPolicy(policy, tool, { ...more, declared: true }, more, more).limits[name]).toBe(is);
    }
  };
}

/** A tool is told the number. */
function option(name: keyof ToolOptions, tool: string) {
  return (is: number) => expect(resolveToolPolicy(resolvePolicy("frugal"), tool).options[name]).toBe(is);
}

/** A project's file lowers a limit so far and no further; the user's own goes lower. */
function projectLeast(...names: (keyof Limits)[]) {
  return (is: number) => {
    for (const name of names) {
      const low = { limits: { [name]: is - 1 } };
      for (const project of [{ default: low }, { tools: { x: low } }, { ceiling: low.limits }])
        expect(resolveToolPolicy(resolvePolicy({ project }), "x").limits[name]).toBe(is);
      expect(resolveToolPolicy(resolvePolicy({ default: low }), "x").limits[name]).toBe(is - 1);
    }
  };
}

/** Holds for a tool's own lines while nobody limits them. */
function shortOutput(is: number) {
  expect(resolveToolPolicy(resolvePolicy(), "bash").shortChars).toBe(is);
  const lines = { limits: { maxLines: 150 } };
  const policies = [
    { default: lines },
    { tools: { bash: lines } },
    { ceiling: { maxLines: 150 } },
    { project: { default: lines } },
  ];
  for (const policy of policies) expect(resolveToolPolicy(resolvePolicy(policy), "bash").shortChars).toBe(0);
  expect(resolveToolPolicy(resolvePolicy(), "bash", lines).shortChars).toBe(0);
}

/** The policy carries the number to its stage, and refuses one out of its range. */
function carried(
  name: NumberName,
  read: (policy: ReturnType<typeof resolvePolicy>) => number,
  write: (value: number) => PolicyInput,
) {
  return (is: number) => {
    const { floor, ceiling: most } = ALL_NUMBERS[name];
    expect(read(resolvePolicy())).toBe(is);
    for (const value of [floor, most]) expect(read(resolvePolicy(write(value)))).toBe(value);
    for (const value of [floor - 1, most + 1, Number.NaN]) {
      expect(() => resolvePolicy(write(value)), `${name} ${value}`).toThrow(/must be a (whole )?number from/);
    }
  };
}

const PROMISED: Partial<Record<NumberName, Promised>> = {
  ceilingBytes: { is: 51_200, proof: ceiling("maxBytes") },
  ceilingLines: { is: 2000, proof: ceiling("maxLines") },
  projectLeastChars: { is: 2000, proof: projectLeast("maxBytes", "maxChars") },
  projectLeastLines: { is: 20, proof: projectLeast("maxLines") },
  projectLeastTokens: { is: 500, proof: projectLeast("maxTokens") },
  shortOutputChars: { is: 2000, proof: shortOutput },
  readFileChars: { is: 50_000, proof: limit("maxChars", "read_file") },
  readFileLines: { is: 500, proof: limit("maxLines", "read_file") },
  runCommandChars: { is: 20_000, proof: limit("maxChars", "run_command") },
  runCommandLines: { is: 200, proof: limit("maxLines", "run_command") },
  listDirectoryChars: { is: 10_000, proof: limit("maxChars", "list_directory") },
  listDirectoryLines: { is: 100, proof: limit("maxLines", "list_directory") },
  searchFilesChars: { is: 30_000, proof: limit("maxChars", "search_files") },
  searchFilesLines: { is: 300, proof: limit("maxLines", "search_files") },
  frugalChars: { is: 8000, proof: limit("maxChars", "anything", "frugal") },
  frugalLines: { is: 500, proof: limit("maxLines", "anything", "frugal") },
  frugalRepoMapChars: { is: 10_000, proof: limit("maxChars", "repo_map", "frugal") },
  frugalRepoMapLines: { is: 1000, proof: limit("maxLines", "repo_map", "frugal") },
  frugalReadFileChars: { is: 5000, proof: limit("maxChars", "read_file", "frugal") },
  frugalReadFileLines: { is: 200, proof: limit("maxLines", "read_file", "frugal") },
  frugalSearchMatches: { is: 100, proof: option("maxMatches", "grep_search") },
  frugalSearchContext: { is: 2, proof: option("showContext", "grep_search") },
  frugalStructureDepth: { is: 3, proof: option("maxDepth", "get_repo_structure") },
  frugalStructureFiles: { is: 500, proof: option("maxFiles", "get_repo_structure") },
  headShare: { is: 0.3, proof: (is) => expect(resolveToolPolicy(resolvePolicy(), "x").headShare).toBe(is) },
  frugalHeadShare: {
    is: 0.5,
    proof: (is) => expect(resolveToolPolicy(resolvePolicy("frugal"), "x").headShare).toBe(is),
  },
  sessionsHistoryBytes: {
    is: 81_920,
    proof: (is) => {
      const more = { limits: { maxBytes: is + 1 } };
      expect(resolveToolPolicy(resolvePolicy({ default: more }), "sessions_history", more).limits).toEqual({
        maxBytes: is,
      });
    },
  },
  commandChars: {
    is: 200_000,
    proof: carried(
      "commandChars",
      (policy) => policy.commands.maxChars,
      (maxChars) => ({ commands: { maxChars } }),
    ),
  },
  commandPendingChars: {
    is: 200_000,
    proof: carried(
      "commandPendingChars",
      (policy) => policy.commands.maxPendingChars,
      (maxPendingChars) => ({ commands: { maxPendingChars } }),
    ),
  },
  pruneKeepLastAssistants: {
    is: 3,
    proof: carried(
      "pruneKeepLastAssistants",
      ({ pruning }) => pruning.keepLastAssistants,
      (keepLastAssistants) => ({ pruning: { keepLastAssistants } }),
    ),
  },
  pruneKeepLastMedia: {
    is: 3,
    proof: carried(
      "pruneKeepLastMedia",
      ({ pruning }) => pruning.keepLastMedia,
      (keepLastMedia) => ({ pruning: { keepLastMedia } }),
    ),
  },
  pruneSoftTrimRatio: {
    is: 0.3,
    proof: carried(
      "pruneSoftTrimRatio",
      ({ pruning }) => pruning.softTrimRatio,
      (softTrimRatio) => ({ pruning: { softTrimRatio } }),
    ),
  },
  pruneHardClearRatio: {
    is: 0.5,
    proof: carried(
      "pruneHardClearRatio",
      ({ pruning }) => pruning.hardClearRatio,
      (hardClearRatio) => ({ pruning: { hardClearRatio } }),
    ),
  },
  pruneMinToolChars: {
    is: 50_000,
    proof: carried(
      "pruneMinToolChars",
      ({ pruning }) => pruning.minPrunableToolChars,
      (minPrunableToolChars) => ({ pruning: { minPrunableToolChars } }),
    ),
  },
  pruneTrimOverChars: {
    is: 4000,
    proof: carried(
      "pruneTrimOverChars",
      ({ pruning }) => pruning.softTrim.maxChars,
      (maxChars) => ({ pruning: { softTrim: { maxChars } } }),
    ),
  },
  pruneTrimHeadChars: {
    is: 1500,
    proof: carried(
      "pruneTrimHeadChars",
      ({ pruning }) => pruning.softTrim.headChars,
      (headChars) => ({ pruning: { softTrim: { headChars } } }),
    ),
  },
  pruneTrimTailChars: {
    is: 1500,
    proof: carried(
      "pruneTrimTailChars",
      ({ pruning }) => pruning.softTrim.tailChars,
      (tailChars) => ({ pruning: { softTrim: { tailChars } } }),
    ),
  },
  pruneClearAtLeastTokens: {
    is: 12_500,
    proof: carried(
      "pruneClearAtLeastTokens",
      ({ pruning }) => pruning.clearAtLeastTokens,
      (clearAtLeastTokens) => ({ pruning: { clearAtLeastTokens } }),
    ),
  },
  pruneClearAtLeastShare: {
    is: 0.05,
    proof: carried(
      "pruneClearAtLeastShare",
      ({ pruning }) => pruning.clearAtLeastShare,
      (clearAtLeastShare) => ({ pruning: { clearAtLeastShare } }),
    ),
  },
  pruneLowWatermark: {
    is: 0.5,
    proof: carried(
      "pruneLowWatermark",
      ({ pruning }) => pruning.lowWatermark,
      (lowWatermark) => ({ pruning: { lowWatermark } }),
    ),
  },
  pruneForceRatio: {
    is: 0.9,
    proof: carried(
      "pruneForceRatio",
      ({ pruning }) => pruning.forceRatio,
      (forceRatio) => ({ pruning: { forceRatio } }),
    ),
  },
  pruneCacheTtlMs: {
    is: 300_000,
    proof: carried(
      "pruneCacheTtlMs",
      ({ pruning }) => pruning.cacheTtlMs,
      (cacheTtlMs) => ({ pruning: { cacheTtlMs } }),
    ),
  },
  pruneAgeTurns: {
    is: 0,
    proof: carried(
      "pruneAgeTurns",
      ({ pruning }) => pruning.ageTurns,
      (ageTurns) => ({ pruning: { ageTurns } }),
    ),
  },
  pruneRequestBytes: {
    is: 30_000_000,
    proof: carried(
      "pruneRequestBytes",
      ({ pruning }) => pruning.maxRequestBytes,
      (maxRequestBytes) => ({ pruning: { maxRequestBytes } }),
    ),
  },
  pruneBatchShare: {
    is: 0.5,
    proof: carried(
      "pruneBatchShare",
      ({ pruning }) => pruning.batch.windowShare,
      (windowShare) => ({ pruning: { batch: { windowShare } } }),
    ),
  },
  pruneBatchChars: {
    is: 200_000,
    proof: carried(
      "pruneBatchChars",
      ({ pruning }) => pruning.batch.maxChars,
      (maxChars) => ({ pruning: { batch: { maxChars } } }),
    ),
  },
  pruneBatchFloorChars: {
    is: 2000,
    proof: carried(
      "pruneBatchFloorChars",
      ({ pruning }) => pruning.batch.floorChars,
      (floorChars) => ({ pruning: { batch: { floorChars } } }),
    ),
  },
  summarizeOverChars: {
    is: 20_000,
    proof: carried(
      "summarizeOverChars",
      ({ summarization }) => summarization.triggerChars,
      (triggerChars) => ({ summarization: { triggerChars } }),
    ),
  },
  summarizeInputChars: {
    is: 50_000,
    proof: carried(
      "summarizeInputChars",
      ({ summarization }) => summarization.maxInputChars,
      (maxInputChars) => ({ summarization: { maxInputChars } }),
    ),
  },
  contextTokens: {
    is: 200_000,
    proof: carried(
      "contextTokens",
      (policy) => policy.contextTokens,
      (contextTokens) => ({ contextTokens }),
    ),
  },
};

/** Numbers whose stage proves them in tests of its own; only their value is held here. */
// Proved where they bind: for-display.test.ts, spillway.test.ts (details, updates, receipts), hostile.test.ts (deadline).
const PROVED_BY_THEIR_STAGE: Partial<Record<NumberName, number>> = {
  exchangeBodyBytes: 67_108_864,
  capBytes: 81_920,
  capFieldChars: 4000,
  guardChars: 400_000,
  guardFloorChars: 2000,
  guardWindowShare: 0.3,
  transcriptLines: 400,
  transcriptLineBytes: 67_108_864,
  transcriptFileBytes: 268_435_456,
  breakerFailures: 3,
  breakerPauseMs: 30_000,
  spillDeadlineMs: 5000,
  displayTextChars: 8000,
  displayErrorChars: 400,
  detailsBytes: 8192,
  updateIntervalMs: 100,
  receiptCuts: 200,
  signalFullBytes: 33_554_432,
  htmlBytes: 8_388_608,
  htmlReadMs: 5000,
  eventFileBytes: 104_857_600,
  eventFilesKept: 10,
  runCopyBytes: 1_073_741_824,
  truncationFlagShare: 0.5,
  eventMoreBytes: 8192,
  eventReceiptBytes: 65_536,
  nameChars: 256,
  aboutChars: 1000,
  leastWindowTokens: 512,
  ledgerPage: 1000,
  memoryLedgerEvents: 10_000,
  databaseBusyMs: 25,
  databaseWaitMs: 10_000,
  databaseHoldMs: 1000,
  databaseStatements: 64,
  postgresConnections: 10,
  postgresWaitMs: 5000,
  postgresOpenMs: 1000,
  postgresDownMs: 250,
  postgresDownForMs: 15_000,
  postgresQueryMs: 30_000,
  objectRequestMs: 30_000,
  objectPartBytes: 8_388_608,
  uploadDeadlineMs: 4000,
  uploadsAtOnce: 4,
  spoolBytes: 10_737_418_240,
  smallArtifactBytes: 65_536,
  memoryStoreBytes: 67_108_864,
  memoryArtifactBytes: 16_777_216,
  retainAgeMs: 604_800_000,
  retainTotalBytes: 10_737_418_240,
  retainSessionBytes: 1_073_741_824,
  retainSeenMs: 3_600_000,
  collectEveryMs: 3_600_000,
  collectDelayMs: 5000,
  collectQuickMs: 500,
  staleSpoolMs: 3_600_000,
  freeReserveBytes: 67_108_864,
  recallChars: 20_000,
  recallLines: 400,
  recallContext: 20,
  searchMatches: 50,
  focusChars: 1000,
  kindScanBytes: 2_097_152,
  searchChars: 8000,
  searchContext: 2,
  searchLineChars: 400,
  searchPatternChars: 1000,
  searchDeadlineMs: 10_000,
  sinceDeadlineMs: 300,
  searchesAtOnce: 4,
  apiRequestsPerSecond: 50,
  apiBurst: 200,
  apiBodyBytes: 16_777_216,
  apiLines: 2000,
  apiLineBytes: 1_048_576,
  apiViews: 16,
  apiReadMs: 3_600_000,
  apiFollowers: 100,
  serveHeaderBytes: 65_536,
  serveHeadersMs: 10_000,
  serveRequestMs: 300_000,
  serveIdleMs: 75_000,
  gatewayBodyBytes: 67_108_864,
  gatewayConnectMs: 10_000,
  gatewaySilentMs: 900_000,
  gatherEventsMs: 50,
  serveStopMs: 300_000,
  fullWindowShare: 0.99,
  nearLimitShare: 0.7,
  truncatedShare: 0.5,
  recoverSends: 4,
  recoverCompactFirstSends: 5,
  recoverCompactions: 3,
  recoverFloorChars: 500,
  recoverTurnsShare: 0.6,
  recoverDeadlineMs: 300_000,
  recoverLookMs: 60_000,
  recoverHoldMs: 15_000,
  recoverPeekBytes: 65_536,
  recoverExactBytes: 1_048_576,
  summarizeCalls: 40,
  summarizeLeastChars: 200,
  summarizeDeadlineMs: 120_000,
  summarizeCached: 256,
  modelTimeoutMs: 60_000,
  modelConcurrent: 4,
  modelAnswerTokens: 16_384,
  modelCallsPerHour: 1000,
  modelCharsPerHour: 20_000_000,
  compactKeepTurns: 3,
  compactKeepTokens: 20_000,
  compactSummaryChars: 16_000,
  compactResultChars: 2000,
  compactTextChars: 20_000,
  compactCalls: 20,
  compactIdentifiers: 12,
  compactQuoteChars: 2000,
  pruneConversations: 64,
  pruneProjectionChars: 4_194_304,
  pruneReportChanges: 200,
  pruneRewriteReads: 24,
};

describe("numbers", () => {
  it("every one is promised here, and none twice", () => {
    const promised = [...Object.keys(PROMISED), ...Object.keys(PROVED_BY_THEIR_STAGE)];
    expect(promised.toSorted()).toEqual(Object.keys(ALL_NUMBERS).toSorted());
  });

  it.each(Object.entries(ALL_NUMBERS))("%s has a range that holds its default, and a reason", (name, row) => {
    expect(row.floor).toBeLessThanOrEqual(row.default);
    expect(row.default).toBeLessThanOrEqual(row.ceiling);
    expect(row.ceiling).toBeLessThan(Infinity);
    // The line says it at its end, or the line before it does.
    expect(TABLES).toMatch(new RegExp(`^ {2}// .+\\n {2}${name}: |^ {2}${name}: .+ // .+$`, "m"));
  });

  it.each(Object.entries(PROMISED) as [NumberName, Promised][])("%s binds", async (name, { is, proof }) => {
    expect(ALL_NUMBERS[name].default).toBe(is);
    await proof(is);
  });

  it.each(Object.entries(PROVED_BY_THEIR_STAGE) as [NumberName, number][])("%s is %d", (name, is) => {
    expect(ALL_NUMBERS[name].default).toBe(is);
  });
});

it("words that stand beside the numbers", () => {
  expect(CLEARED_PLACEHOLDER).toBe("[Old tool result content cleared]");
  expect(DEFAULT_STRATEGY).toBe("auto");
  expect(resolvePolicy().summarization.enabled).toBe(false);
});
