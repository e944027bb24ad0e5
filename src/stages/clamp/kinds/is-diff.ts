import type { KindSample } from "./kind.ts";

/** Lines before the first file of a diff: a commit's message. */
const MAX_BEFORE = 40;
const HUNK = /^@@+ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;
const BODY =
  /^(?:[ +\-@\\]|diff |index |Index: |={20}|(?:new|deleted|old) |rename |copy |similarity |dissimilarity |Binary files |commit [0-9a-f]{7}|Author: |Date: |$)/;

/** A unified diff, or commits with theirs. */
export function isDiff({ lines }: KindSample): boolean {
  const first = lines.slice(0, MAX_BEFORE).findIndex((line, index) => {
    if (/^(?:diff --(?:git|cc|combined) |Index: )/.test(line)) return true;
    return line.startsWith("--- ") && (lines[index + 1]?.startsWith("+++ ") ?? false);
  });
  if (first === -1) return false;
  const before = lines.slice(0, first);
  if (before.length > 0 && !/^(?:commit [0-9a-f]{7}|From [0-9a-f]{40} )/.test(before[0] as string)) return false;
  const body = lines.slice(first);
  const fitting = body.filter((line) => BODY.test(line)).length;
  return (
    fitting >= body.length * 0.95 &&
    (body.length < 8 || body.some((line) => HUNK.test(line) || /^Binary files|^rename /.test(line)))
  );
}
