/**
 * Words of a client whose own request for a summary was refused. Together with a refusal for size they mean a failed
 * compaction.
 */
export const compaction: readonly string[] = [
  "summarization failed",
  "summarisation failed",
  "auto-compaction",
  "compaction failed",
  "during compaction",
  "remote compact task",
  "failed to compress chat history",
];
