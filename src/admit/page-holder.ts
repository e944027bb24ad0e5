import { NUMBERS } from "../stages/policy/defaults.ts";

/** Holds an output that may be a web page, until it is known to be none or to be too large. */
export class PageHolder {
  #chunks: Uint8Array[] | null = [];
  #bytes = 0;

  /** Copies the bytes. `kind` is what the output is, as far as that is known. */
  add(bytes: Uint8Array, kind: string | null): void {
    this.#bytes += bytes.length;
    if ((kind !== null && kind !== "html") || this.#bytes > NUMBERS.htmlBytes.default) this.#chunks = null;
    this.#chunks?.push(new Uint8Array(bytes));
  }

  /** The page; null where it is not held. */
  html(): string | null {
    if (this.#chunks === null) return null;
    const decoder = new TextDecoder();
    const parts = this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true }));
    return parts.join("") + decoder.decode();
  }
}
