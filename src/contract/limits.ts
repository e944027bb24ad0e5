import type { Size } from "./size.ts";

/** What is allowed to be shown. A limit that is absent does not apply. */
export interface Limits {
  maxBytes?: number;
  maxChars?: number;
  maxLines?: number;
  maxTokens?: number;
}

/** A size's units in the order in which ties between limits are told. */
export type Unit = keyof Size;
