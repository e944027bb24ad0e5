import type { Searcher, SearchHit, SearchSource } from "../contract/searcher.ts";
import type { Scope, Store } from "../contract/store.ts";
import { stopAfter } from "../deadline.ts";
import { SpillwayError } from "../errors.ts";
import { foundNote, LEFT_OUT } from "../stages/mark/recall-texts.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { bytesFor, characterBorder, fitEnd, fitStart } from "./fit-page.ts";
import { type OpenArtifact, openArtifact } from "./open-artifact.ts";
import type { ReadBy } from "./recall.ts";
import { checkQuery, count, type SearchQuery } from "./recall-want.ts";

/** Options of `search`. */
export interface SearchOptions extends ReadBy {
  /** The most characters of the text that `searchText` returns: matches with context, line numbers and note. */
  limits?: { maxChars?: number };
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** One page of matches. */
export interface SearchPage {
  id: string;
  /**
   * The number of matching lines in the whole artifact, whatever the number shown. If `complete` is false, the number
   * in the part that was searched.
   */
  total: number;
  complete: boolean;
  matches: SearchMatch[];
  /** The line from which the next page goes on, or null if there are no more matches. */
  next: number | null;
  note: string;
}

/** Finds a pattern in an artifact, and returns one bounded page of the matches. */
export async function search(
  store: Store,
  id: string,
  scope: Scope,
  query: SearchQuery,
  options: SearchOptions & { searcher: Searcher },
): Promise<SearchPage> {
  const { searcher, signal } = options;
  const request = checkQuery(query);
  const context = count("context", query.context, NUMBERS.searchContext.default, 0, NUMBERS.searchContext.ceiling);
  const maxChars = count(
    "maxChars",
    options.limits?.maxChars,
    NUMBERS.searchChars.default,
    0,
    NUMBERS.searchChars.ceiling,
  );
  const open = await openArtifact(store, id, scope);
  try {
    const source = await open.source();
    const deadlineMs = options.deadlineMs ?? request.deadlineMs;
    const [outcome, isDamaged] = await Promise.all([
      searcher.search(source, {
        ...request,
        // One hit more shows where the next page begins.
        maxHits: request.maxHits + 1,
        deadlineMs,
        ...(signal === undefined ? {} : { signal }),
      }),
      hasDamage(source, deadlineMs, signal),
    ]);

    const { total, hits, reachedLine } = outcome;
    const told = { total, fromLine: request.fromLine, reachedLine, isDamaged };
    const widest = { ...told, shown: total + 1, next: Math.max(1, open.artifact.lines), isShortened: true };
    const noteChars = total === 0 ? 0 : foundNote(widest).length;
    const page = await fillPage(open, hits.slice(0, request.maxHits + 1), {
      context,
      maxMatches: request.maxHits,
      maxChars: maxChars - noteChars,
    });
    signal?.throwIfAborted();
    const note = foundNote({ ...told, ...page, shown: page.matches.length });
    return {
      id,
      total,
      complete: reachedLine === null,
      matches: page.matches,
      next: page.next,
      note: note.length <= maxChars ? note : "",
    };
  } finally {
    await open.close();
  }
}

const CHECKED_BYTES = 1024 * 1024;

/** Returns true if a file that a searcher reads by itself has not the bytes that were kept. The store checks every byte that it reads. */
async function hasDamage(source: SearchSource, deadlineMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (source.file === null) return false;
  const stop = stopAfter(deadlineMs, signal);
  try {
    for (let from = 0; from < source.bytes && !stop.signal.aborted; from += CHECKED_BYTES)
      await source.read({ from, to: from + CHECKED_BYTES });
    return false;
  } catch (error) {
    if (error instanceof SpillwayError && error.code === "store-damaged") return true;
    throw error;
  } finally {
    stop.done();
  }
}

/** Returns what a model reads: the matches in grep's format, then the note. It is within the page's limits. */
export function searchText({ matches, note }: SearchPage): string {
  return `${matches.map((match, index) => writeMatch(match, matches[index - 1])).join("")}${note}`;
}

interface PageRoom {
  context: number;
  maxMatches: number;
  maxChars: number;
}

interface Filled {
  matches: SearchMatch[];
  next: number | null;
  isShortened: boolean;
}

async function fillPage(open: OpenArtifact, hits: SearchHit[], room: PageRoom): Promise<Filled> {
  const page: Filled = { matches: [], next: null, isShortened: false };
  let left = room.maxChars;
  for (const [index, hit] of hits.entries()) {
    const last = page.matches.at(-1);
    const previousLine = last === undefined ? 0 : last.line + last.after.length;
    // Tries the full shape first. If the page would stay empty, tries the match without context, cut to the room.
    const shapes = [{ context: room.context, lineChars: NUMBERS.searchLineChars.default }];
    if (last === undefined) {
      const lineChars = Math.min(NUMBERS.searchLineChars.default, left - String(hit.line).length - 2);
      if (lineChars > 0) shapes.push({ context: 0, lineChars });
    }
    let isShown = false;
    for (const shape of index < room.maxMatches ? shapes : []) {
      const { match, isShortened } = await readMatch(open, hit, {
        ...shape,
        firstLine: previousLine + 1,
        lastLine: (hits[index + 1]?.line ?? Number.POSITIVE_INFINITY) - 1,
        maxChars: left,
      });
      const chars = writeMatch(match, last).length;
      if (chars > left) continue;
      left -= chars;
      page.matches.push(match);
      page.isShortened ||= isShortened;
      isShown = true;
      break;
    }
    if (isShown) continue;
    // If nothing is shown, there is no next page, because asking for it would never end.
    if (page.matches.length > 0) page.next = hit.line;
    return page;
  }
  return page;
}

function writeMatch({ line, text, before, after }: SearchMatch, previous: SearchMatch | undefined): string {
  const first = line - before.length;
  const isApart = previous !== undefined && first > previous.line + previous.after.length + 1;
  return [
    isApart ? "--\n" : "",
    ...before.map((other, index) => `${first + index}-${other}\n`),
    `${line}:${text}\n`,
    ...after.map((other, index) => `${line + 1 + index}-${other}\n`),
  ].join("");
}

/** A line that matches. A line of context that belongs to another match is not repeated. */
export interface SearchMatch {
  line: number;
  /** Where the first match begins in the line, in bytes, from 1. */
  column: number;
  /** The same place as an offset in the artifact, from 0. Use it to read around a match in a long line. */
  byte: number;
  text: string;
  before: string[];
  after: string[];
}

interface MatchShape {
  /** The number of lines before and after, within `firstLine` to `lastLine`. */
  context: number;
  firstLine: number;
  lastLine: number;
  lineChars: number;
  /** No more characters than this can be shown. */
  maxChars: number;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const MARGIN = 3;

interface ReadLine {
  text: string;
  isShortened: boolean;
}

/** Reads a matching line and its context. Never reads more than can be shown. */
async function readMatch(
  open: OpenArtifact,
  hit: SearchHit,
  shape: MatchShape,
): Promise<{ match: SearchMatch; isShortened: boolean }> {
  const byte = hit.lineByte + hit.column;
  const own = await readOwn(open, hit, shape.lineChars);
  const most = Math.max(0, Math.min(shape.context, shape.maxChars));
  const before = await readBefore(open, hit, Math.min(most, hit.line - shape.firstLine), shape.lineChars);
  const lastLine = Math.min(hit.line + most, shape.lastLine, open.artifact.lines);
  const after = await readAfter(open, hit.line, own.end, lastLine, shape.lineChars);
  const context = [...before, ...after];
  return {
    match: {
      line: hit.line,
      column: hit.column + 1,
      byte,
      text: own.text,
      before: before.map(({ text }) => text),
      after: after.map(({ text }) => text),
    },
    isShortened: own.isShortened || context.some((line) => line.isShortened),
  };
}

/** Reads the matching line. `end` is the offset at which the next line begins, or null if it was not seen. */
async function readOwn(
  open: OpenArtifact,
  hit: SearchHit,
  lineChars: number,
): Promise<ReadLine & { end: number | null }> {
  const side = bytesFor({ maxChars: lineChars, maxLines: 1 });
  const at = hit.lineByte + hit.column;
  const base = Math.max(hit.lineByte, at - side);
  const bytes = await open.read({ from: base, to: at + side + MARGIN });
  const start = base > hit.lineByte ? characterBorder(bytes, MARGIN) : 0;
  const brk = bytes.indexOf(10, at - base);
  const isEnd = brk >= 0 || base + bytes.length >= open.artifact.bytes;
  const end = brk < 0 ? bytes.length : withoutReturn(bytes, brk);
  const next = brk >= 0 ? base + brk + 1 : isEnd ? open.artifact.bytes : null;
  const whole = fitStart(bytes, start, end, { maxChars: lineChars, maxLines: 1 });
  if (base === hit.lineByte && isEnd && whole.to === end) {
    return { text: decoder.decode(bytes.subarray(start, end)), isShortened: false, end: next };
  }
  const room = { maxChars: Math.max(0, lineChars - 2 * LEFT_OUT.length), maxLines: 1 };
  const anchor = Math.min(characterBorder(bytes, at - base), end);
  const from = fitEnd(bytes, start, anchor, { ...room, maxChars: Math.floor(room.maxChars / 2) }).from;
  const { to } = fitStart(bytes, from, end, room);
  const isCutBefore = base + from > hit.lineByte;
  const isCutAfter = !isEnd || to < end;
  const text = decoder.decode(bytes.subarray(from, to));
  const marked = `${isCutBefore ? LEFT_OUT : ""}${text}${isCutAfter ? LEFT_OUT : ""}`;
  return { text: marked.length > lineChars ? "" : marked, isShortened: isCutBefore || isCutAfter, end: next };
}

async function readBefore(open: OpenArtifact, hit: SearchHit, count: number, lineChars: number): Promise<ReadLine[]> {
  if (count <= 0 || hit.lineByte === 0) return [];
  const from = Math.max(0, hit.lineByte - count * bytesFor({ maxChars: lineChars, maxLines: 1 }));
  const bytes = await open.read({ from, to: hit.lineByte });
  const lines: ReadLine[] = [];
  for (let brk = bytes.length - 1; brk >= 0 && lines.length < count; ) {
    const start = brk === 0 ? 0 : bytes.lastIndexOf(10, brk - 1) + 1;
    const isWhole = start > 0 || from === 0;
    if (isWhole) lines.unshift(startOf(bytes, start, withoutReturn(bytes, brk), true, lineChars));
    else lines.unshift(await startOfLine(open, hit.line - lines.length - 1, lineChars));
    if (start === 0) break;
    brk = start - 1;
  }
  return lines;
}

async function readAfter(
  open: OpenArtifact,
  line: number,
  end: number | null,
  lastLine: number,
  lineChars: number,
): Promise<ReadLine[]> {
  const lines: ReadLine[] = [];
  let at = end;
  for (let next = line + 1; next <= lastLine; next++) {
    const from = at ?? (await open.locate([next, next])).from;
    const bytes = await open.read({ from, to: from + bytesFor({ maxChars: lineChars, maxLines: 1 }) });
    const brk = bytes.indexOf(10);
    const isEnd = brk >= 0 || from + bytes.length >= open.artifact.bytes;
    lines.push(startOf(bytes, 0, brk < 0 ? bytes.length : withoutReturn(bytes, brk), isEnd, lineChars));
    at = brk < 0 ? null : from + brk + 1;
  }
  return lines;
}

/** Reads a line of context that is too long for the window before its match. */
async function startOfLine(open: OpenArtifact, line: number, lineChars: number): Promise<ReadLine> {
  const [first] = await readAfter(open, line - 1, null, line, lineChars);
  return first ?? { text: "", isShortened: false };
}

function startOf(bytes: Uint8Array, from: number, to: number, isEnd: boolean, lineChars: number): ReadLine {
  const whole = fitStart(bytes, from, to, { maxChars: lineChars, maxLines: 1 });
  if (isEnd && whole.to === to) return { text: decoder.decode(bytes.subarray(from, to)), isShortened: false };
  const cut = fitStart(bytes, from, to, { maxChars: Math.max(0, lineChars - LEFT_OUT.length), maxLines: 1 });
  return { text: `${decoder.decode(bytes.subarray(from, cut.to))}${LEFT_OUT}`, isShortened: true };
}

function withoutReturn(bytes: Uint8Array, brk: number): number {
  return brk > 0 && bytes[brk - 1] === 13 ? brk - 1 : brk;
}
