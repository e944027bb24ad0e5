import { askAhead } from "./api.ts";
import { BLOCK, LINE_BYTES } from "./line-bytes.ts";
import { type Place, placeOf } from "./route.ts";

// What the first page needs is asked for before React is even run: this module stands first in the script.

const HOUR_MS = 3_600_000;

/** The questions of the overview, from so many hours before a time on; 0 means all. */
export function overviewPaths(untilMs: number, hours: number) {
  const from = hours === 0 ? "" : `&since=${untilMs - hours * HOUR_MS}`;
  return {
    all: `/api/stats?by=all${from}`,
    byHour: `/api/stats?by=hour${from}`,
    byTool: `/api/stats?by=tool${from}`,
    overflows: "/api/events?kind=overflow-recovered,overflow-failed&max=5",
  };
}

/** The times that the overview can be of, in hours. */
export const RANGES: Record<string, number> = { "24 hours": 24, "7 days": 168, "30 days": 720, all: 0 };

/** The range that an address names. */
export function rangeIn(params: URLSearchParams): string {
  const named = params.get("range") ?? "";
  return Object.hasOwn(RANGES, named) ? named : "24 hours";
}

/** The whole hour in which we are, so that asking again asks the same. */
export function thisHourMs(): number {
  return Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
}

/** What is known of an output, and what it became. */
export function outputPaths(id: string) {
  const name = encodeURIComponent(id);
  return { artifact: `/api/artifacts/${name}`, receipts: `/api/receipts?artifact=${name}&max=100` };
}

/** A block of lines. */
export function linesPath(id: string, from: number): string {
  return `/api/artifacts/${encodeURIComponent(id)}/lines?from=${from}&to=${from + BLOCK - 1}&lineBytes=${LINE_BYTES}`;
}

/** The events of a session, the oldest first. */
export function eventsPath(session: string): string {
  return `/api/events?session=${encodeURIComponent(session)}&order=oldest`;
}

function firstPaths({ page, id, params }: Place): string[] {
  if (page === "" || page === "overview")
    return Object.values(overviewPaths(thisHourMs(), RANGES[rangeIn(params)] ?? 0));
  if (page !== "outputs" || id === "") return [];
  const line = Math.max(1, Number(params.get("line")) || 1);
  return [...Object.values(outputPaths(id)), linesPath(id, line - ((line - 1) % BLOCK))];
}

for (const path of firstPaths(placeOf(location.hash))) askAhead(path);
