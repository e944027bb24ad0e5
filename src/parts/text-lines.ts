/** Many short parts take far more memory than their text. */
const MAX_PARTS = 4096;

/** Writes text that comes in pieces: white space made one, breaks between blocks, a prefix before a line's first word. */
export class TextLines {
  #text = "";
  /** What is to be added to it. */
  #parts: string[] = [];
  #breaks = 0;
  #isSpaced = false;
  #isAtStart = true;
  #prefix = "";
  /** Stands before the next word, once. */
  #opening = "";

  /** At least this many breaks before the next word; what was to stand before it is given up. */
  break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
    this.#prefix = "";
    this.#isSpaced = false;
  }

  /** Before the next line's first word. */
  prefix(text: string): void {
    this.#prefix = text;
  }

  open(text: string): void {
    this.#opening = text;
  }

  /** True if a word came since. */
  get isOpened(): boolean {
    return this.#opening === "";
  }

  words(text: string): void {
    const parts = /[ \t\n\r\f]/.test(text) ? text.split(/[ \t\n\r\f]+/) : [text];
    if (parts[0] === "" && parts.length > 1) this.#isSpaced = true;
    const words = parts.filter((word) => word !== "").join(" ");
    if (words === "") return;
    this.#begin();
    this.#add(words);
    this.#isSpaced = parts.at(-1) === "";
  }

  /** As it is, white space included, but for that before a break. */
  verbatim(text: string): void {
    if (text === "") return;
    this.#begin();
    const lines = text.split("\n");
    const last = lines.pop() as string;
    // Line by line: a pattern for white space before a break could take very long over much of it.
    this.#add([...lines.map((line) => line.trimEnd()), last].join("\n"));
    this.#isAtStart = text.endsWith("\n");
  }

  /** Right behind the last word, where it ended. */
  behind(text: string): void {
    this.#add(text);
  }

  toString(): string {
    this.#flush();
    const text = this.#text.trim();
    return text === "" ? "" : `${text}\n`;
  }

  #begin(): void {
    if (this.#text !== "" || this.#parts.length > 0) {
      if (this.#breaks > 0) this.#add("\n".repeat(this.#breaks - (this.#isAtStart ? 1 : 0)));
      else if (this.#isSpaced && !this.#isAtStart) this.#add(" ");
    }
    this.#add(this.#prefix + this.#opening);
    this.#breaks = 0;
    this.#isSpaced = false;
    this.#isAtStart = false;
    this.#prefix = "";
    this.#opening = "";
  }

  #add(part: string): void {
    if (part === "") return;
    this.#parts.push(part);
    if (this.#parts.length >= MAX_PARTS) this.#flush();
  }

  #flush(): void {
    this.#text += this.#parts.join("");
    this.#parts = [];
  }
}
