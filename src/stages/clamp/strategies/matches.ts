import { decode } from "../fit.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";

const RANKS = 15;
/** Longer paths are told apart by their first bytes. */
const LOOK_BYTES = 400;
/** So many lines that are not a match but tell of trouble come before all others. */
const MOST_TROUBLES = 20;
const NAMES = ["trouble", "first match in a file"];

/** Keeps search results: every file's first match, then every file's second, and so on; each line as it is. */
export const matches: KindStrategy = {
  name: "matches",
  exact: true,
  kinds: [{ name: "matches", order: 60, is: isMatches }],
  start: (request) => {
    let file: string | null = null;
    let depth = 0;
    let troubles = 0;
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => NAMES[rank] ?? "further match in a file",
      headShare: 0.6,
      rank(bytes) {
        const line = decode(bytes.subarray(0, LOOK_BYTES));
        const found = matchedFile(line);
        if (found === null && tellsTrouble(line) && troubles++ < MOST_TROUBLES) return 0;
        // Results come file by file: what has no name belongs to the one before.
        if (found !== null && found !== file) {
          file = found;
          depth = 0;
        }
        return Math.min(RANKS - 1, 1 + Math.floor(Math.log2(1 + depth++)));
      },
    });
  },
};

const MATCH = /^(?:[A-Za-z]:[\\/])?([^\s:][^:\n]*?):\d+(?::\d+)?:/;
const CONTEXT = /^([^\s:][^:\n]*?)-\d+-/;

/** The file that a line of search results (`file:12:text`, `file-13-context`) names; null if it names none. */
function matchedFile(line: string): string | null {
  return (MATCH.exec(line) ?? CONTEXT.exec(line))?.[1] ?? null;
}

const TROUBLE =
  /\bUNMET\b|\bERR!|(?:^| )(?:[\w.]*[Ee]rror|ERROR|fatal|panic|invalid|extraneous|missing): |: (?:Permission denied|No such file or directory|Input\/output error|Is a directory)$|^(?:FAIL|ERROR|FAILED) |\b\d+ failed\b/;

/** Returns true if the tool that lists or searches says in this line what went wrong, rather than what it found. */
export function tellsTrouble(line: string): boolean {
  return TROUBLE.test(line);
}

/** A file's name has a folder or an ending. */
const FILE_NAME = /[/\\]|\.\w{1,12}$/;
/** Compilers write the same form. */
const DIAGNOSTIC = /:\d+:(?:\d+:)? *(?:fatal )?(?:error|warning|note|info)\b/i;

/** Search results, `file:line:text`. */
function isMatches({ lines, tool }: KindSample): boolean {
  if (lines.length < 3) return false;
  const named = shareOfLines(lines, (line) => line === "--" || FILE_NAME.test(matchedFile(line) ?? ""));
  if (named < (tool === "search_files" ? 0.5 : 0.85)) return false;
  return shareOfLines(lines, (line) => DIAGNOSTIC.test(line)) < 0.2;
}
