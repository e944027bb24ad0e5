import type { Cut, Room } from "../../contract/cut.ts";
import type { Unit } from "../../contract/limits.ts";
import type { Size, Total } from "../../contract/size.ts";
import type { Cutter } from "../../contract/strategy.ts";
import { combineSizes } from "../../values.ts";
import { binaryKeptText, restWords } from "./access.ts";
import { type Form, isPiece, type MarkRequest, type Measure, markForms } from "./forms.ts";
import { binaryNote, NO_OUTPUT, notShown, quotesMarker, tagFor, withTag } from "./texts.ts";

/** A cut as the model reads it. */
export interface Marked {
  text: string;
  cut: Cut;
}

/** The same request, with how long the output came and the tag of our lines. */
interface FormsRequest extends MarkRequest {
  cameChars: number;
  tag: string;
}

/** Marks a cut. The text never exceeds the limits: it is measured as a whole, and the cut is made again where it is over. */
export function writeMarked(cutter: Cutter, total: Total, request: MarkRequest, measure: Measure): Marked {
  const { siblings, exitCode } = request;
  // A tag makes our lines longer, and a whole output has no line for exit code 0: neither came with it.
  const came = exitCode === 0 ? request.closing.slice(0, -1) : request.closing;
  const cameChars = came.reduce((sum, line) => sum + line.length + 1, total.chars);
  const plain = tryForms(cutter, total, { ...request, cameChars, tag: "" }, measure);
  let shown = pieceTexts(plain.cut);
  if (siblings === undefined && !plain.cut.isQuoting && !quotesMarker(shown)) return plain;
  for (let tries = 0; ; tries++) {
    const tag = tagFor(shown, siblings);
    const closing = request.closing.map((line) => withTag(line, tag));
    const marked = tryForms(cutter, total, { ...request, closing, cameChars, tag }, measure);
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

/** The first form that makes an output no longer than it came; else a short one with less of the output, else a few words. */
function tryForms(cutter: Cutter, total: Total, request: FormsRequest, measure: Measure): Marked {
  const { limits, savedCopy, cameChars, tag } = request;
  const shorter = { ...request, limits: { ...limits, maxChars: Math.min(cameChars, limits.maxChars ?? cameChars) } };
  const forms = markForms(request, measure, tag);
  // The way to what was saved is worth some lines of the output.
  const first = savedCopy.id === null ? forms : forms.slice(0, -1);
  for (const [form, within] of [
    ...first.map((form) => [form, request] as const),
    ...forms.slice(-2).map((form) => [form, shorter] as const),
  ]) {
    const marked = tryForm(form, cutter, total, within, measure);
    if (marked === null || marked.size.chars > cameChars) continue;
    const { text, cut, size } = marked;
    return { text, cut: { ...cut, cutBy: cut.omitted.bytes > 0 ? tightest(total, request, size) : null } };
  }
  const cut = cutter.cut(everything(request));
  const text = lastWords(total, request, shorter, measure);
  return { text, cut: { ...cut, cutBy: cut.omitted.bytes > 0 ? tightest(total, request) : null } };
}

/** Markers may take up to this share of a limit; beyond it a leaner form serves better. */
const MARKER_SHARE = 0.5;
const TRIES = 6;

function tryForm(
  form: Form,
  cutter: Cutter,
  total: Total,
  request: FormsRequest,
  measure: Measure,
): (Marked & { size: Size }) | null {
  const { tag } = request;
  const { gap, fixed } = form.room(total);
  const { maxChars: mostChars = Number.POSITIVE_INFINITY } = request.limits;
  let room: Room = { gap, fixed, mostChars, tag };
  let best: (Marked & { size: Size }) | null = null;
  for (let tries = 0; tries < TRIES && leavesRoom(room, request); tries++) {
    const cut = cutter.cut(room);
    const text = form.write(cut);
    const size = measure(text);
    const slack = slackOf(size, request);
    const markers = combineSizes(size, piecesSize(cut, measure), (all, pieces) => all - pieces);
    const gaps = Math.max(1, cut.parts.filter((part) => !isPiece(part) && !part.noted).length);
    const charged = combineSizes(markers, gap, (all, part) => Math.max(0, all - gaps * part));
    if (isOver(slack)) {
      // What the markers really took, and more than was charged before.
      const overshoot = combineSizes(room.fixed, slack, (has, left) => has + Math.max(0, -left));
      room = { gap, fixed: combineSizes(charged, overshoot, Math.max), mostChars, tag };
      continue;
    }
    if (best !== null && cut.kept.bytes <= best.cut.kept.bytes) break;
    best = { text, cut, size };
    // The same room would give the same cut again.
    if (isSame(charged, room.fixed)) break;
    // The bounds charged too much: what the markers really took leaves more for the output.
    room = { gap, fixed: charged, mostChars, tag };
  }
  return best !== null && best.cut.kept.bytes > 0 ? best : null;
}

function piecesSize(cut: Cut, measure: Measure): Size {
  return cut.parts
    .filter(isPiece)
    .map((piece) => measure(piece.text))
    .reduce((sum, size) => combineSizes(sum, size, (a, b) => a + b), { bytes: 0, chars: 0, lines: 0, tokens: 0 });
}

/** A number for each unit, made of its limit. */
function byUnit({ limits }: MarkRequest, of: (limit: number | undefined) => number): Size {
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  return { bytes: of(maxBytes), chars: of(maxChars), lines: of(maxLines), tokens: of(maxTokens) };
}

function slackOf(size: Size, request: MarkRequest): Size {
  const most = byUnit(request, (limit) => limit ?? Number.POSITIVE_INFINITY);
  return combineSizes(most, size, (limit, takes) => limit - takes);
}

function isOver({ bytes, chars, lines, tokens }: Size): boolean {
  return bytes < 0 || chars < 0 || lines < 0 || tokens < 0;
}

function isSame(a: Size, b: Size): boolean {
  return a.bytes === b.bytes && a.chars === b.chars && a.lines === b.lines && a.tokens === b.tokens;
}

function leavesRoom({ fixed, gap }: Room, request: MarkRequest): boolean {
  const most = byUnit(request, (limit) => (limit ?? Number.POSITIVE_INFINITY) * MARKER_SHARE);
  const taken = combineSizes(fixed, gap, (once, each) => once + each);
  return !isOver(combineSizes(most, taken, (limit, takes) => limit - takes));
}

/**
 * Returns the limit that made the cut necessary. Among the limits that the output is over, it is the one that the shown text
 * uses most of. If nothing is shown, it is the one that allows the least of the output. Null if the size is over no limit.
 */
function tightest(total: Total, { limits, closing }: MarkRequest, shown?: Size): Unit | null {
  const closingChars = closing.reduce((sum, line) => sum + line.length + 1, 0);
  const { maxLines, maxBytes, maxChars, maxTokens = Number.POSITIVE_INFINITY } = limits;
  const passed = [
    { unit: "lines" as const, limit: maxLines, came: total.lines + closing.length },
    { unit: "bytes" as const, limit: maxBytes, came: total.bytes + closingChars },
    { unit: "chars" as const, limit: maxChars, came: total.chars + closingChars },
  ].filter(({ limit, came }) => limit !== undefined && came > limit);
  if (passed.length === 0) return null;
  const use = ({ unit, limit = 0, came }: { unit: Unit; limit?: number | undefined; came: number }) =>
    (shown?.[unit] ?? came) / limit;
  return [...passed, { unit: "tokens" as const, limit: maxTokens, came: 0 }].reduce((most, one) =>
    use(one) > use(most) ? one : most,
  ).unit;
}

/** Room that leaves nothing, so that the receipt names a limit that is in force. */
function everything(request: MarkRequest): Room {
  const fixed = byUnit(request, (limit) => (limit === undefined ? 0 : Number.POSITIVE_INFINITY));
  return { fixed, gap: { bytes: 0, chars: 0, lines: 0, tokens: 0 } };
}

/** The least that still says something was held back. */
const LEAST = ["[cut]", "cut"];

/** Returns the text for an output of which nothing has room: the first one that fits and is no longer than the output. */
function lastWords(total: Total, request: MarkRequest, shorter: MarkRequest, measure: Measure): string {
  const { exitCode, savedCopy } = request;
  const rest = restWords(savedCopy);
  const exit = exitCode === null ? "" : `; exit code ${exitCode}`;
  const full = notShown(total, exitCode);
  const brief = `[cut${exit}; ${rest}]`;
  // How to read the rest matters more than its size. That it cannot be read matters less.
  const others = savedCopy.id === null ? [full, brief] : [brief, `[cut; ${rest}]`, full];
  return (
    firstFitting([`${full.slice(0, -1)}; ${rest}]`, ...others], shorter, measure) ||
    firstFitting([`[cut${exit}]`, ...LEAST], request, measure)
  );
}

/** True for last words that say how a command ended, as this exit line does: nothing is added to them when they come again. */
export function saysExit(text: string, exitLine: string): boolean {
  const said = /^\[(?:cut|[\d,]+ lines?, [\d,]+ bytes? not shown); (exit code -?\d+)(?:;[^\n]*)?\]$/.exec(text)?.[1];
  return said !== undefined && exitLine === `[${said}]`;
}

/** True for last words that say nothing of how a command ended. */
export function isLastWords(text: string): boolean {
  return /^(?:\[cut(?:; (?:rest not saved|(?:part saved as )?artifact [a-z2-7]+))?\]|cut)$/.test(text);
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
  const { closing, exitCode } = request;
  const ended = exitCode === null ? note : `[cut; exit code ${exitCode}]`;
  return firstFitting([full, [note, ...closing].join("\n"), ended, ...LEAST], request, measure);
}
