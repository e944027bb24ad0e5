import type { Cut, Room } from "../../contract/cut.ts";
import type { Unit } from "../../contract/limits.ts";
import type { Size, Total } from "../../contract/size.ts";
import type { Cutter } from "../../contract/strategy.ts";
import { binaryKeptText, restWords } from "./access.ts";
import { type Form, isPiece, type MarkRequest, type Measure, markForms } from "./forms.ts";
import { binaryNote, NO_OUTPUT, notShown, quotesMarker, tagFor, withTag } from "./texts.ts";

/** A cut as the model reads it. */
export interface Marked {
  text: string;
  cut: Cut;
}

/** The same request, with how long the output came. */
interface FormsRequest extends MarkRequest {
  cameChars: number;
}

/** Marks a cut. The text never exceeds the limits: it is measured as a whole, and the cut is made again where it is over. */
export function writeMarked(cutter: Cutter, total: Total, request: MarkRequest, measure: Measure): Marked {
  const { siblings, exitCode } = request;
  // A tag makes our lines longer, and a whole output has no line for exit code 0: neither came with it.
  const came = exitCode === 0 ? request.closing.slice(0, -1) : request.closing;
  const cameChars = came.reduce((sum, line) => sum + line.length + 1, total.chars);
  const plain = tryForms(cutter, total, { ...request, cameChars }, measure, "");
  let shown = pieceTexts(plain.cut);
  if (siblings === undefined && !plain.cut.isQuoting && !quotesMarker(shown)) return plain;
  for (let tries = 0; ; tries++) {
    const tag = tagFor(shown, siblings);
    const closing = request.closing.map((line) => withTag(line, tag));
    const marked = tryForms(cutter, total, { ...request, closing, cameChars }, measure, tag);
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
function tryForms(cutter: Cutter, total: Total, request: FormsRequest, measure: Measure, tag: string): Marked {
  const { limits, savedCopy, cameChars } = request;
  const shorter = { ...request, limits: { ...limits, maxChars: Math.min(cameChars, limits.maxChars ?? cameChars) } };
  const forms = markForms(request, measure, tag);
  // The way to what was saved is worth some lines of the output.
  const first = savedCopy.id === null ? forms : forms.slice(0, -1);
  for (const [form, within] of [
    ...first.map((form) => [form, request] as const),
    ...forms.slice(-2).map((form) => [form, shorter] as const),
  ]) {
    const marked = tryForm(form, cutter, total, within, measure, tag);
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
  request: MarkRequest,
  measure: Measure,
  tag: string,
): (Marked & { size: Size }) | null {
  const { gap, fixed } = form.room(total);
  const { maxChars: mostChars = Number.POSITIVE_INFINITY } = request.limits;
  let room: Room = { gap, fixed, mostChars, tag };
  let best: (Marked & { size: Size }) | null = null;
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
      room = { gap, fixed: combine(charged, overshoot, Math.max), mostChars, tag };
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

/**
 * The limit that bound: of those that the output is over, the one that what is shown uses most of. Where nothing is shown it
 * is the one that allows the least of the output. Null if it is over none that can be told from its size.
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

/** Where nothing of the output has room: the first of these that fits and is no longer than what came. */
function lastWords(total: Total, request: MarkRequest, shorter: MarkRequest, measure: Measure): string {
  const { exitCode, savedCopy } = request;
  const rest = restWords(savedCopy);
  const exit = exitCode === null ? "" : `; exit code ${exitCode}`;
  const full = notShown(total, exitCode);
  const brief = `[cut${exit}; ${rest}]`;
  // A way to the rest is worth more than how much it is; that there is none is not.
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
