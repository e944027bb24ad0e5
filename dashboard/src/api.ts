import { useCallback, useEffect, useRef, useState } from "react";
import type { RecordedEvent } from "../../src/contract/event.ts";
import type { SessionRow, StatRow } from "../../src/contract/ledger.ts";
import type { Limits } from "../../src/contract/limits.ts";
import type { Receipt } from "../../src/contract/receipt.ts";
import type { Artifact } from "../../src/contract/store.ts";
import type { Rates } from "../../src/stages/record/derive-rates.ts";

// The shapes that the API answers in. They are the server's own types: api.test.ts holds the routes to them.
export type { Artifact, Limits, Receipt, RecordedEvent, SessionRow };
export type Stat = StatRow & Rates;

/** One page of a list. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** What /api/artifacts/{id}/view answers. */
export interface View {
  text: string;
  isSame: boolean;
  event: number;
  atMs: number;
  recorded: Receipt;
  receipt: Receipt;
}

/** A line as /api/artifacts/{id}/lines gives it. */
export interface Line {
  line: number;
  text: string;
  omittedBytes: number;
}

/** An answer that is none: what the server said, or that it did not answer. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const TOKEN = "spillway-token";
let unauthorized = () => {};

/** Sets what happens when the server asks for a token. */
export function onUnauthorized(then: () => void): void {
  unauthorized = then;
}

/** Keeps a token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

/** Whether requests carry a token: a plain link would not. */
export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

const begun = new Map<string, Promise<Response>>();

/** Begins a request that a page is about to make, while the rest of the script is not yet run. */
export function askAhead(path: string): void {
  const answer = withToken(path);
  answer.catch(() => {});
  begun.set(path, answer);
}

function withToken(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN);
  return fetch(path, { ...init, headers: { ...init.headers, ...(token && { authorization: `Bearer ${token}` }) } });
}

/** Sends a request with the token, if there is one. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const asked = begun.get(path) ?? withToken(path, init);
  begun.delete(path);
  const response = await asked.catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new ApiFault(0, "unreachable", "The server does not answer.");
  });
  if (response.ok) return response;
  if (response.status === 401) unauthorized();
  const body = (await response.json().catch(() => null)) as { error?: { code: string; message: string } } | null;
  const { code = "unknown", message = `The server answered with status ${response.status}.` } = body?.error ?? {};
  throw new ApiFault(response.status, code, message);
}

/** Asks for JSON. */
export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, signal === undefined ? {} : { signal })).json() as Promise<T>;
}

/** What an output would become. */
export interface Trial {
  text: string;
  receipt: Receipt;
  limits: Limits;
}

/** Sends JSON and gives JSON back. */
export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return (await send(path, init)).json() as Promise<T>;
}

/** What is known of an answer by now. */
export interface Asked<T> {
  data: T | null;
  fault: ApiFault | null;
  /** Asks again; what is there stays until the answer comes. */
  again: () => void;
}

/** Asks when a page is shown, and again when the path changes. Null asks nothing. `read` is one function for good. */
export function useAsked<T>(
  path: string | null,
  read: (path: string, signal: AbortSignal) => Promise<T> = ask,
): Asked<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; fault: ApiFault | null }>(NOTHING);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const leaving = new AbortController();
    read(path, leaving.signal).then(
      (data) => leaving.signal.aborted || setState({ path, data, fault: null }),
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        const fault = error instanceof ApiFault ? error : new ApiFault(0, "fault", String(error));
        setState((before) => ({ path, data: before.path === path ? before.data : null, fault }));
      },
    );
    return () => leaving.abort();
  }, [path, round, read]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return state.path === path ? { data: state.data, fault: state.fault, again } : { data: null, fault: null, again };
}

const NOTHING = { path: null, data: null, fault: null };

/** More items than this of one list are not read. */
export const MOST_ITEMS = 20_000;

/** Reads all pages of a list, up to a number of items. */
export async function askAll<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = ""; cursor !== null && all.length < MOST_ITEMS; ) {
    const joint = path.includes("?") ? "&" : "?";
    const page: Page<T> = await ask(
      `${path}${joint}max=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      signal,
    );
    all.push(...page.items);
    cursor = page.next;
  }
  return all;
}

/** Calls back when something happens, in one session or anywhere, at most once in two seconds. */
export function useLive(changed: () => void, session?: string): "live" | "waiting" {
  const [state, setState] = useState<"live" | "waiting">("waiting");
  const latest = useRef(changed);
  latest.current = changed;
  useEffect(() => {
    const leaving = new AbortController();
    const path = `/api/events/live${session === undefined ? "" : `?session=${encodeURIComponent(session)}`}`;
    void follow(path, leaving.signal, setState, () => latest.current());
    return () => leaving.abort();
  }, [session]);
  return state;
}

const RETRY_MS = 5000;
const AT_MOST_EVERY_MS = 2000;

async function follow(
  path: string,
  signal: AbortSignal,
  tell: (state: "live" | "waiting") => void,
  changed: () => void,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  for (let isBack = false; !signal.aborted; isBack = true) {
    try {
      const { body } = await send(path, { signal });
      tell("live");
      // Nobody told what happened meanwhile.
      if (isBack) changed();
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
        if (!/^data:/m.test(part.value)) continue;
        timer ??= setTimeout(() => {
          timer = undefined;
          if (!signal.aborted) changed();
        }, AT_MOST_EVERY_MS);
      }
    } catch {
      if (signal.aborted) return;
    }
    tell("waiting");
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
