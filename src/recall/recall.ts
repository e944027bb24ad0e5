import type { Searcher } from "../contract/searcher.ts";
import type { Extent } from "../contract/size.ts";
import type { ByteRange, Scope, Store } from "../contract/store.ts";
import { SpillwayError } from "../errors.ts";
import {
  binaryArtifactNote,
  EMPTY_ARTIFACT,
  NOTHING_AROUND,
  outsideNote,
  pageNote,
} from "../stages/mark/recall-texts.ts";
import { describeBinary, SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { bytesFor, characterBorder, type Fitted, fitEnd, fitStart, type PageRoom } from "./fit-page.ts";
import { type OpenArtifact, openArtifact } from "./open-artifact.ts";
import {
  type AroundPattern,
  aim,
  aimAround,
  asksPastEnd,
  checkQuery,
  isAroundPattern,
  type RecallWant,
  type Target,
} from "./recall-want.ts";

/** Who reads an artifact back, for the event that records it. */
export interface ReadBy {
  /** A model by default. What people read is recorded, and not counted as read back. */
  reads?: "model" | "person" | undefined;
  /** A name for who reads, such as that of a token. */
  readBy?: string | undefined;
}

/** Options of `recall`. */
export interface RecallOptions extends ReadBy {
  /** The most that text and note may have together. */
  limits?: { maxChars?: number; maxLines?: number };
  /** A searcher. It is needed to read around a pattern. */
  searcher?: Searcher | null;
  /** Shows an artifact even if it is binary, with U+FFFD for bytes that are not UTF-8. */
  showBinary?: boolean;
  signal?: AbortSignal;
}

/** One page of an artifact. `text` is the decoded form of exactly the bytes `bytes`; `note` is Spillway's. */
export interface RecallPage {
  id: string;
  text: string;
  /** The first and last line of which something is shown, or [0, 0] if nothing is shown. */
  lines: [from: number, to: number];
  /** From the first byte to before the last. */
  bytes: [from: number, to: number];
  total: Extent;
  /** The want that returns the rest of what was wanted, or null if nothing is left. */
  next: RecallWant | null;
  /** True if not all of the wanted part is shown. */
  clipped: boolean;
  /** Says which part this is and how to go on. It is empty if the page is the whole artifact. */
  note: string;
}

/** Returns what a model reads: the text, then the note on its own line. It is within the page's limits. */
export function recallText({ text, note }: RecallPage): string {
  if (text === "" || note === "") return text + note;
  return text.endsWith("\n") ? text + note : `${text}\n${note}`;
}

/** Reads one bounded part of an artifact, without reading the rest. */
export async function recall(
  store: Store,
  id: string,
  scope: Scope,
  want: RecallWant = { head: Number.POSITIVE_INFINITY },
  options: RecallOptions = {},
): Promise<RecallPage> {
  const open = await openArtifact(store, id, scope);
  try {
    return await readPage(open, id, want, options);
  } finally {
    await open.close();
  }
}

async function readPage(open: OpenArtifact, id: string, want: RecallWant, options: RecallOptions): Promise<RecallPage> {
  const { bytes, lines } = open.artifact;
  const total = { bytes, lines };
  const room = {
    maxChars: within("recallChars", options.limits?.maxChars),
    maxLines: within("recallLines", options.limits?.maxLines),
  };
  const target = isAroundPattern(want) ? await find(open, want.around, options) : aim(want, total);
  options.signal?.throwIfAborted();

  const told = (note: string, clipped = false): RecallPage => {
    const fits = note.length <= room.maxChars && room.maxLines > 0;
    return { id, text: "", lines: [0, 0], bytes: [0, 0], total, next: null, clipped, note: fits ? note : "" };
  };
  if (target === null) return told(NOTHING_AROUND);
  if (bytes === 0) return told(EMPTY_ARTIFACT);
  if ("outside" in target) return told(outsideNote(target.outside, total));
  if ("lines" in target && target.lines[1] < target.lines[0]) return told("");
  const kind = options.showBinary ? null : describeBinary(await open.read({ from: 0, to: SAMPLE_BYTES }));
  if (kind !== null) return told(binaryArtifactNote(kind, total), true);

  const whole = await readTarget(open, target, room);
  const isPast = asksPastEnd(want, total);
  if (whole.bytes[0] === 0 && whole.bytes[1] === bytes && !isPast) return { id, total, ...page(whole), note: "" };
  const left = withoutNote(room, total);
  if (left === null) return { id, total, ...page(whole), note: "" };
  const shown = await readTarget(open, target, left);
  return { id, total, ...page(shown), note: pageNote(shown, total, shown.next, isPast) };
}

function page({ text, lines, bytes, next, clipped }: Shown): Omit<RecallPage, "id" | "total" | "note"> {
  return { text, lines, bytes, next, clipped };
}

/** Returns the room without the note, or null if the note would take most of it. */
function withoutNote(room: PageRoom, { bytes, lines }: Extent): PageRoom | null {
  const widest: Parameters<typeof pageNote>[0] = {
    lines: [lines, lines + 1],
    bytes: [bytes, bytes],
    startsInside: true,
    endsInside: true,
  };
  const note = (next: Parameters<typeof pageNote>[2]) => pageNote(widest, { bytes, lines }, next, true).length;
  const chars = Math.max(note(null), note({ bytes: [bytes, bytes] })) + 2;
  if (room.maxLines < 2 || room.maxChars < 2 * chars) return null;
  return { maxChars: room.maxChars - chars, maxLines: room.maxLines - 1 };
}

async function find(open: OpenArtifact, around: AroundPattern, options: RecallOptions): Promise<Target | null> {
  const { searcher, signal } = options;
  if (!searcher) throw new SpillwayError("missing-part", "Reading around a pattern needs a searcher.");
  const { hits } = await searcher.search(await open.source(), {
    ...checkQuery({ ...around, max: 1 }),
    ...(signal === undefined ? {} : { signal }),
  });
  const [hit] = hits;
  if (hit === undefined) return null;
  return aimAround(hit, around.context, open.artifact);
}

function within(name: "recallChars" | "recallLines", value: number | undefined): number {
  const { default: usual, ceiling } = NUMBERS[name];
  if (value === undefined) return usual;
  return value > 0 ? Math.min(Math.floor(value), ceiling) : 0;
}

/** The part of a target that is shown. */
interface Shown {
  text: string;
  lines: [from: number, to: number];
  bytes: [from: number, to: number];
  startsInside: boolean;
  endsInside: boolean;
  next: { lines: [number, number] } | { bytes: [number, number] } | null;
  clipped: boolean;
}

type Aimed = Exclude<Target, { outside: unknown }>;
type AimedLines = Extract<Target, { lines: unknown }>;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** The most bytes of one character that can be outside a window's border. */
const MARGIN = 3;

/** A part of an artifact in memory. `from` and `to` are offsets in the artifact; `bytes` begins at offset `base`. */
interface Window {
  bytes: Uint8Array;
  base: number;
  from: number;
  to: number;
}

/** Reads as much of a target as fits. */
async function readTarget(open: OpenArtifact, target: Aimed, room: PageRoom): Promise<Shown> {
  if ("bytes" in target) {
    const [from, to] = target.bytes;
    const window = await load(open, { from, to: Math.min(to, from + bytesFor(room)) });
    const fitted = fit(window, room, fitStart);
    const first = await open.lineAt(fitted.from);
    const shown = describe(open, window, fitted, first);
    return finish(shown, isShort(shown) || fitted.to >= to ? null : { bytes: [fitted.to, to] }, fitted.to < to);
  }
  if (target.keep === "start") return readStart(open, target, room);
  if (target.keep === "end") return readEnd(open, target, room);
  return readAround(open, target, room);
}

async function readStart(open: OpenArtifact, { lines: [first, last] }: AimedLines, room: PageRoom): Promise<Shown> {
  const range = await open.locate([first, Math.min(last, first + room.maxLines)]);
  const window = await load(open, { from: range.from, to: Math.min(range.to, range.from + bytesFor(room)) });
  return goOn(open, describe(open, window, fit(window, room, fitStart), first), last, false);
}

async function readEnd(open: OpenArtifact, { lines: [first, last] }: AimedLines, room: PageRoom): Promise<Shown> {
  const range = await open.locate([Math.max(first, last - room.maxLines), last]);
  const window = await load(open, { from: Math.max(range.from, range.to - bytesFor(room)), to: range.to });
  const fitted = fit(window, room, fitEnd);
  const shown = describe(open, window, fitted, last - fitted.lines + 1);
  if (isShort(shown)) return finish(shown, null, true);
  if (shown.startsInside) {
    const { from } = await open.locate([first, first]);
    return finish(shown, { bytes: [from, fitted.from] }, true);
  }
  const isAll = shown.lines[0] <= first;
  return finish(shown, isAll ? null : { lines: [first, shown.lines[0] - 1] }, !isAll);
}

async function readAround(
  open: OpenArtifact,
  target: Extract<Target, { keep: "around" }>,
  room: PageRoom,
): Promise<Shown> {
  const { line } = target;
  const [first, last] = target.lines;
  const lineRange = await open.locate([line, line]);
  const range = await open.locate([Math.max(first, line - room.maxLines), Math.min(last, line + room.maxLines)]);
  const middle = Math.min(lineRange.from + target.column, lineRange.to);
  const most = bytesFor(room);
  const window = await load(open, {
    from: Math.max(range.from, middle - most),
    to: Math.min(range.to, middle + most),
  });
  const half = { maxChars: Math.floor(room.maxChars / 2), maxLines: Math.floor(room.maxLines / 2) };
  const anchor = characterBorder(window.bytes, middle - window.base) + window.base;
  const before = fit({ ...window, to: anchor }, half, fitEnd);
  let fitted = fit({ ...window, from: before.from }, room, fitStart);
  if (fitted.to <= anchor) {
    // The matching line is too long to be shown after other lines. Shows only its part around the match.
    const own = fit({ ...window, from: Math.max(window.from, lineRange.from), to: anchor }, half, fitEnd);
    fitted = fit({ ...window, from: own.from }, room, fitStart);
  }
  const breaks = countBreaks(window.bytes.subarray(fitted.from - window.base, anchor - window.base));
  const shown = describe(open, window, fitted, line - breaks);
  return goOn(open, shown, last, shown.startsInside || shown.lines[0] > first);
}

/** Makes the rest of the wanted lines the next page. */
async function goOn(open: OpenArtifact, shown: Shown, last: number, isClippedBefore: boolean): Promise<Shown> {
  if (isShort(shown)) return finish(shown, null, true);
  if (shown.endsInside) {
    const { to } = await open.locate([last, last]);
    return finish(shown, { bytes: [shown.bytes[1], to] }, true);
  }
  const isAll = shown.lines[1] >= last;
  return finish(shown, isAll ? null : { lines: [shown.lines[1] + 1, last] }, !isAll || isClippedBefore);
}

function finish(shown: Shown, next: Shown["next"], clipped: boolean): Shown {
  return { ...shown, next, clipped };
}

/** Returns true if nothing fits. There is no next page then, because asking for it would never end. */
function isShort(shown: Shown): boolean {
  return shown.bytes[0] === shown.bytes[1];
}

async function load(open: OpenArtifact, range: ByteRange): Promise<Window> {
  const base = Math.max(0, range.from - MARGIN);
  const bytes = await open.read({ from: base, to: range.to + MARGIN });
  const from = characterBorder(bytes, range.from - base) + base;
  return { bytes, base, from, to: Math.max(from, characterBorder(bytes, range.to - base) + base) };
}

function fit(window: Window, room: PageRoom, how: typeof fitStart): Fitted {
  const { bytes, base } = window;
  const fitted = how(bytes, window.from - base, window.to - base, room);
  return { ...fitted, from: fitted.from + base, to: fitted.to + base };
}

function describe(open: OpenArtifact, { bytes, base }: Window, { from, to, lines }: Fitted, first: number): Shown {
  const isEmpty = from === to;
  return {
    text: decoder.decode(bytes.subarray(from - base, to - base)),
    lines: isEmpty ? [0, 0] : [first, first + lines - 1],
    bytes: [from, to],
    startsInside: from > 0 && bytes[from - base - 1] !== 10,
    endsInside: to < open.artifact.bytes && bytes[to - base - 1] !== 10,
    next: null,
    clipped: false,
  };
}

function countBreaks(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
