import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import type { RecordedEvent } from "../../contract/event.ts";
import type { SessionRow, StatRow } from "../../contract/ledger.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { Artifact, Store } from "../../contract/store.ts";
import { createSpillway, type Rates, type Spillway, type SpillwayOptions } from "../../index.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { eventOf } from "../../testing/arbitrary-event.ts";
import { apiRoutes } from "./api.ts";
import { newCallers } from "./callers.ts";
import { newMetrics } from "./metrics.ts";
import { openApi } from "./open-api.ts";
import type { artifactShape, eventShape, receiptShape, sessionShape, statShape } from "./shapes.ts";
import { type Served, type ServeOptions, startServe } from "./start-serve.ts";
import { PUBLIC_UPSTREAMS } from "./upstreams.ts";

const served: Served[] = [];
const warned: string[] = [];
afterEach(async () => {
  await Promise.all(served.splice(0).map((each) => each.stop({ now: true })));
  const faults = warned.splice(0);
  if (faults.length > 0) throw new Error(`the server warned: ${faults.join("; ")}`);
});

const JSON_TYPE = { "content-type": "application/json" };
const LONG = Array.from({ length: 1000 }, (_, at) => `entry ${at + 1} of the log`).join("\n");

async function start(options: Partial<ServeOptions> = {}, spillwayOptions: SpillwayOptions = {}) {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, ...spillwayOptions });
  const server = await startServe({
    spillway,
    policy: undefined,
    version: "1.0.0",
    host: "127.0.0.1",
    port: 0,
    tokens: [],
    hostNames: [],
    gateway: { upstreams: PUBLIC_UPSTREAMS, allowed: [] },
    warn: (fault) => warned.push(fault),
    ...options,
  });
  served.push(server);
  const ask = (path: string, init?: RequestInit) => fetch(server.url + path, init);
  const get = async (path: string, status = 200) => {
    const response = await ask(path);
    expect([path, response.status]).toEqual([path, status]);
    return response.json();
  };
  return { spillway, server, ask, get };
}

async function admitLong(spillway: Spillway, session = "s1", call = "c1"): Promise<Receipt> {
  const { receipt } = await spillway.admit({ tool: "run_command", session, call, output: LONG });
  expect(receipt.artifact).not.toBeNull();
  return receipt;
}

const routesOf = (spillway: Spillway) =>
  apiRoutes({
    spillway,
    policy: undefined,
    version: "1.0.0",
    metrics: newMetrics(),
    stopping: new AbortController().signal,
  });

/** Sends bytes as they are, and gives all that comes back. */
function raw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    let got = "";
    socket.on("data", (chunk) => (got += chunk));
    socket.on("end", () => resolve(got));
    socket.on("error", reject);
  });
}

describe("the API", () => {
  it("gives sessions in pages, and one by its name, whatever the name is", async () => {
    const { spillway, get, ask } = await start();
    const names = ["a/../b", "two words", "100%", "d", "e"];
    for (const session of names) await admitLong(spillway, session);
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { items: SessionRow[]; next: string | null } = await get(
        `/api/sessions?max=2${cursor && `&cursor=${cursor}`}`,
      );
      found.push(...page.items.map(({ session }) => session));
      cursor = page.next;
    }
    expect(found.toSorted()).toEqual(names.toSorted());
    for (const session of names) {
      expect(await get(`/api/sessions/${encodeURIComponent(session)}`)).toMatchObject({
        session,
        calls: 1,
        cutCalls: 1,
      });
    }
    await get("/api/sessions/nobody", 404);
    await get("/api/sessions?cursor=nonsense", 400);
    const pinned = await ask("/api/sessions/d/pin", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ pinned: true }),
    });
    expect(await pinned.json()).toMatchObject({ session: "d", pinned: true });
  });

  it("gives events from the newest back, filtered, and receipts with what was cut", async () => {
    const { spillway, get } = await start();
    const receipt = await admitLong(spillway, "s1", "c1");
    await spillway.admit({ tool: "read_file", session: "s2", output: "short" });
    await spillway.recall(receipt.artifact ?? "", { lines: [1, 3] });
    const { items } = await get("/api/events");
    expect(items.map(({ kind }: RecordedEvent) => kind)).toEqual([
      "artifact-recalled",
      "output-passed",
      ...["artifact-spilled", "output-clamped"].toSorted((a, b) => kinds(items).indexOf(a) - kinds(items).indexOf(b)),
    ]);
    expect(kinds((await get("/api/events?order=oldest&max=2")).items)).toEqual(kinds(items).toReversed().slice(0, 2));
    const [, second, third] = items.toReversed();
    const after = await get(`/api/events?order=oldest&max=1&cursor=${second.id}`);
    expect([kinds(after.items), after.next]).toEqual([[third.kind], String(third.id)]);
    const paged: string[] = [];
    for (let next: string | null = "999999"; next !== null; ) {
      const page: { items: RecordedEvent[]; next: string | null } = await get(`/api/events?max=1&cursor=${next}`);
      paged.push(...kinds(page.items));
      next = page.next;
    }
    expect(paged).toEqual(kinds(items));
    expect(kinds((await get("/api/events?kind=output-passed,artifact-recalled")).items)).toHaveLength(2);
    expect(kinds((await get("/api/events?session=s2")).items)).toEqual(["output-passed"]);
    expect((await get(`/api/receipts?artifact=${receipt.artifact}`)).items).toEqual([
      { event: expect.any(Number), atMs: expect.any(Number), receipt },
    ]);
    expect((await get("/api/receipts?call=c1")).items[0].receipt.cuts.length).toBeGreaterThan(0);
    await spillway.admit({ tool: "cat", output: "short" });
    const newest = await get("/api/receipts?max=2");
    const rest = await get(`/api/receipts?max=2&cursor=${newest.next}`);
    const tools = [...newest.items, ...rest.items].map(({ receipt: { tool } }: { receipt: Receipt }) => tool);
    expect([tools, rest.next]).toEqual([["cat", "read_file", receipt.tool], null]);
  });

  it("tells live what is recorded, filtered, and after a break what was missed", async () => {
    const { spillway, server } = await start();
    await spillway.admit({ tool: "read_file", session: "s1", output: "before" });
    const first = await follow(`${server.url}/api/events/live?session=s1`);
    await spillway.admit({ tool: "read_file", session: "s2", output: "of another" });
    await spillway.admit({ tool: "read_file", session: "s1", output: "first" });
    const seen = await first.next();
    expect(seen).toMatchObject({ kind: "output-passed", session: "s1" });
    first.leave();
    await spillway.admit({ tool: "bash", session: "s1", output: "missed" });
    const second = await follow(`${server.url}/api/events/live`, { "last-event-id": String(seen.id) });
    expect(await second.next()).toMatchObject({ tool: "bash", session: "s1" });
    const ended = second.ended();
    await served.pop()?.stop();
    await ended;
  });

  it("gives artifacts in pages, the newest first, and says where the last one ends", async () => {
    const { spillway, get } = await start();
    for (const output of ["a", "b", "c"])
      await spillway.admit({ tool: "run_command", session: output, output: `${output}\n${LONG}` });
    const sessions: (string | null)[] = [];
    let cursor = "";
    for (let pages = 0; pages < 3; pages++) {
      const { items, next } = await get(`/api/artifacts?max=2${cursor}`);
      sessions.push(...items.map(({ session }: { session: string | null }) => session));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(sessions).toEqual(["c", "b", "a"]);
    expect((await get("/api/artifacts?max=4")).next).toBeNull();
  });

  it("gives an artifact's facts, its bytes by range, its lines, and what is found in it", async () => {
    const { spillway, ask, get } = await start();
    const { artifact: id, sha256 } = await admitLong(spillway);
    expect(await get(`/api/artifacts/${id}`)).toMatchObject({ id, tool: "run_command", lines: 1000, sha256 });
    expect((await get("/api/artifacts?session=s1")).items).toHaveLength(1);
    const content = `/api/artifacts/${id}/content`;
    const whole = await ask(content);
    expect([whole.status, await whole.text()]).toEqual([200, LONG]);
    const ranged = async (range: string, more = {}) => {
      const response = await ask(content, { headers: { range, ...more } });
      return [response.status, await response.text(), response.headers.get("content-range")];
    };
    const size = LONG.length;
    expect(await ranged("bytes=0-0")).toEqual([206, "e", `bytes 0-0/${size}`]);
    expect(await ranged("bytes=-3")).toEqual([206, "log", `bytes ${size - 3}-${size - 1}/${size}`]);
    expect(await ranged(`bytes=${size - 3}-`)).toEqual([206, "log", `bytes ${size - 3}-${size - 1}/${size}`]);
    expect((await ranged(`bytes=${size}-`))[0]).toBe(416);
    expect((await ranged("bytes=0-1,4-5"))[0]).toBe(200);
    expect((await ranged("bytes=5-2"))[0]).toBe(200);
    expect((await ranged("bytes=0-1", { "if-range": '"another"' }))[0]).toBe(200);
    expect((await ask(content, { headers: { "if-none-match": `"${sha256}"` } })).status).toBe(304);
    const head = await ask(content, { method: "HEAD" });
    expect([head.headers.get("content-length"), await head.text()]).toEqual([String(size), ""]);
    const page = await get(`/api/artifacts/${id}/lines?from=5&to=7`);
    expect(page.lines).toEqual([5, 6, 7].map((line) => ({ line, text: `entry ${line} of the log`, omittedBytes: 0 })));
    expect(page.next).toBeNull();
    expect((await get(`/api/artifacts/${id}/lines?from=999`)).lines).toHaveLength(2);
    expect((await get(`/api/artifacts/${id}/lines?from=2000`)).lines).toEqual([]);
    await get(`/api/artifacts/${id}/lines?from=7&to=5`, 400);
    expect(await get(`/api/artifacts/${id}/search?pattern=entry+99&max=2`)).toMatchObject({
      total: 11,
      complete: true,
    });
    await get(`/api/artifacts/${id}/search?pattern=`, 400);
    // Reading is recorded, and counts as no model's.
    expect(kinds((await get("/api/events")).items)).toContain("artifact-searched");
    expect((await spillway.ledger?.stats({ by: "all" }))?.[0]?.recalls).toBe(0);
    expect((await ask(`/api/artifacts/${id}`, { method: "DELETE" })).status).toBe(204);
    await get(`/api/artifacts/${id}`, 404);
  });

  it("gives very many and very long lines in pages that say where to go on", async () => {
    const { spillway, get } = await start();
    const many = `${"x\r\n".repeat(2500)}${"y".repeat(3_000_000)}\nlast`;
    const { receipt } = await spillway.admit({ tool: "t", output: many });
    const path = `/api/artifacts/${receipt.artifact}/lines`;
    const first = await get(path);
    expect([first.lines.length, first.lines[0].text, first.next]).toEqual([SERVE_NUMBERS.apiLines.default, "x", 2001]);
    const second = await get(`${path}?from=2001`);
    expect([second.lines.length, second.next]).toEqual([500, 2501]);
    const third = await get(`${path}?from=2501`);
    expect(third.lines).toEqual([
      {
        line: 2501,
        text: "y".repeat(SERVE_NUMBERS.apiLineBytes.default),
        omittedBytes: 3_000_001 - SERVE_NUMBERS.apiLineBytes.default,
      },
    ]);
    expect((await get(`${path}?from=${third.next}`)).lines[0].text).toBe("last");
  });

  it("gives the beginnings of long lines, between characters, and goes on behind each", async () => {
    const { spillway, get } = await start();
    const long = "é".repeat(900_000);
    const { receipt } = await spillway.admit({
      tool: "t",
      output: `short\n${long}\n${long}\n${"z".repeat(50)}\r\nlast`,
    });
    const path = `/api/artifacts/${receipt.artifact}/lines?lineBytes=21`;
    const page = await get(path);
    expect(page.lines.map(({ text }: { text: string }) => text)).toEqual([
      "short",
      "é".repeat(10),
      "é".repeat(10),
      "z".repeat(21),
      "last",
    ]);
    expect(page.lines.map(({ omittedBytes }: { omittedBytes: number }) => omittedBytes)).toEqual([
      0,
      // With its line break, since it goes on behind what was read.
      1_800_001 - 20,
      1_800_001 - 20,
      51 - 21,
      0,
    ]);
    expect(page.next).toBeNull();
    await get(`${path.replace("=21", "=0")}`, 400);
    const { receipt: wide } = await spillway.admit({ tool: "t", output: "😀\n".repeat(20_000) });
    const { lines } = await get(`/api/artifacts/${wide.artifact}/lines?lineBytes=1&to=2`);
    expect(lines[0]).toEqual({ line: 1, text: "", omittedBytes: 4 });
  });

  it("makes what the model read again, by whatever name it was told to read on, and says why", async () => {
    const { spillway, get, ask } = await start();
    const log = LONG.replace("entry 500 of", "src/a.ts:5: error: cannot find name in");
    const readers = [
      { by: "shell" as const },
      { by: "tool" as const, recall: "spillway_recall", search: "spillway_search" },
    ];
    const made: string[] = [];
    for (const reader of [undefined, ...readers]) {
      const call = String(made.length);
      const { text, receipt } = await spillway.admit({ tool: "bash", call, output: log, exitCode: 2, reader });
      const view = await get(`/api/artifacts/${receipt.artifact}/view`);
      expect(view).toMatchObject({ text, isSame: true, recorded: { call, exitCode: 2, artifact: receipt.artifact } });
      expect(JSON.stringify(view.receipt.explained)).toContain("error: cannot find name");
      // What is tried with it is told to its reader by the same name, so that only the policy makes a difference.
      const { limits, strategy } = view.recorded;
      const body = JSON.stringify({ artifact: receipt.artifact, limits, strategy });
      const trial = await ask("/api/policy/try", { method: "POST", headers: JSON_TYPE, body });
      expect((await trial.json()).text).toBe(text);
      made.push(text);
    }
    expect(new Set(made).size).toBe(3);
    const [first] = (await get("/api/receipts")).items.toReversed();
    const { artifact } = first.receipt;
    expect(await get(`/api/artifacts/${artifact}/view?event=${first.event}`)).toMatchObject({ text: made[0] });
    await get(`/api/artifacts/${artifact}/view?event=0`, 404);
    await get("/api/artifacts/aaaaaaaaaaaa/view", 404);
    const { receipt } = await spillway.admit({ tool: "bash", output: log, focus: "entry 7", limits: { maxLines: 20 } });
    const path = `/api/artifacts/${receipt.artifact}/view`;
    // What the model looked for is not recorded, so that this one is another text, and says so.
    expect(await get(path)).toMatchObject({ isSame: false, recorded: { limits: { maxLines: 20 } } });
    // The second time its bytes are not read, and what is removed is not shown from memory.
    const reading = vi.spyOn(spillway.store as Store, "read");
    expect((await get(path)).recorded.limits.maxLines).toBe(20);
    expect(reading).not.toHaveBeenCalled();
    await spillway.store?.remove(receipt.artifact ?? "", "local");
    await get(path, 404);
    expect(kinds((await get("/api/events")).items).filter((kind) => kind === "output-clamped")).toHaveLength(4);
  });

  it("makes it again by the arguments of the call, not by the JSON in which they are saved", async () => {
    const { spillway, get } = await start();
    const lines = Array.from(
      { length: 4200 },
      (_, at) => `10:00 INFO ${at > 3900 ? "checkout" : "catalog"} request ${at} in ${at % 97} ms`,
    );
    lines[2900] = "10:00 ERROR checkout failed: card declined";
    const args = { service: "checkout", since: "3h" };
    const { text, receipt } = await spillway.admit({ tool: "server_log", output: lines.join("\n"), args });
    expect(await get(`/api/artifacts/${receipt.artifact}/view`)).toMatchObject({ text, isSame: true });
  });

  it("gives sums by tool, by session, over time and of all", async () => {
    let atMs = 10 * 3_600_000;
    const { spillway, get } = await start({}, { now: () => atMs });
    await admitLong(spillway, "s1");
    atMs += 3_600_000;
    await admitLong(spillway, "s2");
    expect((await get("/api/stats")).rows).toMatchObject([{ tool: "run_command", calls: 2, truncationRate: 1 }]);
    expect((await get("/api/stats?by=session")).rows).toHaveLength(2);
    expect((await get("/api/stats?by=hour")).rows.map(({ hourMs, calls }: StatRow) => [hourMs, calls])).toEqual([
      [10 * 3_600_000, 1],
      [11 * 3_600_000, 1],
    ]);
    expect((await get(`/api/stats?by=hour&until=${11 * 3_600_000}`)).rows).toHaveLength(1);
    expect((await get("/api/stats?by=all&session=s1")).rows).toMatchObject([{ session: "s1", calls: 1 }]);
    await get("/api/stats?by=year", 400);
    await get("/api/stats?sinc=5", 400);
  });

  it("tries a policy: the same text as the real thing, and nothing is kept of it", async () => {
    const { spillway, ask, get } = await start();
    const post = async (body: unknown, type = "application/json") => {
      const response = await ask("/api/policy/try", {
        method: "POST",
        headers: { "content-type": type },
        body: JSON.stringify(body),
      });
      return { status: response.status, ...(await response.json()) };
    };
    const policy = { tools: { run_command: { limits: { maxLines: 10 } } } };
    const tried = await post({ output: LONG, policy });
    expect(tried).toMatchObject({ status: 200, limits: { maxLines: 10 }, receipt: { shown: { lines: 10 } } });
    expect((await get("/api/events")).items).toEqual([]);
    expect((await get("/api/artifacts")).items).toEqual([]);
    const { artifact } = await admitLong(spillway);
    expect((await post({ artifact, policy })).text.replaceAll(/[a-z2-7]{12}/g, "")).toBe(
      tried.text.replaceAll(/[a-z2-7]{12}/g, ""),
    );
    expect(
      await post({ output: LONG, policy: { tools: { run_command: { limits: { maxLines: -1 } } } } }),
    ).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining("maxLines") },
    });
    const other = await post({ artifact, limits: { maxLines: 7 }, strategy: "tail" });
    expect(other).toMatchObject({ status: 200, receipt: { strategy: "tail", shown: { lines: 7 }, artifact } });
    expect(other.text).toContain(artifact);
    expect(await post({ artifact, strategy: "best" })).toMatchObject({
      status: 400,
      error: { code: "unknown-strategy" },
    });
    expect((await post({ output: "a", artifact: "b" })).status).toBe(400);
    expect((await post({ output: "a" }, "text/plain")).status).toBe(415);
    expect(await get("/api/policy")).toMatchObject({ profile: "balanced" });
    expect((await get("/api/policy/bash")).limits).toMatchObject({ maxLines: 200 });
  });

  it("serves the dashboard: one page whose scripts are files of its own, and nothing beside its folder", async () => {
    const { server, ask } = await start({ tokens: [{ role: "read", token: "x".repeat(20) }] });
    const page = await ask("/");
    const html = await page.text();
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("content-security-policy");
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|https?:/);
    const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(files.length).toBeGreaterThan(1);
    let packedBytes = 0;
    for (const path of files) {
      const packed = await ask(path, { headers: { "accept-encoding": "gzip" } });
      expect([packed.status, packed.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      expect(packed.headers.get("cache-control")).toContain("immutable");
      packedBytes += Number(packed.headers.get("content-length"));
      const plain = await ask(path, { headers: { "accept-encoding": "identity" } });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(await plain.text()).toBe(await packed.text());
    }
    // The first load. A page opens in under a second on a slow line.
    expect(packedBytes).toBeLessThan(200_000);
    for (const path of [
      "/assets/nothing.js",
      "/assets/..%2findex.html",
      "/assets/%2e%2e%2fpackage.json",
      "/index.html",
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect(
      await raw(server.url, "GET /assets/../index.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    ).toMatch(/^HTTP\/1.1 400/);
    expect((await ask("/api/sessions")).status).toBe(401);
  });

  it("answers in the shapes that the OpenAPI document states", async () => {
    const { spillway, get } = await start();
    const { artifact } = await admitLong(spillway);
    const routes = routesOf(spillway);
    const document = z.looseObject({ paths: z.record(z.string(), z.unknown()) }).parse(await get("/api/openapi.json"));
    expect(Object.keys(document.paths)).toEqual([...new Set(routes.map(({ path }) => path))]);
    const queries: Record<string, string> = { "/api/artifacts/{id}/search": "?pattern=entry" };
    const filled = (path: string) =>
      path
        .replace("{id}", artifact ?? "")
        .replace("{session}", "s1")
        .replace("{tool}", "bash") + (queries[path] ?? "");
    const read = routes.filter(({ method, answers }) => method === "GET" && typeof answers !== "string");
    expect(read.length).toBeGreaterThan(10);
    for (const { path, answers } of read) (answers as z.ZodType).parse(await get(filled(path)));
    expect(JSON.stringify(openApi(routes, "1.0.0"))).not.toContain("undefined");
    expectTypeOf<keyof z.output<typeof receiptShape>>().toEqualTypeOf<keyof Receipt>();
    expectTypeOf<keyof z.output<typeof eventShape>>().toEqualTypeOf<keyof RecordedEvent>();
    expectTypeOf<keyof z.output<typeof artifactShape>>().toEqualTypeOf<keyof Artifact>();
    expectTypeOf<keyof z.output<typeof sessionShape>>().toEqualTypeOf<keyof SessionRow>();
    expectTypeOf<keyof z.output<typeof statShape>>().toEqualTypeOf<keyof (StatRow & Rates)>();
  });

  it("says in words what a query takes and what is missing", async () => {
    const { get } = await start();
    const said = async (path: string) => ((await get(path, 400)) as { error: { message: string } }).error.message;
    expect(await said("/api/sessions?limit=3")).toMatch(
      /^the query cannot be used: it has no limit; it takes .*\bmax\b/,
    );
    expect(await said("/api/artifacts/aaaaaaaaaaaa/search")).toMatch(/pattern is missing/);
  });

  it("counts for Prometheus, with any tool's name", async () => {
    const { spillway, ask } = await start();
    await spillway.admit({ tool: 'a"b\\c\nd', output: "x" });
    await spillway.ledger?.record(eventOf({ kind: "request-answered", tool: null, receipt: null }));
    const text = await (await ask("/metrics")).text();
    expect(text).not.toContain('tool=""');
    expect(text).toContain('spillway_outputs_total{tool="a\\"b\\\\c\\nd"} 1\n');
    for (const line of text.trim().split("\n")) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+)$/);
  });

  it("says whether it is alive and ready; not ready without its ledger", async () => {
    const { get } = await start();
    expect(await get("/healthz")).toEqual({ ok: true });
    expect(await get("/readyz")).toEqual({ ok: true });
    const broken = { ...memoryLedger(), sessions: async () => Promise.reject(new Error("gone")) };
    const { get: from } = await start({}, { ledger: broken });
    expect(await from("/healthz")).toEqual({ ok: true });
    expect(await from("/readyz", 503)).toMatchObject({ error: { message: "the ledger does not answer" } });
    const spool = { state: async () => Promise.reject(), upload: async () => {}, reach: async () => Promise.reject() };
    const { get: without } = await start({ spool });
    expect(await without("/readyz", 503)).toMatchObject({ error: { message: "the store does not answer" } });
  });

  it("tells no secret of a fault of ours", async () => {
    const broken = { ...memoryLedger(), events: async () => Promise.reject(new Error("secret detail")) };
    const { get } = await start({}, { ledger: broken });
    expect(JSON.stringify(await get("/api/events", 500))).not.toContain("secret");
    expect(warned.splice(0)).toEqual(["secret detail"]);
  });
});

describe("who may ask", () => {
  const tokens = [
    { role: "read", token: "read-token-0123456789" },
    { role: "write", token: "write-token-0123456789" },
    { role: "admin", token: "admin-token-0123456789" },
  ] as const;

  it("every route needs its role, and none gives more", async () => {
    const { spillway, server } = await start({ tokens });
    const { artifact } = await admitLong(spillway);
    const status = async (method: string, path: string, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      const body = method === "PUT" ? JSON.stringify({ pinned: true }) : null;
      return (await fetch(server.url + path, { method, headers, body })).status;
    };
    const [read, write, admin] = tokens.map(({ token }) => token);
    for (const path of [
      "/api/sessions",
      "/api/events",
      "/api/policy",
      "/metrics",
      `/api/artifacts/${artifact}/content`,
    ]) {
      expect([path, await status("GET", path)]).toEqual([path, 401]);
      expect([path, await status("GET", path, "wrong-token-0123456789")]).toEqual([path, 401]);
      for (const token of [read, write, admin]) expect(await status("GET", path, token)).toBe(200);
    }
    const open = routesOf(spillway).filter(({ role }) => role === null);
    expect(open.filter(({ path }) => path === "/metrics" || path.startsWith("/api/"))).toEqual([]);
    for (const path of ["/healthz", "/readyz"]) expect(await status("GET", path)).toBe(200);
    const pin = "/api/sessions/s1/pin";
    expect([await status("PUT", pin, read), await status("PUT", pin, write)]).toEqual([403, 200]);
    const body = JSON.stringify({ pinned: true });
    const headers = { "content-type": "application/json", authorization: `Bearer ${read}` };
    const refused = await fetch(server.url + pin, { method: "PUT", headers, body });
    expect(await refused.text()).toContain("this needs a token of the role write; this one has the role read");
    const one = `/api/artifacts/${artifact}`;
    expect([await status("DELETE", one, write), await status("DELETE", one, admin)]).toEqual([403, 204]);
    const asked = async (headers: { [name: string]: string }) =>
      (await fetch(`${server.url}/api/sessions`, { headers })).json() as Promise<{ error: { message: string } }>;
    // Agents send it in this header, and a wrong token is not called a missing one.
    expect(await asked({ "x-spillway-token": tokens[0].token })).toHaveProperty("items");
    expect((await asked({})).error.message).toMatch(/^this needs a token, as the header Authorization: Bearer/);
    expect((await asked({ "x-spillway-token": "wrong-token-0123456789" })).error.message).toMatch(/not known here/);
    // A token in the address would stand in logs.
    expect(await status("GET", `/api/sessions?token=${read}`)).toBe(401);
  });

  it("records who read an output by the name of the token, never by the token, once an hour", async () => {
    const named = [
      { role: "read", token: "first-token-0123456789", name: "ann" },
      { role: "read", token: "other-token-0123456789" },
    ] as const;
    const { spillway, server } = await start({ tokens: named });
    const { artifact } = await admitLong(spillway);
    const one = `/api/artifacts/${artifact}`;
    const read = async (path: string, token: string, init: RequestInit = {}) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const response = await fetch(server.url + path, { ...init, headers });
      await response.arrayBuffer();
      return response.status;
    };
    const reads = async () => {
      const events = await spillway.ledger?.events({ kinds: ["artifact-recalled", "artifact-searched"] });
      expect(JSON.stringify(events)).not.toMatch(/token-0123456789/);
      return (events ?? []).map(({ kind, session, more }) => [kind, session, more?.["reads"], more?.["readBy"]]);
    };
    // What is known of an output is no part of it.
    expect(await read(one, named[0].token)).toBe(200);
    expect(await reads()).toEqual([]);
    for (const path of [`${one}/lines?from=5&to=9`, `${one}/content`, `${one}/view`]) {
      expect([path, await read(path, named[0].token)]).toEqual([path, 200]);
    }
    expect(await read("/api/policy/try", named[1].token, { method: "POST", body: JSON.stringify({ artifact }) })).toBe(
      200,
    );
    expect(await read(`${one}/search?pattern=entry`, named[0].token)).toBe(200);
    expect(await read("/api/artifacts/aaaaaaaaaaaa/content", named[0].token)).toBe(404);
    expect(await reads()).toEqual([
      ["artifact-recalled", "s1", "person", "ann"],
      ["artifact-recalled", "s1", "person", expect.stringMatching(/^read token [0-9a-f]{8}$/)],
      ["artifact-searched", "s1", "person", "ann"],
    ]);
    expect((await spillway.ledger?.stats({ by: "all" }))?.[0]?.recalls).toBe(0);
  });

  it("refuses a token that can be guessed, and another address without one", async () => {
    expect(() => newCallers({ tokens: [{ role: "read", token: "short" }], hostNames: [] })).toThrow(/at least 16/);
    for (const host of ["0.0.0.0", "127.0.0.1.example.com"])
      await expect(start({ host })).rejects.toThrow(/token is needed/);
    const { server } = await start({ host: "0.0.0.0", tokens });
    expect((await fetch(`http://127.0.0.1:${new URL(server.url).port}/api/events`)).status).toBe(401);
  });

  it.each([
    ["a name that somebody else owns", { host: "evil.example" }, 421],
    ["a name that begins like ours", { host: "localhost.evil.example:80" }, 421],
    ["a name with a user", { host: "x@127.0.0.1" }, 421],
    ["an address", { host: "127.0.0.1:8787" }, 200],
    ["localhost", { host: "LOCALHOST:1" }, 200],
    ["a name that was allowed", { host: "gateway.example:8787" }, 200],
    ["another site's page", { origin: "https://evil.example" }, 403],
    ["another port's page", { origin: "http://127.0.0.1:1" }, 403],
    ["a page without a site", { origin: "null" }, 403],
    ["an image on another site's page", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    ["a page of its own", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }, 200],
  ])("by %s", async (_name, headers, status) => {
    const { server } = await start({ hostNames: ["gateway.example"] });
    const { hostname, port } = new URL(server.url);
    const got = await new Promise((resolve, reject) => {
      const asked = httpRequest({ hostname, port, path: "/api/events", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject);
      asked.end();
    });
    expect(got).toBe(status);
  });

  it("sends headers that keep browsers from running or framing anything", async () => {
    const { spillway, ask } = await start();
    const { receipt } = await spillway.admit({ tool: "t", output: `<script>alert(1)</script>${"x".repeat(100_000)}` });
    for (const path of ["/api/events", `/api/artifacts/${receipt.artifact}/content`, "/nowhere"]) {
      const { headers } = await ask(path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("limits how often one address may ask, and lets it ask again later", () => {
    let atMs = 0;
    const { checkRate } = newCallers({ tokens: [], hostNames: [] }, () => atMs);
    const from = (remoteAddress: string) => () => checkRate({ socket: { remoteAddress } } as never);
    for (let asked = 0; asked < SERVE_NUMBERS.apiBurst.default; asked++) from("10.0.0.1")();
    expect(from("10.0.0.1")).toThrow(/too many/);
    from("10.0.0.2")();
    atMs += 1000;
    for (let asked = 0; asked < SERVE_NUMBERS.apiRequestsPerSecond.default; asked++) from("10.0.0.1")();
    expect(from("10.0.0.1")).toThrow(/too many/);
  });

  it("says to who asks too often when to ask again", async () => {
    const { ask } = await start();
    vi.spyOn(SERVE_NUMBERS.apiBurst, "default", "get").mockReturnValue(0 as never);
    const refused = await ask("/healthz");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "too-many" } });
    vi.restoreAllMocks();
    await expect.poll(async () => (await ask("/healthz")).status).toBe(200);
  });
});

describe("hostile requests", () => {
  it.each([
    ["/api/artifacts/..%2f..%2fetc%2fpasswd", 400],
    ["/api/artifacts/aaaaaaaaaaaa", 404],
    ["/api/artifacts/%00%00/content", 400],
    ["/api/artifacts/AAAAAAAAAAAA/lines", 400],
    ["/api/sessions/%ff", 400],
    ["/api/nothing", 404],
    ["/api/events?max=0", 400],
    ["/api/events?max=1e9", 400],
    ["/api/events?cursor=-1", 400],
    ["/api/events?since=x", 400],
    ["/api/events?max=1&max=2", 400],
  ])("%s gets %d and a reason", async (path, status) => {
    const { get } = await start();
    expect(await get(path, status)).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  it.each([
    ["a dotted path", "GET /api/../healthz HTTP/1.1\r\nHost: localhost\r\n", 400],
    ["an escaped one", "GET /api/%2e%2e/healthz HTTP/1.1\r\nHost: localhost\r\n", 400],
    ["another server's address", "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n", 400],
    ["two slashes", "GET //evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n", 400],
    ["an empty host", "GET /healthz HTTP/1.1\r\nHost:\r\n", 421],
    ["two hosts", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", 421],
    [
      "two origins",
      "GET /api/events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
      403,
    ],
    ["no host", "GET /healthz HTTP/1.1\r\n", 400],
    ["a name that no object should have", "GET /api/events?__proto__=1 HTTP/1.1\r\nHost: localhost\r\n", 400],
    [
      "two lengths",
      "POST /api/policy/try HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
      400,
    ],
    [
      "a length and chunks",
      "POST /api/policy/try HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      400,
    ],
    ["a header with a space before its colon", "GET /healthz HTTP/1.1\r\nHost : localhost\r\n", 400],
    [
      "a flood of headers",
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${`x: ${"y".repeat(50)}\r\n`.repeat(2000)}`,
      431,
    ],
    ["a method that is not taken", "PATCH /api/events HTTP/1.1\r\nHost: localhost\r\n", 405],
  ])("%s is refused", async (_name, head, status) => {
    const { server } = await start();
    expect(await raw(server.url, `${head}Connection: close\r\n\r\n`)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it("a body over the limit is refused before it is read, and the connection ends", async () => {
    const { server } = await start();
    const head = "POST /api/policy/try HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const told = await raw(server.url, `${head}Content-Length: 104857600\r\n\r\n{`);
    expect(told).toMatch(/^HTTP\/1.1 413 [^]*connection: close/i);
    const chunk = `100000\r\n${"a".repeat(0x100000)}\r\n`;
    const grown = await raw(server.url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}`);
    expect(grown).toMatch(/^HTTP\/1.1 413 /);
  });

  it("JSON of any depth gets an answer", async () => {
    const { ask } = await start();
    const body = `{"output":"x","policy":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const response = await ask("/api/policy/try", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
  });
});

const kinds = (events: RecordedEvent[]) => events.map(({ kind }) => kind as string);

/** Reads server-sent events. */
async function follow(url: string, headers: Record<string, string> = {}) {
  const leave = new AbortController();
  const response = await fetch(url, { headers, signal: leave.signal });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader.read()).value);
  return {
    leave: () => leave.abort(),
    async next(): Promise<RecordedEvent> {
      for (;;) {
        const [, data] = /data: (.*)\n\n/.exec(text) ?? [];
        if (data !== undefined) return JSON.parse(data) as RecordedEvent;
        const { done, value } = await reader.read();
        if (done) throw new Error("the stream ended");
        text += decoder.decode(value, { stream: true });
      }
    },
    async ended(): Promise<void> {
      while (!(await reader.read()).done);
    },
  };
}
