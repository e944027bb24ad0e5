import type { Searcher } from "../contract/searcher.ts";
import type { Extent } from "../contract/size.ts";
import type { Scope, Store } from "../contract/store.ts";
import { SpillwayError } from "../errors.ts";
import {
  binaryArtifactNote,
  EMPTY_ARTIFACT,
  NOTHING_AROUND,
  outsideNote,
  pageNote,
} from "../stages/mark/recall-texts.ts";
import { describeBinary } from "../stages/measure/describe-binary.ts";
import { SAMPLE_BYTES } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { checkQuery } from "./check-query.ts";
import type { PageRoom } from "./fit-page.ts";
import { type OpenArtifact, openArtifact } from "./open-artifact.ts";
import { readTarget, type Shown } from "./read-target.ts";
import { type AroundPattern, aim, aimAround, isAroundPattern, type RecallWant, type Target } from "./recall-want.ts";

/** How a page is read. */
export interface RecallOptions {
  /** What text and note together may be. */
  limits?: { maxChars?: number; maxLines?: number };
  /** Needed to read around a pattern. */
  searcher?: Searcher | null;
  /** Shows an artifact that is no text too, with U+FFFD for what is not UTF-8. */
  showBinary?: boolean;
  signal?: AbortSignal;
}

/** A page of an artifact. `text` is exactly its bytes `bytes`, decoded; `note` is ours. */
export interface RecallPage {
  id: string;
  text: string;
  /** First and last line of which something is shown; [0, 0] if nothing is. */
  lines: [from: number, to: number];
  /** From the first to before the last. */
  bytes: [from: number, to: number];
  total: Extent;
  /** What to ask for to get the rest of what was wanted. */
  next: RecallWant | null;
  /** Not all that was asked for, and is there, is shown. */
  clipped: boolean;
  /** Which part this is and how to go on; empty when the page is the whole artifact. */
  note: string;
}

const recalled = new WeakSet<object>();

/** True for a page that `recall` gave: bounded already, so never to be clamped or spilled again. */
export function isRecalled(value: unknown): boolean {
  return typeof value === "object" && value !== null && recalled.has(value);
}

/** What a model reads: the text, then the note on a line of its own. Within the page's limits. */
export function recallText({ text, note }: RecallPage): string {
  if (text === "" || note === "") return text + note;
  return text.endsWith("\n") ? text + note : `${text}\n${note}`;
}

/** Reads part of an artifact back, bounded, without reading the rest. */
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
    return brand({ id, text: "", lines: [0, 0], bytes: [0, 0], total, next: null, clipped, note: fits ? note : "" });
  };
  if (target === null) return told(NOTHING_AROUND);
  if (bytes === 0) return told(EMPTY_ARTIFACT);
  if ("outside" in target) return told(outsideNote(target.outside, total));
  if ("lines" in target && target.lines[1] < target.lines[0]) return told("");
  const kind = options.showBinary ? null : describeBinary(await open.read({ from: 0, to: SAMPLE_BYTES }));
  if (kind !== null) return told(binaryArtifactNote(kind, total), true);

  const whole = await readTarget(open, target, room);
  if (whole.bytes[0] === 0 && whole.bytes[1] === bytes) return brand({ id, total, ...page(whole), note: "" });
  const left = withoutNote(room, total);
  if (left === null) return brand({ id, total, ...page(whole), note: "" });
  const shown = await readTarget(open, target, left);
  return brand({ id, total, ...page(shown), note: pageNote(shown, total, shown.next) });
}

function page({ text, lines, bytes, next, clipped }: Shown): Omit<RecallPage, "id" | "total" | "note"> {
  return { text, lines, bytes, next, clipped };
}

function brand(value: RecallPage): RecallPage {
  recalled.add(value);
  return value;
}

/** What a note leaves of the room; null where it would take most of it. */
function withoutNote(room: PageRoom, { bytes, lines }: Extent): PageRoom | null {
  const widest: Parameters<typeof pageNote>[0] = {
    lines: [lines, lines + 1],
    bytes: [bytes, bytes],
    startsInside: true,
    endsInside: true,
  };
  const chars = pageNote(widest, { bytes, lines }, { bytes: [bytes, bytes] }).length + 2;
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
