import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { begin, Refusal, readBody, sendJson } from "./answer.ts";
import type { Callers, Role } from "./callers.ts";

/** What a caller asks of a route. */
export interface Asked<Query, Body> {
  /** What stands in the path, by name. */
  named: Record<string, string>;
  query: Query;
  body: Body;
  request: IncomingMessage;
  /** The name of the caller's token. */
  caller: string | undefined;
  /** Aborts when the caller is gone. */
  signal: AbortSignal;
}

/** One thing that can be asked. The OpenAPI document is written from this. */
export interface Route {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** `{name}` stands for one part of the path. */
  path: string;
  /** Null: everybody may ask. */
  role: Role | null;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The shape of the answer, or the type of one that is no JSON. */
  answers: z.ZodType | string;
  /** What it gives is sent as JSON; null is no content. A route that sends its answer itself gives undefined. */
  answer(asked: Asked<unknown, unknown>, response: ServerResponse): Promise<unknown>;
}

/** A route whose handler gets the query and the body in the shapes that it declares. */
export function route<Query extends z.ZodObject = z.ZodObject<{}>, Body extends z.ZodType = z.ZodUndefined>(
  declared: Omit<Route, "query" | "body" | "answer"> & {
    query?: Query;
    body?: Body;
    answer(asked: Asked<z.output<Query>, z.output<Body>>, response: ServerResponse): Promise<unknown>;
  },
): Route {
  // Checked by these schemas before the handler is called.
  return declared as unknown as Route;
}

/** Answers a request by the table. False if no route has its path. */
export type Routes = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<boolean>;

/** Makes a router of a table. */
export function newRoutes(table: readonly Route[], callers: Callers): Routes {
  const ready = table.map((each) => ({ ...each, pattern: patternOf(each.path) }));
  return async (request, response, { pathname, searchParams }) => {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const there = ready.filter(({ pattern }) => pattern.test(pathname));
    if (there.length === 0) return false;
    callers.checkRate(request);
    callers.checkOrigin(request);
    const found = there.find((each) => each.method === method);
    if (found === undefined) {
      const allow = there.map((each) => each.method).join(", ");
      throw new Refusal(405, "bad-method", `${pathname} takes ${allow}`, { allow });
    }
    if (found.role !== null) callers.checkRole(request, found.role);
    const gone = new AbortController();
    response.once("close", () => response.writableFinished || gone.abort());
    const answer = await found.answer(
      {
        named: namesIn(found.pattern.exec(pathname)?.groups),
        query: checked(found.query ?? z.strictObject({}), queryOf(searchParams), "the query"),
        body: found.body === undefined ? undefined : await jsonOf(request, found.body),
        request,
        caller: callers.nameOf(request),
        signal: gone.signal,
      },
      response,
    );
    if (answer === null) {
      begin(response, 204, {});
      response.end();
    } else if (answer !== undefined) sendJson(response, 200, answer);
    return true;
  };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

function namesIn(groups: Record<string, string> = {}): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new Refusal(400, "bad-input", "the path has a % that begins no character");
  }
}

/** A name that is given more than once is a list. */
function queryOf(params: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const all = params.getAll(name);
      return [name, all.length === 1 ? (all[0] ?? "") : all];
    }),
  );
}

async function jsonOf(request: IncomingMessage, shape: z.ZodType): Promise<unknown> {
  // A form of another site can send other types without asking first.
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new Refusal(415, "bad-type", "send JSON, with the header Content-Type: application/json");
  }
  const raw = await readBody(request, SERVE_NUMBERS.apiBodyBytes.default);
  let value: unknown;
  try {
    value = JSON.parse(raw.toString());
  } catch {
    throw new Refusal(400, "bad-input", "the body is no JSON");
  }
  return checked(shape, value, "the body");
}

function checked(shape: z.ZodType, value: unknown, where: string): unknown {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const faults = error.issues.map((issue) => {
    const name = issue.path.join(".");
    if (issue.code === "unrecognized_keys" && name === "") {
      const takes = shape instanceof z.ZodObject ? Object.keys(shape.shape).join(", ") : "";
      return `it has no ${issue.keys.join(", ")}; it takes ${takes || "nothing"}`;
    }
    if (issue.code === "invalid_type" && issue.message.endsWith("received undefined")) return `${name} is missing`;
    return name === "" ? issue.message : `${name}: ${issue.message}`;
  });
  throw new Refusal(400, "bad-input", `${where} cannot be used: ${faults.slice(0, 5).join("; ").slice(0, 500)}`);
}
