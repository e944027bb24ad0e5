import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import type { EventKind } from "../../contract/event.ts";
import type { EventQuery, Ledger } from "../../contract/ledger.ts";
import { statRates } from "../../spillway/stat-rates.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { begin, Refusal } from "./answer.ts";
import { cursorQuery, fromCursor, nameQuery, pageQuery, timeQuery, toCursor } from "./queries.ts";
import { type Route, route } from "./route.ts";
import { eventShape, pageOf, receiptShape, sessionShape, statShape } from "./shapes.ts";

const FILTERS = { session: nameQuery, tool: nameQuery, call: nameQuery, artifact: nameQuery, since: timeQuery };
const kindsQuery = z
  .union([z.string(), z.array(z.string())])
  .transform((kinds) => [kinds].flat().flatMap((each) => each.split(",")) as EventKind[])
  .optional()
  .describe("kinds of events, with commas between them");
const idQuery = z.coerce.number().int().min(0);
const OUTPUTS: EventKind[] = ["output-clamped", "output-passed"];
const LOOK_MS = 250;
const PING_MS = 15_000;

/** Reads what is recorded. `stopping` ends the answers that would go on for ever. */
export function ledgerRoutes(ledger: Ledger, stopping: AbortSignal): Route[] {
  let followers = 0;
  return [
    route({
      method: "GET",
      path: "/api/sessions",
      role: "read",
      summary: "Sessions, the last seen first, with their sums.",
      query: z.strictObject({ cursor: cursorQuery(z.string()), max: pageQuery }),
      answers: pageOf(sessionShape),
      async answer({ query: { cursor, max } }) {
        const place = z.object({ session: z.string(), lastSeenMs: z.number() });
        const items = await ledger.sessions({
          max,
          ...(cursor !== undefined && { after: fromCursor(cursor, place) }),
        });
        const last = items.length < max ? undefined : items.at(-1);
        return { items, next: last ? toCursor({ session: last.session, lastSeenMs: last.lastSeenMs }) : null };
      },
    }),
    route({
      method: "GET",
      path: "/api/sessions/{session}",
      role: "read",
      summary: "One session, with its sums.",
      answers: sessionShape,
      answer: ({ named }) => findSession(ledger, named.session),
    }),
    route({
      method: "PUT",
      path: "/api/sessions/{session}/pin",
      role: "write",
      summary: "Keeps a session from being removed by age, or lets it go.",
      body: z.strictObject({ pinned: z.boolean() }),
      answers: sessionShape,
      async answer({ named, body: { pinned } }) {
        const { session } = await findSession(ledger, named.session);
        await ledger.pin(session, pinned);
        return findSession(ledger, session);
      },
    }),
    route({
      method: "GET",
      path: "/api/events",
      role: "read",
      summary: "What happened, the newest first.",
      query: z.strictObject({
        ...FILTERS,
        kind: kindsQuery,
        order: z.enum(["newest", "oldest"]).default("newest"),
        cursor: cursorQuery(idQuery),
        max: pageQuery,
      }),
      answers: pageOf(eventShape),
      async answer({ query: { kind, order, cursor, max, ...filters } }) {
        const items = await ledger.events({
          ...filtered(filters, kind),
          order,
          max,
          ...(cursor !== undefined && { [order === "newest" ? "beforeId" : "afterId"]: cursor }),
        });
        return { items, next: items.length < max ? null : String(items.at(-1)?.id) };
      },
    }),
    route({
      method: "GET",
      path: "/api/events/live",
      role: "read",
      summary: "What happens from now on, as server-sent events. With the header Last-Event-ID, what was missed first.",
      query: z.strictObject({ ...FILTERS, kind: kindsQuery }),
      answers: "text/event-stream",
      async answer({ query: { kind, ...filters }, request, signal }, response) {
        if (followers >= SERVE_NUMBERS.apiFollowers.default) {
          throw new Refusal(503, "too-many", "too many readers follow events; close one", { "retry-after": "10" });
        }
        const missed = idQuery.safeParse(request.headers["last-event-id"]);
        followers += 1;
        try {
          const end = AbortSignal.any([signal, stopping]);
          await follow(ledger, filtered(filters, kind), missed.success ? missed.data : null, { response, end });
        } finally {
          followers -= 1;
        }
      },
    }),
    route({
      method: "GET",
      path: "/api/receipts",
      role: "read",
      summary: "Receipts of outputs, the newest first: what each became, and where every byte went.",
      query: z.strictObject({ ...FILTERS, cursor: cursorQuery(idQuery), max: pageQuery }),
      answers: pageOf(z.strictObject({ event: z.int(), atMs: z.number(), receipt: receiptShape })),
      async answer({ query: { cursor, max, ...filters } }) {
        const page = await ledger.events({
          ...filtered(filters, OUTPUTS),
          order: "newest",
          max,
          ...(cursor !== undefined && { beforeId: cursor }),
        });
        const items = page.flatMap(({ id, atMs, receipt }) => (receipt === null ? [] : { event: id, atMs, receipt }));
        return { items, next: page.length < max ? null : String(page.at(-1)?.id) };
      },
    }),
    route({
      method: "GET",
      path: "/api/stats",
      role: "read",
      summary: "Sums by tool, by session, over time, or of all. Times are taken by the whole hour.",
      query: z.strictObject({
        by: z.enum(["tool", "session", "hour", "all"]).default("tool"),
        session: nameQuery,
        tool: nameQuery,
        since: timeQuery,
        until: timeQuery,
      }),
      answers: z.strictObject({ rows: z.array(statShape) }),
      async answer({ query: { by, since, until, session, tool } }) {
        const rows = await ledger.stats({
          by,
          ...(session !== undefined && { session }),
          ...(tool !== undefined && { tool }),
          ...(since !== undefined && { sinceMs: since }),
          ...(until !== undefined && { untilMs: until }),
        });
        return { rows: rows.map((row) => ({ ...row, ...statRates(row) })) };
      },
    }),
  ];
}

async function findSession(ledger: Ledger, session = "") {
  const [found] = await ledger.sessions({ session, max: 1 });
  if (found === undefined) throw new Refusal(404, "unknown-session", "there is no such session; /api/sessions has all");
  return found;
}

type Filters = Partial<Record<"session" | "tool" | "call" | "artifact", string | undefined>> & {
  since?: number | undefined;
};

function filtered({ since, ...names }: Filters, kinds: EventKind[] | undefined): EventQuery {
  return {
    ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined)),
    ...(since !== undefined && { sinceMs: since }),
    ...(kinds !== undefined && { kinds }),
  };
}

/** Sends events as they are recorded, by any process. A reader that is slow is waited for. */
async function follow(
  ledger: Ledger,
  query: EventQuery,
  missedAfter: number | null,
  { response, end }: { response: ServerResponse; end: AbortSignal },
): Promise<void> {
  let afterId = missedAfter ?? (await ledger.events({ order: "newest", max: 1 }))[0]?.id ?? 0;
  begin(response, 200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  response.write(": what happens from now on\n\n");
  let saidMs = Date.now();
  while (!end.aborted) {
    const events = await ledger.events({ ...query, afterId });
    for (const event of events) {
      afterId = event.id;
      response.write(`id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (events.length > 0) saidMs = Date.now();
    else if (Date.now() - saidMs > PING_MS) {
      response.write(": still here\n\n");
      saidMs = Date.now();
    }
    if (response.writableNeedDrain) {
      await new Promise<void>((resolve) => {
        response.once("drain", resolve);
        end.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (events.length === 0) await setTimeout(LOOK_MS, null, { signal: end }).catch(() => {});
  }
  response.end();
}
