import type { Tokenizer } from "htmlparser2";
import { BREAKS, CLOSED, FRAME, UNREAD } from "./html-elements.ts";
import { TextLines } from "./text-lines.ts";

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];

const HEADING = /^h([1-6])$/;
/** Deeper lists are set in no further. */
const MAX_LIST_DEPTH = 8;
/** A longer address is of no use to a reader. */
const MAX_ADDRESS_CHARS = 300;
/** The sign behind a heading that links to it. */
const ANCHOR = /^\s*[#¶§\u{1F517}]\uFE0F?\s*$/u;
const FOLLOWED = /^(?!#|javascript:|data:)\S+$/i;

/**
 * Writes what a page says as its tokens come: headings, lists, rows, links. There is no tree of the page, so that
 * however its elements stand in each other, time and memory stay in proportion to it.
 */
export class HtmlText implements Callbacks {
  readonly #html: string;
  readonly #lines = new TextLines();
  #name = "";
  #attribute = "";
  #value = "";
  #href = "";
  #alt = "";
  #isHidden = false;
  /** The element that is passed over, and how many of its name are open. */
  #unread = "";
  #unreadDepth = 0;
  #frames = 0;
  #verbatim = 0;
  #isVerbatimStart = false;
  #link = "";
  /** In a link to a place in the page. */
  #isAnchor = false;
  /** Of each open list the number of its last entry; null where they have none. */
  readonly #lists: (number | null)[] = [];
  #cells = 0;

  constructor(html: string) {
    this.#html = html;
  }

  /** What came so far, as text. */
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
    // The break after <pre> is none of its text.
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

  /** A list in a list stands as near as its entries do. */
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
