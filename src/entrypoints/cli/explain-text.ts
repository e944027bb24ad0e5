import type { ExplainedBlock } from "../../contract/cut.ts";
import { grouped } from "../../values.ts";
import type { Paints } from "./screen.ts";

/** Tells people why each part is shown or not, in a line or two for each. */
export function explainText(blocks: readonly ExplainedBlock[], { dim, green }: Paints): string {
  return blocks
    .map(({ fromLine, toLine, shown, kind, score, features, line }) => {
      const where = fromLine === toLine ? `line ${grouped(fromLine)}` : `lines ${grouped(fromLine)}-${grouped(toLine)}`;
      const why = features.length === 0 ? kind : `${kind}, score ${score.toFixed(1)}: ${features.join(", ")}`;
      const what = shown ? green("kept   ") : dim("omitted");
      return `${what} ${where}: ${why}\n${line === "" ? "" : `          ${dim(line)}\n`}`;
    })
    .join("");
}
