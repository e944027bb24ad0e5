/** A summary we gave out. */
export interface OwnSummary {
  /** What the model wrote, and what we added. */
  body: string;
  /** The user's request that stood beside it. */
  request: string | null;
}

/** Summaries remembered; a conversation has one at a time. */
const MAX_SUMMARIES = 64;

/**
 * The summaries we gave out, known by every character of their message: one that is quoted inside another text, or changed,
 * is not ours and is read as any other text.
 */
export class OwnSummaries {
  readonly #summaries = new Map<string, OwnSummary>();

  /** `text` is the whole message. */
  remember(text: string, summary: OwnSummary): void {
    this.#summaries.delete(text);
    this.#summaries.set(text, summary);
    for (const oldest of this.#summaries.keys()) {
      if (this.#summaries.size <= MAX_SUMMARIES) return;
      this.#summaries.delete(oldest);
    }
  }

  find(text: string): OwnSummary | null {
    return this.#summaries.get(text) ?? null;
  }
}
