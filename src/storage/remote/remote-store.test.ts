import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startFaultyProxy } from "../../../test/faulty-proxy.ts";
import { startPostgres } from "../../../test/postgres.ts";
import { findS3 } from "../../../test/s3.ts";
import { within } from "../../deadline.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { ABOUT, assertBytes, keep, large, testStore, text } from "../../testing/test-store.ts";
import { artifactRows } from "../local/artifact-rows.ts";
import { openDatabase } from "../local/open-database.ts";
import { all, change } from "../sql.ts";
import { localStore } from "../stores/local.ts";
import { openBucket, readAddress } from "./bucket.ts";
import { openRemote } from "./open-remote.ts";
import { remoteStore } from "./remote-store.ts";

vi.mock("../../deadline.ts", { spy: true });

const s3 = await findS3();
const postgres = typeof s3 === "string" ? s3 : await startPostgres();
const missing = typeof s3 === "string" ? s3 : typeof postgres === "string" ? postgres : null;
if (missing !== null) process.stderr.write(`not run: the store in S3: ${missing}\n`);

const folder = mkdtempSync(join(tmpdir(), "spillway-remote-"));
beforeAll(() => {
  // An upload has all the time that a slow machine needs. One that fails does not take it.
  for (const name of ["uploadDeadlineMs", "postgresOpenMs", "postgresWaitMs", "collectQuickMs"] as const)
    vi.spyOn(NUMBERS[name], "default", "get").mockReturnValue(500_000 as never);
  if (typeof s3 !== "string") for (const [name, value] of Object.entries(s3.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
  if (typeof postgres !== "string") await postgres.end();
});

/** What several machines share, and a way to open it as one of them. */
async function newShared(endpoint?: string) {
  if (typeof s3 === "string" || typeof postgres === "string") throw new Error("there is no server");
  const place = { ledger: await postgres.fresh(), store: s3.fresh(endpoint) };
  const dir = mkdtempSync(join(folder, "machines-"));
  return {
    ...place,
    async open(machine: string) {
      return { ...(await openRemote(join(dir, machine), place)), address: place.store };
    },
    async objects() {
      const keys: string[] = [];
      const direct = new URL(place.store);
      direct.searchParams.set("endpoint", s3Endpoint());
      for await (const { key } of (await openBucket(direct.href)).list()) keys.push(key);
      return keys;
    },
  };
}

const s3Endpoint = () => (typeof s3 === "string" ? "" : s3.endpoint);
/** Over 1 MiB, so that its line index is an object too. */
const LARGE = large(text("shared by several machines\n"), 1_200_000);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe.skipIf(missing !== null)("in S3 and PostgreSQL", () => {
  testStore(
    async () => {
      const { open } = await newShared();
      const { store, close } = await open("one");
      return { ...store, close };
    },
    { describe, it },
    { numRuns: 10 },
  );

  it("gives the same bytes the same id on every machine, and one object", async () => {
    const { open, objects } = await newShared();
    const [a, b] = await Promise.all([open("a"), open("b")]);
    const kept = await Promise.all(
      [a, b, a].map(({ store }, at) => keep(store, [LARGE], { ...ABOUT, call: `c${at}` })),
    );
    expect(new Set(kept.map(({ id }) => id)).size).toBe(1);
    expect(kept.map(({ saved }) => saved)).toEqual(["yes", "yes", "yes"]);
    assertBytes(await b.store.read(kept[0]?.id ?? "", "local", { from: 0, to: LARGE.length }), LARGE);
    expect(await objects()).toHaveLength(2);
    await Promise.all([a.close(), b.close()]);
  });

  it("sends a large output in parts, and reads ranges and lines of it on another machine", async () => {
    const { open } = await newShared();
    const [a, b] = await Promise.all([open("a"), open("b")]);
    const line = Buffer.from(`${"x".repeat(98)}\n`);
    const bytes = Buffer.concat(Array.from({ length: 200_000 }, () => line));
    const { id, saved } = await keep(a.store, [bytes]);
    expect(saved).toBe("yes");
    expect(await b.store.locate(id, "local", [150_000, 150_001])).toEqual({ from: 149_999 * 99, to: 150_001 * 99 });
    const from = NUMBERS.objectPartBytes.default - 50;
    assertBytes(await b.store.read(id, "local", { from, to: from + 100 }), bytes.subarray(from, from + 100));
    expect(await b.store.verify()).toEqual({
      checked: 1,
      checkedBytes: bytes.length,
      damaged: [],
      missing: [],
      orphaned: [],
    });
    await Promise.all([a.close(), b.close()]);
  });

  it("keeps on this machine what the bucket does not take, says so, and uploads it when it does", async () => {
    const proxy = await startFaultyProxy(s3Endpoint());
    const { open, objects } = await newShared(proxy.url);
    const [a, b] = await Promise.all([open("a"), open("b")]);
    proxy.fault = { answer: 503 };
    const { id, saved } = await keep(a.store, [LARGE]);
    expect(saved).toBe("local");
    expect(await objects()).toEqual([]);
    assertBytes(await a.store.read(id, "local", { from: 0, to: LARGE.length }), LARGE);
    expect(await a.store.find(id, "local")).toMatchObject({ id, saved: "local" });
    expect(await a.spool.state()).toMatchObject({
      artifacts: 1,
      bytes: LARGE.length,
      fault: expect.stringMatching(/503/),
    });
    await until(async () => (await b.store.list({ scope: "local" })).length === 1);
    await expect(b.store.read(id, "local", { from: 0, to: 5 })).rejects.toThrow(
      new RegExp(`artifact ${id} is still on the machine .+, which has not uploaded it yet`),
    );
    await expect(b.store.read(id, "another", { from: 0, to: 5 })).resolves.toBeNull();
    proxy.fault = null;
    await until(async () => (await a.spool.state()).artifacts === 0);
    assertBytes(await b.store.read(id, "local", { from: 0, to: LARGE.length }), LARGE);
    expect(await b.store.find(id, "local")).toMatchObject({ saved: "yes" });
    await Promise.all([a.close(), b.close()]);
    await proxy.close();
  });

  it("uploads what a process left that ended in between", async () => {
    const proxy = await startFaultyProxy(s3Endpoint());
    const { open } = await newShared(proxy.url);
    const first = await open("a");
    proxy.fault = { answer: 500 };
    const small = await keep(first.store, [text("small\n")]);
    const { id } = await keep(first.store, [LARGE]);
    await first.close();
    proxy.fault = null;
    const again = await open("a");
    await until(async () => (await again.spool.state()).artifacts === 0);
    const other = await open("b");
    assertBytes(await other.store.read(id, "local", { from: 0, to: LARGE.length }), LARGE);
    assertBytes(await other.store.read(small.id, "local", { from: 0, to: 6 }), text("small\n"));
    expect((await other.store.find(id, "local"))?.createdAtMs).toBeLessThanOrEqual(Date.now());
    await Promise.all([again.close(), other.close()]);
    await proxy.close();
  });

  it("loses nothing when the network is cut in the middle of an upload in parts, and leaves no object behind", async () => {
    const proxy = await startFaultyProxy(s3Endpoint());
    const { open, objects } = await newShared(proxy.url);
    const a = await open("a");
    const bytes = large(text("a line of a large output\n"), 18_000_000);
    proxy.fault = { cutAfterBytes: 3_000_000 };
    proxy.filter = (_method, path) => path.includes("partNumber=2");
    const kept = await keep(a.store, [bytes]);
    expect(kept.saved).toBe("local");
    expect(proxy.met).toBeGreaterThan(1);
    expect(await objects()).toEqual([]);
    proxy.fault = null;
    await a.spool.upload();
    assertBytes(await a.store.read(kept.id, "local", { from: 0, to: bytes.length }), bytes);
    expect(await a.store.find(kept.id, "local")).toMatchObject({ saved: "yes" });
    await a.close();
    await proxy.close();
  });

  it("gives the right bytes or a fault when answers break off, come late or are refused", async () => {
    const proxy = await startFaultyProxy(s3Endpoint());
    const { open } = await newShared(proxy.url);
    const a = await open("a");
    const { id } = await keep(a.store, [LARGE]);
    const read = () => a.store.read(id, "local", { from: 10, to: 200_000 });
    proxy.fault = { answerBytes: 1000 };
    await expect(read()).rejects.toThrow(/does not take or give objects/);
    proxy.fault = { answer: 500 };
    await expect(read()).rejects.toThrow(/does not take or give objects.*500/);
    proxy.fault = { delayMs: 300 };
    assertBytes(await read(), LARGE.subarray(10, 200_000));
    await a.close();
    await proxy.close();
  });

  it("says that there is no such bucket, to who asks whether it is there too", async () => {
    const { open } = await newShared();
    const a = await open("a");
    const missing = await openBucket(a.address.replace(/^s3:\/\/[^/]+/, "s3://no-such-bucket"));
    const said = /^s3:\/\/no-such-bucket\/.* has no such bucket; make it first/;
    await expect(missing.list().next()).rejects.toThrow(said);
    await expect(missing.put("x", { bytes: 3, read: async () => text("abc") })).rejects.toThrow(said);
    await a.spool.reach();
    await a.close();
  });

  it("says that keys are wrong, or the clock, and keeps the output meanwhile", async () => {
    const { open } = await newShared();
    const a = await open("a");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    expect((await keep(a.store, [LARGE])).saved).toBe("local");
    vi.useRealTimers();
    expect((await a.spool.state()).fault).toMatch(/refuses the time of this machine's clock; set the clock/);
    await a.close();
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "not-the-secret");
    const wrong = await open("a");
    expect((await keep(wrong.store, [large(text("other\n"))])).saved).toBe("local");
    const { fault, artifacts } = await wrong.spool.state();
    expect([artifacts, fault]).toEqual([2, expect.stringMatching(/refuses the keys of the environment/)]);
    expect(fault).not.toContain("not-the-secret");
    await wrong.close();
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", typeof s3 === "string" ? "" : s3.env.AWS_SECRET_ACCESS_KEY);
    const right = await open("a");
    await until(async () => (await right.spool.state()).artifacts === 0);
    await right.close();
  });

  it("removes objects with their rows, by hand and by age, and those that a process left when it ended", async () => {
    const { open, objects } = await newShared();
    const a = await open("a");
    const first = await keep(a.store, [LARGE], { ...ABOUT, session: null });
    await keep(a.store, [large(text("second\n"))], { ...ABOUT, session: null });
    // An object of a row is not one that a process left, however long ago it was sent.
    await a.store.collect({ nowMs: Date.now() + 5 * 86_400_000 });
    // The second is small: it has no line index.
    expect(await objects()).toHaveLength(3);
    await a.store.remove(first.id, "local");
    expect(await objects()).toHaveLength(1);
    const report = await a.store.collect({ nowMs: Date.now() + 30 * 86_400_000 });
    expect([report.removed, report.remaining]).toEqual([1, 0]);
    expect(await objects()).toEqual([]);
    const { commit, kysely, read } = a.database;
    const [left, underWay] = ["0", "1"].map((digit) => digit.repeat(40)) as [string, string];
    for (const [place, began_ms] of [
      [left, 1],
      [underWay, Date.now()],
    ] as const) {
      await commit(() => change(kysely.insertInto("uploads").values({ place, began_ms })));
      await (await openBucket(a.address)).put(place, { bytes: 3, read: async () => text("abc") });
    }
    expect((await a.store.collect()).files).toHaveLength(1);
    expect(await objects()).toEqual([underWay]);
    expect(await read(() => all(kysely.selectFrom("uploads").select("place")))).toEqual([{ place: underWay }]);
    await a.close();
  });

  it("removes many objects by one request, and one by one where the server refuses that", async () => {
    const proxy = await startFaultyProxy(s3Endpoint());
    const { open, objects } = await newShared(proxy.url);
    const a = await open("a");
    const keepThree = () =>
      Promise.all(
        ["one", "two", "three"].map((name) => keep(a.store, [large(text(name))], { ...ABOUT, session: null })),
      );
    const collect = () => a.store.collect({ nowMs: Date.now() + 30 * 86_400_000 });
    await keepThree();
    // Lets single removals pass and counts them.
    proxy.fault = { delayMs: 0 };
    proxy.filter = (method) => method === "DELETE";
    expect((await collect()).removed).toBe(3);
    expect([proxy.met, await objects()]).toEqual([0, []]);
    await keepThree();
    proxy.fault = { answer: 501 };
    proxy.filter = (method, path) => method === "POST" && path.includes("delete");
    expect((await collect()).removed).toBe(3);
    expect([proxy.met > 0, await objects()]).toEqual([true, []]);
    await a.close();
    await proxy.close();
  });

  it("removes the objects of a process that ended after their rows were gone", async () => {
    const { open, objects } = await newShared();
    const a = await open("a");
    const { id } = await keep(a.store, [LARGE]);
    const removed = await a.database.commit(() => artifactRows(a.database).remove(id, "local"));
    expect([removed?.form, (await objects()).length]).toEqual(["object", 2]);
    expect((await a.store.collect()).files).toHaveLength(1);
    expect(await objects()).toEqual([]);
    // What is saved again has an object of its own.
    await keep(a.store, [LARGE]);
    expect((await a.store.collect()).files).toEqual([]);
    expect(await objects()).toHaveLength(2);
    await a.close();
  });

  it("applies retention on one machine at a time, once an hour", async () => {
    const { open } = await newShared();
    const [a, b] = await Promise.all([open("a"), open("b")]);
    // One that has no time to come to its end leaves the turn to the next.
    vi.spyOn(NUMBERS.collectQuickMs, "default", "get").mockReturnValueOnce(0 as never);
    expect(await a.collect()).toBe(true);
    expect(await Promise.all([a.collect(), b.collect(), a.collect()])).toSatisfy(
      (done) => done.filter(Boolean).length === 1,
    );
    expect(await b.collect()).toBe(false);
    await Promise.all([a.close(), b.close()]);
  });

  it("finds damage in a bucket, and gives no damaged byte to a reader", async () => {
    const { open, objects } = await newShared();
    const a = await open("a");
    const { id } = await keep(a.store, [LARGE]);
    const bucket = await openBucket(a.address);
    const name = (await objects()).find((key) => !key.endsWith(".lines")) ?? "";
    const damaged = new Uint8Array(LARGE);
    damaged[100_000] = 0;
    await bucket.put(name, { bytes: damaged.length, read: async (from, to) => damaged.subarray(from, to) });
    await expect(a.store.read(id, "local", { from: 99_990, to: 100_010 })).rejects.toThrow(/damaged/);
    assertBytes(await a.store.read(id, "local", { from: 0, to: 100 }), LARGE.subarray(0, 100));
    expect((await a.store.verify()).damaged).toHaveLength(1);
    await bucket.remove([name]);
    expect((await a.store.verify()).missing).toHaveLength(1);
    await a.close();
  });

  it("keeps an object of up to 1 MiB without a line index, and finds damage in it", async () => {
    const { open, objects } = await newShared();
    const a = await open("a");
    const bytes = large(text("a line of some output\n"), 1024 * 1024);
    const { id } = await keep(a.store, [bytes]);
    const [name = "", ...others] = await objects();
    expect(others).toEqual([]);
    assertBytes(await a.store.read(id, "local", { from: 70_000, to: 200_000 }), bytes.subarray(70_000, 200_000));
    expect(await a.store.locate(id, "local", [10_001, 10_002])).toEqual({ from: 220_000, to: 220_044 });
    const damaged = new Uint8Array(bytes);
    damaged[100_000] = 0;
    const bucket = await openBucket(a.address);
    await bucket.put(name, { bytes: damaged.length, read: async (from, to) => damaged.subarray(from, to) });
    await expect(a.store.read(id, "local", { from: 0, to: 100 })).rejects.toThrow(/damaged/);
    expect((await a.store.verify()).damaged).toHaveLength(1);
    await a.close();
  });

  it("needs a ledger beside it, and refuses a spool of another database", async () => {
    const { open, store } = await newShared();
    await (await open("a")).close();
    await expect(openRemote(join(folder, "alone"), { store })).rejects.toThrow(/needs a ledger in PostgreSQL/);
    const a = await open("a");
    const secret = a.database.kysely.updateTable("settings").set({ value: Buffer.alloc(32) });
    await a.database.commit(() => change(secret.where("name", "=", "secret")));
    await a.close();
    await expect(open("a")).rejects.toThrow(/belongs to another database/);
  });
});

it("removes nothing from a full spool to make room: what is there is nowhere else", async () => {
  const dir = mkdtempSync(join(folder, "full-"));
  const database = await openDatabase(dir);
  let nowMs = Date.now() - 30 * 86_400_000;
  const limits = { maxBytes: 1000, freeReserveBytes: 0 };
  const spool = await localStore({ dir, database, limits, keepsAll: true, now: () => nowMs });
  const { id } = await keep(spool, [new Uint8Array(2000)]);
  nowMs = Date.now();
  // The room that is left is looked at once a second.
  const again = await localStore({ dir, database, limits, keepsAll: true, now: () => nowMs });
  await expect(keep(again, [text("more")])).rejects.toMatchObject({ code: "store-full" });
  expect(await again.find(id, "local")).toMatchObject({ id });
  await database.close();
});

it("waits for an upload only as long as is left after the output was saved here", async () => {
  const dir = mkdtempSync(join(folder, "slow-"));
  const spoolDatabase = await openDatabase(dir);
  const spool = await localStore({ dir, database: spoolDatabase, limits: {}, keepsAll: true });
  const silent = new Promise<never>(() => {});
  const slow: typeof spool = {
    ...spool,
    async begin(about) {
      const writer = await spool.begin(about);
      const end: typeof writer.end = async (...ending) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return writer.end(...ending);
      };
      return { add: (bytes) => writer.add(bytes), end, abandon: () => writer.abandon() };
    },
  };
  const shared = { ...spoolDatabase, read: () => silent, commit: () => silent };
  const bucket = await openBucket("s3://b?endpoint=http://127.0.0.1:1", {
    AWS_ACCESS_KEY_ID: "k",
    AWS_SECRET_ACCESS_KEY: "s",
  });
  const store = remoteStore({ shared, bucket, spool: slow, spoolDatabase, uploads: false });
  vi.spyOn(NUMBERS.uploadDeadlineMs, "default", "get").mockReturnValueOnce(400 as never);
  expect((await keep(store, [text("some output\n")])).saved).toBe("local");
  const [, waitedMs = Infinity] = vi.mocked(within).mock.calls.findLast(([, , what]) => what === "uploading") ?? [];
  expect(waitedMs).toBeLessThan(150);
  await spoolDatabase.close();
});

it("takes no answer that is too short, and ends an upload in parts that was refused", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume().on("end", () => {
      if (request.method === "GET") response.writeHead(206).end("abc");
      else if (request.method === "POST")
        response.end("<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>");
      else response.writeHead(request.method === "PUT" ? 403 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s" };
  const address = `s3://b?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bucket = await openBucket(address, env);
  await expect(bucket.read("x", 0, 5)).rejects.toThrow(/has 3 bytes of the 5 that were asked for/);
  const bytes = NUMBERS.objectPartBytes.default + 1;
  const large = { bytes, read: async (from: number, to: number) => new Uint8Array(to - from) };
  await expect(bucket.put("large", large)).rejects.toThrow(/refuses the keys/);
  expect(asked.at(-1)).toBe("DELETE /b/large?uploadId=u1");
  server.closeAllConnections();
  server.close();
});

it("uploads, whole and in parts, in a process that has loaded the package undici", async () => {
  const { Agent, getGlobalDispatcher, setGlobalDispatcher } = await import("undici");
  const before = getGlobalDispatcher();
  // Loading the package does this, if nothing was fetched before.
  const agent = new Agent();
  setGlobalDispatcher(agent);
  const kept = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const { method, url = "" } = request;
    const body = await buffer(request);
    const { pathname, searchParams } = new URL(url, "http://bucket");
    const part = searchParams.get("partNumber");
    if (method === "PUT") kept.set(part === null ? pathname : `${pathname} ${part}`, body);
    const result = searchParams.has("uploads") ? "InitiateMultipartUploadResult" : "CompleteMultipartUploadResult";
    response.setHeader("etag", '"e"');
    response.end(method === "POST" ? `<${result}><UploadId>u</UploadId><ETag>e</ETag></${result}>` : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const keys = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    const bucket = await openBucket(`s3://b/p?endpoint=http://127.0.0.1:${port}`, keys);
    const whole = Buffer.alloc(NUMBERS.objectPartBytes.default + 5, "parts ");
    const sourceOf = (bytes: Buffer) => ({
      bytes: bytes.length,
      read: async (from: number, to: number) => bytes.subarray(from, to),
    });
    await bucket.put("small", sourceOf(Buffer.from("a few bytes")));
    await bucket.put("none", sourceOf(Buffer.alloc(0)));
    await bucket.put("large", sourceOf(whole));
    expect(String(kept.get("/b/p/small"))).toBe("a few bytes");
    expect(kept.get("/b/p/none")?.length).toBe(0);
    const parts = [1, 2].map((part) => kept.get(`/b/p/large ${part}`) ?? Buffer.alloc(0));
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  } finally {
    setGlobalDispatcher(before);
    await agent.close();
    server.close();
  }
});

it("reads a bucket's address, and takes keys from the environment only", async () => {
  expect(readAddress("s3://b/p/q?endpoint=http://127.0.0.1:9000/&region=eu-central-1")).toEqual({
    bucket: "b",
    prefix: "p/q/",
    endpoint: "http://127.0.0.1:9000",
    region: "eu-central-1",
  });
  expect(readAddress("s3://b", { AWS_REGION: "eu-west-1" })).toMatchObject({
    prefix: "",
    endpoint: "https://s3.eu-west-1.amazonaws.com",
  });
  for (const [address, why] of [
    ["https://b", /begins with s3:/],
    ["b", /begins with s3:/],
    ["s3://key:hunter2hunter2@b", /keys do not belong in it/],
    ["s3://b?acl=x", /endpoint and region, and not "acl"/],
    ["s3://b?endpoint=ftp://h", /https:\/\//],
  ] as const) {
    expect(() => readAddress(address)).toThrow(why);
    expect(() => readAddress(address)).not.toThrow(/hunter2/);
  }
  await expect(openBucket("s3://b", {})).rejects.toThrow(/set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/);
});
