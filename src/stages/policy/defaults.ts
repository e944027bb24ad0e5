// Every number a person may meet, in one place. test/limits.test.ts proves each of them.

/** A number, the range it may be set to, and why it is what it is. */
export interface NumberRow {
  default: number;
  floor: number;
  ceiling: number;
  reason: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
// What a clamp holds in memory grows with its limits, so none may be set over these.
const MOST_BYTES = 64 * MIB;
const MOST_CHARS = 64 * MIB;
const MOST_LINES = 4_000_000;

const row = (value: number, floor: number, ceiling: number, reason: string): NumberRow => ({
  default: value,
  floor,
  ceiling,
  reason,
});
const chars = (value: number, reason: string) => row(value, 0, MOST_CHARS, reason);
const lines = (value: number, reason: string) => row(value, 0, MOST_LINES, reason);
const share = (value: number, reason: string) => row(value, 0, 1, reason);

/** The built-in numbers, each with its range and its reason. */
export const NUMBERS = {
  ceilingBytes: row(50 * KIB, 0, MOST_BYTES, "no tool's output is larger unless its row says so by name"),
  ceilingLines: lines(2000, "no tool's output is longer unless its row says so by name"),

  readFileChars: chars(50_000, "files can be large but usually have focused regions"),
  readFileLines: lines(500, "as above"),
  runCommandChars: chars(20_000, "command output is verbose; what matters is mostly at its end"),
  runCommandLines: lines(200, "as above"),
  listDirectoryChars: chars(10_000, "listings are structured and compact"),
  listDirectoryLines: lines(100, "as above"),
  searchFilesChars: chars(30_000, "matches need enough context to be of use"),
  searchFilesLines: lines(300, "as above"),

  frugalChars: chars(8000, "frugal: any tool without a row"),
  frugalLines: lines(500, "as above"),
  frugalRepoMapChars: chars(10_000, "frugal: a map may be somewhat longer"),
  frugalRepoMapLines: lines(1000, "as above"),
  frugalReadFileChars: chars(5000, "frugal: one file should not be too long"),
  frugalReadFileLines: lines(200, "as above"),
  frugalSearchMatches: row(100, 0, 1_000_000, "frugal: more matches than this call for a better pattern"),
  frugalSearchContext: row(2, 0, 1000, "frugal: lines before and after a match"),
  frugalStructureDepth: row(3, 0, 1000, "frugal: deeper folders are listed on request"),
  frugalStructureFiles: row(500, 0, 10_000_000, "frugal: as above"),

  headShare: share(0.3, "errors and summaries stand mostly at the end"),
  frugalHeadShare: share(0.5, "frugal: both ends alike"),
  sessionsHistoryBytes: row(80 * KIB, 0, MOST_BYTES, "has a cap of its own, which must not be cut again"),

  commandChars: row(200_000, 1000, 16 * MIB, "a command's output held in memory; the rest is in the artifact"),
  commandPendingChars: row(200_000, 1000, 16 * MIB, "a background command's output that nobody has read yet"),
  displayTextChars: chars(8000, "people's view: one text block"),
  displayErrorChars: chars(400, "people's view: the first line of an error"),
  detailsBytes: row(8 * KIB, 0, MOST_BYTES, "details and structuredContent where they reach a model or a transcript"),
  updateIntervalMs: row(100, 0, 60_000, "partial updates within it are coalesced to the latest"),
  spillDeadlineMs: row(5000, 10, 600_000, "a store that takes longer must not hold an agent up"),
  receiptCuts: row(200, 0, 100_000, "cuts listed on a receipt; the others are counted"),

  pruneKeepLastAssistants: row(3, 0, 100_000, "results after these assistant messages are in use"),
  pruneSoftTrimRatio: share(0.3, "share of the window from which large old results are trimmed"),
  pruneHardClearRatio: share(0.5, "share of the window from which old results are cleared"),
  pruneMinToolChars: row(50_000, 0, 1_000_000_000, "clearing less is not worth a cold prompt cache"),
  pruneTrimOverChars: chars(4000, "only results over this are trimmed"),
  pruneTrimHeadChars: chars(1500, "kept of the start of a trimmed result"),
  pruneTrimTailChars: chars(1500, "kept of the end of a trimmed result"),

  summarizeOverChars: row(20_000, 0, 1_000_000_000, "a shorter output is not worth a model's call"),
  summarizeInputChars: row(50_000, 1, 100_000_000, "what one call of the summarising model is given"),
  contextTokens: row(200_000, 1, 1_000_000_000, "the window of a model that nobody stated"),
} as const satisfies Record<string, NumberRow>;

/** Shown in place of a cleared result. */
export const CLEARED_PLACEHOLDER = "[Old tool result content cleared]";

/** The strategy where no row names one. */
export const DEFAULT_STRATEGY = "head-tail";

/** The longest name or pattern a rule may have; keeps matching linear in the tool's name. */
export const MAX_PATTERN_CHARS = 256;
