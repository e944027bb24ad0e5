import type { ChangedLine, RunChanges } from "../../contract/run-changes.ts";
import { counted, grouped } from "../../values.ts";

/** The artifact of a run, and how its command ended. */
export interface NamedRun {
  id: string;
  exitCode: number | null;
}

/** The shares of the room: what the counts may take, and what gone lines may take if new lines want the rest. */
const MOVED_SHARE = 0.25;
const GONE_SHARE = 0.2;

/** What a model or a person reads of how two runs differ, in at most so many characters. */
export function changesText(changes: RunChanges, before: NamedRun, after: NamedRun, maxChars: number): string {
  const { moved, added, gone, total } = changes;
  const run = ({ id, exitCode }: NamedRun) => `${id}${exitCode === null ? "" : ` (exit code ${exitCode})`}`;
  const head = [
    before.id === after.id
      ? `[${run(after)}: both runs printed the same, so nothing changed]`
      : `[${run(after)} against ${run(before)}. Lines: ${grouped(total.added)} new, ${grouped(total.gone)} gone, ${grouped(total.same)} in both, of these ${grouped(total.moved)} with other counts. Lines that differ only in numbers, times, addresses, hashes or temporary paths count as one. Their order does not count]`,
  ];
  let left = maxChars - (head[0] as string).length;
  const list = (title: string, rows: readonly Row[], all: number, room: number): string[] => {
    const lines = fitted(rows, Math.min(left, room) - title.length - MORE_CHARS);
    if (lines.length === 0) return all === 0 ? [] : [`[${title} ${grouped(all)} not shown]`];
    const more = all > lines.length ? [`[${grouped(all - lines.length)} more not shown]`] : [];
    return [title, ...lines, ...more];
  };
  const parts: string[][] = [];
  const put = (lines: string[]) => {
    parts.push(lines);
    left -= lines.reduce((sum, line) => sum + line.length + 1, 0);
  };
  const movedRows = moved.map(({ line, counts }) => ({ text: `${line}: ${counts.join(", ")}`, score: 0 }));
  put(list("Counts that moved:", movedRows, total.moved, left * MOVED_SHARE));
  const rows = (lines: readonly ChangedLine[], sign: string) =>
    lines.map(({ line, text, count, score }) => ({
      text: `${sign}${line}: ${text}${count > 1 ? ` [${grouped(count)} such lines]` : ""}`,
      score,
    }));
  const goneChars = Math.min(
    left * GONE_SHARE,
    gone.reduce((sum, { text }) => sum + text.length + 40, 60),
  );
  put(list("New:", rows(added, "+"), total.added, left - (total.gone === 0 ? 0 : goneChars)));
  put(list("Gone:", rows(gone, "-"), total.gone, left));
  const text = [...head, ...parts.flat()].join("\n");
  return text.length <= maxChars ? text : text.slice(0, Math.max(0, maxChars)).toWellFormed();
}

interface Row {
  text: string;
  score: number;
}

/** What a title with what is not shown takes beside its name. */
const MORE_CHARS = 40;

/** Those that tell most, as many as fit, in their order. */
function fitted(rows: readonly Row[], maxChars: number): string[] {
  const chosen = new Set<Row>();
  let left = maxChars;
  for (const row of rows.toSorted((a, b) => b.score - a.score)) {
    if (row.text.length + 1 > left) continue;
    left -= row.text.length + 1;
    chosen.add(row);
  }
  return rows.filter((row) => chosen.has(row)).map(({ text }) => text);
}

/** A run that is no text has no lines to compare. */
export function binaryRun(id: string, kind: string, bytes: number): string {
  return `[artifact ${id} is binary (${kind}, ${counted(bytes, "byte")}), so its lines are not compared]`;
}

/** There is no run to compare an output with. */
export function noEarlierRun(id: string, command: string | null, isGood: boolean): string {
  if (command === null)
    return `It is not known which command wrote artifact ${id}, so there is no earlier run of it: name the output to compare it with.`;
  return `No ${isGood ? "good" : "earlier"} run of the command of artifact ${id} is saved: only outputs that were cut are. Name the output to compare it with.`;
}
