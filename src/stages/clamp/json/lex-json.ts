import { GrowingBytes, LastBytes } from "../../measure/held-bytes.ts";
import { decode } from "../fit.ts";
import type { SkimmedEntries } from "./skim-json.ts";
import { JsonSkimmer } from "./skim-json.ts";

/** The bytes of a token that is being read. All are held up to twice `most`; of a longer token, its two ends are. */
export class JsonToken {
  from = 0;
  line = 1;
  length = 0;
  readonly #most: number;
  readonly #head = new GrowingBytes();
  readonly #tail: LastBytes;

  /** `most` is what is held of either end. */
  constructor(most: number) {
    this.#most = most;
    this.#tail = new LastBytes(most);
  }

  start(from: number, line: number): void {
    this.from = from;
    this.line = line;
    this.length = 0;
    this.#head.clear();
    this.#tail.clear();
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.length += to - from;
    const border = Math.min(to, from + this.#most - this.#head.length);
    this.#head.add(bytes, from, border);
    if (border < to) this.#tail.add(bytes.subarray(border, to));
  }

  /** Returns all of it, or null if it is not all held. */
  whole(): Uint8Array | null {
    if (this.length > this.#most * 2) return null;
    if (this.length === this.#head.length) return this.#head.bytes.slice();
    const bytes = new Uint8Array(this.length);
    bytes.set(this.#head.bytes);
    bytes.set(this.#tail.bytes, this.#head.length);
    return bytes;
  }

  /** Returns its first bytes, and its last bytes that are not among them. */
  ends(): { head: Uint8Array; tail: Uint8Array } {
    return { head: this.#head.bytes.slice(), tail: this.#tail.bytes.slice() };
  }
}

/** Is told of a document's tokens in order. Positions are in source bytes. */
export interface JsonListener {
  open(kind: "array" | "object", at: number, line: number): void;
  /** `to` is after the bracket. */
  close(to: number, line: number): void;
  /** The token is only valid during the call; a string has its quotes. */
  key(token: JsonToken): void;
  text(token: JsonToken): void;
  /** A number, true, false or null. */
  scalar(token: JsonToken): void;
  /** Is asked before each entry of a group except its first. If the rest is to be passed over, returns what takes it. */
  skim?(at: number, line: number, depth: number): SkimmedEntries | null;
  /** Is told that those entries ended. Returns false if the held bytes are not right. */
  skimEnd?(entries: SkimmedEntries, at: number, line: number): boolean;
}

/** Deeper documents are taken as plain text. */
const MAX_DEPTH = 10_000;
/** A longer number is not looked at. */
const MAX_NUMBER_BYTES = 4096;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const LITERALS = new Set(["true", "false", "null"]);

const QUOTE = 34;
const BACKSLASH = 92;
/** Some programs begin their output with it. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** What may come next. */
type Want = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end";

/** Reads JSON objects and arrays, one or many, as their bytes come. If anything else comes, it stops and `failed` is true. */
export class JsonLexer {
  failed = false;
  /** How many complete values came that are inside no other. */
  values = 0;
  readonly #listener: JsonListener;
  readonly #token: JsonToken;
  readonly #kinds: ("array" | "object")[] = [];
  #want: Want = "value";
  #inside: "none" | "string" | "scalar" = "none";
  #isKey = false;
  /** The place in an escape: 0 outside, 1 after the backslash, 2 to 5 before each hexadecimal digit. */
  #escape = 0;
  #line: number;
  #at: number;
  #skimmer: JsonSkimmer | null = null;
  #skimmed: SkimmedEntries | null = null;

  /** `tokenBytes` is what is held of either end of one token. */
  constructor(listener: JsonListener, tokenBytes: number, at = 0, line = 1) {
    this.#listener = listener;
    this.#at = at;
    this.#line = line;
    this.#token = new JsonToken(tokenBytes);
  }

  get depth(): number {
    return this.#kinds.length;
  }

  add(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && !this.failed) {
      if (this.#skimmer !== null) at = this.#skim(bytes, at, this.#skimmer);
      else if (this.#inside === "string") at = this.#readString(bytes, at);
      else if (this.#inside === "scalar") at = this.#readScalar(bytes, at);
      else at = this.#readStructure(bytes, at);
    }
    this.#at += bytes.length;
  }

  /** Returns true if what came is one or more whole values. */
  end(): boolean {
    if (this.#skimmer !== null && this.#kinds.length === 0 && this.#skimmer.isBetween) this.#endSkim(this.#at);
    return !this.failed && this.#kinds.length === 0 && this.values > 0;
  }

  #readStructure(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === 10) this.#line++;
      else if (byte !== 32 && byte !== 13 && byte !== 9 && byte !== BYTE_ORDER_MARK[this.#at + at]) {
        if (this.#startsSkim(this.#at + at)) return at;
        if (!this.#take(byte, this.#at + at)) this.failed = true;
        if (this.failed) return at;
        // A loop of its own reads what begins here: a string after its quote, anything else from its first byte.
        if (this.#inside === "string") return this.#begin(bytes, at, 1);
        if (this.#inside === "scalar") return this.#begin(bytes, at, 0);
      }
    }
    return at;
  }

  /** Asks whether to pass over, where an entry begins that is not its group's first. */
  #startsSkim(at: number): boolean {
    if (this.#want !== (this.#kinds.at(-1) === "object" ? "key" : "value")) return false;
    const entries = this.#listener.skim?.(at, this.#line, this.#kinds.length) ?? null;
    if (entries === null) return false;
    this.#skimmed = entries;
    this.#skimmer = new JsonSkimmer(entries, at, this.#line, this.#kinds.length === 0);
    return true;
  }

  #skim(bytes: Uint8Array, from: number, skimmer: JsonSkimmer): number {
    const at = skimmer.add(bytes, from, this.#at);
    if (skimmer.isDone) this.#endSkim(this.#at + at);
    return at;
  }

  #endSkim(at: number): void {
    this.#line = this.#skimmer?.line ?? this.#line;
    const isRight = this.#listener.skimEnd?.(this.#skimmed as SkimmedEntries, at, this.#line) ?? true;
    this.#skimmer = null;
    this.#skimmed = null;
    if (!isRight) this.failed = true;
    if (this.#kinds.length > 0) this.#want = "comma-or-end";
  }

  #begin(bytes: Uint8Array, at: number, taken: number): number {
    this.#token.start(this.#at + at, this.#line);
    if (taken > 0) this.#token.add(bytes, at, at + taken);
    return at + taken;
  }

  #take(byte: number, at: number): boolean {
    const want = this.#want;
    switch (byte) {
      case 0x7b:
      case 0x5b:
        return (want === "value" || want === "value-or-end") && this.#open(byte === 0x7b ? "object" : "array", at);
      case 0x7d:
        return (want === "key-or-end" || want === "comma-or-end") && this.#close("object", at + 1);
      case 0x5d:
        return (want === "value-or-end" || want === "comma-or-end") && this.#close("array", at + 1);
      case 0x2c:
        if (want !== "comma-or-end" || this.#kinds.length === 0) return false;
        this.#want = this.#kinds.at(-1) === "object" ? "key" : "value";
        return true;
      case 0x3a:
        if (want !== "colon") return false;
        this.#want = "value";
        return true;
      case QUOTE:
        if (want === "colon" || want === "comma-or-end" || this.#kinds.length === 0) return false;
        this.#isKey = want === "key" || want === "key-or-end";
        this.#inside = "string";
        return true;
      default:
        if ((want !== "value" && want !== "value-or-end") || this.#kinds.length === 0) return false;
        this.#inside = "scalar";
        return true;
    }
  }

  #open(kind: "array" | "object", at: number): boolean {
    if (this.#kinds.length >= MAX_DEPTH) return false;
    this.#listener.open(kind, at, this.#line);
    this.#kinds.push(kind);
    this.#want = kind === "object" ? "key-or-end" : "value-or-end";
    return true;
  }

  #close(kind: "array" | "object", to: number): boolean {
    if (this.#kinds.at(-1) !== kind) return false;
    this.#kinds.pop();
    this.#listener.close(to, this.#line);
    this.#afterValue();
    return true;
  }

  #afterValue(): void {
    if (this.#kinds.length > 0) this.#want = "comma-or-end";
    else {
      this.#want = "value";
      this.values++;
    }
  }

  #readString(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (this.#escape > 0) {
        if (!this.#takeEscaped(byte)) {
          this.failed = true;
          return at;
        }
      } else if (byte === QUOTE) {
        this.#token.add(bytes, from, at + 1);
        this.#endString();
        return at + 1;
      } else if (byte === BACKSLASH) this.#escape = 1;
      else if (byte < 32) {
        this.failed = true;
        return at;
      }
    }
    this.#token.add(bytes, from, at);
    return at;
  }

  #takeEscaped(byte: number): boolean {
    if (this.#escape === 1) {
      const isUnicode = byte === 0x75;
      this.#escape = isUnicode ? 2 : 0;
      return isUnicode || ESCAPED.has(byte);
    }
    this.#escape = this.#escape === 5 ? 0 : this.#escape + 1;
    return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
  }

  #endString(): void {
    this.#inside = "none";
    if (this.#isKey) {
      this.#listener.key(this.#token);
      this.#want = "colon";
      return;
    }
    this.#listener.text(this.#token);
    this.#afterValue();
  }

  #readScalar(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && !ENDS_SCALAR.has(bytes[at] as number)) at++;
    this.#token.add(bytes, from, at);
    if (at < bytes.length) this.#endScalar();
    return at;
  }

  #endScalar(): void {
    this.#inside = "none";
    const whole = this.#token.length > MAX_NUMBER_BYTES ? null : this.#token.whole();
    const text = whole === null ? "" : decode(whole);
    if (whole === null || !(LITERALS.has(text) || NUMBER.test(text))) {
      this.failed = true;
      return;
    }
    this.#listener.scalar(this.#token);
    this.#afterValue();
  }
}

const ESCAPED = new Set([34, 92, 47, 98, 102, 110, 114, 116]);
const ENDS_SCALAR = new Set([10, 13, 9, 32, 0x2c, 0x5d, 0x7d, 0x3a, 0x7b, 0x5b, QUOTE]);
