import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { counted } from "../../values.ts";
import { admitFitting, type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { nameFolders, type Roots } from "./roots.ts";
import { type RgWalk, runRg, SKIPPED_WORDS } from "./run-rg.ts";

const USUAL_MATCHES = 100;
const USUAL_CONTEXT = 2;
const MOST_MATCHES = 1000;
const MOST_CONTEXT = 100;
const USUAL_LINES = 2000;
/** Longer lines are shown in part, around the match. */
const MAX_LINE_BYTES = 400;
const BYTES_BEFORE_MATCH = 150;
/** Counts are held for so many files; matches in more of them are still counted. */
const MAX_FILES = 100_000;
/** Files without a row of their own whose counts are listed. */
const MAX_COUNTED = 20;
/** The paths that one run of ripgrep is given. */
const MAX_PATHS_CHARS = 60_000;

/** A line of a file. */
interface Row {
  line: number;
  isMatch: boolean;
  text: string;
}

interface FileMatches {
  path: string;
  count: number;
}

interface Matches {
  total: number;
  fileTotal: number;
  /** In the order of their paths. */
  files: FileMatches[];
  isComplete: boolean;
  /** What is ignored was left out. */
  isSkipping: boolean;
  show: Roots["show"];
}

/** `search_files`: finds a pattern in files. */
export function searchFilesTool(place: ToolPlace): BoundedTool {
  const { roots, spillway } = place;
  const tool = "search_files";
  const { options, limits } = spillway.resolve(tool);
  const usualMax = options.maxMatches ?? USUAL_MATCHES;
  const usualContext = options.showContext ?? USUAL_CONTEXT;
  return boundedTool(
    {
      name: tool,
      description: `Finds a regular expression in the lines of files. Rows are spread over the files; the counts are of all matches. Leaves out ${SKIPPED_WORDS}.`,
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          path: { type: "string", description: `a folder or a file, ${nameFolders(roots)}` },
          glob: { type: "string", description: "only files that this matches, such as *.ts" },
          literal: { type: "boolean", description: "the pattern is the text itself" },
          ignore_case: { type: "boolean" },
          show_context: { type: "integer", default: usualContext },
          max_results: { type: "integer", default: usualMax, description: "0 gives only the counts" },
          include_ignored: { type: "boolean", description: "also search what is left out otherwise" },
        },
        required: ["pattern"],
      },
    },
    async (args, signal) => {
      const pattern = args.requiredText("pattern");
      if (pattern.includes("\n")) throw new Error("a match lies within one line: search for one line of the text");
      const paths = await roots.findAll(args.text("path"));
      for (const path of paths) {
        const status = await stat(path);
        // ripgrep skips pipes and devices in a folder. If one is named, it reads it, which may never end.
        if (!status.isFile() && !status.isDirectory()) throw new Error("this is no plain file, so it is not searched");
      }
      const context = args.count("show_context", usualContext, MOST_CONTEXT);
      const mostLines = limits.maxLines ?? USUAL_LINES;
      const most = Math.min(
        args.count("max_results", usualMax, MOST_MATCHES),
        Math.ceil((4 * mostLines) / (2 * context + 1)),
      );
      const walk = { paths, glob: args.text("glob"), includeIgnored: args.flag("include_ignored") };
      const query = [
        ...(args.flag("literal") ? ["--fixed-strings"] : []),
        ...(args.flag("ignore_case") ? ["--ignore-case"] : []),
        `--regexp=${pattern}`,
      ];
      const found = await countMatches(roots, walk, query, signal);
      const shares = sharesOf(found.files, most);
      const rows = await readRows(roots, found.files.slice(0, shares.length), [...query, `--context=${context}`], {
        most: Math.max(0, ...shares),
        signal,
      });
      if (most === 0) {
        return admitFitting(place, { tool }, found.files.length, (files) => writeCounts(found, files));
      }
      return admitFitting(place, { tool }, Math.min(most, found.total), (matches) =>
        writeFound(found, rows, sharesOf(found.files, matches), context),
      );
    },
  );
}

/** Counts the matching lines of every file. ripgrep does this as fast as it can read. */
async function countMatches(
  roots: Roots,
  walk: RgWalk,
  query: string[],
  signal: AbortSignal | undefined,
): Promise<Matches> {
  const files: FileMatches[] = [];
  let total = 0;
  let fileTotal = 0;
  const onRecord = byPath(roots, (path, rest) => {
    const count = Number(rest);
    total += count;
    if (fileTotal++ < MAX_FILES) files.push({ path, count });
  });
  const isComplete = await runRg(roots, walk, ["--count", "--with-filename", ...query], onRecord, { signal });
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { total, fileTotal, files, isComplete, isSkipping: !walk.includeIgnored, show: roots.show };
}

/** Hands over the path and what stands after it. A path may hold line breaks. */
function byPath({ base }: Roots, take: (path: string, rest: string) => void): (record: string) => void {
  let before = "";
  return (record) => {
    const at = record.indexOf("\0");
    if (at === -1) {
      before += `${record}\n`;
      return;
    }
    take(resolve(base, before + record.slice(0, at)), record.slice(at + 1));
    before = "";
  };
}

/** How many matches each of the first files shows: all alike, and what one does not need the others get. */
function sharesOf(files: readonly FileMatches[], most: number): number[] {
  let chars = 0;
  const first = files.slice(0, most).filter(({ path }) => (chars += path.length + 1) <= MAX_PATHS_CHARS);
  const shares = first.map(() => 0);
  let left = most;
  const fewestFirst = [...first.entries()].toSorted(([, a], [, b]) => a.count - b.count);
  for (const [rank, [at, { count }]] of fewestFirst.entries()) {
    const share = Math.min(count, Math.floor(left / (first.length - rank)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/** Reads the first matches of each file with the lines around them. */
async function readRows(
  roots: Roots,
  files: readonly FileMatches[],
  query: string[],
  { most, signal }: { most: number; signal: AbortSignal | undefined },
): Promise<Map<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  if (files.length === 0) return rows;
  const long: { path: string; row: Row; at: number; column: number }[] = [];
  const flags = [
    `--max-count=${most}`,
    "--with-filename",
    "--no-heading",
    "--line-number",
    "--column",
    "--byte-offset",
    "--no-context-separator",
    `--max-columns=${MAX_LINE_BYTES}`,
    "--max-columns-preview",
    ...query,
  ];
  const onRecord = byPath(roots, (path, rest) => {
    const [head, line, mark, column, offset] = /^(\d+)(?:(:)(\d+):|-)(\d+)[:-]/.exec(rest) ?? [];
    if (head === undefined) return;
    const text = rest.slice(head.length).replace(/\r$/, "");
    const isLong = Buffer.byteLength(text) > MAX_LINE_BYTES;
    const row: Row = { line: Number(line), isMatch: mark !== undefined, text: isLong ? clipped(text) : text };
    if (isLong && row.isMatch) long.push({ path, row, at: Number(offset), column: Number(column) });
    const known = rows.get(path);
    if (known === undefined) rows.set(path, [row]);
    else known.push(row);
  });
  const paths = files.map(({ path }) => path);
  await runRg(roots, { paths, includeIgnored: true }, flags, onRecord, { signal });
  for (const { path, row, at, column } of long) {
    row.text = await readAround(path, at, column - 1).catch(() => row.text);
  }
  return rows;
}

function clipped(text: string): string {
  return `${Buffer.from(text)
    .subarray(0, MAX_LINE_BYTES)
    .toString()
    .replace(/\ufffd$/, "")}[...]`;
}

/**
 * The part of a long line around a match. `at` is where the line begins in the file, `column` where the match does
 * in the line. Throws for UTF-16, which ripgrep has read as UTF-8 and counted so.
 */
async function readAround(path: string, at: number, column: number): Promise<string> {
  const from = Math.max(0, column - BYTES_BEFORE_MATCH);
  const file = await open(path);
  try {
    const start = (await file.read(Buffer.alloc(2), 0, 2, 0)).buffer.toString("latin1");
    if (start === "\xff\xfe" || start === "\xfe\xff") throw new Error("UTF-16");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_LINE_BYTES), 0, MAX_LINE_BYTES, at + from);
    const window = buffer.subarray(0, bytesRead);
    const lineBreak = window.indexOf("\n");
    const text = window.subarray(0, lineBreak === -1 ? bytesRead : lineBreak).toString();
    // A character that stands half outside is left out.
    const whole = text.replace(/^\ufffd+/, "").replace(/\ufffd+$/, "");
    return `${from > 0 ? "[...]" : ""}${whole}${lineBreak === -1 ? "[...]" : ""} [column ${column + 1}]`;
  } finally {
    await file.close();
  }
}

/** Writes the matches under the names of their files, and last what is shown of how many. */
function writeFound(
  found: Matches,
  rows: ReadonlyMap<string, Row[]>,
  shares: readonly number[],
  context: number,
): string {
  const lines: string[] = [];
  let shown = 0;
  let shownFiles = 0;
  for (const [at, { path, count }] of found.files.slice(0, shares.length + MAX_COUNTED).entries()) {
    const picked = firstMatches(rows.get(path) ?? [], shares[at] ?? 0, context);
    const matches = picked.filter(({ isMatch }) => isMatch).length;
    lines.push(`${found.show(path)} (${matches === count || matches === 0 ? "" : `${matches} of `}${count})`);
    if (matches === 0) continue;
    shown += matches;
    shownFiles++;
    let last = 0;
    for (const { line, isMatch, text } of picked) {
      if (context > 0 && last !== 0 && line > last + 1) lines.push("--");
      lines.push(`${line}${isMatch ? ":" : "-"}${text}`);
      last = line;
    }
  }
  const all = allMatches(found);
  const note =
    shown === found.total
      ? `[${all}]`
      : `[${shown} shown, from ${counted(shownFiles, "file")}, of ${all}; narrow it by path, glob or pattern]`;
  return [...lines, note].join("\n");
}

/** The first matches with their context. The lines after the last match that is shown belong to it. */
function firstMatches(rows: readonly Row[], most: number, context: number): Row[] {
  if (most === 0) return [];
  const last = rows.filter(({ isMatch }) => isMatch)[most - 1]?.line ?? Infinity;
  const next = rows.find(({ isMatch, line }) => isMatch && line > last)?.line ?? Infinity;
  return rows.filter(({ line }) => line < next && line <= last + context);
}

/** Writes only how many lines match in each file. */
function writeCounts(found: Matches, files: number): string {
  const lines = found.files.slice(0, files).map(({ path, count }) => `${found.show(path)} (${count})`);
  const listed = files === found.fileTotal ? "" : `; the counts of ${counted(files, "file")} are listed`;
  return [...lines, `[${allMatches(found)}${listed}]`].join("\n");
}

function allMatches({ total, fileTotal, isComplete, isSkipping }: Matches): string {
  const late = isComplete ? "" : "; the search was stopped for time, so there may be more";
  if (total > 0) {
    return `${counted(total, "matching line")} in ${counted(fileTotal, "file")}${late}`;
  }
  return `no line matches${late}${isSkipping ? `; left out: ${SKIPPED_WORDS} (include_ignored: true)` : ""}`;
}
