import { setImmediate } from "node:timers/promises";
import type { Tokenizer } from "htmlparser2";
import type { HtmlReader } from "../contract/html-reader.ts";

/** How many characters are read before the signal is checked and other work may run. */
const SLICE_CHARS = 64 * 1024;

/**
 * Loads a reader that uses the tokenizer of htmlparser2. It reads a page in one pass and builds no tree, so a deeply
 * nested page cannot exhaust it.
 */
export async function loadHtmlReader(): Promise<HtmlReader> {
  const { Tokenizer } = await import("htmlparser2");
  return {
    async read(html, signal) {
      const text = new HtmlText(html);
      const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, text);
      for (let at = 0; at < html.length; at += SLICE_CHARS) {
        signal.throwIfAborted();
        tokenizer.write(html.slice(at, at + SLICE_CHARS));
        await setImmediate();
      }
      tokenizer.end();
      return text.text();
    },
  };
}

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];

const HEADING = /^h([1-6])$/;
/** Lists that are nested deeper are not indented further. */
const MAX_LIST_DEPTH = 8;
/** A longer address is of no use to a reader, and is left out. */
const MAX_ADDRESS_CHARS = 300;
/** Matches the sign after a heading that links to the heading itself. */
const ANCHOR = /^\s*[#¶§\u{1F517}]\uFE0F?\s*$/u;
const FOLLOWED = /^(?!#|javascript:|data:)\S+$/i;

/**
 * Writes the text of a page as its tokens come: headings, lists, rows, links. It builds no tree of the page, so that
 * time and memory stay proportional to the page's size, however its elements are nested.
 */
class HtmlText implements Callbacks {
  readonly #html: string;
  readonly #lines = new TextLines();
  #name = "";
  #attribute = "";
  #value = "";
  #href = "";
  #alt = "";
  #isHidden = false;
  /** The element that is skipped, and how many elements of its name are open. */
  #unread = "";
  #unreadDepth = 0;
  #frames = 0;
  #verbatim = 0;
  #isVerbatimStart = false;
  #link = "";
  /** True inside a link to a place in the same page. */
  #isAnchor = false;
  /** For each open list, the number of its last entry, or null if its entries are not numbered. */
  readonly #lists: (number | null)[] = [];
  #cells = 0;

  constructor(html: string) {
    this.#html = html;
  }

  /** Returns the text of all tokens so far. */
  text(): string {
    this.#endLink();
    return this.#lines.toString();
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#slice(start, end).toLowerCase();
    this.#href = "";
    this.#alt = "";
    this.#isHidden = false;
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    if (this.#value.length <= MAX_ADDRESS_CHARS) this.#value += this.#slice(start, end);
  }

  onattribentity(codepoint: number): void {
    this.#value += String.fromCodePoint(codepoint);
  }

  onattribend(): void {
    if (this.#attribute === "href") this.#href = this.#value.trim();
    else if (this.#attribute === "alt") this.#alt = this.#value;
    else if (this.#attribute === "hidden" || (this.#attribute === "aria-hidden" && this.#value === "true"))
      this.#isHidden = true;
  }

  onopentagend(): void {
    this.#open(false);
  }

  onselfclosingtag(): void {
    this.#open(true);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#slice(start, end).toLowerCase();
    if (this.#unread !== "") {
      if (name === this.#unread && --this.#unreadDepth === 0) this.#unread = "";
      return;
    }
    if (name === "a") this.#endLink();
    else if (name === "ul" || name === "ol") this.#lists.pop();
    else if (name === "pre") this.#verbatim = Math.max(0, this.#verbatim - 1);
    else if (FRAME.has(name)) this.#frames = Math.max(0, this.#frames - 1);
    this.#breakFor(name);
  }

  ontext(start: number, end: number): void {
    this.#write(this.#slice(start, end));
  }

  ontextentity(codepoint: number): void {
    this.#write(String.fromCodePoint(codepoint));
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #slice(start: number, end: number): string {
    return this.#html.slice(start, end);
  }

  #write(text: string): void {
    if (this.#unread !== "" || (this.#isAnchor && ANCHOR.test(text))) return;
    if (this.#verbatim === 0) return this.#lines.words(text);
    // The line break right after <pre> does not belong to its text.
    this.#lines.verbatim(this.#isVerbatimStart ? text.replace(/^\r?\n/, "") : text);
    this.#isVerbatimStart = false;
  }

  #open(isClosed: boolean): void {
    const name = this.#name;
    if (this.#unread !== "") {
      if (name === this.#unread && !isClosed) this.#unreadDepth++;
      return;
    }
    if (UNREAD.has(name) || (this.#isHidden && CLOSED.has(name))) {
      if (isClosed) return;
      this.#unread = name;
      this.#unreadDepth = 1;
      return;
    }
    this.#breakFor(name);
    const heading = HEADING.exec(name)?.[1] ?? (name === "title" ? "1" : null);
    if (heading !== null) this.#lines.prefix(`${"#".repeat(Number(heading))} `);
    else if (name === "li") this.#entry();
    else if (name === "ul" || name === "ol") this.#lists.push(name === "ol" ? 0 : null);
    else if (name === "tr") this.#cells = 0;
    else if ((name === "td" || name === "th") && this.#cells++ > 0) this.#lines.words(" | ");
    else if (name === "pre") {
      this.#verbatim++;
      this.#isVerbatimStart = true;
    } else if (name === "a") this.#startLink();
    else if (name === "img" && this.#alt.trim() !== "") this.#lines.words(`[image: ${this.#alt.trim()}]`);
    else if (FRAME.has(name)) this.#frames++;
  }

  /**
   * Writes the breaks around an element. Inside a list there is at most one, so that a nested list stays close to its
   * entry.
   */
  #breakFor(name: string): void {
    const breaks = BREAKS.get(name);
    if (breaks !== undefined) this.#lines.break(this.#lists.length > 0 ? 1 : breaks);
  }

  #entry(): void {
    const number = this.#lists.at(-1) ?? null;
    if (number !== null) this.#lists[this.#lists.length - 1] = number + 1;
    const indent = "  ".repeat(Math.max(0, Math.min(this.#lists.length, MAX_LIST_DEPTH) - 1));
    this.#lines.prefix(number === null ? `${indent}- ` : `${indent}${number + 1}. `);
  }

  #startLink(): void {
    this.#endLink();
    this.#isAnchor = this.#href.startsWith("#");
    if (this.#frames > 0 || this.#href.length > MAX_ADDRESS_CHARS || !FOLLOWED.test(this.#href)) return;
    this.#link = this.#href;
    this.#lines.open("[");
  }

  #endLink(): void {
    this.#isAnchor = false;
    if (this.#link === "") return;
    if (this.#lines.isOpened) this.#lines.behind(`](${this.#link})`);
    else this.#lines.open("");
    this.#link = "";
  }
}

/** Elements whose content a reader never sees. */
const UNREAD = new Set("script style template noscript svg math iframe object canvas audio video datalist".split(" "));

/** Elements that are set apart from what is around them, and by how many line breaks. */
const BREAKS: ReadonlyMap<string, number> = new Map([
  ..."p h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl table figure section article main title hr".split(" ").map(twice),
  ..."div li tr dt dd address form fieldset header footer nav aside figcaption caption select option details summary br"
    .split(" ")
    .map(once),
]);

/**
 * Elements around the page's own text. They hold many links that are rarely followed, so their addresses are left out.
 */
const FRAME = new Set("nav header footer aside".split(" "));

/** Elements that always have an end tag, so that a hidden one can be skipped up to its end. */
const CLOSED = new Set("div span section nav aside ul ol table form button dialog article".split(" "));

function twice(name: string): [string, number] {
  return [name, 2];
}

function once(name: string): [string, number] {
  return [name, 1];
}

/** Many short parts take far more memory than their text, so they are joined when there are this many. */
const MAX_PARTS = 4096;

/**
 * Builds a text from pieces. Reduces white space to one space, puts breaks between blocks, and puts a prefix before the
 * first word of a line.
 */
class TextLines {
  #text = "";
  /** Parts that are not joined to #text yet. */
  #parts: string[] = [];
  #breaks = 0;
  #isSpaced = false;
  #isAtStart = true;
  #prefix = "";
  /** A text to put before the next word. */
  #opening = "";

  /** Asks for at least this many line breaks before the next word. Drops a prefix that was not used yet. */
  break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
    this.#prefix = "";
    this.#isSpaced = false;
  }

  /** Sets the text before the first word of the next line. */
  prefix(text: string): void {
    this.#prefix = text;
  }

  open(text: string): void {
    this.#opening = text;
  }

  /** Returns true if a word was written since `open`. */
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

  /** Writes text unchanged, with its white space, except white space before a line break. */
  verbatim(text: string): void {
    if (text === "") return;
    this.#begin();
    const lines = text.split("\n");
    const last = lines.pop() as string;
    // Trims line by line. A regular expression for white space before a line break could take very long on much white
    // space.
    this.#add([...lines.map((line) => line.trimEnd()), last].join("\n"));
    this.#isAtStart = text.endsWith("\n");
  }

  /** Adds text directly after the last word. */
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
