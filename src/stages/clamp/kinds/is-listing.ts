import type { KindSample } from "./kind.ts";

const SHARE = 0.9;
const TREE = /^(?:[│| \u00a0]*)(?:├─[─┬]|└─[─┬]|\|-- |`-- |\+-- )/;
const LONG = /^(?:[-dlcbps][rwxsStT-]{9}[.+@]? |total \d+$)/;
const FOLDER = /^[^\s:]+:$/;
// No part holds a slash: else there were as many ways to read a line as to choose among its slashes.
const PATH = /^(?:\.{0,2}\/)?[^\s:;,(){}<>="'|/]+(?:\/[^\s:;,(){}<>="'|/]+)+\/?$/;
const NAME = /^\s*[^\s:;,(){}<>="'|]+\/?$/;

/** Names of files: a tree, `ls -l`, `ls -R`, `find`, or a list of names where the tool says so. */
export function isListing({ lines, tool, command }: KindSample): boolean {
  if (lines.length < 5) return false;
  const share = (is: (line: string) => boolean) => lines.filter(is).length / lines.length;
  if (share((line) => TREE.test(line)) >= 0.7) return true;
  if (share((line) => LONG.test(line) || FOLDER.test(line)) >= SHARE) return true;
  if (share((line) => PATH.test(line)) >= SHARE) return true;
  const lists =
    tool === "list_directory" ||
    tool === "get_repo_structure" ||
    /^(?:ls|dir|tree|find|fd|git ls-files)\b/.test(command);
  return lists && share((line) => NAME.test(line) || FOLDER.test(line)) >= 0.7;
}
