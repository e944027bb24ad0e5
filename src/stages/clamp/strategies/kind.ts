import type { Strategy, StrategyRequest } from "../../../contract/strategy.ts";
import { SAMPLE_BYTES } from "../../measure/scan.ts";
import { familyOf } from "../../policy/resolve-tool-policy.ts";
import { decode } from "../fit.ts";

/** A strategy that says which kinds of output `auto` leaves to it. */
export interface KindStrategy extends Strategy {
  kinds?: readonly Kind[];
}

/** A kind of output, and how its start is recognised. */
export interface Kind {
  /** The word that receipts have for it. Two strategies may not share one, but one may recognise a kind in two ways. */
  name: string;
  /** `auto` asks the kind with the lowest number first, and takes the first that says yes. No two kinds share a number. */
  order: number;
  is(sample: KindSample): boolean;
}

/** The start of an output, and what is known of where it comes from. */
export interface KindSample {
  /** The first 8 KiB. */
  bytes: Uint8Array;
  /** Its whole lines without their breaks, blank ones left out. If there is no break, the one line is all of it. */
  lines: readonly string[];
  /** The family of the tool ("run_command", "read_file" ...), or the tool's own name if it has none. */
  tool: string;
  /** The command, or "" if none is known. A `cd` before it is left out. */
  command: string;
  /** The command only shows what is there: `cat`, `grep`, `ls` and the like. */
  shows: boolean;
  /** It is the output of a command that did something, as far as is known. */
  hasRun: boolean;
}

const SHOWS =
  /^(?:cat|nl|head|tail|sed -n|less|bat|grep|egrep|rg|ag|git (?:grep|log|show|diff|blame)|ls|find|fd|tree) [^|;&]*$/;
/** A change of folder before a command. */
const GOES_TO = /^cd \S+ *(?:&&|;) */;

/** Reads what kinds are recognised by. */
export function kindSample(
  start: Uint8Array,
  request: Pick<StrategyRequest, "tool" | "command" | "exitCode">,
): KindSample {
  const bytes = start.subarray(0, SAMPLE_BYTES);
  const lines = decode(bytes)
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  // The last line may go on past the sample.
  if (lines.length > 1) lines.pop();
  const name = (request.tool ?? "").toLowerCase();
  const tool = familyOf(name)?.keys[0] ?? name;
  const command = (request.command ?? "").trim().replace(GOES_TO, "");
  const shows = SHOWS.test(command);
  return {
    bytes,
    lines: lines.filter((line) => line !== ""),
    tool,
    command,
    shows,
    hasRun: (tool === "run_command" || request.exitCode !== undefined || command !== "") && !shows,
  };
}

/** The share of a sample's lines of which something is true. */
export function shareOfLines(lines: readonly string[], is: (line: string) => boolean): number {
  return lines.filter(is).length / lines.length;
}
