import { decode } from "../fit.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";

/** One line names a file; others of its header name it again. */
const FILE = /^(?:diff |Index: |commit [0-9a-f]{7,})/;
const SIDE = /^(?:--- |\+\+\+ )/;
const CHANGE = /^(?:(?:new|deleted) file mode|(?:rename|copy) (?:from|to) |Binary files |GIT binary patch)/;
const FILE_DETAIL = /^(?:index [0-9a-f]|(?:old|new) mode|similarity index|dissimilarity index|={20}|Author: |Date: )/;
/**
 * Ranks: names of files, what became of a file as a whole, heads of hunks, the rest of the headers, then bodies, each
 * hunk's first lines before any hunk's later ones.
 */
const CHANGED = 1;
const HUNK = 2;
const DETAIL = 3;
const BODY = 4;
const NAMES = ["file", "change of a file", "head of a hunk", "details of a file"];
/** Lines of a hunk in the first step of depth; each further step has twice as many. */
const FIRST_DEPTH = 4;
const RANKS = 13;
/** Longer lines are not read to their end to tell what they are. */
const LOOK_BYTES = 200;

/** Keeps a diff's file headers, then the heads of its hunks, then as much of every hunk as has room. */
export const diff: KindStrategy = {
  name: "diff",
  exact: true,
  kinds: [{ name: "diff", order: 40, is: isDiff }],
  start: (request) => {
    // Lines that the hunk still has by its head: a removed line may look like a header.
    let oldLeft = 0;
    let newLeft = 0;
    let depth = 0;
    let isNamed = false;
    const body = (): number => BODY + Math.floor(Math.log2(1 + depth++ / FIRST_DEPTH));
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => NAMES[rank] ?? "body of a hunk",
      headShare: 0.6,
      rank(bytes) {
        const first = bytes[0];
        if (oldLeft > 0 || newLeft > 0) {
          if (first === 43) newLeft--;
          else if (first === 45) oldLeft--;
          else if (first !== 92) {
            oldLeft--;
            newLeft--;
          }
          return body();
        }
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        const hunk = /^@@+ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
        if (line.startsWith("@@")) isNamed = false;
        if (hunk !== null) {
          oldLeft = Number(hunk[1] ?? 1);
          newLeft = Number(hunk[2] ?? 1);
          depth = 0;
          return HUNK;
        }
        if (line.startsWith("@@")) {
          depth = 0;
          return HUNK;
        }
        if (FILE.test(line)) {
          isNamed = true;
          return 0;
        }
        if (SIDE.test(line)) return isNamed ? DETAIL : 0;
        if (CHANGE.test(line)) return CHANGED;
        return FILE_DETAIL.test(line) ? DETAIL : body();
      },
    });
  },
};

/** Lines before the first file of a diff: a commit's message. */
const MAX_BEFORE = 40;
const WHOLE_HUNK = /^@@+ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;
const DIFF_LINE =
  /^(?:[ +\-@\\]|diff |index |Index: |={20}|(?:new|deleted|old) |rename |copy |similarity |dissimilarity |Binary files |commit [0-9a-f]{7}|Author: |Date: |$)/;

/** A unified diff, or commits with theirs. */
function isDiff({ lines }: KindSample): boolean {
  const first = lines.slice(0, MAX_BEFORE).findIndex((line, index) => {
    if (/^(?:diff --(?:git|cc|combined) |Index: )/.test(line)) return true;
    return line.startsWith("--- ") && (lines[index + 1]?.startsWith("+++ ") ?? false);
  });
  if (first === -1) return false;
  const before = lines.slice(0, first);
  if (before.length > 0 && !/^(?:commit [0-9a-f]{7}|From [0-9a-f]{40} )/.test(before[0] as string)) return false;
  const body = lines.slice(first);
  return (
    shareOfLines(body, (line) => DIFF_LINE.test(line)) >= 0.95 &&
    (body.length < 8 || body.some((line) => WHOLE_HUNK.test(line) || /^Binary files|^rename /.test(line)))
  );
}
