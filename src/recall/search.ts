import type { Searcher, SearchHit } from "../contract/searcher.ts";
import type { Scope, Store } from "../contract/store.ts";
import { foundNote } from "../stages/mark/recall-texts.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { checkQuery, count, type SearchQuery } from "./check-query.ts";
import { type OpenArtifact, openArtifact } from "./open-artifact.ts";
import { readMatch, type SearchMatch } from "./read-match.ts";

/** How a search is bounded and ended. */
export interface SearchOptions {
  /** What the matches may take with their context, line numbers and note: the text that `searchText` writes. */
  limits?: { maxChars?: number };
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** A page of matches. */
export interface SearchPage {
  id: string;
  /** Matching lines in the whole artifact, however many are given; with `complete` false, in what was searched. */
  total: number;
  complete: boolean;
  matches: SearchMatch[];
  /** The line to go on from; null when there are no more. */
  next: number | null;
  note: string;
}

/** Finds a pattern in an artifact. */
export async function search(
  store: Store,
  searcher: Searcher,
  id: string,
  scope: Scope,
  query: SearchQuery,
  options: SearchOptions = {},
): Promise<SearchPage> {
  const { signal } = options;
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
    const outcome = await searcher.search(await open.source(), {
      ...request,
      // One more tells where the next page begins.
      maxHits: request.maxHits + 1,
      deadlineMs: options.deadlineMs ?? request.deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    });

    const { total, hits, reachedLine } = outcome;
    const told = { total, fromLine: request.fromLine, reachedLine };
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

/** What a model reads: matches as grep writes them, then the note. Within the page's limits. */
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
    // The longest line first; then, for a page that would be empty, ever less.
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
    // With nothing shown there is no next page: asking for it would never end.
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
