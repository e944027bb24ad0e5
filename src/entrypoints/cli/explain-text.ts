import type { ExplainedBlock } from "../../contract/cut.ts";
import { grouped } from "../../stages/mark/texts.ts";

/** Why each stretch is shown or not, a line or two each, for people. */
export function explainText(blocks: readonly ExplainedBlock[]): string {
  return blocks
    .map(({ fromLine, toLine, shown, kind, score, features, line }) => {
      const where = fromLine === toLine ? `line ${grouped(fromLine)}` : `lines ${grouped(fromLine)}-${grouped(toLine)}`;
      const why = features.length === 0 ? kind : `${kind}, score ${score.toFixed(1)}: ${features.join(", ")}`;
      return `${shown ? "kept   " : "omitted"} ${where}: ${why}\n${line === "" ? "" : `          ${line}\n`}`;
    })
    .join("");
}
