import type { ExplainedBlock } from "../../contract/cut.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { Extent } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";
import { sizeText } from "./amounts.ts";
import { type Paints, type Screen, wrapped } from "./screen.ts";
import { cutTo } from "./table.ts";
import { isTerminal, writeError } from "./write-out.ts";

/** Tells on standard error what became of an output. If it passed as it came, a terminal needs no line of ours. */
export function writeSummary(receipt: Receipt): void {
  const { omitted, folded, binary, artifact, faults = [] } = receipt;
  const isAsItCame = omitted.bytes + folded.bytes + faults.length === 0 && binary === undefined && artifact === null;
  if (!isAsItCame || !isTerminal(2)) writeError(`${summarize(receipt)}\n`);
}

/** A receipt on one line, for people. */
function summarize(receipt: Receipt): string {
  const { total, shown, omitted, folded, cutBy, binary, artifact, faults = [] } = receipt;
  const size = sizeOf(total);
  const early = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  if (binary !== undefined) return `spillway: ${binary}, ${sizeText(total.bytes)}: described, not shown${early}`;
  // An output within its limits is saved only if it shows U+FFFD for bytes that are not UTF-8.
  const saved = artifact === null ? "" : `; not all of it is UTF-8: saved as ${artifact}`;
  if (omitted.bytes === 0 && folded.bytes === 0) return `spillway: within its limits: ${size}${saved}${early}`;
  const left = omitted.bytes === 0 ? "folded" : `cut by ${cutBy}`;
  const estimate = receipt.estimated.includes("tokens") ? "about " : "";
  return `spillway: ${left}: ${size} -> ${sizeOf(shown)}, ${estimate}${grouped(shown.tokens)} tokens${early}`;
}

/** The receipt of an output that was passed on whole: says what was saved. */
export function summarizeKept({ total, artifact, saved, savedBytes, faults = [] }: Receipt): string {
  const early = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  if (artifact === null)
    return `spillway: passed ${sizeOf(total)}: ${total.bytes === 0 ? "nothing to save" : "not saved"}${early}`;
  const part = saved === "partial" ? `, the first ${sizeText(savedBytes)} only` : "";
  return `spillway: passed ${sizeOf(total)}: saved as ${artifact}${part}${early}`;
}

function sizeOf({ lines, bytes }: Extent): string {
  return `${counted(lines, "line")}, ${sizeText(bytes)}`;
}

/** What strategies call a stretch, in words for people. The others are plain already. */
const WORDS: Record<string, string> = {
  failure: "it looks like a failure",
  "failed step": "a step failed",
  "step that went well": "a step went well",
  focus: "it is in focus, as you asked",
  keep: "the policy's keep names it",
  start: "it is the start",
  end: "it is the end",
  surroundings: "of the rest it counts most",
  repeats: "these lines are like those beside them",
  "let go early": "nothing in it stands out",
};

const INDENT = " ".repeat(10);

/** Tells people why each part is shown or not, in a line or two for each. The scores are only in the receipt. */
export function explainText(
  blocks: readonly ExplainedBlock[],
  { dim, green }: Paints,
  width: Screen["width"] = null,
): string {
  const room = (width ?? Infinity) - INDENT.length;
  return blocks
    .map((block) => {
      const { fromLine, toLine, shown, kind, line, lineNumber } = block;
      const isNamed = shown && fromLine < toLine && lineNumber !== undefined && !["start", "end"].includes(kind);
      // As recall takes them.
      const lines = fromLine === toLine ? `line ${fromLine}` : `lines ${fromLine}-${toLine}`;
      const where = `${lines}${isNamed ? `, for line ${lineNumber}` : ""}`;
      const what = shown ? green("kept   ") : dim("omitted");
      const why = wrapped(`${where}: ${whyOf(block)}`, room).replaceAll("\n", `\n${INDENT}`);
      return `${what} ${why}\n${line === "" ? "" : `${INDENT}${dim(cutTo(line, room))}\n`}`;
    })
    .join("");
}

function whyOf({ shown, kind, features, line }: ExplainedBlock): string {
  if (!shown && kind === "surroundings") return "nothing in it stands out";
  // What spoke for the line below by a word. Places in the line and what spoke against it are in the receipt.
  const found = features.flatMap((each) => /^([^\d()]+) \+[\d.]+$/.exec(each)?.[1] ?? []);
  const isFound = shown && found.length > 0 && !["keep", "start", "end", "surroundings"].includes(kind);
  const why = `${WORDS[kind] ?? kind}${isFound ? ` (${found.join(", ")})` : ""}`;
  return shown || line === "" ? why : `${why}, but other lines count more`;
}
