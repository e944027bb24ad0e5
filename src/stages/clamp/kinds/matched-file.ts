const MATCH = /^(?:[A-Za-z]:[\\/])?([^\s:][^:\n]*?):\d+(?::\d+)?:/;
const CONTEXT = /^([^\s:][^:\n]*?)-\d+-/;

/** The file that a line of search results (`file:12:text`, `file-13-context`) names; null if it names none. */
export function matchedFile(line: string): string | null {
  return (MATCH.exec(line) ?? CONTEXT.exec(line))?.[1] ?? null;
}
