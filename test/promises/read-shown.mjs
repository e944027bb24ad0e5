import { readJson } from "./read-json.mjs";

// Reads what a model got as the guide to markers describes it, and holds it against the output that it is of.

const COUNT = String.raw`([\d,]+)`;
const number = (text) => Number(text.replaceAll(",", ""));

/** Every text of ours that may stand on a line of its own, by what it is. `<tag>` is the tag. */
const MARKERS = Object.entries({
  range: `\\.\\.\\. (part of )?lines? (\\d+)(?:-(\\d+))? omitted(?: \\((?:${COUNT} (?:whole )?lines?, )?${COUNT} bytes?, ${COUNT} characters?\\))?<tag> \\.\\.\\.`,
  short: `\\.\\.\\. ${COUNT} (lines?|bytes?) cut(?:; (?:rest not saved|(?:part saved as )?artifact \\w+))?<tag> \\.\\.\\.`,
  first: `First ${COUNT} lines? of ${COUNT}(, the last in part)?<tag>`,
  last: `Last ${COUNT} lines? of ${COUNT}(, the first in part)?<tag>`,
  among: `Lines (\\d+-\\d+) of ${COUNT}, ${COUNT} of them folded(?:, the (?:first|last) in part)?<tag>`,
  startOf: `Start of line ${COUNT} of ${COUNT}<tag>`,
  endOf: `End of line ${COUNT} of ${COUNT}<tag>`,
  footer: `(?:Output cut to fit|Repeats and terminal codes folded|White space(?: and repeated keys)? left out): ${COUNT} of ${COUNT} bytes shown\\..*`,
  lean: `cut from ${COUNT} lines?, ${COUNT} bytes?; .*<tag>`,
  suffix: "tool output truncated: exceeded .*<tag>",
  access: `(?:First ${COUNT} lines? of ${COUNT}(?:, the last in part)?\\. |Lines [\\d-]+ of [\\d,]+, [\\d,]+ of them folded(?:, the last in part)?\\. |Start of line ${COUNT} of ${COUNT}\\. |[\\d,]+ lines?, [\\d,]+ bytes? not shown\\. )?(?:Do not guess the rest|Only the first ).*<tag>`,
  page: "HTML of .*",
  blocks: `${COUNT} blocks as one text, each from a line of its own: .*<tag>`,
  exit: "exit code (-?\\d+)<tag>",
});
const NOTES = {
  repeated: `previous line repeated ${COUNT} more times?`,
  alike: `${COUNT} lines like these omitted: lines (\\d+)-(\\d+)`,
};
/** Those that have no tag though the source may have such a line: notes of folding, and how a command ended. */
const UNTAGGED = new Set([...Object.keys(NOTES), "exit"]);
/** What stands where nothing of an output has room. */
const NOTHING = /^(?:\[[\d,]+ lines?, [\d,]+ bytes? not shown(?:; .*)?\]|\[cut(?:; .*)?\]|cut|)$/;

/** The tag that our markers carry in this text: one that the output itself does not have. */
function tagIn(shown, source) {
  for (const [tag] of shown.matchAll(/ #[0-9a-z]{5}(?=\]| \.\.\.\]|;)/g)) if (!source.text.includes(tag)) return tag;
  return "";
}

function markersOf(tag) {
  return MARKERS.map(([name, pattern]) => [name, new RegExp(`^(?=.*${tag})\\[${pattern.replace("<tag>", tag)}\\]$`)]);
}

const patterns = new Map();

/**
 * A text's lines in order: markers by their names, and runs of other lines between them. Ours have a tag where the source
 * quotes one, so a line of the source without one is quoted.
 */
function partsOf(shown, source, tag, withNotes) {
  const key = `${tag}${withNotes}`;
  if (patterns.size > 500) patterns.clear();
  if (!patterns.has(key))
    patterns.set(key, [
      ...markersOf(tag),
      ...(withNotes ? Object.entries(NOTES).map(([name, note]) => [name, new RegExp(`^\\[${note}\\]$`)]) : []),
    ]);
  const parts = [];
  const lines = shown.split("\n");
  // Lines of ours end a text; the source may have the same ones in what is not shown.
  const endsAt = lines.findLastIndex((line) => !line.startsWith("["));
  for (const [at, line] of lines.entries()) {
    const isOfSource = tag === "" && at < endsAt && source.text.includes(line);
    const found = line.startsWith("[")
      ? patterns
          .get(key)
          .map(([name, pattern]) => [name, pattern.exec(line)])
          .find(([name, match]) => match !== null && (!isOfSource || UNTAGGED.has(name)))
      : undefined;
    if (found !== undefined) parts.push({ name: found[0], match: found[1], line });
    else if (parts.at(-1)?.name === "run") parts.at(-1).lines.push(line);
    else parts.push({ name: "run", lines: [line] });
  }
  return parts;
}

/**
 * What is wrong with a text that is shown of a source, given the cuts that its receipt lists. Also how many lines and bytes
 * are missing, where that can be told from the text alone.
 */
export function readShown(shown, source, { cuts, exitCode, strategy, fold, moreCuts }) {
  if (NOTHING.test(shown)) return { problems: checkNothing(shown, source, exitCode), form: "nothing" };
  const tag = tagIn(shown, source);
  const reading = { source, cuts, tag, moreCuts };
  const exact = walkExact(closed(partsOf(shown, source, tag, false), exitCode), reading);
  if (exact.problems.length === 0) return { ...exact, form: "exact" };
  const excerpt = readJson(partsOf(shown, source, tag, false), source, tag);
  if (excerpt !== null && (strategy === "json" || excerpt.length === 0)) return { problems: excerpt, form: "json" };
  if (!fold) return { ...exact, form: "exact" };
  const noted = closed(partsOf(shown, source, tag, true), exitCode);
  const withNotes = walkExact(noted, reading);
  if (withNotes.problems.length === 0) return { ...withNotes, form: "exact" };
  return { ...walkFolded(noted, reading), form: "folded" };
}

function checkNothing(shown, source, exitCode) {
  const said = /^\[([\d,]+) lines?, ([\d,]+) bytes? not shown/.exec(shown);
  const problems = [];
  if (said !== null && (number(said[1]) !== source.total.lines || number(said[2]) !== source.total.bytes))
    problems.push(`false size: ${shown}`);
  const exit = /exit code (-?\d+)/.exec(shown);
  if (exit !== null && Number(exit[1]) !== exitCode) problems.push(`false exit code: ${shown}`);
  return problems;
}

/** The parts with those that end and head a text checked off: what is left are runs and gaps in order. */
function closed(parts, exitCode) {
  const problems = [];
  const rest = [...parts];
  const heads = [];
  const said = {};
  for (const name of ["exit", "page", "blocks", "lean", "footer", "access", "suffix"]) {
    if (rest.at(-1)?.name !== name) continue;
    said[name] = rest.pop();
    // An empty line stands before the suffix.
    const before = rest.at(-1);
    if (name === "suffix" && before?.name === "run" && before.lines.at(-1) === "") {
      if (before.lines.length === 1) rest.pop();
      else rest[rest.length - 1] = { ...before, lines: before.lines.slice(0, -1) };
    }
  }
  // Before the way to the rest stands what else would head the text.
  const [, lines, ofLines, line, ofLine] = said.access?.match ?? [];
  if (lines !== undefined)
    heads.push({ name: "first", match: ["", lines, ofLines], line: said.access.line, before: 0 });
  if (line !== undefined) heads.push({ name: "startOf", match: ["", line, ofLine], line: said.access.line, before: 0 });
  // The suffix tells of the one gap that there is, without a number.
  if (said.suffix !== undefined) rest.push({ name: "rest", line: said.suffix.line });
  if (said.exit !== undefined && Number(said.exit.match[1]) !== exitCode)
    problems.push(`false exit code: ${said.exit.line}`);
  if (exitCode !== null && said.exit === undefined) problems.push(`no exit line`);
  const body = [];
  for (const part of rest) {
    if (["first", "last", "among", "startOf", "endOf"].includes(part.name))
      heads.push({ ...part, before: body.length });
    else body.push(part);
  }
  return { body, heads, said, problems };
}

/** Holds the numbers of header and footer against what is shown. `lines[i]` are first and last source line of body[i]. */
function checkSaid({ body, heads, said }, source, lines, missing, problems) {
  const { total } = source;
  for (const { name, match, line, before } of heads) {
    const shown = shownUnder(body, lines, before);
    const [, count, of, folded] = match;
    if (number(of) !== total.lines) problems.push(`false header, the output has ${total.lines} lines: ${line}`);
    if (shown === undefined) problems.push(`header over nothing: ${line}`);
    else if (name === "first" || name === "last") {
      if (shown.count !== number(count)) problems.push(`false header, ${shown.count} lines are shown: ${line}`);
      const isAtEdge = name === "first" ? shown.from === 1 : shown.to === total.lines;
      if (!isAtEdge || shown.to - shown.from + 1 !== shown.count)
        problems.push(`false header, lines ${shown.from}-${shown.to} are shown: ${line}`);
    } else if (name === "among") {
      if (`${shown.from}-${shown.to}` !== count)
        problems.push(`false header, lines ${shown.from}-${shown.to} are shown: ${line}`);
      const left = shown.to - shown.from + 1 - shown.count;
      if (number(folded) !== left) problems.push(`false header, ${left} lines are folded: ${line}`);
    } else if (number(count) !== (name === "startOf" ? shown.to : shown.from))
      problems.push(`false header, line ${shown.from}-${shown.to} is shown: ${line}`);
  }
  if (
    said.lean !== undefined &&
    (number(said.lean.match[1]) !== total.lines || number(said.lean.match[2]) !== total.bytes)
  )
    problems.push(`false footer, the output has ${total.lines} lines and ${total.bytes} bytes: ${said.lean.line}`);
  if (said.footer !== undefined) {
    const [, kept, of] = said.footer.match;
    if (number(of) !== total.bytes)
      problems.push(`false footer, the output has ${total.bytes} bytes: ${said.footer.line}`);
    if (missing !== null && number(kept) !== total.bytes - missing)
      problems.push(`false footer, ${total.bytes - missing} bytes are shown: ${said.footer.line}`);
  }
}

/** Nothing was folded: every run is a stretch of the source, and runs and gaps together are all of it. */
function walkExact(closedParts, reading) {
  const { source, cuts, moreCuts } = reading;
  const problems = [...closedParts.problems];
  const { body } = closedParts;
  const lines = [];
  let best = { at: -1, why: "" };
  const fail = (at, why) => {
    if (at > best.at) best = { at, why };
    return null;
  };
  const walk = (at, char, cut, missing) => {
    const part = body[at];
    if (part === undefined) {
      if (char !== source.text.length)
        return fail(at, `${source.text.length - char} characters at the end are neither shown nor marked`);
      if (cut < cuts.length)
        return fail(at, `the receipt lists a cut that no marker tells of: ${JSON.stringify(cuts[cut])}`);
      return missing;
    }
    if (part.name === "run") {
      const run = part.lines.join("\n");
      if (!source.text.startsWith(run, char))
        return fail(
          at,
          `not in the output at line ${source.lineAt(char)}: ${JSON.stringify(firstStranger(part.lines, source, char))}`,
        );
      const end = char + run.length;
      // A break that ends the run may be the output's or one that the marker behind it needs.
      for (const to of source.text[end] === "\n" && at < body.length ? [end + 1, end] : [end]) {
        const rest = walk(at + 1, to, cut, missing);
        if (rest !== null) {
          const from = source.lineAt(char);
          const last = source.lineAt(Math.max(char, to - 1));
          lines[at] = { from, to: last, count: last - from + 1 };
          return rest;
        }
      }
      return null;
    }
    if (!isGap(part) && part.name !== "alike") return fail(at, `a marker that has no place here: ${part.line}`);
    const listed = cuts[cut];
    if (listed === undefined)
      return moreCuts > 0 ? missing : fail(at, `a marker for a cut that the receipt does not list: ${part.line}`);
    const end = source.charAfter(char, listed.bytes);
    if (end <= char) return fail(at, `a cut inside a character, or beyond the end: ${JSON.stringify(listed)}`);
    const gap = gapBetween(source, char, end);
    const why = falseGap(part, gap, listed);
    if (why !== null) return fail(at, why);
    if (part.name === "alike") lines[at] = { from: gap.fromLine, to: gap.toLine, count: 0 };
    return walk(at + 1, end, cut + 1, { bytes: missing.bytes + listed.bytes, lines: missing.lines + gap.lines });
  };
  const missing = walk(0, 0, 0, { bytes: 0, lines: 0 });
  if (missing === null) problems.push(best.why);
  else if (moreCuts === 0) checkSaid(closedParts, source, lines, missing.bytes, problems);
  return { problems, missing: moreCuts === 0 ? missing : null };
}

function firstStranger(lines, source, char) {
  let at = char;
  for (const line of lines) {
    if (!source.text.startsWith(line, at)) return line.slice(0, 200);
    at += line.length + 1;
  }
  return lines.at(-1).slice(0, 200);
}

function gapBetween(source, from, to) {
  const fromLine = source.lineAt(from);
  const toLine = source.lineAt(to - 1);
  const startsInside = from > source.starts[fromLine - 1];
  const endsInside = to < source.endOf(toLine);
  const touched = toLine - fromLine + 1;
  const lines =
    touched === 1 ? (startsInside || endsInside ? 0 : 1) : touched - (startsInside ? 1 : 0) - (endsInside ? 1 : 0);
  return { fromLine, toLine, lines, bytes: source.bytesBetween(from, to), chars: to - from };
}

/** What a marker or the receipt says falsely of a gap; null if all is true. */
function falseGap({ name, match, line }, gap, listed) {
  const truth = JSON.stringify(gap);
  if (name === "rest") return null;
  if (name === "alike") {
    const isRight =
      Number(match[2]) === gap.fromLine && Number(match[3]) === gap.toLine && number(match[1]) === gap.lines;
    return isRight ? null : `false note, it is ${truth}: ${line}`;
  }
  if (listed.fromLine !== gap.fromLine || listed.toLine !== gap.toLine)
    return `false cut on the receipt ${JSON.stringify(listed)}, it is ${truth}`;
  if (name === "short") {
    const unit = match[2].startsWith("line") ? "lines" : "bytes";
    const isRight = number(match[1]) === gap[unit] && (unit === "lines") === gap.lines > 0;
    return isRight ? null : `false marker, it is ${truth}: ${line}`;
  }
  const [, part, from, to = from, whole, bytes, chars] = match;
  const isRight =
    Number(from) === gap.fromLine &&
    Number(to) === gap.toLine &&
    (part !== undefined) === (gap.lines === 0) &&
    (bytes === undefined ||
      (number(bytes) === gap.bytes && number(chars) === gap.chars && number(whole ?? "0") === gap.lines));
  return isRight ? null : `false marker, it is ${truth}: ${line}`;
}

/** Terminal codes, overwritten text and repeats were folded: lines are compared one by one, in order. */
function walkFolded(closedParts, { source }) {
  const problems = [...closedParts.problems];
  const { body } = closedParts;
  const lines = [];
  const count = source.total.lines;
  let next = 1;
  let before = null;
  let isAfterGap = false;
  // A short gap counts whole lines, so what follows it is the next line or part of that.
  let isAfterShort = false;
  for (const [at, given] of body.entries()) {
    // Notes of folding carry no tag, so an output may have a line that reads like one.
    const isQuoted = ["repeated", "alike"].includes(given.name) && given.line === sourceLine(source, next);
    const part = isQuoted ? { name: "run", lines: [given.line] } : given;
    if (part.name === "run") {
      // A break that ends the text begins no line.
      const isEnd = at === body.length - 1 && part.lines.at(-1) === "" && next + part.lines.length - 1 > count;
      const run = isEnd ? part.lines.slice(0, -1) : part.lines;
      const shown = [];
      for (const [index, line] of run.entries()) {
        const mayEnd = index === run.length - 1 && isGap(body[at + 1]);
        const found = lineShown(line, source, next, {
          mayBegin: isAfterGap && index === 0,
          mayEnd,
          isAfterShort,
        });
        if (found === null)
          return {
            problems: [...problems, `not line ${next} of ${count}: ${JSON.stringify(line.slice(0, 200))}`],
            missing: null,
          };
        shown.push(found);
        next = found + 1;
      }
      lines[at] = { from: shown[0], to: shown.at(-1), count: run.length };
      before = run.at(-1) ?? before;
      isAfterGap = false;
      continue;
    }
    const step = stepOver(part, source, next, before, isAfterGap);
    if (typeof step === "string") return { problems: [...problems, step], missing: null };
    if (!isGap(part)) lines[at] = { from: next, to: step - 1, count: 0 };
    next = step;
    isAfterGap = isGap(part);
    isAfterShort = part.name === "short";
  }
  // A last line of nothing but codes to a terminal may be folded away: it counts to those that end the text.
  while (next <= count && matches("", source, next)) {
    const last = lines.at(-1);
    if (lines.length === body.length && last !== undefined) lines[body.length - 1] = { ...last, to: next };
    next++;
  }
  if (next !== count + 1) problems.push(`lines ${next}-${count} are neither shown nor marked`);
  checkSaid(closedParts, source, lines, null, problems);
  return { problems, missing: null };
}

/** Which line of the source is shown: the next one, or next to a gap part of it or of the one before. Null if it is neither. */
function lineShown(line, source, next, { mayBegin, mayEnd, isAfterShort }) {
  if (matches(line, source, next)) return next;
  if (!mayBegin && !mayEnd) return null;
  if (mayBegin && isAfterShort && next <= source.total.lines && isPart(line, source.line(next), mayEnd)) return next;
  if (mayBegin && next > 1 && isPart(line, source.line(next - 1), mayEnd)) return next - 1;
  return next <= source.total.lines && isPart(line, source.line(next), mayEnd || !mayBegin) ? next : null;
}

const isGap = (part) => ["range", "short", "rest"].includes(part?.name);

const sourceLine = (source, at) => (at <= source.total.lines ? source.line(at) : null);

/** What a header stands over: runs and notes of folding up to the next gap. A note stands for lines and shows none. */
function shownUnder(body, lines, at) {
  const end = body.findIndex((part, index) => index >= at && isGap(part));
  const under = lines.slice(at, end < 0 ? undefined : end).filter((part) => part !== undefined);
  const count = under.reduce((sum, part) => sum + part.count, 0);
  return count === 0 ? undefined : { from: under[0].from, to: under.at(-1).to, count };
}

/** The line after a gap or a note of folding, or what is false in it. */
function stepOver({ name, match, line }, source, next, before, isAfterGap) {
  if (name === "repeated") {
    const times = number(match[1]);
    if (before === null || isAfterGap) return `a repeat of a line that is not shown: ${line}`;
    for (let at = next; at < next + times; at++)
      if (!matches(before, source, at)) return `line ${at} does not repeat the line before: ${line}`;
    return next + times;
  }
  if (name === "alike") {
    const [, times, from, to] = match;
    if (Number(from) !== next || Number(to) - Number(from) + 1 !== number(times))
      return `false note, line ${next} is next: ${line}`;
    return Number(to) + 1;
  }
  if (name === "rest") return source.total.lines + 1;
  if (name === "short") return match[2].startsWith("line") ? next + number(match[1]) : next;
  if (name !== "range") return `a marker that has no place here: ${line}`;
  const [, , from, to = from] = match;
  if (Number(from) !== next && Number(from) !== next - 1) return `false marker, line ${next} is next: ${line}`;
  return Number(to) + 1;
}

/** Codes to a terminal and text that was written over may be missing from a line that has them; nothing else may. */
function matches(line, source, at) {
  if (at > source.total.lines) return false;
  const whole = source.line(at);
  return line === whole || line === whole.replace(/\r$/, "") || isRendered(line, whole);
}

const ESC = "\u001b";
const CODES = new RegExp(`${ESC}\\[[0-?]*[ -/]*[@-~]|${ESC}\\][^\u0007${ESC}]*(?:\u0007|${ESC}\\\\)|${ESC}.`, "g");

function isRendered(line, whole) {
  if (!/\p{Cc}/u.test(whole)) return false;
  const left = new Map();
  for (const char of whole) left.set(char, (left.get(char) ?? 0) + 1);
  for (const char of line) {
    const times = left.get(char) ?? 0;
    if (times === 0) return false;
    left.set(char, times - 1);
  }
  return true;
}

/** A line that is cut at its start, its end or both, next to a gap. */
function isPart(line, whole, mayEnd) {
  const plain = whole.replace(CODES, "");
  return (
    isRendered(line, whole) ||
    (mayEnd ? plain.includes(line) || whole.includes(line) : plain.endsWith(line) || whole.endsWith(line))
  );
}
