/** How each text of ours goes on behind its bracket, in the order of the files that write them. */
const OPENINGS = [
  // texts.ts and forms.ts
  String.raw`\.\.\. `,
  String.raw`(?:first|last|start of line|end of line) \d`,
  String.raw`exit code -?\d`,
  String.raw`[\d,]+ blocks as one text`,
  String.raw`no output(?: #\w+)?\]`,
  "result lost:",
  String.raw`[\d,]+ lines?, [\d,]+ bytes? not shown`,
  String.raw`cut(?:\]|; | #| from \d)`,
  "output (?:ended early|cut to fit|lost):",
  "(?:repeats and terminal codes folded|white space left out):",
  "binary (?:output|artifact) not shown:",
  String.raw`(?:an image, sound or file|[\d,]+ images, sounds or files) of \d`,
  "tool output truncated:",
  // access.ts
  "do not guess the rest",
  String.raw`only the first [\d,]+ bytes`,
  "the rest was not saved",
  "(?:the whole|that part) is saved",
  "(?:the whole|what was saved) is in ",
  "read (?:it|what was saved)(?: again)? with",
  "it is in ",
  "saved as artifact ",
  // page-note.ts and recall-texts.ts
  String.raw`html of \d`,
  String.raw`lines? (?:from )?\d+(?:-\d+)? (?:of|on)\b`,
  String.raw`artifact has \d`,
  "the artifact is empty",
  "no line matches",
  String.raw`[\d,]+ matching lines?`,
  // write-summary.ts, and what stands for the older part of a conversation
  "summary (?:by|of the conversation)",
  "this is a summary",
  "end of the summary",
  "the messages themselves were not saved",
  // what pruning and capping leave; folding's notes stand among the lines of a piece and would be taken for quoted ones
  "tool result trimmed:",
  "old tool result content cleared",
  "sessions_history omitted:",
];

/**
 * A model reads past letter case, the number and kind of blanks, characters without width, and the form of a bracket. A text of
 * ours may also stand inside another text.
 */
const BLANKS = String.raw`[\s\p{Cf}]`;
const LIKE_OURS = new RegExp(
  String.raw`[[\uff3b\u3010]${BLANKS}*(?:${OPENINGS.join("|").replaceAll(" ", `${BLANKS}+`)})`,
  "iu",
);

/** True if an output has a text that a model could take for a marker of ours. */
export function quotesMarker(text: string): boolean {
  return LIKE_OURS.test(text);
}

/** A line of ours that carries the tag, inside of its bracket. */
export function withTag(line: string, tag: string): string {
  return line.endsWith("]") ? `${line.slice(0, -1)}${tag}]` : line;
}

/** The tag that a text's last line carries; empty if none. */
export function tagAtEnd(text: string): string {
  return / #[0-9a-z]{5}(?=\]$)/.exec(text.slice(-8))?.[0] ?? "";
}

/** A short tag that neither the text nor what stands beside it has: ours carry it, quoted ones cannot. The same text gives the same tag. */
export function tagFor(text: string, siblings: readonly string[] = []): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  for (;;) {
    const tag = ` #${(hash >>> 0).toString(36).padStart(7, "0").slice(0, 5)}`;
    if (![text, ...siblings].some((each) => each.includes(tag))) return tag;
    hash = Math.imul(hash + 1, 0x01000193);
  }
}
