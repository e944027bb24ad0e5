import { decode } from "../fit.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { isPage } from "./edges.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";

const DEFINITIONS = 3;
/** Definitions may take this share of the room, because both ends matter more. */
const DEFINITIONS_SHARE = 0.3;
const LOOK_BYTES = 300;

/** Keeps both ends of a source file or a text, and between them the lines that define or head something. */
export const outline: KindStrategy = {
  name: "outline",
  exact: true,
  kinds: [
    { name: "source", order: 20, is: isPageSource },
    { name: "source", order: 90, is: isSource },
    { name: "prose", order: 110, is: isProse },
  ],
  start: (request) =>
    startRanked(request, {
      ranks: DEFINITIONS + 1,
      name: (rank) => (rank < DEFINITIONS ? "definition or heading" : "text"),
      lastHasAll: true,
      isSpread: (rank) => rank < DEFINITIONS,
      headShare: request.headShare,
      share: (rank) => (rank < DEFINITIONS ? DEFINITIONS_SHARE : 1),
      rank(bytes) {
        const depth = definitionDepth(decode(bytes.subarray(0, LOOK_BYTES)));
        return depth === null ? DEFINITIONS : Math.min(DEFINITIONS - 1, depth);
      },
    }),
};

/** Words that may stand before the word that defines: export, pub, static and so on. */
const BEFORE =
  "(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\\([a-z]+\\))?|unsafe|extern|inline|sealed|override|virtual|partial|open|data) )*";
const DEFINES = new RegExp(
  `^${BEFORE}(?:class|interface|struct|enum|trait|impl|module|namespace|package|def|fn|func|function\\*?|fun|type|record|protocol|extension|object|sub|proc|macro_rules!|defmodule|defp?|CREATE (?:TABLE|VIEW|FUNCTION|INDEX)) `,
);
const ASSIGNED = /^(?:)?(?:const|let|var) \w+ = (?:async )?(?:function|\(|\w+ =>)/;
const HEADING = /^#{1,6} \S/;

/** How deep a line that defines something (or heads a section) stands, from 0; null if it does not. */
function definitionDepth(line: string): number | null {
  const text = line.trimStart();
  const heading = HEADING.exec(line);
  if (heading !== null && !line.startsWith("#!")) return Math.max(0, heading[0].length - 3);
  if (!DEFINES.test(text) && !ASSIGNED.test(text)) return null;
  const indent = line.slice(0, line.length - text.length).replaceAll("\t", "    ").length;
  return Math.ceil(indent / 4);
}

/** Returns true for a web page that was read from a file: its reader wants the markup, perhaps to change it. */
function isPageSource(sample: KindSample): boolean {
  return isPage(sample) && (sample.tool === "read_file" || sample.shows);
}

const CODE =
  /^\s*(?:import |from \S+ import |#include |#define |using |use |package |require|const |let |var |return\b|if |if\(|for |for\(|while |else|elif |try|catch|switch|case |\/\/|\/\*|\*|#!|@\w+)|[;{}](?:\s*\/\/.*)?$|^\s*[)\]}]+[;,]?$|:$/;
const NUMBERED = /^\s*\d+(?:\t|→|\| ?|: )/;

/** A source file, by what its lines begin and end with. Numbers before the lines, as `cat -n` writes them, are ignored. */
function isSource({ lines, tool, command }: KindSample): boolean {
  const isNumbered = shareOfLines(lines, (line) => NUMBERED.test(line)) >= 0.9;
  const isRead = isNumbered || tool === "read_file" || /^(?:cat|head|tail|sed -n|bat|less|nl) /.test(command);
  const plain = lines.map((line) => line.replace(NUMBERED, ""));
  const code = shareOfLines(plain, (line) => CODE.test(line) || definitionDepth(line) !== null);
  return lines.length >= 5 && code >= (isRead ? 0.25 : 0.5);
}

const SENTENCE = /[a-z]{2}[.!?]["')]?(?: |$)/;

/** Text for people, by its headings and sentences. */
function isProse({ lines, tool }: KindSample): boolean {
  if (tool === "read_file") return lines.length > 0;
  return lines.some((line) => HEADING.test(line)) || shareOfLines(lines, (line) => SENTENCE.test(line)) >= 0.4;
}
