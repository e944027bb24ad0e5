// Every number a person may meet, in one place. test/limits.test.ts proves each of them.

/** A number and the range it may be set to. A comment beside each row says why it is what it is. */
export interface NumberRow {
  default: number;
  floor: number;
  ceiling: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const DAY_MS = 86_400_000;
// What a clamp holds in memory grows with its limits, so none may be set over these.
const MOST_BYTES = 64 * MIB;
const MOST_CHARS = 64 * MIB;
const MOST_LINES = 4_000_000;

/** A row of the table. */
export const row = (value: number, floor: number, ceiling: number): NumberRow => ({ default: value, floor, ceiling });
const chars = (value: number) => row(value, 0, MOST_CHARS);
const lines = (value: number) => row(value, 0, MOST_LINES);
const share = (value: number) => row(value, 0, 1);

/** The built-in numbers, each with its range and its reason. */
export const NUMBERS = {
  ceilingBytes: row(50 * KIB, 0, MOST_BYTES), // no tool's output is larger unless its row says so by name
  ceilingLines: lines(2000), // no tool's output is longer unless its row says so by name
  // A project's file lowers no limit on bytes or characters below this, or a clone could hide what tools say.
  projectLeastChars: chars(2000),
  projectLeastLines: lines(20), // the same for lines
  projectLeastTokens: row(500, 0, MOST_CHARS), // the same for tokens

  shortOutputChars: chars(2000), // a shorter output is not cut for its lines alone, unless somebody limits lines

  readFileChars: chars(50_000), // files can be large but usually have focused regions
  readFileLines: lines(500), // as above
  runCommandChars: chars(20_000), // command output is verbose; what matters is mostly at its end
  runCommandLines: lines(200), // as above
  listDirectoryChars: chars(10_000), // listings are structured and compact
  listDirectoryLines: lines(100), // as above
  searchFilesChars: chars(30_000), // matches need enough context to be of use
  searchFilesLines: lines(300), // as above

  frugalChars: chars(8000), // frugal: any tool without a row
  frugalLines: lines(500), // as above
  frugalRepoMapChars: chars(10_000), // frugal: a map may be somewhat longer
  frugalRepoMapLines: lines(1000), // as above
  frugalReadFileChars: chars(5000), // frugal: one file should not be too long
  frugalReadFileLines: lines(200), // as above
  frugalSearchMatches: row(100, 0, 1_000_000), // frugal: more matches than this call for a better pattern
  frugalSearchContext: row(2, 0, 1000), // frugal: lines before and after a match
  frugalStructureDepth: row(3, 0, 1000), // frugal: deeper folders are listed on request
  frugalStructureFiles: row(500, 0, 10_000_000), // frugal: as above

  headShare: share(0.3), // errors and summaries stand mostly at the end
  frugalHeadShare: share(0.5), // frugal: both ends alike
  sessionsHistoryBytes: row(80 * KIB, 0, MOST_BYTES), // has a cap of its own, which must not be cut again

  signalFullBytes: row(32 * MIB, MIB, GIB), // signal judges every line of so much; beyond it a quick look finds the lines to judge

  htmlBytes: row(8 * MIB, 0, MOST_BYTES), // a page that is made into text is held whole; a larger one is cut as it came
  htmlReadMs: row(5000, 10, 600_000), // a page that takes longer to read is cut as it came

  commandChars: row(200_000, 1000, 16 * MIB), // a command's output held in memory; the rest is in the artifact
  commandPendingChars: row(200_000, 1000, 16 * MIB), // a background command's output that nobody has read yet
  displayTextChars: chars(8000), // people's view: one text block
  displayErrorChars: chars(400), // people's view: the first line of an error
  detailsBytes: row(8 * KIB, 0, MOST_BYTES), // details and structuredContent where they reach a model or a transcript
  updateIntervalMs: row(100, 0, 60_000), // partial updates within it are coalesced to the latest
  breakerFailures: row(3, 1, 1000), // in a row, then a store or ledger is left alone for a while
  breakerPauseMs: row(30_000, 0, 3_600_000), // as above
  spillDeadlineMs: row(5000, 10, 600_000), // a store that takes longer must not hold an agent up
  receiptCuts: row(200, 0, 100_000), // cuts listed on a receipt; the others are counted

  pruneKeepLastAssistants: row(3, 0, 100_000), // results after these assistant messages are in use
  pruneKeepLastMedia: row(3, 0, 100_000), // the newest screenshots: what an agent compares to see what its last steps did
  pruneSoftTrimRatio: share(0.3), // share of the window from which large old results are trimmed
  pruneHardClearRatio: share(0.5), // share of the window from which old results are cleared
  pruneMinToolChars: row(50_000, 0, 1_000_000_000), // clearing less is not worth a cold prompt cache
  pruneTrimOverChars: chars(4000), // only results over this are trimmed
  pruneTrimHeadChars: chars(1500), // kept of the start of a trimmed result
  pruneTrimTailChars: chars(1500), // kept of the end of a trimmed result
  pruneClearAtLeastTokens: row(12_500, 0, 1_000_000_000), // a step that frees less is not worth a cold prompt cache
  pruneClearAtLeastShare: share(0.05), // as above, as a share of the window
  pruneLowWatermark: share(0.5), // a step goes on to this share of the ratio that set it off, so that steps are rare
  pruneForceRatio: share(0.9), // from here on a request that is refused costs more than a cold prompt cache
  pruneCacheTtlMs: row(300_000, 0, 86_400_000), // after a longer pause providers have dropped the prompt cache anyway
  pruneAgeTurns: row(0, 0, 100_000), // results older than this many assistant messages are cleared; 0 for never
  pruneRequestBytes: row(30_000_000, 1000, 1_000_000_000), // providers refuse requests over 32 MB, some proxies over 30
  pruneBatchShare: share(0.5), // share of the window that results which no model has seen yet take together
  pruneBatchChars: chars(200_000), // as above, in characters
  pruneBatchFloorChars: chars(2000), // what each of them keeps however many they are
  // Tokens of what a step frees that were sent again so far, for each that it has written anew: twice what writing to a
  // cache costs against reading from it.
  pruneRewriteReads: row(24, 0, 1000),
  pruneConversations: row(64, 1, 10_000), // conversations whose projections are held in memory; the oldest go first
  pruneProjectionChars: row(4 * MIB, 0, 1024 * MIB), // what the projections of one of them take in memory
  pruneReportChanges: row(200, 0, 100_000), // changes listed on a report; the others are counted

  // Bodies of requests that are remembered, so that what is in the next one too is not read again.
  exchangeBodyBytes: row(64 * MIB, 0, GIB),

  capBytes: row(80 * KIB, 128, MOST_BYTES), // a history handed to another agent, as JSON
  capFieldChars: chars(4000), // a text, thinking or partialJson in it; the marker comes on top

  guardChars: chars(400_000), // one persisted result, where a policy raised its ceiling
  guardFloorChars: chars(2000), // what a share of a small window leaves a result; limits are stronger
  transcriptLines: row(400, 1, 100_000_000), // what `compact` leaves of a transcript, its header included
  transcriptLineBytes: row(64 * MIB, KIB, 256 * MIB), // a longer line of a transcript is kept as it is, unread
  // A JSON file that is no JSON lines is read whole; a larger one is refused.
  transcriptFileBytes: row(256 * MIB, KIB, 512 * MIB),
  guardWindowShare: share(0.3), // one persisted result's share of the window, where that is stated

  summarizeOverChars: row(20_000, 0, 1_000_000_000), // a shorter output is not worth a model's call
  summarizeInputChars: row(50_000, 1, 100_000_000), // what one call of the summarising model is given
  summarizeCalls: row(40, 1, 10_000), // calls for one output; one that would need more is clamped
  summarizeLeastChars: row(200, 1, 100_000), // with less room than this a clamp says more than a summary
  summarizeDeadlineMs: row(120_000, 1, 3_600_000), // an agent waits no longer for the summary of one output
  summarizeCached: row(256, 0, 100_000), // summaries held in memory, so that the same output is not paid for twice
  modelTimeoutMs: row(60_000, 1, 3_600_000), // one call of the summarising model
  modelConcurrent: row(4, 1, 256), // its calls at once; the others wait
  modelAnswerTokens: row(16_384, 64, 1_000_000), // the longest answer it is asked for
  modelCallsPerHour: row(1000, 0, 1_000_000_000), // a loop must not cost more than this
  modelCharsPerHour: row(20_000_000, 0, 1_000_000_000_000), // as above: what is sent and received, some 5 million tokens

  compactKeepTurns: row(3, 1, 1000), // newest assistant turns kept as they are, while they fit
  compactKeepTokens: row(20_000, 0, 1_000_000_000), // what the kept turns take at most; the newest is kept in any case
  compactSummaryChars: row(16_000, 1000, 1_000_000), // the summary of a conversation
  compactResultChars: row(2000, 200, 1_000_000), // of each tool result the summarising model reads its start and end
  compactTextChars: row(20_000, 200, 10_000_000), // as above, of each message's own text
  compactCalls: row(20, 1, 1000), // calls for one conversation; for a longer one each message is read in a shorter form
  compactIdentifiers: row(12, 0, 1000), // names, paths and ids that a summary must have; those it lacks are added
  // At least so much of the user's latest request is quoted; all of it if there is room.
  compactQuoteChars: row(2000, 0, 100_000),
  contextTokens: row(200_000, 1, 1_000_000_000), // the window of a model that nobody stated and our table does not have

  smallArtifactBytes: row(64 * KIB, 0, MIB), // up to this an artifact is a row in the database, over it a file
  memoryStoreBytes: row(64 * MIB, 0, 1024 * GIB), // all artifacts of a store in memory; the oldest make room
  memoryArtifactBytes: row(16 * MIB, 0, 1024 * GIB), // one artifact in memory; the rest of a larger output is not kept
  retainAgeMs: row(7 * DAY_MS, 0, 36_500 * DAY_MS), // artifacts older than this are collected
  // The oldest artifacts over this are collected; nothing is kept beyond it.
  retainTotalBytes: row(10 * GIB, 0, 1024 * 1024 * GIB),
  retainSessionBytes: row(GIB, 0, 1024 * 1024 * GIB), // a session's oldest artifacts over this are collected
  retainSeenMs: row(DAY_MS / 24, 0, 36_500 * DAY_MS), // nothing is collected of a session that was seen within this
  collectEveryMs: row(DAY_MS / 24, 0, 365 * DAY_MS), // retention is applied to a folder at most this often
  collectDelayMs: row(5000, 0, 3_600_000), // after an output was kept, so that an agent at work is not held up
  collectQuickMs: row(500, 0, 60_000), // what a command that ends spends on it; the next one goes on
  staleSpoolMs: row(DAY_MS / 24, 60_000, 365 * DAY_MS), // files that nobody has owned for this long are removed
  freeReserveBytes: row(64 * MIB, 0, 1024 * GIB), // left free on the disk, so that ledger and agent can go on

  eventFileBytes: row(100 * MIB, KIB, 1024 * GIB), // a larger event file is moved away, and the next event begins a new one
  eventFilesKept: row(10, 1, 10_000), // full event files; the oldest beyond this go
  runCopyBytes: row(GIB, 0, 1024 * GIB), // a larger output is not copied into a run directory

  truncationFlagShare: share(0.5), // a tool of which more calls are cut needs other limits: `stats` flags it
  eventMoreBytes: row(8 * KIB, 0, MIB), // an event's own words, as JSON
  eventReceiptBytes: row(64 * KIB, KIB, MIB), // a receipt in an event, as JSON; its lists are shortened first
  nameChars: row(256, 64, 4096), // a longer session, tool or call name is kept shortened, with its hash
  aboutChars: row(1000, 64, 64 * KIB), // the command or the arguments that an artifact remembers; the rest is dropped
  ledgerPage: row(1000, 1, 10_000), // events or sessions that a ledger gives at once
  memoryLedgerEvents: row(10_000, 1, 10_000_000), // events that a ledger in memory holds; the oldest go first
  databaseBusyMs: row(25, 0, 1000), // one wait for another process's write, with the thread held; then it is free a while
  databaseWaitMs: row(10_000, 0, 600_000), // all waits for another process's write together
  databaseHoldMs: row(1000, 0, 60_000), // the same for a caller that cannot wait: its thread is held all the while
  databaseStatements: row(64, 1, 10_000), // prepared statements that a connection holds

  postgresConnections: row(10, 1, 1000), // a server takes about 100, and several gateways share it
  postgresWaitMs: row(5000, 10, 600_000), // all attempts at one transaction together; an agent must not wait longer
  postgresOpenMs: row(1000, 10, 600_000), // a server that never answered is waited for this long; outputs stay on the machine
  postgresDownMs: row(250, 10, 600_000), // as above, where a process before found that it does not answer
  postgresDownForMs: row(15_000, 0, 3_600_000), // how long that is believed
  objectRequestMs: row(30_000, 100, 3_600_000), // one request to a bucket; a part of 8 MiB over 3 MBit/s takes 22 s
  objectPartBytes: row(8 * MIB, 5 * MIB, GIB), // a larger object is sent in parts of this size; servers take 5 MiB or more
  uploadDeadlineMs: row(4000, 0, 600_000), // then an output counts as kept on this machine, and is uploaded later
  uploadsAtOnce: row(4, 1, 256), // outputs of one machine on their way at once; the others wait in the spool
  spoolBytes: row(10 * GIB, 0, 1024 * 1024 * GIB), // what waits for its upload; beyond it nothing is kept
  postgresQueryMs: row(30_000, 100, 3_600_000), // one query; then the server is told to end it

  focusChars: row(1000, 1, 10_000), // a longer focus of one call is refused
  kindScanBytes: row(2 * MIB, MIB, 1024 * GIB), // of tables, diffs and the like this much is looked at, and the end

  recallChars: chars(20_000), // one page read back, its note included
  recallLines: lines(400), // as above
  sinceDeadlineMs: row(300, 1, 60_000), // an output waits so long for the last good run of its command
  recallContext: row(20, 0, 100_000), // lines before and after the one that is read around
  searchMatches: row(50, 0, 10_000), // matching lines given at once
  searchChars: chars(8000), // what they take with their context, line numbers and note
  searchContext: row(2, 0, 1000), // lines before and after a match
  searchLineChars: row(400, 40, 100_000), // a longer line is shortened to the part around its match
  searchPatternChars: row(1000, 1, 10_000), // a longer pattern is refused
  searchDeadlineMs: row(10_000, 1, 600_000), // then a search stops and says how far it came
  searchesAtOnce: row(4, 1, 256), // further searches wait for one of these to end

  fullWindowShare: share(0.99), // an empty answer with this much of the window in use is an overflow nobody reported
  recoverSends: row(4, 1, 100), // how often one request is sent, the first time included
  recoverCompactFirstSends: row(5, 1, 100), // the same with the ladder compact-first
  recoverCompactions: row(3, 0, 100), // summaries made to recover one request
  recoverFloorChars: chars(500), // what a refused request shows of each result if it would not surely fit with more
  // The share of the room that is in use after turns were left out. With a larger share each next turn would leave out
  // another one and add a marker.
  recoverTurnsShare: share(0.6),
  recoverDeadlineMs: row(300_000, 1, 86_400_000), // from the first refusal on; three summaries take minutes
  recoverLookMs: row(60_000, 1, 3_600_000), // how long a response is looked at; then it is passed on as it came
  recoverHoldMs: row(15_000, 1, 3_600_000), // how long a stream that an exchange passes on is held until its first output
  recoverPeekBytes: row(64 * KIB, 1, 16 * MIB), // what is read of a stream to see whether it begins with an error
  // A larger request is not counted by a real vocabulary: that would block for seconds.
  recoverExactBytes: row(MIB, 0, 64 * MIB),
  nearLimitShare: share(0.7), // a request under this share of a limit, by our count, was not refused for that limit
  truncatedShare: share(0.5), // a provider that read less than this of what was sent has dropped part of it
  // No model has a smaller window. A usage below it does not count the request, so it says nothing about its size.
  leastWindowTokens: row(512, 1, 1_000_000),
} as const satisfies Record<string, NumberRow>;

/** Shown in place of a cleared result. */
export const CLEARED_PLACEHOLDER = "[Old tool result content cleared]";

/** The strategy where no row names one. */
export const DEFAULT_STRATEGY = "auto";

/** The strategy that stands in for one that failed. */
export const PLAIN_STRATEGY = "head-tail";

/** The longest name or pattern a rule may have; keeps matching linear in the tool's name. */
export const MAX_PATTERN_CHARS = 256;
