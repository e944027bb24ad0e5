import type { ExplainedBlock } from "../../contract/cut.ts";
import { grouped } from "../../values.ts";
import type { Paints } from "./screen.ts";

/** What strategies call a stretch, in words for people. The others are plain already. */
const WORDS: Record<string, string> = {
  failure: "it looks like a failure",
  "failed step": "a step failed",
  "step that went well": "a step went well",
  focus: "it is in focus, as you asked",
  start: "it is the start",
  end: "it is the end",
  surroundings: "it is around a line that counts",
  repeats: "these lines are like those beside them",
  "let go early": "nothing in it stands out",
};

/** Tells people why each part is shown or not, in a line or two for each. The scores are only in the receipt. */
export function explainText(blocks: readonly ExplainedBlock[], { dim, green }: Paints): string {
  return blocks
    .map((block) => {
      const { fromLine, toLine, shown, line } = block;
      const where = fromLine === toLine ? `line ${grouped(fromLine)}` : `lines ${grouped(fromLine)}-${grouped(toLine)}`;
      const what = shown ? green("kept   ") : dim("omitted");
      return `${what} ${where}: ${whyOf(block)}\n${line === "" ? "" : `          ${dim(line)}\n`}`;
    })
    .join("");
}

function whyOf({ shown, kind, features, line }: ExplainedBlock): string {
  if (!shown && kind === "surroundings") return "nothing in it stands out";
  // What spoke for the line below by a word. Places in the line and what spoke against it are in the receipt.
  const found = features.flatMap((each) => /^([^\d()]+) \+[\d.]+$/.exec(each)?.[1] ?? []);
  const isFound = shown && found.length > 0 && !["start", "end", "surroundings"].includes(kind);
  const why = `${WORDS[kind] ?? kind}${isFound ? ` (${found.join(", ")})` : ""}`;
  return shown || line === "" ? why : `${why}, but other lines count more`;
}
