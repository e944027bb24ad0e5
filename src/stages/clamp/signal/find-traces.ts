import { decode } from "../fit.ts";
import { FLAG } from "./line-features.ts";
import type { LineScan } from "./scan-line.ts";
import { IS_BLANK, IS_FRAME, IS_MESSAGE, REWRITTEN, type UnitStore } from "./unit-store.ts";

/** How far from its frames a message is looked for, in lines: others may write in between. */
const REACH = 8;
const MAX_CHARS = 400;

/** Stands over frames. */
const HEADER =
  /^\W*(?:Traceback \(most recent call last\)|(?:current )?(?:stack ?(?:trace|traceback|backtrace)|call (?:trace|stack)|backtrace|CallStack \(from HasCallStack\))|goroutine \d+ \[.*\]|thread \d+.* crashed):$/i;
/** Where frames begin so, the message stands below them. */
const FRAMES_FIRST = /Traceback \(most recent call last\)|^\s*File "/;
/** What was thrown, by its name or with its place, or the words of a program that gave up. */
const MESSAGE =
  /^\W*(?:[A-Za-z_$][\w$]*(?:\.|\\|::))+[\w$]+(?:: |$)|[A-Za-z](?:Error|Exception|Interrupt)\b|^\W*(?:\*\* |panic: |fatal |uncaught |unhandled |caused by: |exception |what\(\):)|fatal error: |panicked at|Sanitizer: |:\d+:in [`']| at \S+ line \d+\.?$/i;
/** A frame as macOS writes it, below a header: `2    pay    0x0000000103a2b step3 + 24`. */
const ADDRESS_FRAME = /^\s*\d+ +\S+ +0x[\da-f]+ /i;
/** A frame as Perl writes it: `main::pay("7") called at pay.pl line 12`. */
const CALLED_FRAME = / called at \S+ line \d+$/;
/** A frame as Rails and Ruby's own backtraces have it, at any indent: `app/models/order.rb:7:in 'pay'`. */
const PLACED_FRAME = /:\d+:in [`'][^`']*'$/;
/** Stands among the frames in Node: what is below it is the trace of another exception. */
const CAUSE = /^\s*\[cause\]: /;
/** pytest writes an E before what an assertion or an exception says, below the source that the test stopped in. */
const NOTED = /^E {3,}\S/;
/** The first byte of such a line: few lines have to become text. */
const CAPITAL_E = 69;
/** An exception inside of the one that the line above tells of, as C# writes it. */
const INNER = /^\s*---> /;
/** A line of a log that tells of no failure. */
const CALM = /^(?:\S+ ){0,4}\[?(?:TRACE|DEBUG|INFO|NOTICE)\b/;

/**
 * Finds the frames of stack traces and the lines that say what went wrong: in most languages above the frames, in Python below
 * them. The rows of a trace get its number, and those that say what went wrong are marked.
 */
export class TraceFinder {
  #count = 0;
  #trace = 0;
  /** Rows since the last frame; more than `REACH` if no trace is open. */
  #since = REACH + 1;
  #wasWeak = false;
  #wasNoted = false;
  /** The message is still to come, on a line that is indented no more than this; -1 if it is not. */
  #awaited = -1;

  /** Looks at the newest row. */
  see(store: UnitStore, row: number, scan: LineScan): void {
    store.trace[row] = 0;
    const flags = store.flags[row] as number;
    if ((flags & IS_BLANK) !== 0 || (store.kind[row] as number) > REWRITTEN) return;
    const isNoted = firstByte(store, row) === CAPITAL_E && NOTED.test(textOf(store, row));
    // The next lines with an E are details of the first.
    if (isNoted && !this.#wasNoted) {
      this.#trace = ++this.#count;
      this.#mark(store, row);
    }
    this.#wasNoted = isNoted;
    if (isNoted) return;
    const isFrame = (flags & IS_FRAME) !== 0;
    const indent = indentOf(store, row);
    const isWeak = isWeakFrame(store, row, indent, scan);
    const isOpen = ++this.#since <= REACH;
    const isHeader = !isFrame && scan.has(FLAG["colon end"]) && HEADER.test(textOf(store, row));
    const isInTrace = isOpen && (isWeak || ADDRESS_FRAME.test(textOf(store, row)));
    if (isFrame || isHeader || isInTrace || (isWeak && this.#wasWeak)) {
      // Of lines that only name a place in a file it takes two to make a trace.
      if (!isOpen || isHeader) this.#open(store, isFrame || isHeader ? row : row - 1);
      store.trace[row] = this.#trace;
      this.#since = 0;
    } else if (isOpen && this.#awaited >= 0) {
      if (indent <= this.#awaited) this.#takeBelow(store, row);
    } else if (scan.indent === 0 || (isOpen && CAUSE.test(textOf(store, row)))) this.#since = REACH + 1;
    this.#wasWeak = isWeak;
  }

  #takeBelow(store: UnitStore, row: number): void {
    const text = textOf(store, row);
    if (CALM.test(text)) return;
    this.#mark(store, row);
    // Something else may have come in between.
    if (MESSAGE.test(text)) this.#since = REACH + 1;
  }

  /** Begins a trace with a row, or goes on with the one before it. */
  #open(store: UnitStore, first: number): void {
    const text = textOf(store, first);
    this.#trace = ++this.#count;
    this.#awaited = FRAMES_FIRST.test(text) ? indentOf(store, first) : -1;
    store.trace[first] = this.#trace;
    if (this.#awaited >= 0) return;
    let below = -1;
    let nearest = -1;
    for (let row = first - 1, lines = 0; row >= 0 && lines < REACH; row--) {
      const trace = store.trace[row] as number;
      if (trace !== 0 && nearest === -1) store.trace[first] = this.#trace = trace;
      if (trace !== 0 || (store.kind[row] as number) > REWRITTEN) break;
      if (((store.flags[row] as number) & IS_BLANK) !== 0) continue;
      lines++;
      const above = textOf(store, row);
      if (CALM.test(above)) continue;
      if (INNER.test(above)) {
        this.#mark(store, row);
        continue;
      }
      if (nearest === -1) nearest = row;
      if (MESSAGE.test(above)) {
        // What ends in a colon is said on the next line.
        nearest = above.endsWith(":") && below !== -1 ? below : row;
        break;
      }
      below = row;
    }
    if (nearest !== -1) this.#mark(store, nearest);
  }

  #mark(store: UnitStore, row: number): void {
    store.trace[row] = this.#trace;
    store.flags[row] = (store.flags[row] as number) | IS_MESSAGE;
  }
}

/** What a log puts before a line ends with one blank. */
function indentOf({ indent, prefix }: UnitStore, row: number): number {
  return Math.max(0, (indent[row] as number) - Math.sign(prefix[row] as number));
}

function firstByte({ bytes, byteAt, prefix }: UnitStore, row: number): number | undefined {
  const before = prefix[row] as number;
  return bytes[(byteAt[row] as number) + before + Math.sign(before)];
}

/** A line without what a log puts before it. */
function textOf({ bytes, byteAt, byteLength, prefix }: UnitStore, row: number): string {
  const before = prefix[row] as number;
  const at = (byteAt[row] as number) + before;
  const text = decode(bytes.subarray(at, at + Math.min((byteLength[row] as number) - before, MAX_CHARS))).trimEnd();
  return before === 0 ? text : text.replace(/^ /, "");
}

/** Returns true if a row may be a frame that has none of the usual forms: it names a place in a file, or a function. */
function isWeakFrame(store: UnitStore, row: number, indent: number, scan: LineScan): boolean {
  const isPlace = scan.has(FLAG["file:line"]);
  if (indent > 0 && (isPlace || (scan.has(FLAG["::"]) && CALLED_FRAME.test(textOf(store, row))))) return true;
  return isPlace && scan.has(FLAG.quote) && PLACED_FRAME.test(textOf(store, row));
}
