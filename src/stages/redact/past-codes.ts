/** What became of a stream's bytes, in order. */
export interface Sightings {
  /** Source bytes that were handed on as they came. They are only read during the call. */
  passed(bytes: Uint8Array): void;
  /** This mark was handed on in a secret's place. */
  mark(mark: Uint8Array): void;
  /** The last mark stands for this many source bytes more. */
  covered(bytes: number): void;
}

const ESCAPE = 27;
const BRACKET = 91;
const BLANK = 32;
/** No codes in a row that a terminal knows are longer. */
const MAX_CODES_BYTES = 128;
/** Codes that may wait for what stands around them; beyond that they are read like other bytes. */
const MAX_WAITING_BYTES = 64 * 1024;
const OUT_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** A code, and how many bytes without codes stand before it in the stream. */
interface Code {
  at: number;
  bytes: Uint8Array;
}

/**
 * Takes colours and other codes to a terminal out of words before secrets are looked for, and puts them back where they
 * stood, so that a secret is known though a program coloured part of it. Codes inside a secret are replaced with it.
 */
export class PastCodes implements Sightings {
  /** True from the first code on: only then are bytes copied. */
  isOn = false;
  /** Source bytes that marks stand for. */
  coveredBytes = 0;
  readonly #take: (bytes: Uint8Array) => void;
  readonly #seen: Sightings | undefined;
  /** Those from the first on are not handed on yet. */
  #codes: Code[] = [];
  #first = 0;
  #waitingBytes = 0;
  /** A code whose end has not come. */
  #open: Uint8Array = NOTHING;
  /** The last byte that was given out to be looked at. */
  #last = BLANK;
  /** Bytes without codes that were given out to be looked at, and those that came back. */
  #given = 0;
  #handedOn = 0;
  /** Made with the first code: most outputs have none. */
  #out = NOTHING;
  #outLength = 0;

  constructor(take: (bytes: Uint8Array) => void, seen: Sightings | undefined) {
    this.#take = take;
    this.#seen = seen;
  }

  /** The next bytes without the codes inside of words. `isLast` says that no code goes on behind them. */
  strip(chunk: Uint8Array, isLast = false): Uint8Array {
    const bytes = joined(this.#open, chunk);
    this.#open = NOTHING;
    let bare: Uint8Array | null = null;
    let length = 0;
    let [from, to] = [0, bytes.length];
    for (let at = bytes.indexOf(ESCAPE); at !== -1; ) {
      const end = codesEnd(bytes, at, isLast);
      if (end === -1) {
        this.#open = new Uint8Array(bytes.subarray(at));
        to = at;
        break;
      }
      // At a word's border codes are known to the rules: most stand there, and stay.
      const isInside = (at === 0 ? this.#last : (bytes[at - 1] as number)) > BLANK && (bytes[end] ?? 0) > BLANK;
      if (isInside && end > at && this.#waitingBytes <= MAX_WAITING_BYTES) {
        this.isOn = true;
        bare ??= new Uint8Array(bytes.length);
        bare.set(bytes.subarray(from, at), length);
        length += at - from;
        this.#codes.push({ at: this.#given + length, bytes: new Uint8Array(bytes.subarray(at, end)) });
        this.#waitingBytes += end - at;
        from = end;
      }
      at = bytes.indexOf(ESCAPE, Math.max(end, at + 1));
    }
    bare?.set(bytes.subarray(from, to), length);
    const whole = to === bytes.length ? bytes : bytes.subarray(0, to);
    const rest = bare === null ? whole : bare.subarray(0, length + to - from);
    this.#given += rest.length;
    this.#last = rest[rest.length - 1] ?? this.#last;
    return rest;
  }

  passed(bytes: Uint8Array): void {
    let from = 0;
    for (let code = this.#next(bytes.length - 1); code !== null; code = this.#next(bytes.length - 1)) {
      const to = Math.max(from, code.at - this.#handedOn);
      this.#pass(bytes.subarray(from, to));
      this.#pass(code.bytes);
      from = to;
    }
    this.#pass(bytes.subarray(from));
    this.#handedOn += bytes.length;
  }

  mark(mark: Uint8Array): void {
    this.#passCodes();
    this.#seen?.mark(mark);
    this.#write(mark);
  }

  covered(bytes: number): void {
    this.#handedOn += bytes;
    let all = bytes;
    for (let code = this.#next(-1); code !== null; code = this.#next(-1)) all += code.bytes.length;
    this.#seen?.covered(all);
    this.coveredBytes += all;
  }

  /** Hands on what was gathered; at the end of the stream also the codes behind its last byte. */
  flush(isLast = false): void {
    if (isLast) this.#passCodes();
    if (this.#outLength > 0) this.#take(this.#out.subarray(0, this.#outLength));
    this.#outLength = 0;
  }

  /** Codes that stand right before what comes next. */
  #passCodes(): void {
    for (let code = this.#next(0); code !== null; code = this.#next(0)) this.#pass(code.bytes);
  }

  /** Takes the first code that waits, if it stands up to so many bytes behind what was handed on. */
  #next(ahead: number): Code | null {
    const code = this.#codes[this.#first];
    if (code === undefined || code.at > this.#handedOn + ahead) return null;
    this.#waitingBytes -= code.bytes.length;
    if (++this.#first === this.#codes.length) {
      this.#codes = [];
      this.#first = 0;
    }
    return code;
  }

  #pass(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#seen?.passed(bytes);
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    if (!this.isOn) return;
    if (this.#out === NOTHING) this.#out = new Uint8Array(OUT_BYTES);
    if (this.#outLength + bytes.length > OUT_BYTES) this.flush();
    if (bytes.length > OUT_BYTES) return this.#take(bytes);
    this.#out.set(bytes, this.#outLength);
    this.#outLength += bytes.length;
  }
}

/** Where the codes that begin at `at` end: `at` if there is none, -1 if that cannot be told yet. */
function codesEnd(bytes: Uint8Array, at: number, isLast: boolean): number {
  let end = at;
  for (let place = at; place - at < MAX_CODES_BYTES; place++) {
    const byte = bytes[place];
    if (byte === undefined) return isLast ? end : -1;
    const column = place - end;
    if (column === 0 ? byte !== ESCAPE : column === 1 ? byte !== BRACKET : byte < 0x20 || byte > 0x7e) return end;
    if (column > 1 && byte >= 0x40) end = place + 1;
  }
  return end;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
