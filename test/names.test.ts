import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readTree } from "./tree.ts";

/** What others call a thing, and what it is here. Words in backquotes are names in our code, and must be there. */
const NAMES: Record<string, [theirs: string, ours: string][]> = {
  "One output": [
    [
      "`truncate`, `truncate_output`, `_do_truncate`, `_truncate_by_chars`, `_truncate_by_lines`, `truncate_tool_result`, `truncateTextByLinesAndBytesUtf8`",
      "`clampText` of `spillway/stages`, or `admit`, which also saves",
    ],
    [
      "`hardTruncateToolPayload`, `wrapToolWithHardOutputTruncate`",
      "`wrapTool`; the exact suffix is that of the strategy `head` with the profile `uniform`",
    ],
    ["`suffix`", "`marker`, for one of your own"],
    [
      "`remainingBytes`, `remainingLines`",
      "not built as names, because the texts of a result share its limits by themselves",
    ],
    ["`toolCallId`, `execute`, `signal`", "`call` of the receipt; `wrapTool` hands all arguments on as they came"],
    ["`hardTruncateToolError`", "`wrapTool`: the text of a thrown error is bounded, and the error stays an error"],
    [
      "`MAX_OUTPUT_CHARS`, `MAX_OUTPUT_LINES`, `MAX_FUNCTION_RESULT_CHARS`",
      "`maxChars` and `maxLines` of a tool's row; the numbers are in the profiles `balanced` and `frugal`",
    ],
    [
      "`maxBytesUtf8`, `max_chars`, `max_lines`, `max_tokens`",
      "`maxBytes`, `maxChars`, `maxLines`, `maxTokens`; a config also takes `max_chars` and the like",
    ],
    [
      "`head_ratio`, `head_size`, `head_chars`, `tail_size`, `tail_chars`, `keep_chars`",
      "`headShare`; the rest of the room is the end's",
    ],
    [
      "`truncation_strategy`: `head_only`, `head_tail`",
      "`strategy`: `head`, `head-tail`; config files may use the other spelling",
    ],
    ["`original_length`, `truncated_chars`, `truncated_lines`", "`total` and `omitted` of the receipt"],
    [
      "`truncateUtf16Safe`, `sliceUtf16Safe`, `byteLen`",
      "not built as functions, because no cut of ours splits a character",
    ],
    ["`DEFAULT_MAX_OUTPUT`, `PI_BASH_MAX_OUTPUT_CHARS`", "`commandChars`; the variable is read"],
    [
      "`DEFAULT_PENDING_MAX_OUTPUT`, `OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS`",
      "`commandPendingChars`; the variable is read",
    ],
    ["`tool_output_limits`, `tool_config.yaml`", "`spillway.yaml`; a section of that name is read too"],
    ["`format_results`, `tool_result_str`", "`text` of what `admit` returns"],
  ],
  Tools: [
    [
      "`read_file`, `run_command`, `list_directory`, `search_files`",
      "families of tools of the same names, and the bounded tools of `spillway/tools`",
    ],
    ["`grep_search`", "another name of `search_files`"],
    ["`repo_map`, `full_map`, `get_repo_structure`", "the bounded tools `repo_map` and `get_repo_structure`"],
    [
      "`BaseTool`, `RepoMapTool`, `ReadFileTool`, `GrepSearchTool`",
      "`wrapTool` around any tool, in place of a base class; the bounded tools `repo_map`, `read_file` and `search_files`",
    ],
    ["`repo_path`, `file_path`", "`path`; the bounded tools take the other names too"],
    [
      "`ToolResult`, `success`, `metadata`",
      "not built, because a tool returns what it always did; the `receipt` has the sizes",
    ],
    [
      "`show_context`, `max_files`, `max_depth`",
      "`showContext`, `maxFiles`, `maxDepth` of a row; a config takes both spellings",
    ],
    ["`sessions_history`", "`sessions_history` of `spillway tools --transcripts`"],
    [
      "`wrapToolWithAbortSignal`, `wrapToolWithBeforeToolCallHook`",
      "not built, because they are the host's own wrappers; `wrapTool` goes around or inside them",
    ],
    [
      "`createOpenClawTools`, `createOpenClawCodingTools`",
      "not built, because they make the host's tools; the adapter `spillway/pi` wraps them",
    ],
  ],
  "Old results in a request": [
    [
      "`mode`: `adaptive`, `aggressive`, `off`",
      "the same: `mode`; what is pruned are results of tools (`toolResult`), and also long arguments of calls unless `callArguments` is false",
    ],
    [
      "`contextPruning`",
      "`pruning` of a policy; config files may keep `contextPruning`, and `preset: openclaw` has its numbers",
    ],
    [
      "`keepLastAssistants`, `softTrimRatio`, `hardClearRatio`, `minPrunableToolChars`",
      "the same: `keepLastAssistants`, `softTrimRatio`, `hardClearRatio`, `minPrunableToolChars`",
    ],
    [
      "`softTrim` with `maxChars`, `headChars`, `tailChars`; `hardClear.enabled`, `hardClear.placeholder`",
      "the same: `softTrim`, `hardClear`",
    ],
    ["`tools.allow`, `tools.deny`", "the same, for pruning only; deny wins"],
    [
      "`agents.defaults.contextTokens`, `models.providers.*.models[].contextWindow`",
      "`contextTokens` and `models`; both forms of the config are read",
    ],
    [
      "`truncateOversizedToolResultsInMessages`",
      "`prepare`, which insures results that did not come through `admit` (`insure`)",
    ],
  ],
  "A provider that refuses": [
    ["`isContextOverflowError`, `isPayloadTooLargeError`", "`classify` of `spillway/overflow`"],
    [
      "`compactEmbeddedPiSessionDirect`, `MAX_OVERFLOW_COMPACTION_ATTEMPTS`",
      "a `compactor` that is handed in; `recoverCompactions`",
    ],
    [
      "`truncateOversizedToolResultsInSession`, `sessionLikelyHasOversizedToolResults`",
      "`spillway guard` on a file; in a request the rungs of `call`",
    ],
    [
      "`HARD_MAX_TOOL_RESULT_CHARS`, `MAX_TOOL_RESULT_CONTEXT_SHARE`, `MIN_KEEP_CHARS`",
      "`guardChars`, `guardWindowShare`, `guardFloorChars`",
    ],
    ["`_call_llm_with_tools`", "not built, because the loop is yours; `call` sends one request"],
  ],
  Histories: [
    ["`installSessionToolResultGuard`, `tool_result_persist`, `capToolResultSize`", "`guard` and `guardSession`"],
    [
      "`sanitizeHistoryMessage`, `truncateHistoryText`, `enforceSessionsHistoryHardCap`, `capArrayByJsonBytes`",
      "`cap`",
    ],
    ["`SESSIONS_HISTORY_MAX_BYTES`, `SESSIONS_HISTORY_TEXT_MAX_CHARS`", "`capBytes`, `capFieldChars`"],
    [
      "`droppedMessages`, `contentTruncated`, `truncated`, `bytes`",
      "the same fields: `droppedMessages`, `contentTruncated`, `truncated`, `bytes`",
    ],
    [
      "`details`, `usage`, `cost`, `thinkingSignature`, `partialJson`, `data` of images",
      "left out or cut by `cap`, as there",
    ],
    ["`sessionKey`", "`session`"],
    ["`sessions.compact`", "`spillway compact --max-lines`; the number is `transcriptLines`"],
  ],
  "What people see": [
    ["`sanitizeToolResult`, `truncateToolText`, `sanitizeToolResultImages`", "`forDisplay`"],
    ["`normalizeToolErrorText`", "`errorForDisplay`"],
    ["`TOOL_RESULT_MAX_CHARS`, `TOOL_ERROR_MAX_CHARS`", "`displayTextChars`, `displayErrorChars`"],
    [
      "`handleToolExecutionUpdate`, `handleToolExecutionEnd`, `partialResult`, `onUpdate`",
      "`wrapTool` bounds updates and spaces them (`updateIntervalMs`)",
    ],
    ["`outbound.textChunkLimit`", "not built, because it is about messages of chat channels and no model reads them"],
  ],
  Summaries: [
    ["`summarize_tool_result`, `llm_client`", "`summarizer`, off until one is named"],
    ["`_generate_map`, `_summarize_map`", "the bounded tool `repo_map`; `summarize` in its row of a config"],
    [
      "`summarization` with `enabled`, `model`; `summarized` in a result",
      "the same in a config; `summarized` of the receipt",
    ],
    ["`trigger_threshold`, `max_input_chars`", "`triggerChars`, `maxInputChars`"],
  ],
};

it("the page of names is what stands here (vitest -u writes it)", async () => {
  const sections = Object.entries(NAMES).map(
    ([title, rows]) =>
      `## ${title}\n\n| elsewhere | here |\n| --- | --- |\n${rows.map(([theirs, ours]) => `| ${theirs} | ${ours} |`).join("\n")}\n`,
  );
  const page = `# Names that you may know from elsewhere

This page says what functions, constants, options and variables of the requests for this product, and of the programs that they
describe, are called here. Where something is not built, the page says why. It is written from \`test/names.test.ts\`.

${sections.join("\n")}`;
  await expect(page).toMatchFileSnapshot("../docs/reference/names.md");
});

it("every name of ours that the page uses is in the code", async () => {
  const files = (await readTree("src")).filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
  const code = [...files, "package.json"].map((path) => readFileSync(path, "utf8")).join("\n");
  const words = Object.values(NAMES).flatMap((rows) =>
    rows.flatMap(([, ours]) => [...ours.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)),
  );
  const missing = words.filter((word) => {
    const [first = ""] = word
      .replace(/^spillway\//, "./")
      .replace(/^spillway /, "")
      .split(/[ :]/);
    return !code.includes(first);
  });
  expect(words.length).toBeGreaterThan(60);
  expect(missing).toEqual([]);
});
