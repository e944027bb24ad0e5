import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { S3mini } from "s3mini";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type FaultyProxy, startFaultyProxy } from "../faulty-proxy.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import { findS3, type S3Server } from "../s3.ts";

const CLI = new URL("../../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-gateways-"));
const s3 = await findS3();
const postgres = typeof s3 === "string" ? s3 : await startPostgres();
const missing = typeof s3 === "string" ? s3 : typeof postgres === "string" ? postgres : null;
if (missing !== null) process.stderr.write(`not run: several gateways on one store: ${missing}\n`);

const running: ChildProcess[] = [];
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (typeof postgres !== "string") await postgres.end();
});

/** A provider that keeps what it gets, by the first word of the conversation. */
async function startProvider() {
  const bodies = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const [, name = ""] = /"(conversation \w+)"/.exec(body) ?? [];
    bodies.set(name, [...(bodies.get(name) ?? []), body]);
    response.writeHead(200, { "content-type": "application/json" }).end('{"content":[],"usage":{"input_tokens":1}}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(async () => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

/** Several machines with a gateway each, all on one ledger and one bucket, which is reached through a proxy. */
async function newFleet() {
  const { s3, postgres } = servers();
  const proxy: FaultyProxy = await startFaultyProxy(s3.endpoint);
  stops.push(() => proxy.close());
  const provider = await startProvider();
  const ledger = await postgres.fresh();
  const store = s3.fresh(proxy.url);
  const start = async (machine: string) => {
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      SPILLWAY_DIR: join(folder, createHash("sha256").update(ledger).digest("hex").slice(0, 8), machine),
      SPILLWAY_LEDGER: ledger,
      SPILLWAY_STORE: store,
      ...s3.env,
    };
    const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--anthropic", provider.url], {
      cwd: folder,
      env,
    });
    running.push(child);
    let said = "";
    child.stderr.on("data", (chunk) => (said += chunk));
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        said += chunk;
        const [, found] = /listens at (\S+)\. /.exec(said) ?? [];
        if (found) resolve(found);
      });
      child.once("exit", () => reject(new Error(said)));
    });
    return { child, url };
  };
  return { proxy, provider, start, ledger, store };
}

function servers(): { s3: S3Server; postgres: PostgresServer } {
  if (typeof s3 === "string" || typeof postgres === "string") throw new Error("there is no server");
  return { s3, postgres };
}

const outputOf = (name: string) => Array.from({ length: 8000 }, (_, at) => `${name}: line ${at + 1}\n`).join("");

/** Asks a gateway as an agent does whose tool gave a large output. Returns the status. */
async function ask(url: string, name: string): Promise<number> {
  const call = { type: "tool_use", id: "call_1", name: "run_command", input: { command: name } };
  const result = { type: "tool_result", tool_use_id: "call_1", content: outputOf(name) };
  const answer = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      messages: [
        { role: "user", content: `conversation ${name}` },
        { role: "assistant", content: [call] },
        { role: "user", content: [result] },
      ],
    }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Reads rows and objects with no code of ours: which of these outputs are not in the shared store, whole. */
async function lost(names: Iterable<string>, ledger: string, store: string): Promise<string[]> {
  const { s3 } = servers();
  const { hostname, pathname } = new URL(store);
  const client = new pg.Client({ connectionString: ledger });
  await client.connect();
  const { rows } = await client.query("select sha256, form, place from artifacts");
  await client.end();
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s3.env;
  const bucket = new S3mini({
    accessKeyId,
    secretAccessKey,
    endpoint: `${s3.endpoint}/${hostname}`,
    region: "us-east-1",
  });
  const found = new Set<string>();
  for (const { sha256, form, place } of rows) {
    if (form !== "object") continue;
    const bytes = await bucket.getObjectArrayBuffer(`${pathname.slice(1)}/${place}`);
    if (bytes !== null && createHash("sha256").update(Buffer.from(bytes)).digest("hex") === sha256) found.add(sha256);
  }
  return [...names].filter((name) => !found.has(createHash("sha256").update(outputOf(name)).digest("hex")));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}

describe.skipIf(missing !== null)("several gateways on one ledger and one bucket", () => {
  it("send the provider the same bytes for the same conversation", async () => {
    const { provider, start } = await newFleet();
    const gateways = await Promise.all(["a", "b", "c"].map(start));
    for (const { url } of gateways) expect(await ask(url, "same")).toBe(200);
    const bodies = provider.bodies.get("conversation same") ?? [];
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]?.length).toBeLessThan(outputOf("same").length / 2);
    expect(bodies[0]).toMatch(/[a-z2-7]{12}/);
  }, 120_000);

  it("lose nothing that they acknowledged when one is killed, and answer every other request meanwhile", async () => {
    const { provider, start, ledger, store } = await newFleet();
    const [a, b, c] = await Promise.all([start("a"), start("b"), start("c")]);
    const acknowledged = new Set<string>();
    const refused: string[] = [];
    const send = async (gateway: { url: string }, name: string, mayFail: boolean) => {
      const status = await ask(gateway.url, name).catch(() => 0);
      if (status === 200) acknowledged.add(name);
      else if (!mayFail) refused.push(`${name}: ${status}`);
    };
    const load = async (gateway: { url: string }, from: string, mayFail: boolean) => {
      for (let at = 0; at < 8; at += 1) await send(gateway, `${from}${at}`, mayFail);
    };
    const killed = (async () => {
      await until(async () => [...acknowledged].filter((name) => name.startsWith("c")).length >= 2);
      c.child.kill("SIGKILL");
    })();
    await Promise.all([load(a, "a", false), load(b, "b", false), load(c, "c", true), killed]);
    expect(refused).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(17);
    // What the killed one had saved on its machine only is uploaded when it runs again.
    await start("c");
    await until(async () => (await lost(acknowledged, ledger, store)).length === 0);
    expect(provider.bodies.size).toBeGreaterThanOrEqual(acknowledged.size);
  }, 180_000);

  it("answer every request while the bucket and then the database are down, and upload all of it afterwards", async () => {
    const { postgres } = servers();
    const { proxy, start, ledger, store } = await newFleet();
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const statuses: number[] = [];
    const names: string[] = [];
    const send = async (round: string) => {
      for (const [at, { url }] of [a, b].entries()) {
        names.push(`${round}${at}`);
        statuses.push(await ask(url, `${round}${at}`));
      }
    };
    await send("up");
    proxy.fault = { answer: 503 };
    await send("nobucket");
    if (postgres.stop !== undefined) await postgres.stop();
    await send("nothing");
    proxy.fault = null;
    if (postgres.start !== undefined) await postgres.start();
    await send("again");
    expect(statuses).toEqual(names.map(() => 200));
    await until(async () => (await lost(names, ledger, store)).length === 0);
    const [{ url }] = [a];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^spillway_spool_artifacts 0$/m);
  }, 180_000);
});
