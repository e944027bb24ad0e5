import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openLocalFolder } from "../../dist/extend.js";
import { createSpillway } from "../../dist/index.js";
import { checkBlocks } from "./blocks.mjs";
import { makeCase } from "./cases.mjs";
import { differ } from "./in-process.mjs";
import { checkText, Findings } from "./promises.mjs";
import { Source, sizeOf } from "./source.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("./give-server.mjs", import.meta.url));

/** A folder of its own for outputs and for what is kept of them, and a Spillway on the same store. */
export async function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), "spillway-promises-"));
  const dir = join(folder, "store");
  const local = await openLocalFolder(dir, { retention: "off" });
  const open = (reader) => createSpillway({ store: local.store, ledger: local.ledger, env: {}, redact: "off", reader });
  return {
    folder,
    dir,
    ledger: local.ledger,
    file: join(folder, "output"),
    env: { PATH: process.env.PATH, HOME: folder, SPILLWAY_DIR: dir },
    byShell: await open({ by: "shell", dir }),
    byTool: await open({ by: "tool", recall: "recall", search: "search" }),
    async read(id) {
      const artifact = await local.store.find(id, "local");
      return artifact === null
        ? Buffer.alloc(0)
        : Buffer.from(await local.store.read(id, "local", { from: 0, to: artifact.bytes }));
    },
    async close() {
      await local.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Limits that flags can set: the command line refuses 0. */
function fromOne(limits) {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, Math.max(1, limit)]));
}

function flagsOf({ limits, strategy, fold }) {
  const named = {
    maxBytes: "--max-bytes",
    maxChars: "--max-chars",
    maxLines: "--max-lines",
    maxTokens: "--max-tokens",
  };
  return [
    ...Object.entries(limits).flatMap(([name, limit]) => [named[name], String(limit)]),
    "--strategy",
    strategy,
    fold ? "--fold" : "--no-fold",
  ];
}

function runCli(place, args, input) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args], {
    cwd: place.folder,
    env: place.env,
    input,
    maxBuffer: 1e9,
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), status };
}

/** Everything that is promised of one text, by a door that gives `{ text, receipt }`, and the same again by `admit`. */
async function checkDoor(given, shown, found, place, { spillway, request }) {
  const { text, receipt } = shown;
  const source = new Source(given.bytes);
  const isPage = receipt.original !== undefined;
  const kept = receipt.artifact === null ? null : await place.read(receipt.artifact);
  const page = isPage && receipt.original !== receipt.artifact ? new Source(kept) : null;
  if (kept !== null && !isPage)
    found.that(source.bytes.equals(kept), "saved byte for byte", `artifact ${receipt.artifact}`);
  if (isPage)
    found.that(
      source.bytes.equals(await place.read(receipt.original)),
      "saved byte for byte",
      `original ${receipt.original}`,
    );
  if (!isPage || page !== null) checkText({ ...given, source }, shown, found, { saves: true, hasCeiling: true, page });
  const { strategy, fold } = given;
  const same = await spillway.admit({
    ...request,
    limits: receipt.limits,
    strategy,
    fold,
    output: Buffer.from(given.bytes),
  });
  found.that(same.text === text, "same by every door", () => differ(same.text, text));
}

/** The door `clamp`, in a process of its own. */
export async function throughClamp(case_, place) {
  const given = { ...case_, limits: fromOne(case_.limits) };
  const found = new Findings();
  const { tool, exitCode } = given;
  writeFileSync(place.file, given.bytes);
  const flags = [...flagsOf(given), "--tool", tool, ...(exitCode === null ? [] : ["--exit-code", String(exitCode)])];
  const saving = ["clamp", "--save", "--no-redact", "--dir", place.dir, ...flags];
  const isFile = given.seed % 2 === 0;
  const { stdout, stderr, status } = runCli(
    place,
    [...saving, "--json", ...(isFile ? [place.file] : [])],
    isFile ? undefined : given.bytes,
  );
  if (status !== 0) {
    found.add("never in the way", `exit code ${status}: ${stderr}`);
    return found.list;
  }
  const shown = JSON.parse(stdout);
  const request = { tool, ...(exitCode !== null && { exitCode }) };
  await checkDoor(given, shown, found, place, { spillway: place.byShell, request });
  // What is printed without --json is the text, and a line break where a line of ours ends it; clamped again it stays.
  if (given.seed % 4 === 0) {
    const plain = runCli(place, [...saving, "--quiet", place.file]).stdout;
    const isWhole = shown.receipt.shown.bytes === shown.receipt.total.bytes;
    const printed = isWhole || shown.text === "" ? shown.text : shown.text.replace(/\n?$/, "\n");
    found.that(plain === printed, "same by every door", () => `--json and without: ${differ(printed, plain)}`);
  }
  if (given.seed % 4 === 1) {
    const twice = JSON.parse(runCli(place, [...saving, "--json"], shown.text).stdout).text;
    found.that(twice === shown.text, exitCode === null ? "twice as once" : "twice as once (exit code)", () =>
      differ(shown.text, twice),
    );
  }
  if (given.seed % 4 === 2 && shown.receipt.artifact !== null && shown.receipt.original === undefined) {
    const raw = spawnSync(process.execPath, [CLI, "recall", shown.receipt.artifact, "--raw", "--dir", place.dir], {
      cwd: place.folder,
      env: place.env,
      maxBuffer: 1e9,
    });
    found.that(raw.stdout.equals(given.bytes), "saved byte for byte", `recall --raw gives ${raw.stdout.length} bytes`);
  }
  return found.list;
}

/** The door `run`: a command that prints the output and ends with the exit code. */
export async function throughRun(case_, place) {
  const found = new Findings();
  const given = { ...case_, limits: fromOne(case_.limits), exitCode: case_.exitCode ?? 0 };
  writeFileSync(place.file, given.bytes);
  // No case repeats a command: lines are weighed by the last good run of the same one.
  const words = ["sh", "-c", `cat ${place.file}; : ${given.seed}; exit ${given.exitCode}`];
  const args = [
    "run",
    "--no-redact",
    "--dir",
    place.dir,
    ...flagsOf(given),
    "--tool",
    given.tool,
    "--json",
    "--",
    ...words,
  ];
  const { stdout, stderr, status } = runCli(place, args);
  found.that(
    status === given.exitCode,
    "the command's own exit code",
    `${status}, it was ${given.exitCode}: ${stderr}`,
  );
  const shown = JSON.parse(stdout);
  const request = { tool: given.tool, exitCode: given.exitCode, command: words.join(" "), since: false };
  await checkDoor(given, shown, found, place, { spillway: place.byShell, request });
  return found.list;
}

/** A client of an MCP server that speaks over its standard input and output. */
function startClient(place, args) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: place.folder,
    env: place.env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = new Map();
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-2000);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(error === undefined ? result : { error });
    waiting.delete(id);
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  ended.then(() => {
    for (const answer of waiting.values()) answer({ error: { message: `the server ended: ${said}` } });
  });
  let count = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = ++count;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  return {
    async start() {
      const clientInfo = { name: "promises", version: "1" };
      await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
      send({ method: "notifications/initialized" });
      await ask("tools/list", {});
    },
    call: (name, args) => ask("tools/call", { name, arguments: args }),
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

/** One server serves a few cases, since its limits are flags: those of the first of them. */
const CASES_A_SERVER = 10;
let serving = null;

async function serverFor({ seed }, place, [door, ...rest]) {
  const first = seed - (seed % CASES_A_SERVER);
  if (serving?.first !== first || serving.door !== door) {
    await endServing();
    const { limits, strategy, fold } = makeCase(first);
    const common = { limits: fromOne(limits), strategy, fold };
    const flags = [door, "--no-redact", "--dir", place.dir, "--session", "s1", ...flagsOf(common)];
    serving = { door, first, common, client: startClient(place, [...flags, ...rest]) };
    await serving.client.start();
  }
  return serving;
}

/** Ends the server that is still running, if one is. */
export async function endServing() {
  await serving?.client.end();
  serving = null;
}

/** The door `mcp`: a result of a server behind the proxy. */
export async function throughMcp(case_, place) {
  const found = new Findings();
  const { client, common } = await serverFor(case_, place, ["mcp", "--", process.execPath, SERVER]);
  const blocks = case_.blocks ?? [{ type: "text", text: new TextDecoder().decode(case_.bytes) }];
  const given = { ...case_, ...common, blocks, tool: "give", exitCode: null };
  const request = { tool: "give", session: "s1", boundDetails: true, strategy: given.strategy, fold: given.fold };
  await checkBlocks(
    given,
    async (result) => {
      writeFileSync(place.file, JSON.stringify(result));
      const before = (await place.ledger.events({ max: 1e6 })).at(-1)?.id ?? 0;
      const { _meta: _, error, ...output } = await client.call("give", { file: place.file });
      if (error !== undefined) throw new Error(error.message);
      const receipt = (await place.ledger.events({ afterId: before })).findLast((event) => event.receipt)?.receipt;
      const same = await place.byTool.admit({
        ...request,
        call: receipt.call,
        limits: receipt.limits,
        output: structuredClone(result),
      });
      const texts = (content) => JSON.stringify(content.map(({ text }) => text));
      found.that(texts(same.output.content) === texts(output.content), "same by every door", () =>
        differ(texts(same.output.content), texts(output.content)),
      );
      return { output, text: same.text, receipt };
    },
    place.read,
    found,
  );
  return found.list.map((finding) => ({ ...finding, given }));
}

/** The door `tools`: a command that a model runs, and a file that it reads. */
export async function throughTools(case_, place) {
  const found = new Findings();
  const { client, common } = await serverFor(case_, place, ["tools", "--allow-commands", place.folder]);
  const given = { ...case_, ...common, exitCode: case_.exitCode ?? 0, tool: "run_command" };
  writeFileSync(place.file, given.bytes);
  const before = (await place.ledger.events({ max: 1e6 })).at(-1)?.id ?? 0;
  const ran = await client.call("run_command", { command: `cat output; : ${given.seed}; exit ${given.exitCode}` });
  const events = await place.ledger.events({ afterId: before });
  const receipt = events.findLast(({ receipt }) => receipt !== null)?.receipt;
  const text = ran.content?.[0]?.text;
  if (typeof text !== "string" || receipt === undefined) {
    found.add("never in the way", JSON.stringify(ran).slice(0, 300));
    return found.list.map((finding) => ({ ...finding, given }));
  }
  const request = { tool: "run_command", exitCode: given.exitCode, session: "s1" };
  await checkDoor(given, { text, receipt }, found, place, { spillway: place.byTool, request });
  const file = await client.call("read_file", { path: "output" });
  const read = file.content?.[0]?.text ?? "";
  const size = sizeOf(read);
  for (const [name, unit] of [
    ["maxBytes", "bytes"],
    ["maxChars", "chars"],
    ["maxLines", "lines"],
  ])
    found.that(
      given.limits[name] === undefined || size[unit] <= given.limits[name],
      "within limits",
      `read_file: ${size[unit]} ${unit}, ${name} ${given.limits[name]}`,
    );
  found.that(read.isWellFormed(), "well-formed", "read_file: a lone surrogate");
  const { maxBytes = 8, maxChars = 8, maxLines = 1, maxTokens = 3 } = given.limits;
  if (given.bytes.length > 0 && maxBytes >= 8 && maxChars >= 8 && maxLines >= 1 && maxTokens >= 3)
    found.that(read !== "", "never empty", "read_file gave nothing");
  return found.list.map((finding) => ({ ...finding, given }));
}
