import type { Cut, ExplainedBlock } from "../../../contract/cut.ts";
import { decode } from "../fit.ts";
import type { Judged } from "./judge.ts";
import { featureName } from "./line-features.ts";
import { LineScan } from "./scan-line.ts";
import { FAILED_STEP, GOOD_STEP, IS_COMMAND, IS_FOCUSED, IS_FRAME, IS_HEADER } from "./unit-store.ts";
import { LINE_WEIGHTS } from "./weights.ts";

const MAX_FEATURES = 6;
/** A level from which a line by itself tells of a failure. */
const FAILURE_LEVEL = 14;
const MAX_LINE_CHARS = 120;

/** Says for each stretch of a cut why it is shown or not: by the line in it that is worth most. */
export function explainCut(cut: Cut, judged: Judged): ExplainedBlock[] {
  let row = 0;
  return cut.parts.map((part) => {
    const shown = "text" in part;
    const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
    const { store, scores } = judged;
    let best = -1;
    let isTrace = true;
    while (row < store.length && (store.line[row] as number) < fromLine) row++;
    for (; row < store.length && (store.line[row] as number) <= toLine; row++) {
      if (best === -1 || (scores[row] as number) > (scores[best] as number)) best = row;
      isTrace &&= ((store.flags[row] as number) & IS_FRAME) !== 0;
    }
    if (best === -1) return { fromLine, toLine, shown, kind: "let go early", score: 0, features: [], line: "" };
    const at = store.byteAt[best] as number;
    const bytes = store.bytes.subarray(at, at + (store.byteLength[best] as number));
    return {
      fromLine,
      toLine,
      shown,
      kind: isTrace ? "stack trace" : kindOf(judged, best, fromLine === 1, toLine === cut.total.lines),
      score: Math.round((scores[best] as number) * 100) / 100,
      features: featuresOf(bytes),
      line: decode(bytes).trim().slice(0, MAX_LINE_CHARS).toWellFormed(),
    };
  });
}

function kindOf({ store }: Judged, row: number, isStart: boolean, isEnd: boolean): string {
  const flags = store.flags[row] as number;
  if ((flags & IS_FOCUSED) !== 0) return "focus";
  if ((flags & FAILED_STEP) !== 0) return "failed step";
  if ((flags & IS_HEADER) !== 0 || (store.level[row] as number) >= FAILURE_LEVEL) return "failure";
  if ((flags & GOOD_STEP) !== 0) return "step that went well";
  if ((flags & IS_COMMAND) !== 0) return "command";
  if (isStart) return "start";
  return isEnd ? "end" : "surroundings";
}

/** What spoke most for or against a line, by itself. */
function featuresOf(bytes: Uint8Array): string[] {
  const scan = new LineScan();
  scan.record();
  scan.scan(bytes, 0, bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length);
  const weight = (feature: number) => LINE_WEIGHTS[feature] as number;
  return [...scan.features.subarray(0, scan.count)]
    .filter((feature) => Math.abs(weight(feature)) >= 0.1)
    .sort((a, b) => Math.abs(weight(b)) - Math.abs(weight(a)) || a - b)
    .slice(0, MAX_FEATURES)
    .map((feature) => `${featureName(feature)} ${weight(feature) > 0 ? "+" : ""}${weight(feature).toFixed(2)}`);
}
