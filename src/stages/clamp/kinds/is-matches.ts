import type { KindSample } from "./kind.ts";
import { matchedFile } from "./matched-file.ts";

const SHARE = 0.85;
/** A file's name has a folder or an ending. */
const NAME = /[/\\]|\.\w{1,12}$/;
/** Compilers write the same form. */
const DIAGNOSTIC = /:\d+:(?:\d+:)? *(?:fatal )?(?:error|warning|note|info)\b/i;

/** Search results, `file:line:text`. */
export function isMatches({ lines, tool }: KindSample): boolean {
  if (lines.length < 3) return false;
  const named = lines.filter((line) => line === "--" || NAME.test(matchedFile(line) ?? "")).length;
  if (named < lines.length * (tool === "search_files" ? 0.5 : SHARE)) return false;
  return lines.filter((line) => DIAGNOSTIC.test(line)).length < lines.length * 0.2;
}
