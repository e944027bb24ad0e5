import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { newMetrics } from "../serve/metrics.ts";
import { type Front, type FrontOptions, startHttpFront } from "./http-front.ts";
import { type Message, VERSION_KEY } from "./json-rpc.ts";
import type { RequestHeaders } from "./upstream.ts";

let front: Front | null = null;
afterEach(async () => {
  await front?.stop();
  front = null;
});

/** A front before servers that answer every request with the headers that came with it. */
async function started(options: Partial<FrontOptions> = {}) {
  const state = { running: 0, started: 0 };
  front = await startHttpFront({
    spillway: await createSpillway({ store: null, ledger: null, env: {} }),
    host: "127.0.0.1",
    port: 0,
    warn: () => {},
    upstream: ({ message: say }) => {
      state.running++;
      state.started++;
      return {
        async send(text: Uint8Array | string, headers: RequestHeaders) {
          const { id, method } = JSON.parse(Buffer.from(text).toString()) as Message;
          if (id !== undefined && method !== "x/silent")
            void say({ jsonrpc: "2.0", id, result: { headers } } as Message);
        },
        stop: async () => void state.running--,
      };
    },
    ...options,
  });
  const { url } = front;
  const post = async (message: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    return { status: response.status, id: response.headers.get("mcp-session-id") ?? "", text: await response.text() };
  };
  return { url, state, post };
}

const initialize = { id: 0, method: "initialize" };

test("metrics are given beside MCP, with what the ledger counted and the sessions, if they are asked for", async () => {
  const ledger = memoryLedger();
  const spillway = await createSpillway({ store: null, ledger, env: {} });
  await spillway.admit({ tool: "read_file", output: "a\n" });
  const { url, post } = await started({ spillway, metrics: () => newMetrics().text(ledger) });
  await post(initialize);
  const response = await fetch(url.replace("/mcp", "/metrics"));
  expect(response.headers.get("content-type")).toContain("text/plain");
  const text = await response.text();
  expect(text).toContain('spillway_outputs_total{tool="read_file"} 1\n');
  expect(text).toMatch(/^spillway_mcp_sessions 1$/m);
  expect((await fetch(url.replace("/mcp", "/metrics"), { headers: { origin: "http://evil.example" } })).status).toBe(
    403,
  );
  await front?.stop();
  const without = await started();
  expect((await fetch(without.url.replace("/mcp", "/metrics"))).status).toBe(404);
});

test("sessions that nobody uses end; their clients are told to begin again; one in use stays", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const idleMs = 60_000;
  const { url, state, post } = await started({ idleMs });
  const [gone, kept] = [await post(initialize), await post(initialize)];
  const abort = new AbortController();
  const stream = await fetch(url, { headers: { "mcp-session-id": kept.id }, signal: abort.signal });
  expect(stream.status).toBe(200);
  vi.advanceTimersByTime(idleMs / 2);
  expect(state.running).toBe(2);
  vi.advanceTimersByTime(idleMs);
  await expect.poll(() => state.running).toBe(1);
  expect((await post({ id: 1, method: "ping" }, { "mcp-session-id": gone.id })).status).toBe(404);
  expect((await post({ id: 1, method: "ping" }, { "mcp-session-id": kept.id })).status).toBe(200);
  abort.abort();
  await expect
    .poll(() => {
      // The server learns after a while that the stream has ended.
      vi.advanceTimersByTime(2 * idleMs);
      return state.running;
    })
    .toBe(0);
});

test("after a hundred clients that left without a word there is still room, and no more than a hundred servers", async () => {
  const { state, post } = await started();
  const first = await post(initialize);
  for (let count = 0; count < 120; count++) expect((await post(initialize)).status).toBe(200);
  expect(state).toEqual({ started: 121, running: 100 });
  expect((await post({ id: 1, method: "ping" }, { "mcp-session-id": first.id })).status).toBe(404);
});

test("a hundred sessions whose clients all wait are left alone", async () => {
  const { url, post, state } = await started();
  const abort = new AbortController();
  // They are held, since a stream that nobody holds is collected and closed.
  const streams: Response[] = [];
  for (let count = 0; count < 100; count++) {
    const { id } = await post(initialize);
    streams.push(await fetch(url, { headers: { "mcp-session-id": id }, signal: abort.signal }));
  }
  expect((await post(initialize)).status).toBe(503);
  expect([state.running, streams.length]).toEqual([100, 100]);
  abort.abort();
});

test("headers of the client go on where that was asked for, and those that repeat arguments always", async () => {
  const { post } = await started({ forwardHeader: ["authorization", "x-team"] });
  const sent = { authorization: "Bearer mine", "X-Team": "a", "x-other": "b", "Mcp-Param-Region": "eu" };
  const { text } = await post({ id: 1, method: "x/y" }, sent);
  expect(JSON.parse(text.split("data: ")[1] ?? "").result.headers).toEqual({
    authorization: "Bearer mine",
    "x-team": "a",
    "mcp-param-region": "eu",
  });
});

test("a header that says something else than the body is refused", async () => {
  const { post } = await started();
  const call = { id: 1, method: "tools/call", params: { name: "tö", _meta: { [VERSION_KEY]: "2026-07-28" } } };
  const name = `=?base64?${Buffer.from("tö").toString("base64")}?=`;
  expect((await post(call, { "mcp-method": "tools/call", "mcp-name": name })).status).toBe(200);
  const { status, text } = await post(call, { "mcp-method": "tools/list" });
  expect([status, JSON.parse(text).error.code]).toEqual([400, -32020]);
});
