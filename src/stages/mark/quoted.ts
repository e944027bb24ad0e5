/** Lines that read like a marker of ours. */
const LIKE_OURS =
  /^\[(?:\.\.\. |First \d|Last \d|Start of line \d|End of line \d|exit code -?\d|Output cut|Repeats and|White space left|HTML of \d|tool output truncated|no output|cut\b|output ended early|binary output not|Summary by|This is a summary|Summary of the conversation|[\d,]+ lines?, [\d,]+ bytes? not)/m;

/** True if an output has a line that a model could take for a marker of ours. */
export function quotesMarker(text: string): boolean {
  return LIKE_OURS.test(text);
}

/** A short tag that the text does not have: ours carry it, quoted ones cannot. The same text gives the same tag. */
export function tagFor(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  for (;;) {
    const tag = ` #${(hash >>> 0).toString(36).padStart(7, "0").slice(0, 5)}`;
    if (!text.includes(tag)) return tag;
    hash = Math.imul(hash + 1, 0x01000193);
  }
}
