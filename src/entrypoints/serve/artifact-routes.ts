import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import type { Artifact, Store } from "../../contract/store.ts";
import { type OpenArtifact, openArtifact, type WholeArtifact } from "../../recall/open-artifact.ts";
import type { Spillway } from "../../spillway.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { setNewest } from "../../values.ts";
import { begin, Refusal } from "./answer.ts";
import { cursorQuery, nameQuery, pageQuery } from "./queries.ts";
import { type Asked, type Route, route } from "./route.ts";
import { artifactShape, pageOf } from "./shapes.ts";

/** What reading artifacts works with. */
export interface ArtifactPorts {
  store: Store;
  scope: string;
  search: Spillway["search"];
  openRead: OpenRead;
}

const line = z.int().min(1);
const ID = "/api/artifacts/{id}";

/** Reads saved outputs, and records who read them. */
export function artifactRoutes({ store, scope, search, openRead }: ArtifactPorts): Route[] {
  const open = async <T>(id: string | undefined, read: (artifact: OpenArtifact) => Promise<T>): Promise<T> => {
    const opened = await openArtifact(store, id ?? "", scope);
    try {
      return await read(opened);
    } finally {
      await opened.close();
    }
  };
  const openToRead = async <T>(
    { named: { id = "" }, caller }: Pick<Asked<unknown, unknown>, "named" | "caller">,
    read: (artifact: OpenArtifact) => Promise<T>,
  ): Promise<T> => {
    await openRead(id, caller);
    return open(id, read);
  };
  return [
    route({
      method: "GET",
      path: "/api/artifacts",
      role: "read",
      summary: "Saved outputs, the newest first. One that several sessions saved is listed for each of them.",
      query: z.strictObject({ session: nameQuery, cursor: cursorQuery(z.coerce.number()), max: pageQuery }),
      answers: pageOf(artifactShape),
      async answer({ query: { session, cursor: beforeMs, max } }) {
        const items = await store.list({
          scope,
          max,
          ...(session !== undefined && { session }),
          ...(beforeMs !== undefined && { beforeMs }),
        });
        return { items, next: items.length < max ? null : String(items.at(-1)?.createdAtMs) };
      },
    }),
    route({
      method: "GET",
      path: ID,
      role: "read",
      summary: "What is known of a saved output.",
      answers: artifactShape,
      answer: ({ named }) => open(named.id, async ({ artifact }) => artifact),
    }),
    route({
      method: "DELETE",
      path: ID,
      role: "admin",
      summary: "Removes a saved output, for every session that saved it.",
      answers: z.null(),
      async answer({ named }) {
        await open(named.id, async () => {});
        await store.remove(named.id ?? "", scope);
        return null;
      },
    }),
    route({
      method: "GET",
      path: `${ID}/content`,
      role: "read",
      summary: "All bytes of a saved output, or with the header Range some of them.",
      answers: "text/plain",
      async answer(asked, response) {
        await openToRead(asked, (artifact) => sendContent(artifact, asked.request, response));
      },
    }),
    route({
      method: "GET",
      path: `${ID}/lines`,
      role: "read",
      summary: "Lines of a saved output, with their numbers.",
      query: z.strictObject({
        from: z.coerce.number().pipe(line).default(1),
        to: z.coerce.number().pipe(line).optional().describe("the last line; both ends are included"),
        lineBytes: z.coerce
          .number()
          .int()
          .min(1)
          .default(SERVE_NUMBERS.apiLineBytes.default)
          .describe("of a longer line only so much is given"),
      }),
      answers: z.strictObject({
        id: z.string(),
        totalLines: z.int(),
        lines: z.array(
          z.strictObject({ line, text: z.string(), omittedBytes: z.int().describe("not shown of a very long line") }),
        ),
        next: line.nullable().describe("the line to go on with"),
      }),
      answer: (asked) => openToRead(asked, (artifact) => readLines(artifact, asked.query)),
    }),
    route({
      method: "GET",
      path: `${ID}/search`,
      role: "read",
      summary: "Lines of a saved output that match a pattern. The count is of all matches.",
      query: z.strictObject({
        pattern: z.string(),
        literal: z.stringbool().default(false).describe("the pattern is the text itself"),
        ignoreCase: z.stringbool().default(false),
        context: z.coerce.number().int().min(0).optional(),
        max: z.coerce.number().int().min(0).optional(),
        from: z.coerce.number().pipe(line).default(1).describe("matches from this line on"),
      }),
      answers: z.strictObject({
        id: z.string(),
        total: z.int(),
        complete: z.boolean(),
        matches: z.array(z.looseObject({ line })),
        next: line.nullable(),
        note: z.string(),
      }),
      async answer({ named: { id = "" }, query: { context, max, ...query }, signal, caller }) {
        const counts = { ...(context !== undefined && { context }), ...(max !== undefined && { max }) };
        const limits = { maxChars: NUMBERS.searchChars.ceiling };
        return search(id, { ...query, ...counts }, { signal, limits, reads: "person", readBy: caller });
      },
    }),
  ];
}

/** Finds a saved output for a caller who is going to read it, and records who that is. */
export type OpenRead = (id: string, caller: string | undefined) => Promise<WholeArtifact>;

/** What one caller reads of one output within an hour is one event, because pages read an output piece by piece. */
export function newReads({ artifact }: Pick<Spillway, "artifact">, now: () => number = Date.now): OpenRead {
  const recorded = new Map<string, number>();
  return async (id, caller) => {
    const key = JSON.stringify([caller, id]);
    const atMs = now();
    const isNew = atMs - (recorded.get(key) ?? -Infinity) >= SERVE_NUMBERS.apiReadMs.default;
    const found = await artifact(id, isNew ? { reads: "person", readBy: caller } : undefined);
    if (isNew) setNewest(recorded, key, atMs, MOST_READS);
    return found;
  };
}

/** Reads that are remembered at once. */
const MOST_READS = 10_000;

/** Lines in order, until they are as much as may be given at once. */
async function readLines(
  { artifact, locate, read }: OpenArtifact,
  { from, to, lineBytes }: { from: number; to?: number | undefined; lineBytes: number },
) {
  const { id, lines: totalLines } = artifact;
  const last = Math.min(to ?? Infinity, from + SERVE_NUMBERS.apiLines.default - 1, totalLines);
  if (to !== undefined && to < from) throw new Refusal(400, "bad-input", "to must not be before from");
  if (from > last) return { id, totalLines, lines: [], next: null };
  const range = await locate([from, last]);
  const most = SERVE_NUMBERS.apiLineBytes.default;
  const lines: { line: number; text: string; omittedBytes: number }[] = [];
  let line = from;
  // Each turn reads a block. It ends with the last line, or with one that goes on behind the block and is shortened.
  for (let start = range.from, room = most; line <= last && room > 0; ) {
    const bytes = Buffer.from(await read({ from: start, to: Math.min(range.to, start + room) }));
    let at = 0;
    for (let goesOn = false; line <= last && !goesOn; line++) {
      const lineBreak = bytes.indexOf(10, at);
      const isLast = start + bytes.length === range.to;
      goesOn = lineBreak < 0 && !isLast;
      if (goesOn && lines.length > 0 && bytes.length - at < lineBytes) return page();
      const end = goesOn ? (await locate([line, line])).to - start : lineBreak < 0 ? bytes.length : lineBreak;
      const shownEnd = charsEnd(bytes, at, Math.min(end, at + lineBytes, bytes.length));
      const text = bytes.toString("utf8", at, shownEnd).replace(/\r$/, "");
      lines.push({ line, text, omittedBytes: end - shownEnd });
      room -= shownEnd - at + 1;
      at = goesOn ? end : end + 1;
    }
    start += at;
  }
  return page();

  function page() {
    return { id, totalLines, lines, next: line <= Math.min(to ?? Infinity, totalLines) ? line : null };
  }
}

/** The end of the last whole character before a place. Bytes that are no character are cut anywhere. */
function charsEnd(bytes: Buffer, from: number, at: number): number {
  let end = at;
  while (end > from && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end > from || at - from < 4 ? end : at;
}

const PIECE_BYTES = 256 * 1024;

/** Sends bytes of an artifact. The content may be anything, so that no browser may take it for a page. */
async function sendContent(
  { artifact, read }: OpenArtifact,
  { headers, method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { id, bytes, sha256 } = artifact;
  const etag = `"${sha256}"`;
  const shared = { etag, "accept-ranges": "bytes" };
  if (headers["if-none-match"]?.includes(etag)) {
    begin(response, 304, shared);
    response.end();
    return;
  }
  const isSame = (headers["if-range"] ?? etag) === etag;
  const range = isSame ? rangeOf(headers.range, artifact) : null;
  const { from, to } = range ?? { from: 0, to: bytes };
  begin(response, range === null ? 200 : 206, {
    ...shared,
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": `inline; filename="${id}.txt"`,
    "content-length": to - from,
    ...(range !== null && { "content-range": `bytes ${from}-${to - 1}/${bytes}` }),
  });
  if (method === "HEAD") {
    response.end();
    return;
  }
  async function* pieces() {
    for (let at = from; at < to; at += PIECE_BYTES) yield await read({ from: at, to: Math.min(to, at + PIECE_BYTES) });
  }
  // A reader that leaves is no fault.
  await pipeline(Readable.from(pieces(), { objectMode: false }), response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
}

/**
 * One range. A list of ranges, or one that ends before it begins, is answered with everything, as HTTP says. Throws if the range
 * is past the end.
 */
function rangeOf(header: string | undefined, { bytes }: Artifact): { from: number; to: number } | null {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  const from = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? bytes : Math.min(Number(last) + 1, bytes);
  if (from < to) return { from, to };
  throw new Refusal(416, "bad-range", `the output has ${bytes} bytes`, { "content-range": `bytes */${bytes}` });
}
