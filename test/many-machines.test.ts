import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { within } from "../src/deadline.ts";
import { createSpillway } from "../src/index.ts";
import { MIGRATIONS } from "../src/storage/local/migrations.ts";
import { openRemote } from "../src/storage/remote/open-remote.ts";
import { all } from "../src/storage/sql.ts";
import { startPostgres } from "./postgres.ts";
import { findS3 } from "./s3.ts";

vi.mock("../src/deadline.ts", { spy: true });

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-shared-"));
const server = await startPostgres();
if (typeof server === "string") process.stderr.write(`not run: what several machines share: ${server}\n`);
const s3 = await findS3();
if (typeof s3 === "string") process.stderr.write(`not run: a store in S3: ${s3}\n`);
const fresh = () => (typeof server === "string" ? Promise.reject(new Error(server)) : server.fresh());
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (typeof server !== "string") await server.end();
});

/** Runs the command as on a machine of its own: with another folder. */
function spillway(
  machine: string,
  args: string[],
  { input = "", ...more }: { input?: string; [name: string]: string } = {},
) {
  const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, machine), ...more };
  return spawnSync(process.execPath, [CLI, ...args], { input, cwd: folder, encoding: "utf8", env });
}
const text = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join("");

describe.skipIf(typeof server === "string")("a ledger in PostgreSQL", () => {
  it("is one for all machines, by flag, variable, config and option", async () => {
    const address = await fresh();
    const clamp = ["clamp", "--save", "--max-lines", "9", "-q", "--session", "s1"];
    expect(spillway("a", [...clamp, "--ledger", address], { input: text }).status).toBe(0);
    expect(spillway("b", clamp, { input: text, SPILLWAY_LEDGER: address }).status).toBe(0);
    const shared = await createSpillway({ dir: join(folder, "c"), ledger: address, policy: { profile: "frugal" } });
    const { receipt } = await shared.admit({ tool: "run_command", session: "s1", output: text });
    expect([receipt.saved, receipt.faults]).toEqual(["yes", undefined]);
    const stats = JSON.parse(
      spillway("d", ["stats", "--by", "session", "--json"], { SPILLWAY_LEDGER: address }).stdout,
    );
    expect(stats.rows).toMatchObject([{ session: "s1", calls: 3, cutCalls: 3 }]);
    expect(spillway("d", ["pin", "s1", "-q"], { SPILLWAY_LEDGER: address }).status).toBe(0);
    const pinned = spillway("a", ["pin", "--json"], { SPILLWAY_LEDGER: address });
    expect(JSON.parse(pinned.stdout)).toMatchObject({ pinned: [{ session: "s1" }] });
    // Without the address the folder has what was saved in it and no events.
    const own = JSON.parse(spillway("a", ["stats", "--json"]).stdout);
    expect(own.all.calls).toBe(0);
    await shared.ledger?.close();
  });

  it("that cannot be reached holds nobody up, and what was cut is saved all the same", () => {
    const down = { SPILLWAY_LEDGER: "postgres://me:hunter2hunter2@127.0.0.1:1/spillway" };
    const { stdout, stderr } = spillway("e", ["clamp", "--save", "--max-lines", "9", "--json"], {
      input: text,
      ...down,
    });
    const { receipt } = JSON.parse(stdout);
    expect(receipt).toMatchObject({ saved: "yes", savedBytes: text.length });
    expect(receipt.faults.join()).toMatch(/not recorded.*(cannot be reached|took longer)/);
    expect(stdout + stderr).not.toContain("hunter2");
    const asked = spillway("e", ["stats"], down);
    expect(asked.status).toBe(2);
    expect(asked.stderr).toMatch(/postgres:\/\/127\.0\.0\.1:1\/spillway cannot be reached/);
  });

  it("of a wrong address is said before anything happens", () => {
    const { status, stderr } = spillway("e", ["stats", "--ledger", "mysql://me:hunter2hunter2@db/x"]);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/must be such as postgres:\/\/user/)]);
    expect(stderr).not.toContain("hunter2");
  });
});

describe.skipIf(typeof server === "string" || typeof s3 === "string")("a store in S3", () => {
  it("is one for all machines: saved on one, read, searched and removed on another", async () => {
    if (typeof s3 === "string") return;
    const place = { SPILLWAY_LEDGER: await fresh(), SPILLWAY_STORE: s3.fresh(), ...s3.env };
    const large = text.repeat(4);
    const clamp = ["clamp", "--save", "--max-lines", "9", "--json", "--session", "s1"];
    const { receipt } = JSON.parse(spillway("f", clamp, { input: large, ...place }).stdout);
    expect(receipt).toMatchObject({ saved: "yes", savedBytes: large.length });
    const recalled = spillway("g", ["recall", receipt.artifact, "--lines", "4999-5002"], place);
    expect(recalled.stdout).toContain("line 4999\nline 5000\nline 1\nline 2\n");
    expect(spillway("g", ["search", receipt.artifact, "line 777$"], place).stdout).toMatch(/4 match/);
    expect(spillway("g", ["spool"], place).stdout).toBe("0 artifacts (0 B) wait here\n");
    expect(spillway("g", ["verify"], place).stdout).toMatch(/^1 artifact, .*all as they were saved/);
    expect(JSON.parse(spillway("g", ["migrate", "--json"], place).stdout)).toMatchObject({
      version: MIGRATIONS.length,
    });
    expect(spillway("g", ["rm", "--session", "s1", "-q"], place).status).toBe(0);
    expect(JSON.parse(spillway("f", ["ls", "--json"], place).stdout).artifacts).toEqual([]);
    const { stderr } = spillway("f", ["recall", receipt.artifact], place);
    expect(stderr).toMatch(/there is no artifact/);
  });

  it("that takes nothing leaves the output on this machine, and spool says why", async () => {
    if (typeof s3 === "string") return;
    const place = { SPILLWAY_LEDGER: await fresh(), SPILLWAY_STORE: s3.fresh(), ...s3.env };
    const wrong = { ...place, AWS_SECRET_ACCESS_KEY: "not-the-secret" };
    const clamp = ["clamp", "--save", "--max-lines", "9", "--json"];
    const { receipt } = JSON.parse(spillway("h", clamp, { input: text.repeat(4), ...wrong }).stdout);
    expect(receipt).toMatchObject({ saved: "local" });
    const waiting = spillway("h", ["spool", "--upload"], wrong);
    expect([waiting.status, waiting.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^1 artifact \(.*\) waits here, the oldest since .*\nthe last upload failed: .*refuses the keys/,
      ),
    ]);
    const elsewhere = spillway("i", ["recall", receipt.artifact], place);
    expect(elsewhere.stderr).toMatch(/is still on the machine .*, which has not uploaded it yet/);
    const done = spillway("h", ["spool", "--upload"], place);
    expect([done.status, done.stdout]).toEqual([0, "0 artifacts (0 B) wait here\n"]);
    expect(spillway("i", ["recall", receipt.artifact, "--lines", "1-2"], place).stdout).toContain("line 1\nline 2");
  });
});

const KEYS = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "not-used" };
const NO_BUCKET = "s3://outputs/team?endpoint=http://127.0.0.1:1";

/** A server that takes connections and says nothing until it is told where to pass them on to. */
async function startSilent() {
  let port: number | null = null;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    sockets.add(client.on("error", () => {}));
    if (port === null) return;
    const upstream = connect(port, "127.0.0.1").on("error", () => {});
    sockets.add(upstream);
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    port: (proxy.address() as AddressInfo).port,
    passOn: (to: number) => void (port = to),
    end() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

it.skipIf(typeof server === "string")(
  "a bucket that does not answer holds up no output after the first, and both its end and its return are told once",
  async () => {
    for (const [name, value] of Object.entries(KEYS)) vi.stubEnv(name, value);
    let isDown = true;
    // While it is set, requests are not answered.
    let held: (() => void)[] | null = null;
    const bucket = createHttpServer((request, response) => {
      request.resume();
      const answer = () => response.writeHead(isDown ? 503 : 200).end("<ListBucketResult></ListBucketResult>");
      if (held === null) answer();
      else held.push(answer);
    });
    await once(bucket.listen(0, "127.0.0.1"), "listening");
    const store = `s3://outputs?endpoint=http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
    const told: string[] = [];
    const shared = { ledger: await fresh(), store, tell: (news: string) => told.push(news) };
    const opened = await openRemote(join(folder, "dead-bucket"), shared);
    const save = async (at: number) => {
      const writer = await opened.store.begin({ tool: "t", call: null, session: "s", scope: "local" });
      await writer.add(Buffer.from(`${at}\n${text.repeat(4)}`));
      expect((await writer.end()).saved).toBe("local");
    };
    /** How often somebody has begun to wait for an upload. */
    const waits = () => vi.mocked(within).mock.calls.filter(([, , what]) => what === "uploading").length;
    await expect(opened.spool.reach()).rejects.toThrow(/does not take or give objects/);
    await save(0);
    await vi.waitFor(async () => expect((await opened.spool.state()).fault).not.toBeNull(), 120_000);
    expect(waits()).toBe(1);
    held = [];
    for (let at = 1; at <= 12; at += 1) await save(at);
    expect(waits()).toBe(1);
    isDown = false;
    for (const answer of held.splice(0)) answer();
    held = null;
    await vi.waitFor(async () => expect((await opened.spool.state()).artifacts).toBe(0), 120_000);
    await opened.spool.reach();
    // On a slow machine the database may be late as well, which is told too.
    const ofOutputs = told.filter((news) => news.startsWith("outputs "));
    expect(ofOutputs).toEqual([expect.stringMatching(/^outputs wait .*does not take/), "outputs are uploaded again"]);
    await opened.close();
    bucket.close();
    vi.unstubAllEnvs();
  },
);

describe("a database that does not answer from the start", () => {
  it.skipIf(typeof server === "string" || process.env["SPILLWAY_TEST_POSTGRES"])(
    "or refuses the password loses no output either, and everybody is told",
    async () => {
      const wrong = new URL(await fresh());
      wrong.password = "hunter2hunter2";
      for (const [machine, more, saved] of [
        ["refused", { SPILLWAY_STORE: NO_BUCKET, ...KEYS }, "local"],
        ["refused-ledger", {}, "yes"],
      ] as const) {
        const place = { SPILLWAY_LEDGER: wrong.href, ...more };
        const words = ["-e", 'for (let i = 1; i < 9000; i++) console.log("line", i)'];
        const first = spillway(machine, ["run", "--json", "--", process.execPath, ...words], place);
        const { receipt } = JSON.parse(first.stdout);
        expect([machine, receipt.saved]).toEqual([machine, saved]);
        expect(receipt.faults.join()).toMatch(/not recorded.*refuses the user or the password/);
        expect(first.stdout + first.stderr).not.toContain("hunter2");
        const recalled = spillway(machine, ["recall", receipt.artifact, "--lines", "5000-5001"], place);
        expect(recalled.stdout).toContain("line 5000\nline 5001\n");
        const migrated = spillway(machine, ["migrate"], place);
        expect([migrated.status === 0, migrated.stderr]).toEqual([false, expect.stringMatching(/refuses the user/)]);
      }
      const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "refused") };
      const serve = spawn(process.execPath, [CLI, "serve", "--port", "0"], {
        env: { ...env, SPILLWAY_LEDGER: wrong.href },
        cwd: folder,
      });
      let said = "";
      serve.stderr.on("data", (chunk) => (said += chunk));
      await vi.waitFor(
        () => expect(said).toMatch(/nothing is recorded until this is mended: .*refuses the user/),
        120_000,
      );
      serve.kill("SIGKILL");
    },
  );

  it.each(["refuses", "says nothing"])("and %s loses no output: it is saved and read on this machine", async (how) => {
    const silent = await startSilent();
    const port = how === "refuses" ? 1 : silent.port;
    const place = { SPILLWAY_LEDGER: `postgres://me:hunter2hunter2@127.0.0.1:${port}/db`, SPILLWAY_STORE: NO_BUCKET };
    const machine = `down-${port}`;
    const seq = [
      "run",
      "--json",
      "--",
      process.execPath,
      "-e",
      'for (let i = 1; i < 9000; i++) console.log("line", i)',
    ];
    const first = spillway(machine, seq, { ...place, ...KEYS });
    const { receipt } = JSON.parse(first.stdout);
    expect(receipt).toMatchObject({ saved: "local" });
    expect(receipt.faults.join()).toMatch(/not recorded.*cannot be reached/);
    expect(first.stdout + first.stderr).not.toContain("hunter2");
    const again = JSON.parse(spillway(machine, seq, { ...place, ...KEYS }).stdout);
    expect(again.receipt).toMatchObject({ saved: "local", artifact: receipt.artifact });
    const recalled = spillway(machine, ["recall", receipt.artifact, "--lines", "5000-5001"], { ...place, ...KEYS });
    expect(recalled.stdout).toContain("line 5000\nline 5001\n");
    expect(spillway(machine, ["spool"], { ...place, ...KEYS }).stdout).toMatch(/^1 artifact .* waits here/);
    expect(existsSync(join(folder, machine, "ledger-down"))).toBe(true);
    silent.end();
  });

  it("is told by doctor and config show, without the password", () => {
    const down = { SPILLWAY_LEDGER: "postgres://me:hunter2hunter2@127.0.0.1:1/db", SPILLWAY_STORE: NO_BUCKET, ...KEYS };
    const told = spillway("doctor", ["doctor"], down);
    expect(told.status).toBe(1);
    expect(told.stdout).toMatch(/WRONG shared ledger: postgres:\/\/127\.0\.0\.1:1\/db cannot be reached/);
    expect(told.stdout).toMatch(/WRONG shared store: /);
    expect(told.stdout + told.stderr).not.toContain("hunter2");
    const flag = spillway("doctor", ["doctor", "--ledger", "mysql://me:hunter2hunter2@db/x"]);
    expect(flag.stdout).toMatch(/WRONG shared ledger: a ledger's address must be such as postgres:/);
    expect(flag.stdout).not.toContain("hunter2");
    const shown = spillway("doctor", ["config", "show"], down).stdout;
    expect(shown).toMatch(/^ledger +a PostgreSQL database +SPILLWAY_LEDGER$/m);
    expect(shown).toMatch(/^store +a bucket +SPILLWAY_STORE$/m);
  });

  it("lets serve start, which is not ready", async () => {
    const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "serve"), ...KEYS };
    const place = { SPILLWAY_LEDGER: "postgres://me@127.0.0.1:1/db", SPILLWAY_STORE: NO_BUCKET };
    const server = spawn(process.execPath, [CLI, "serve", "--port", "0"], { env: { ...env, ...place }, cwd: folder });
    try {
      const [greeting] = await once(server.stdout, "data");
      const url = /http:\/\/[\d.]+:\d+/.exec(String(greeting))?.[0] ?? "";
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/readyz`)).status).toBe(503);
    } finally {
      server.kill();
      await once(server, "exit");
    }
  });

  it.skipIf(typeof server === "string")(
    "gets what was saved meanwhile when it answers, also by a later process, under the same ids",
    async () => {
      const address = new URL(await fresh());
      for (const [name, value] of Object.entries(KEYS)) vi.stubEnv(name, value);
      const silent = await startSilent();
      const through = new URL(address);
      through.port = String(silent.port);
      const bucket = createHttpServer((_request, response) => response.end("<ListBucketResult></ListBucketResult>"));
      await once(bucket.listen(0, "127.0.0.1"), "listening");
      const store = `s3://outputs?endpoint=http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
      const place = { ledger: through.href, store };
      const open = (machine: string) => openRemote(join(folder, machine), place);
      const save = async ({ store }: Awaited<ReturnType<typeof open>>, content: string) => {
        const writer = await store.begin({ tool: "t", call: null, session: "s", scope: "local" });
        await writer.add(Buffer.from(content));
        return writer.end();
      };
      const down = await Promise.all([open("early-a"), open("early-b")]);
      const kept = await Promise.all(down.map((opened, at) => save(opened, `saved early by ${at}\n`)));
      expect(kept.map(({ saved }) => saved)).toEqual(["local", "local"]);
      await Promise.all(down.map(({ close }) => close()));
      const folders = ["early-a", "early-b"].flatMap((machine) =>
        readdirSync(join(folder, machine, "uploads")).map((name) => join(folder, machine, "uploads", name)),
      );
      for (const each of folders) {
        expect(statSync(join(each, "secret")).mode & 0o777).toBe(0o600);
        expect(existsSync(join(each, "early"))).toBe(true);
      }
      silent.passOn(Number(address.port));
      // One after the other: the first one's secret becomes that of all, and the second one's differs.
      for (const machine of ["early-a", "early-b"]) {
        const later = await open(machine);
        await later.spool.upload();
        expect(await later.spool.state()).toMatchObject({ artifacts: 0, fault: null });
        await later.close();
      }
      for (const each of folders) expect(existsSync(join(each, "early"))).toBe(false);
      const [a, b, c] = await Promise.all([open("early-a"), open("early-b"), open("early-c")]);
      for (const [at, { id }] of kept.entries()) {
        const bytes = await c.store.read(id, "local", { from: 0, to: 100 });
        expect(Buffer.from(bytes ?? []).toString()).toBe(`saved early by ${at}\n`);
      }
      // From now on all of them give the same output the same id.
      const same = await Promise.all([a, b, c].map((opened) => save(opened, "the same everywhere\n")));
      expect(new Set(same.map(({ id }) => id)).size).toBe(1);
      const { kysely, read } = c.database;
      const names = await read(() => all(kysely.selectFrom("settings").select("name").orderBy("name")));
      expect(names.filter(({ name }) => name.includes("secret"))).toHaveLength(2);
      expect(await c.store.verify()).toMatchObject({ checked: 3, damaged: [], missing: [], orphaned: [] });
      await Promise.all([a, b, c].map(({ close }) => close()));
      silent.end();
      bucket.close();
      vi.unstubAllEnvs();
    },
  );
});
