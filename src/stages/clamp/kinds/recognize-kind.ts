import type { StrategyRequest } from "../../../contract/strategy.ts";
import { SAMPLE_BYTES } from "../../measure/scan.ts";
import { familyOf } from "../../policy/tool-families.ts";
import { decode } from "../fit.ts";
import { isDiff } from "./is-diff.ts";
import { isHtml } from "./is-html.ts";
import { isJson } from "./is-json.ts";
import { isListing } from "./is-listing.ts";
import { isLog } from "./is-log.ts";
import { isMatches } from "./is-matches.ts";
import { isProse } from "./is-prose.ts";
import { isSource } from "./is-source.ts";
import { isTable } from "./is-table.ts";
import type { Kind, KindSample } from "./kind.ts";

/** Commands that show what is there and do nothing. */
const SHOWS =
  /^(?:cat|nl|head|tail|sed -n|less|bat|grep|egrep|rg|ag|git (?:grep|log|show|diff|blame)|ls|find|fd|tree) [^|;&]*$/;
/** A folder that is gone to before a command. */
const GOES_TO = /^cd \S+ *(?:&&|;) */;

/** What an output is, by its first 8 KiB and by the tool and command where these are known. Unsure is "unknown". */
export function recognizeKind(
  start: Uint8Array,
  request: Pick<StrategyRequest, "tool" | "command" | "exitCode">,
): Kind {
  const sample = sampleOf(start, request);
  if (isJson(sample)) return "json";
  if (sample.lines.length === 0) return "unknown";
  // Who reads the file of a page wants its markup, perhaps to change it.
  if (isHtml(sample)) return sample.tool === "read_file" || SHOWS.test(sample.command) ? "source" : "html";
  if (isDiff(sample)) return "diff";
  if (isLog(sample)) return "log";
  if (isMatches(sample)) return "matches";
  if (isListing(sample)) return "listing";
  if (isTable(sample)) return "table";
  if (isSource(sample)) return "source";
  // What a command wrote and is nothing else is most likely a log, unless the command only shows what is there.
  if (hasRunSample(sample)) return "log";
  return isProse(sample) ? "prose" : "unknown";
}

/** True for the output of a command that did something, as far as is known. */
export function hasRun(request: Parameters<typeof recognizeKind>[1]): boolean {
  return hasRunSample(sampleOf(new Uint8Array(), request));
}

function hasRunSample({ tool, hasExitCode, command }: KindSample): boolean {
  return (tool === "run_command" || hasExitCode || command !== "") && !SHOWS.test(command);
}

function sampleOf(
  start: Uint8Array,
  { tool = "", command = "", exitCode }: Parameters<typeof recognizeKind>[1],
): KindSample {
  const bytes = start.subarray(0, SAMPLE_BYTES);
  const lines = decode(bytes)
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  // The last line may go on past the sample.
  if (lines.length > 1) lines.pop();
  const name = tool.toLowerCase();
  return {
    bytes,
    lines: lines.filter((line) => line !== ""),
    tool: familyOf(name)?.keys[0] ?? name,
    command: command.trim().replace(GOES_TO, ""),
    hasExitCode: exitCode !== undefined,
  };
}
