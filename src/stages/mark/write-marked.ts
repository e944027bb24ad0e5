import type { Cut, Room } from "../../contract/cut.ts";
import type { Unit } from "../../contract/limits.ts";
import type { Size, Total } from "../../contract/size.ts";
import type { Cutter } from "../../contract/strategy.ts";
import { binaryKeptText, restWords } from "./access.ts";
import { type Form, isPiece, type MarkRequest, type Measure, markForms } from "./forms.ts";
import { quotesMarker, tagFor, withTag } from "./quoted.ts";
import { binaryNote, NO_OUTPUT, notShown } from "./texts.ts";

/** A cut as the model reads it. */
export interface Marked {
  text: string;
  cut: Cut;
}

/** Marks a cut. The text never exceeds the limits: it is measured as a whole, and the cut is made again where it is over. */
export function writeMarked(cutter: Cutter, total: Total, request: MarkRequest, measure: Measure): Marked {
  const { siblings } = request;
  const plain = tryForms(cutter, total, request, measure, "");
  let shown = pieceTexts(plain.cut);
  if (siblings === undefined && !plain.cut.isQuoting && !quotesMarker(shown)) return plain;
  for (let tries = 0; ; tries++) {
    const tag = tagFor(shown, siblings);
    const closing = request.closing.map((line) => withTag(line, tag));
    const marked = tryForms(cutter, total, { ...request, closing }, measure, tag);
    const pieces = pieceTexts(marked.cut);
    // With less room another cut is made, and what it shows may have the tag.
    if (!pieces.includes(tag) || tries === TRIES) return marked;
    shown += `\n${pieces}`;
  }
}

function pieceTexts(cut: Cut): string {
  return cut.parts
    .filter(isPiece)
    .map((piece) => piece.text)
    .join("\n");
}

function tryForms(cutter: Cutter, total: Total, request: MarkRequest, measure: Measure, tag: string): Marked {
  for (const form of markForms(request, measure, tag)) {
    const marked = tryForm(form, cutter, total, request, measure, tag);
    if (marked !== null) return marked;
  }
  const cut = cutter.cut(everything(request));
  const cutBy = cut.omitted.bytes > 0 ? tightest(total, request) : null;
  return { text: lastWords(total, request, measure), cut: { ...cut, cutBy } };
}

/** Markers may take up to this share of a limit; beyond it a leaner form serves better. */
const MARKER_SHARE = 0.5;
const TRIES = 6;

function tryForm(
  form: Form,
  cutter: Cutter,
  total: Total,
  request: MarkRequest,
  measure: Measure,
  tag: string,
): Marked | null {
  const { gap, fixed } = form.room(total);
  let room: Room = { gap, fixed, tag };
  let best: Marked | null = null;
  for (let tries = 0; tries < TRIES && leavesRoom(room, request); tries++) {
    const cut = cutter.cut(room);
    const text = form.write(cut);
    const size = measure(text);
    const slack = slackOf(size, request);
    const markers = combine(size, piecesSize(cut, measure), (all, pieces) => all - pieces);
    const gaps = Math.max(1, cut.parts.filter((part) => !isPiece(part) && !part.noted).length);
    const charged = combine(markers, gap, (all, part) => Math.max(0, all - gaps * part));
    if (isOver(slack)) {
      // What the markers really took, and more than was charged before.
      const overshoot = combine(room.fixed, slack, (has, left) => has + Math.max(0, -left));
      room = { gap, fixed: combine(charged, overshoot, Math.max), tag };
      continue;
    }
    if (best !== null && cut.kept.bytes <= best.cut.kept.bytes) break;
    best = { text, cut };
    // The same room would give the same cut again.
    if (isSame(charged, room.fixed)) break;
    // The bounds charged too much: what the markers really took leaves more for the output.
    room = { gap, fixed: charged, tag };
  }
  return best !== null && best.cut.kept.bytes > 0 ? best : null;
}

function piecesSize(cut: Cut, measure: Measure): Size {
  return cut.parts
    .filter(isPiece)
    .map((piece) => measure(piece.text))
    .reduce((sum, size) => combine(sum, size, (a, b) => a + b), { bytes: 0, chars: 0, lines: 0, tokens: 0 });
}

function slackOf(size: Size, { limits }: MarkRequest): Size {
  return {
    bytes: (limits.maxBytes ?? Number.POSITIVE_INFINITY) - size.bytes,
    chars: (limits.maxChars ?? Number.POSITIVE_INFINITY) - size.chars,
    lines: (limits.maxLines ?? Number.POSITIVE_INFINITY) - size.lines,
    tokens: (limits.maxTokens ?? Number.POSITIVE_INFINITY) - size.tokens,
  };
}

function isOver({ bytes, chars, lines, tokens }: Size): boolean {
  return bytes < 0 || chars < 0 || lines < 0 || tokens < 0;
}

function combine(a: Size, b: Size, join: (a: number, b: number) => number): Size {
  return {
    bytes: join(a.bytes, b.bytes),
    chars: join(a.chars, b.chars),
    lines: join(a.lines, b.lines),
    tokens: join(a.tokens, b.tokens),
  };
}

function isSame(a: Size, b: Size): boolean {
  return a.bytes === b.bytes && a.chars === b.chars && a.lines === b.lines && a.tokens === b.tokens;
}

function leavesRoom({ fixed, gap }: Room, { limits }: MarkRequest): boolean {
  const within = (unit: keyof Size, limit: number | undefined) =>
    limit === undefined || fixed[unit] + gap[unit] <= limit * MARKER_SHARE;
  return (
    within("bytes", limits.maxBytes) &&
    within("chars", limits.maxChars) &&
    within("lines", limits.maxLines) &&
    within("tokens", limits.maxTokens)
  );
}

/** The limit that allows the least of an output; tokens only where nothing else is limited. */
function tightest(total: Total, { limits }: MarkRequest): Unit {
  const allowed: [Unit, number][] = [
    ["lines", (limits.maxLines ?? Number.POSITIVE_INFINITY) / total.lines],
    ["bytes", (limits.maxBytes ?? Number.POSITIVE_INFINITY) / total.bytes],
    ["chars", (limits.maxChars ?? Number.POSITIVE_INFINITY) / total.chars],
  ];
  const [unit, share] = allowed.reduce((least, one) => (one[1] < least[1] ? one : least));
  return share === Number.POSITIVE_INFINITY ? "tokens" : unit;
}

/** Room that leaves nothing, so that the receipt names a limit that is in force. */
function everything({ limits }: MarkRequest): Room {
  const all = (limit: number | undefined) => (limit === undefined ? 0 : Number.POSITIVE_INFINITY);
  const fixed = {
    bytes: all(limits.maxBytes),
    chars: all(limits.maxChars),
    lines: all(limits.maxLines),
    tokens: all(limits.maxTokens),
  };
  return { fixed, gap: { bytes: 0, chars: 0, lines: 0, tokens: 0 } };
}

/** The least that still says something was held back. */
const LEAST = ["[cut]", "cut"];

/** Where nothing of the output has room: the first of these that fits, and at last nothing. */
function lastWords(total: Total, request: MarkRequest, measure: Measure): string {
  const { exitCode, savedCopy } = request;
  const rest = restWords(savedCopy);
  const exit = exitCode === null ? "" : `; exit code ${exitCode}`;
  const full = notShown(total, exitCode);
  const brief = [`[cut${exit}; ${rest}]`, `[cut; ${rest}]`];
  // A way to the rest is worth more than how much it is; that there is none is not.
  const others = savedCopy.id === null ? [full, ...brief] : [...brief, full];
  return firstFitting([`${full.slice(0, -1)}; ${rest}]`, ...others, `[cut${exit}]`, ...LEAST], request, measure);
}

/** The first text within the limits; nothing where none is. */
function firstFitting(texts: string[], request: MarkRequest, measure: Measure): string {
  return texts.find((text) => !isOver(slackOf(measure(text), request))) ?? "";
}

/** What the model reads of an output without content: a command's is said, since an empty text tells nothing. */
export function writeEmpty(request: MarkRequest, measure: Measure): string {
  const { closing } = request;
  return closing.length === 0
    ? ""
    : firstFitting([[NO_OUTPUT, ...closing].join("\n"), closing.at(-1) ?? ""], request, measure);
}

/** What the model reads of a binary output. */
export function writeBinary(kind: string, total: Total, request: MarkRequest, measure: Measure): string {
  const note = binaryNote(kind, total);
  const kept = binaryKeptText(request.savedCopy);
  const full = [note, ...(kept === "" ? [] : [`[${kept}]`]), ...request.closing].join("\n");
  return firstFitting([full, [note, ...request.closing].join("\n"), note, ...LEAST], request, measure);
}
