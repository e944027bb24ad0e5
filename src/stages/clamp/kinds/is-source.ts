import { definitionDepth } from "./definition-depth.ts";
import type { KindSample } from "./kind.ts";

const CODE =
  /^\s*(?:import |from \S+ import |#include |#define |using |use |package |require|const |let |var |return\b|if |if\(|for |for\(|while |else|elif |try|catch|switch|case |\/\/|\/\*|\*|#!|@\w+)|[;{}](?:\s*\/\/.*)?$|^\s*[)\]}]+[;,]?$|:$/;
const SHARE = 0.5;
const NUMBERED = /^\s*\d+(?:\t|→|\| ?|: )/;

/** A source file, by what its lines begin and end with. Numbers before the lines, as `cat -n` has them, are no matter. */
export function isSource({ lines, tool, command }: KindSample): boolean {
  const isNumbered = lines.filter((line) => NUMBERED.test(line)).length >= lines.length * 0.9;
  const isRead = isNumbered || tool === "read_file" || /^(?:cat|head|tail|sed -n|bat|less|nl) /.test(command);
  const plain = lines.map((line) => line.replace(NUMBERED, ""));
  const code = plain.filter((line) => CODE.test(line) || definitionDepth(line) !== null).length;
  return lines.length >= 5 && code >= lines.length * (isRead ? SHARE / 2 : SHARE);
}
