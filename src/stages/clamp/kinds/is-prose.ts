import type { KindSample } from "./kind.ts";

const HEADING = /^#{1,6} \S/;
const SENTENCE = /[a-z]{2,}[.!?]["')]?(?: |$)/;

/** Text for people, by its headings and sentences. */
export function isProse({ lines, tool }: KindSample): boolean {
  if (tool === "read_file") return true;
  const sentences = lines.filter((line) => SENTENCE.test(line)).length;
  return lines.some((line) => HEADING.test(line)) || sentences >= lines.length * 0.4;
}
