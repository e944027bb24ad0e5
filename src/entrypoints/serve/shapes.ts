import { z } from "zod";

// The shapes of what the API answers, for the OpenAPI document. api.test.ts holds each to the type that it describes.

const count = z.int().min(0);
const timeMs = z.number().describe("milliseconds since 1970");
const extent = z.strictObject({ bytes: count, lines: count });
/** Limits of one output. */
export const limitsShape = z.strictObject({
  maxBytes: count.exactOptional(),
  maxChars: count.exactOptional(),
  maxLines: count.exactOptional(),
  maxTokens: count.exactOptional(),
});
const unit = z.enum(["bytes", "chars", "lines", "tokens"]);
const saved = z.enum(["yes", "local", "partial", "no"]);
const redactions = z.strictObject({ count, bytes: count });

/** What happened to one output. */
export const receiptShape = z
  .strictObject({
    tool: z.string(),
    session: z.string().nullable(),
    call: z.string().nullable(),
    strategy: z.string(),
    kind: z.string().optional(),
    total: extent,
    kept: extent,
    folded: extent,
    redacted: extent,
    omitted: extent,
    shown: z.strictObject({ bytes: count, chars: count, lines: count, tokens: count }),
    estimated: z.array(unit),
    limits: limitsShape,
    cutBy: unit.nullable(),
    cuts: z
      .array(z.strictObject({ fromLine: count, toLine: count, bytes: count, block: count.optional() }))
      .describe("stretches of lines that are not shown"),
    moreCuts: count,
    artifact: z.string().nullable(),
    artifacts: z.array(z.string()).optional(),
    original: z.string().optional(),
    sha256: z.string().nullable(),
    saved: saved.nullable(),
    savedBytes: count,
    exitCode: z.number().nullable(),
    storedRedactions: redactions.optional(),
    summarized: z.literal(true).optional(),
    summaryModel: z.string().optional(),
    originalChars: count.optional(),
    binary: z.string().optional(),
    unscanned: extent.optional(),
    explained: z
      .array(
        z.strictObject({
          fromLine: count,
          toLine: count,
          shown: z.boolean(),
          kind: z.string(),
          score: z.number(),
          features: z.array(z.string()),
          line: z.string(),
          lineNumber: count.optional(),
        }),
      )
      .optional(),
    faults: z.array(z.string()).optional(),
  })
  .describe("kept + folded + redacted + omitted = total, in bytes and in lines");

/** One thing that happened. */
export const eventShape = z.strictObject({
  id: count,
  kind: z.string(),
  atMs: timeMs,
  session: z.string().nullable(),
  tool: z.string().nullable(),
  call: z.string().nullable(),
  artifact: z.string().nullable(),
  receipt: receiptShape.nullable(),
  more: z.record(z.string(), z.unknown()).nullable(),
});

/** A saved output. */
export const artifactShape = z.strictObject({
  id: z.string(),
  scope: z.string(),
  session: z.string().nullable(),
  tool: z.string(),
  call: z.string().nullable(),
  command: z.string().nullable(),
  folder: z.string().nullable(),
  exitCode: z.number().nullable(),
  bytes: count,
  lines: count,
  sha256: z.string(),
  saved,
  createdAtMs: timeMs,
  redactions,
});

const totals = {
  calls: count,
  cutCalls: count,
  bytesIn: count,
  bytesShown: count,
  tokensShown: count,
  tokensIn: count,
  recalls: count,
  recalledBytes: count,
  recalledTokens: count,
  requests: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  refusals: count,
  recoveries: count,
};

/** Sums for a tool, a session, an hour or all. */
export const statShape = z.strictObject({
  tool: z.string().nullable(),
  session: z.string().nullable(),
  hourMs: timeMs.optional(),
  ...totals,
  truncationRate: z.number(),
  recallRate: z.number(),
  tokensSaved: z.number(),
  cutsTooOften: z.boolean(),
});

/** A session. */
export const sessionShape = z.strictObject({
  session: z.string(),
  firstSeenMs: timeMs,
  lastSeenMs: timeMs,
  pinned: z.boolean(),
  ...totals,
});

/** One page of a list. */
export function pageOf(shape: z.ZodType): z.ZodType {
  return z.strictObject({ items: z.array(shape), next: z.string().nullable().describe("the cursor of the next page") });
}
