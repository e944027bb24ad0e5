/** Words before which a definition may have others: export, pub, static and so on. */
const BEFORE =
  "(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\\([a-z]+\\))?|unsafe|extern|inline|sealed|override|virtual|partial|open|data) )*";
const DEFINES = new RegExp(
  `^${BEFORE}(?:class|interface|struct|enum|trait|impl|module|namespace|package|def|fn|func|function\\*?|fun|type|record|protocol|extension|object|sub|proc|macro_rules!|defmodule|defp?|CREATE (?:TABLE|VIEW|FUNCTION|INDEX)) `,
);
const ASSIGNED = /^(?:export )?(?:const|let|var) \w+ = (?:async )?(?:function|\(|\w+ =>)/;
const HEADING = /^#{1,6} \S/;

/** How deep a line that defines something (or heads a section) stands, from 0; null if it does not. */
export function definitionDepth(line: string): number | null {
  const text = line.trimStart();
  const heading = HEADING.exec(line);
  if (heading !== null && !line.startsWith("#!")) return Math.max(0, heading[0].length - 3);
  if (!DEFINES.test(text) && !ASSIGNED.test(text)) return null;
  const indent = line.slice(0, line.length - text.length).replaceAll("\t", "    ").length;
  return Math.ceil(indent / 4);
}
