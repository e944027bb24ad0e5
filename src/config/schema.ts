import * as z from "zod/mini";
import { describeRange, readSize, SIZE_PATTERN } from "../stages/policy/check-limits.ts";
import { MOST_PATTERNS, readStrategy } from "../stages/policy/check-row.ts";
import { MAX_PATTERN_CHARS, NUMBERS, type NumberRow } from "../stages/policy/defaults.ts";
import { PROFILE_NAMES, PROFILES } from "../stages/policy/profiles.ts";
import { VERDICT_KINDS } from "../stages/policy/verdict-kinds.ts";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as another program's config has it, and how a person is told so. */
const TTL: RegExp = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*$/;
const TTL_WORDS = "a time such as 5m or 1h";

/** Such a time in milliseconds, and no more than we take. A number alone is minutes. */
export function readTtl(written: string | number): number {
  const [, digits = "0", unit = "m"] = TTL.exec(String(written)) ?? [];
  return Math.min(Math.round(Number(digits) * (UNIT_MS[unit] as number)), NUMBERS.pruneCacheTtlMs.ceiling);
}

/** What sections of the config are made with. */
interface SchemaMakers {
  about<T extends z.ZodMiniType>(schema: T, description: string): T;
  flag(words: string): z.ZodMiniType;
  number(row: NumberRow, words: string): z.ZodMiniType;
  section(words: string, shape: Record<string, z.ZodMiniType>): z.ZodMiniType<Record<string, unknown>>;
  text(words: string): z.ZodMiniType;
}

/** Signatures of refusals, as a person writes them. What their texts may hold is checked when they are made ready. */
function overflowSection({ about, flag, number, section, text }: SchemaMakers) {
  const texts = (words: string) => about(z.array(z.string({ error: "a text" }), { error: "a list of texts" }), words);
  const kindWords = `one of ${VERDICT_KINDS.join(", ")}`;
  const statusRange = { error: "a number from 400 to 599" };
  const signatureWords = "a rule: a name under rule, a kind, and one of status, code, stop or text";
  const signature = section("One way in which a refusal is known: all that is given must hold.", {
    rule: text("Its name: lower-case words with - between them."),
    kind: about(z.enum(VERDICT_KINDS, { error: kindWords }), "What the refusal means."),
    provider: text("Whose it is."),
    status: about(
      z.array(z.int(statusRange).check(z.minimum(400, statusRange), z.maximum(599, statusRange)), {
        error: "a list of numbers",
      }),
      "The HTTP status is one of these.",
    ),
    code: texts("The error's code, type or name is one of these."),
    stop: texts("The reason why the answer ended is one of these."),
    text: texts(
      "One of these stands in the error's text; {observed}, {limit}, {input}, {output} and {number} stand for a number, ... for anything.",
    ),
    not: texts("None of these stands in the text or is a code."),
    fields: section("Fields of the error that hold the numbers.", {
      observed: text("Tokens of the request."),
      limit: text("The most it may have."),
    }),
    limitTokens: number(
      NUMBERS.contextTokens,
      "The limit that these words stand for without naming it; a request far below it is not meant.",
    ),
    over: flag("The request must be over the limit that is named (true) or not (false)."),
    named: flag("Only where the provider is known to be this one. Default: false."),
    empty: flag("The answer must have had no body. Default: false."),
  }).check(
    z.refine(
      (value) =>
        "rule" in value && "kind" in value && ["status", "code", "stop", "text", "empty"].some((key) => key in value),
      { error: signatureWords, abort: true },
    ),
  );
  return section("How a refusal for size is known. Not in a project's file.", {
    rules: about(
      z.array(signature, { error: "a list of rules" }),
      "Signatures of your own, asked before the built-in ones.",
    ),
  });
}

// Each leaf's error is what was expected, in words; validate-config.ts says where and what came instead.

type Shape = Record<string, z.ZodMiniType>;

/** `maxLines` as `max_lines`. */
function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What editors are told about each part; read when the JSON Schema is written. */
export const descriptions: z.core.$ZodRegistry<{ description: string; id?: string }> = z.registry();

function about<T extends z.ZodMiniType>(schema: T, description: string, id?: string): T {
  descriptions.add(schema, id === undefined ? { description } : { description, id });
  return schema;
}

/** Both spellings of every key, none of them needed. */
function bothSpellings(shape: Shape): Shape {
  const both: Shape = {};
  for (const [key, schema] of Object.entries(shape)) {
    const optional = z.optional(schema);
    both[snakeCase(key)] = optional;
    both[key] = optional;
  }
  return both;
}

const mapping = { error: "a mapping of keys to values" };
/** With an id it stands once in the JSON Schema, however often it is used. */
const section = (description: string, shape: Shape, id?: string) =>
  about(z.strictObject(bothSpellings(shape), mapping), description, id);
/** A part of another program's config: keys that are not ours are that program's. */
const foreign = (description: string, shape: Shape) => about(z.looseObject(bothSpellings(shape), mapping), description);

const flag = (text: string) => about(z.boolean({ error: "true or false" }), text);
const text = (words: string) =>
  about(z.string({ error: "a text" }).check(z.regex(/\S/, { error: "a text that is not blank" })), words);

function number(row: NumberRow, words: string) {
  const error = describeRange(row);
  const base = row.ceiling > 1 ? z.int({ error }) : z.number({ error });
  return about(
    base.check(z.minimum(row.floor, { error }), z.maximum(row.ceiling, { error })),
    `${words} Default: ${row.default}.`,
  );
}

const sizeText = (error: string) => z.string({ error }).check(z.regex(SIZE_PATTERN, { error }));

/** Bytes as a number, or as a text with a unit. */
function size(row: NumberRow, words: string) {
  const error = `${describeRange(row)}, or a size such as 500MB`;
  const isWithin = (written: string) => {
    const bytes = readSize(written);
    return bytes !== null && bytes >= row.floor && bytes <= row.ceiling;
  };
  const counted = z.int({ error }).check(z.minimum(row.floor, { error }), z.maximum(row.ceiling, { error }));
  const written = sizeText(error).check(z.refine(isWithin, { error }));
  return about(z.union([counted, written], { error }), `${words} Default: ${row.default}.`);
}

const addressError = "an address such as https://host/v1";
const ledgerError = "an address such as postgres://user@host/database";
const storeError = "an address such as s3://bucket/prefix?endpoint=https://host&region=eu-central-1";
const upstream = (words: string) => {
  const error = `${addressError}, without a query or a password`;
  return about(z.string({ error }).check(z.regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/i, { error })), words);
};
const limitWords = "a whole number of 0 or more, or none";
const limit = (words: string) =>
  about(z.union([z.int().check(z.minimum(0, { error: limitWords })), z.literal("none")], { error: limitWords }), words);
const byteWords = "a whole number of 0 or more, a size such as 50KB, or none";
const byteLimit = (words: string) =>
  about(
    z.union([z.int().check(z.minimum(0, { error: byteWords })), z.literal("none"), sizeText(byteWords)], {
      error: byteWords,
    }),
    words,
  );
const count = (words: string) => {
  const error = "a whole number of 0 or more";
  return about(z.int({ error }).check(z.minimum(0, { error })), words);
};
const price = (words: string) => {
  const error = "a number of 0 or more";
  return about(z.number({ error }).check(z.minimum(0, { error })), words);
};
const strategyError = "a strategy's name such as auto, head-tail, head or tail";
const strategy = about(
  z
    .string({ error: strategyError })
    .check(z.refine((written) => readStrategy(written) !== undefined, { error: strategyError })),
  "Which part of an output to keep: auto (default) or the name of another strategy. head_tail, head_only and summarize are understood.",
);

const patternError = "a text or a /pattern/ of one line";
const patternsError = `a list of at most ${MOST_PATTERNS} texts and /patterns/`;
const patterns = (words: string) =>
  about(
    z
      .array(
        z
          .string({ error: patternError })
          .check(z.refine((text) => text.trim() !== "" && !/[\r\n]/.test(text), { error: patternError })),
        { error: patternsError },
      )
      .check(z.maxLength(MOST_PATTERNS, { error: patternsError })),
    words,
  );

const limits: Shape = {
  maxBytes: byteLimit("Most UTF-8 bytes shown, markers included."),
  maxChars: limit("Most characters (UTF-16 units) shown, markers included."),
  maxLines: limit("Most lines shown, markers included."),
  maxTokens: limit("Most tokens shown, markers included."),
};
const defaultRow: Shape = {
  ...limits,
  strategy,
  truncationStrategy: strategy,
  headShare: number(NUMBERS.headShare, "Share of the room that the output's start gets."),
  fold: flag("Take out terminal codes, overwritten text and repeats. Default: true, false for files, diffs and JSON."),
  focus: patterns(
    "What people look for in such outputs: texts or /patterns/, weighed as if every call asked for them.",
  ),
  keep: patterns("Lines to show before others, up to half of the room: texts or /patterns/."),
  drop: patterns("Lines that are worth nothing, unless keep names them: texts or /patterns/. Not in a project's file."),
  since: flag("Weigh lines by the last good run of the same command: what it has too is worth less. Default: true."),
  summarize: flag("Summarise outputs by a model, where summarization is set up. Default: false."),
  triggerThreshold: number(NUMBERS.summarizeOverChars, "Only outputs over this many characters are summarised."),
  off: flag("Clamp nothing. Not in a project's file. Default: false."),
  showContext: count("Lines that a search shows before and after each match."),
  maxDepth: count("How deep a listing goes."),
  maxFiles: count("Most files a listing shows."),
  maxMatches: count("Most matches a search shows."),
};
const toolRow = section(
  "One tool, a family of tools, or a pattern with *.",
  {
    ...defaultRow,
    raiseCeiling: flag("Let this row's limits pass the ceiling. Not in a project's file. Default: false."),
  },
  "toolRow",
);
const toolName = z
  .string()
  .check(
    z.minLength(1, { error: "a tool's name" }),
    z.maxLength(MAX_PATTERN_CHARS, { error: `a tool's name of at most ${MAX_PATTERN_CHARS} characters` }),
  );
const tools = about(z.record(toolName, toolRow, mapping), "A row for each tool, family or pattern.");
const everyTool = section("Every tool that no row names.", defaultRow, "defaultRow");

const names = (words: string) => about(z.array(z.string({ error: "a text" }), { error: "a list of names" }), words);
const pruning = section(
  "How old results are lightened before each request.",
  {
    preset: about(
      z.enum(["spillway", "openclaw"], { error: "spillway or openclaw" }),
      "spillway (default), or openclaw: each request by itself, weighed by characters, the placeholder alone, as OpenClaw publishes it.",
    ),
    mode: about(
      z.enum(["adaptive", "aggressive", "cache-ttl", "off"], { error: "adaptive, aggressive, cache-ttl or off" }),
      "adaptive (default), aggressive, off, or cache-ttl: adaptive where the last request is longer ago than ttl. In steps that is adaptive.",
    ),
    ttl: about(
      z.union(
        [z.string().check(z.regex(TTL, { error: TTL_WORDS })), z.number().check(z.minimum(0, { error: TTL_WORDS }))],
        {
          error: TTL_WORDS,
        },
      ),
      "How long a prompt cache is kept, as 5m or 1h; a number alone is minutes. The same as cacheTtlMs.",
    ),
    keepLastAssistants: number(NUMBERS.pruneKeepLastAssistants, "Assistant messages whose results are left alone."),
    softTrimRatio: number(NUMBERS.pruneSoftTrimRatio, "Share of the window from which large results are trimmed."),
    hardClearRatio: number(NUMBERS.pruneHardClearRatio, "Share of the window from which results are cleared."),
    minPrunableToolChars: number(NUMBERS.pruneMinToolChars, "Nothing is cleared when less than this could be."),
    softTrim: section("How a result is trimmed.", {
      maxChars: number(NUMBERS.pruneTrimOverChars, "Only results over this are trimmed."),
      headChars: number(NUMBERS.pruneTrimHeadChars, "Kept of a result's start."),
      tailChars: number(NUMBERS.pruneTrimTailChars, "Kept of a result's end."),
    }),
    hardClear: section("How a result is cleared.", {
      enabled: flag("Default: true."),
      placeholder: text("Shown in place of a cleared result. Not in a project's file."),
    }),
    tools: section("Which tools' results may be pruned; deny wins, an empty allow means all.", {
      allow: names("Names or patterns with *."),
      deny: names("Names or patterns with *."),
    }),
    namesSaved: flag("Say in a cut result where the whole of it is saved. Default: true."),
    callArguments: flag("Shorten long arguments of old calls too, as old results are. Default: true."),
    media: about(
      z.enum(["results", "all", "off"], { error: "results, all or off" }),
      "Which old images, sounds and files go: those of results (default), all that users sent too, or none (off).",
    ),
    keepLastMedia: number(NUMBERS.pruneKeepLastMedia, "The newest images, sounds and files, which always stay."),
    sticky: flag("Show a pruned result in the same bytes from then on, and prune in rare, large steps. Default: true."),
    estimate: about(
      z.enum(["tokens", "chars/4"], { error: "tokens or chars/4" }),
      "How a request is weighed against the window: tokens (default) or chars/4.",
    ),
    clearAtLeastTokens: number(NUMBERS.pruneClearAtLeastTokens, "Tokens that a step frees at least."),
    clearAtLeastShare: number(NUMBERS.pruneClearAtLeastShare, "The same as a share of the window; the larger counts."),
    lowWatermark: number(NUMBERS.pruneLowWatermark, "A step goes on to this share of the ratio that set it off."),
    forceRatio: number(NUMBERS.pruneForceRatio, "Share of the window from which half a step is enough."),
    cacheTtlMs: number(NUMBERS.pruneCacheTtlMs, "After a longer pause the prompt cache is cold and a step is free."),
    ageTurns: number(NUMBERS.pruneAgeTurns, "Clear results older than this many assistant messages; 0 for never."),
    maxRequestBytes: size(NUMBERS.pruneRequestBytes, "Estimated size of a request from which results are cleared."),
    batch: section("What results that no model has seen yet may take together.", {
      windowShare: number(NUMBERS.pruneBatchShare, "Share of the window."),
      maxChars: number(NUMBERS.pruneBatchChars, "Characters."),
      floorChars: number(NUMBERS.pruneBatchFloorChars, "Characters that each of them keeps."),
    }),
    insure: flag("Clamp results over their limits that did not come through admit. Default: true."),
  },
  "pruning",
);
const contextTokens = number(
  NUMBERS.contextTokens,
  "The window of every model that `models` does not name. Stated, it beats the built-in table.",
);
const agent = { contextPruning: pruning, contextTokens };

const ruleWords = "a rule: a name, and either a pattern or a literal";
const rule = section("One shape of secrets.", {
  name: text("Stands in the secret's place."),
  pattern: text("A regular expression of the subset that takes linear time."),
  literal: text("A text, taken as it is."),
  ignoreCase: flag("Default: false."),
}).check(
  z.refine((value) => "name" in value && "pattern" in value !== "literal" in value, { error: ruleWords, abort: true }),
);
const redact = about(
  z.union(
    [
      z.enum(["off", "on", "model"]),
      z.boolean(),
      section("Rules of your own beside the well-known ones.", {
        rules: z.array(rule, { error: "a list of rules" }),
        model: flag("Replace secrets in what the model reads too. Default: false."),
      }),
    ],
    { error: "off, on, model, or a mapping with rules" },
  ),
  "Where secrets are replaced: on (default) in what is stored and logged, model also in what the model reads, off nowhere. Not in a project's file.",
);
const retention = about(
  z.union(
    [
      z.enum(["off"]),
      z.boolean(),
      section("What may stay in the folder.", {
        maxAgeDays: number(
          { ...NUMBERS.retainAgeMs, default: 7, ceiling: 36_500, floor: 0 },
          "What is older goes, and its events.",
        ),
        maxBytes: size(NUMBERS.retainTotalBytes, "The oldest artifacts beyond this go."),
        maxSessionBytes: size(NUMBERS.retainSessionBytes, "A session's oldest artifacts beyond this go."),
      }),
    ],
    { error: "off, or a mapping with max_age_days, max_bytes and max_session_bytes" },
  ),
  "How long and how much is kept: 7 days, 10 GiB and 1 GiB a session by default, applied once an hour; off keeps everything. Not in a project's file.",
);
const path = (words: string) =>
  text(`${words} ~/ is your home; otherwise from this file's folder. Not in a project's file.`);

/** The whole config file. */
export const configSchema = section("Spillway's config.", {
  profile: about(
    z.enum(Object.keys(PROFILES), { error: PROFILE_NAMES }),
    "A set of numbers to begin with: balanced (default), frugal, uniform (50 KB and 2,000 lines for every tool) or off.",
  ),
  ceiling: section("What no tool's output exceeds unless its row raises it by name.", limits),
  default: everyTool,
  tools,
  pruning,
  summarization: section("Summarising one output by a model.", {
    enabled: flag("Default: false."),
    model: text("The model's name. Not in a project's file."),
    maxInputChars: number(NUMBERS.summarizeInputChars, "What one call is given at most."),
    triggerThreshold: number(NUMBERS.summarizeOverChars, "Only outputs over this many characters are summarised."),
    endpoint: about(
      z.string({ error: addressError }).check(z.regex(/^https?:\/\/[^\s/]/i, { error: addressError })),
      "Where the model is. Not in a project's file.",
    ),
    speaks: about(
      z.enum(["openai", "anthropic", "ollama"], { error: "openai, anthropic or ollama" }),
      "The API it is reached by: openai (default), anthropic or ollama. Not in a project's file.",
    ),
    keyVariable: text(
      "The environment variable that has the key. Not in a project's file. Default: SPILLWAY_SUMMARY_KEY.",
    ),
    timeoutMs: number(NUMBERS.modelTimeoutMs, "The longest wait for one call."),
    maxConcurrent: number(NUMBERS.modelConcurrent, "Calls at once."),
    maxAnswerTokens: number(NUMBERS.modelAnswerTokens, "The longest answer."),
    maxCallsPerHour: number(NUMBERS.modelCallsPerHour, "Then outputs are clamped instead."),
    maxCharsPerHour: number(
      NUMBERS.modelCharsPerHour,
      "Characters sent and received; then outputs are clamped instead.",
    ),
    inputPrice: price("Dollars for a million tokens that the model reads. With both prices, stats say what it cost."),
    outputPrice: price("Dollars for a million tokens that the model writes."),
  }),
  commands: section("What commands' output may take in memory.", {
    maxChars: number(NUMBERS.commandChars, "One command's output."),
    maxPendingChars: number(NUMBERS.commandPendingChars, "A background command's output that nobody has read yet."),
  }),
  contextTokens,
  toolOutputLimits: section("The same as default and tools, in another form.", { default: everyTool, tools }),
  agent: foreign("pruning and contextTokens in another form.", agent),
  agents: foreign("pruning and contextTokens in another form.", { defaults: foreign("For all agents.", agent) }),
  models: foreign("Windows of models.", {
    providers: z.record(
      z.string(),
      foreign("One provider.", {
        models: z.array(
          foreign("One model.", {
            id: text("The model's name."),
            contextWindow: number(NUMBERS.contextTokens, "Tokens."),
          }),
          { error: "a list of models" },
        ),
      }),
      mapping,
    ),
  }),
  store: about(
    z.string({ error: storeError }).check(z.regex(/^s3:\/\/\S+$/i, { error: storeError })),
    "A bucket for saved outputs, instead of the folder; it needs ledger beside it. Its keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment. Not in a project's file.",
  ),
  ledger: about(
    z.string({ error: ledgerError }).check(z.regex(/^postgres(ql)?:\/\/\S+$/i, { error: ledgerError })),
    "A PostgreSQL database for events, sums and projections, instead of the folder's. Not in a project's file. A password is better in SPILLWAY_LEDGER.",
  ),
  redact,
  retention,
  keep: about(
    z.enum(["cut", "all"], { error: "cut or all" }),
    "Which outputs are saved: cut (default), those of which something is not shown, or all. Not in a project's file.",
  ),
  upstreams: section("Where `spillway serve` sends requests on to. Flags win over it. Not in a project's file.", {
    anthropic: upstream("Anthropic's API."),
    openai: upstream("OpenAI's API, or one like it, with its /v1."),
    gemini: upstream("Gemini's API."),
    allowed: z.array(upstream("One of them."), { error: "a list of addresses" }),
  }),
  overflow: overflowSection({ about, flag, number, section, text }),
  dir: path("The folder in which artifacts and events are kept."),
  events: path("A file to which every event is added as a line of JSON."),
  runs: path("A folder with a run for each session: its events, and each kept output as a plain file."),
  $schema: z.string({ error: "an address" }),
});
