/** Words of a client whose own summary was refused: with a refusal for size they make it a failed compaction. */
export const compaction: readonly string[] = [
  "summarization failed",
  "summarisation failed",
  "auto-compaction",
  "compaction failed",
  "during compaction",
  "remote compact task",
  "failed to compress chat history",
];
