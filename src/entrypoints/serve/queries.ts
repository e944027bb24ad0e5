import { z } from "zod";
import { Refusal } from "./answer.ts";

// Parts of queries that several routes have.

/** The name of a session, a tool or a call. */
export const nameQuery = z.string().min(1).max(10_000).optional();

/** A time. */
export const timeQuery = z.coerce.number().int().optional().describe("milliseconds since 1970");

/** How many a page may have. */
export const pageQuery = z.coerce.number().int().min(1).max(1000).default(100);

/** Where a page goes on: `next` of the page before. */
export function cursorQuery<Shape extends z.ZodType>(shape: Shape) {
  return shape.optional().describe("`next` of the page before");
}

/** A place in a list that takes several values to name, as a cursor. */
export function toCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** The place that a cursor names. Throws a refusal if it is none of ours. */
export function fromCursor<Shape extends z.ZodType>(cursor: string, shape: Shape): z.output<Shape> {
  try {
    return shape.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw new Refusal(400, "bad-input", "cursor: take it from `next` of the page before");
  }
}
