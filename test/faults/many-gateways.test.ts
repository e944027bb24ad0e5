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
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
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
  // A connection that is closed while a slow machine sends on it would be a failed request.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(async () => {
    server.close();
    server.closeAllConnections();
  });
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

/** Lines of outputs by the first word of their names: within the limits, kept as a row, and kept as an object. */
const LINES: Readonly<Record<string, number>> = { short: 20, row: 1200, object: 3500 };
const linesOf = (name: string) => LINES[name.split(" ")[0] ?? ""] ?? 5000;
const outputOf = (name: string) =>
  Array.from({ length: linesOf(name) }, (_, at) => `${name}: line ${at + 1}\n`).join("");

/** Asks a gateway as an agent does whose tool gave these outputs, one after another. Returns the status. */
async function ask(url: string, name: string, outputs: readonly string[] = [name]): Promise<number> {
  const turns = outputs.flatMap((output, at) => [
    { role: "assistant", content: [{ type: "tool_use", id: `call_${at}`, name: "bash", input: { command: output } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `call_${at}`, content: outputOf(output) }] },
  ]);
  const answer = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      messages: [{ role: "user", content: `conversation ${name}` }, ...turns],
    }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/**
 * Which artifacts a provider was told of, each with the output that it stands for, and of which outputs it was told that they
 * are not saved, or not all of them: on a slow machine saving takes longer than an agent may be held up.
 */
function toldOf(bodies: Iterable<string>): { told: Map<string, string>; unsaved: Set<string> } {
  const told = new Map<string, string>();
  const unsaved = new Set<string>();
  for (const body of bodies) {
    const blocks = JSON.parse(body).messages.flatMap(({ content }: { content: unknown }) => content);
    const commands = new Map(blocks.map(({ id, input }: Block) => [id, input?.command]));
    for (const { tool_use_id, content } of blocks as Block[]) {
      const [text, name] = [JSON.stringify(content ?? ""), String(commands.get(tool_use_id))];
      const isWhole = !/The rest was not saved|[Oo]nly the first [\d,]+ bytes were saved/.test(text);
      if (!isWhole) unsaved.add(name);
      for (const [, id = ""] of text.matchAll(/\bartifact ([a-z2-7]{12})\b/g)) if (isWhole) told.set(id, name);
    }
  }
  return { told, unsaved };
}

interface Block {
  id?: string;
  input?: { command: string };
  tool_use_id?: string;
  content?: unknown;
}

/** Reads rows and objects with no code of ours: which of these artifacts are not in the shared store, byte for byte. */
async function lost(told: Map<string, string>, ledger: string, store: string): Promise<string[]> {
  const { s3 } = servers();
  const { hostname, pathname } = new URL(store);
  const client = new pg.Client({ connectionString: ledger });
  await client.connect();
  const { rows } = await client.query("select id, form, place, data from artifacts left join small using (key)");
  await client.end();
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s3.env;
  const bucket = new S3mini({
    accessKeyId,
    secretAccessKey,
    endpoint: `${s3.endpoint}/${hostname}`,
    region: "us-east-1",
  });
  const found = new Map<string, Buffer>();
  for (const { id, form, place, data } of rows) {
    if (!told.has(id)) continue;
    if (form === "row") found.set(id, data);
    const key = `${pathname.slice(1)}/${place}`;
    const bytes = form === "object" ? await vi.waitFor(() => bucket.getObjectArrayBuffer(key), 120_000) : null;
    if (bytes !== null) found.set(id, Buffer.from(bytes));
  }
  return [...told].filter(([id, name]) => !found.get(id)?.equals(Buffer.from(outputOf(name)))).map(([, name]) => name);
}

/** Waits until nothing is on the gateways' machines only. */
async function uploaded(gateways: readonly { url: string }[]): Promise<void> {
  for (const { url } of gateways) {
    await until(async () => /^spillway_spool_artifacts 0$/m.test(await (await fetch(`${url}/metrics`)).text()));
  }
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
    expect([...toldOf(bodies).told.values()]).toEqual(["same"]);
  });

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
    await uploaded([a, b, await start("c")]);
    const { told, unsaved } = toldOf(
      [...acknowledged].flatMap((name) => provider.bodies.get(`conversation ${name}`) ?? []),
    );
    expect(new Set([...told.values(), ...unsaved])).toEqual(acknowledged);
    expect(await lost(told, ledger, store)).toEqual([]);
  });

  it("answer eight conversations at once while the bucket and then the database are down, and lose nothing of them", async () => {
    const { postgres } = servers();
    const { proxy, provider, start, ledger, store } = await newFleet();
    const gateways = await Promise.all(["a", "b", "c"].map(start));
    const failed: string[] = [];
    const acknowledged = new Set<string>();
    const answers = Array.from({ length: 8 }, () => 0);
    const over = new AbortController();
    stops.push(async () => over.abort());
    /** Each request goes to the next gateway. A conversation has four results, and then another one begins. */
    const talk = async (agent: number) => {
      for (let asked = 0, outputs: string[] = []; !over.signal.aborted; asked += 1) {
        if (asked % 4 === 0) outputs = [];
        const size = Object.keys(LINES)[(agent + asked) % 3];
        outputs.push(`${size} ${agent} ${asked}`);
        const { url } = gateways[(agent + asked) % gateways.length] as { url: string };
        const status = await ask(url, `${agent}x${Math.floor(asked / 4)}`, outputs).catch(() => 0);
        if (status !== 200) failed.push(`${outputs.at(-1)}: ${status}`);
        else if (size !== "short") acknowledged.add(String(outputs.at(-1)));
        answers[agent] = asked + 1;
      }
    };
    /** Of four answers from now on, three are of requests that begin from now on, one at each gateway. */
    const goOn = async () => {
      const before = [...answers];
      await until(async () => failed.length > 0 || answers.every((count, at) => count >= (before[at] ?? 0) + 4));
      expect(failed).toEqual([]);
    };
    const ready = async () => Promise.all(gateways.map(async ({ url }) => (await fetch(`${url}/readyz`)).status));
    const talking = Promise.all(answers.map((_none, agent) => talk(agent)));
    await goOn();
    proxy.fault = { answer: 503 };
    await goOn();
    if (postgres.stop !== undefined) await postgres.stop();
    await goOn();
    expect(await ready()).toEqual([503, 503, 503]);
    if (postgres.start !== undefined) await postgres.start();
    proxy.fault = null;
    await goOn();
    over.abort();
    await talking;
    expect(failed).toEqual([]);
    await uploaded(gateways);
    const { told, unsaved } = toldOf([...provider.bodies.values()].flat());
    expect(new Set([...told.values(), ...unsaved])).toEqual(acknowledged);
    expect(told.size).toBeGreaterThan(0);
    expect(await lost(told, ledger, store)).toEqual([]);
    await until(async () => (await ready()).every((status) => status === 200));
    // It takes 40 s of CPU, most of it in other processes. That ends what hangs, however many others want the machine.
  }, 3_600_000);
});
