// A secret that passes Spillway by any way is nowhere in what it keeps, neither in a file's bytes nor unpacked.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSpillway, type Spillway, type SpillwayOptions } from "../src/index.ts";
import { openDatabase } from "../src/storage/local/open-database.ts";
import { openLocal } from "../src/storage/local/open-local.ts";
import { startFakeProvider } from "../src/testing/fake-provider/start-fake-provider.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A token of its own for each way in, so that a leak says where it came from. */
const secretOf = (way: string) => `ghp_${createHash("sha256").update(way).digest("hex").slice(0, 36)}`;
/** A long output with the token at its start, in its middle and at its end. */
const logOf = (way: string, lines = 3000) =>
  Array.from({ length: lines }, (_, at) =>
    at % Math.floor(lines / 2 - 1) === 0 ? `line ${at}: token ${secretOf(way)} used` : `line ${at} of ${way}`,
  ).join("\n");

const SUMMARY = (way: string) =>
  `## Goal\nUse ${secretOf(way)}\n## Decisions\nnone\n## Open items\nnone\n## Exact identifiers\nnone\n## Files\nnone\n## Errors\nnone`;

type Message = { role: string; content: unknown };
const user = (content: unknown): Message => ({ role: "user", content });
const said = (content: unknown): Message => ({ role: "assistant", content });
const turn = (id: string, text: unknown, name = "lookup"): Message[] => [
  said([{ type: "tool_use", id, name, input: {} }]),
  user([{ type: "tool_result", tool_use_id: id, content: text }]),
];
const ended = [said("a"), user("b"), said("c"), user("d"), said("e")];
const SHORT = 300; // lines: within the limits of any tool

interface Place {
  dir: string;
  runs: string;
  events: string;
}
const placeOf = (name: string): Place => {
  const root = join(folder, name);
  mkdirSync(root);
  return { dir: join(root, "store"), runs: join(root, "runs"), events: join(root, "events.jsonl") };
};

type Way = (spillway: Spillway, way: string) => Promise<unknown>;

/** Every way into a Spillway of one process. */
const ways: Record<string, Way> = {
  text: (spillway, way) => spillway.admit({ tool: "bash", session: "s", output: logOf(way) }),
  bytes: (spillway, way) => spillway.admit({ tool: "bash", output: Buffer.from(logOf(way)) }),
  stream: (spillway, way) => {
    // In pieces that split the token.
    const bytes = Buffer.from(logOf(way));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 29) }, (_, at) =>
      bytes.subarray(at * 29, at * 29 + 29),
    );
    return spillway.admit({
      tool: "bash",
      output: (async function* () {
        yield* pieces;
      })(),
    });
  },
  blocks: (spillway, way) =>
    spillway.admit({ tool: "x", output: { content: [1, 2].map(() => ({ type: "text", text: logOf(way) })) } }),
  object: (spillway, way) => spillway.admit({ tool: "x", output: { token: secretOf(way), log: logOf(way) } }),
  details: (spillway, way) =>
    spillway.admit({
      tool: "x",
      boundDetails: true,
      output: { content: [{ type: "text", text: logOf(way) }], details: { log: logOf(way), token: secretOf(way) } },
    }),
  json: (spillway, way) =>
    spillway.admit({
      tool: "x",
      output: JSON.stringify(Array.from({ length: 4000 }, (_, at) => ({ at, of: `of ${way}`, token: secretOf(way) }))),
    }),
  page: (spillway, way) =>
    spillway.admit({ tool: "web_fetch", output: `<html><body>${logOf(way).replaceAll("\n", "<p>")}</body></html>` }),
  "tool name": (spillway, way) => spillway.admit({ tool: secretOf(way), output: logOf(way) }),
  "exit code": (spillway, way) => spillway.admit({ tool: "x", output: logOf(way), exitCode: secretOf(way) as never }),
  wrapTool: (spillway, way) => spillway.wrapTool(async () => logOf(way), { name: "wrapped" })(),
  "thrown by a tool": (spillway, way) =>
    spillway
      .wrapTool(async () => Promise.reject(new Error(logOf(way))), { name: "wrapped" })()
      .catch(() => null),
  "prepare, trimmed": (spillway, way) =>
    spillway.prepare([user("trim"), ...turn("t", logOf(way, SHORT * 2)), ...ended], {
      wire: "anthropic",
      // Nearly full: with more room a step waits until it pays.
      window: 5000,
    }),
  "prepare, cleared": (spillway, way) =>
    spillway.prepare([user("clear"), ...turn("c", logOf(way, SHORT)), ...ended], {
      wire: "anthropic",
      pruning: { mode: "aggressive" },
    }),
  "prepare, insured": (spillway, way) =>
    spillway.prepare([user("insure"), ...turn("i", logOf(way))], { wire: "anthropic", window: 1_000_000 }),
  "prepare, batched": (spillway, way) =>
    spillway.prepare([user("batch"), ...turn("b", logOf(way, SHORT))], { wire: "anthropic", window: 3000 }),
  "prepare, tool name": (spillway, way) =>
    spillway.prepare([user("name"), ...turn("n", logOf(way, SHORT), secretOf(way)), ...ended], {
      wire: "anthropic",
      pruning: { mode: "aggressive" },
    }),
  "prepare, first words": (spillway, way) =>
    spillway.prepare([user(secretOf(way)), ...turn("f", logOf(way, SHORT * 2)), ...ended], {
      wire: "anthropic",
      // Nearly full: with more room a step waits until it pays.
      window: 5000,
    }),
  call: (spillway, way) => {
    const say = (tokens: number) => `prompt is too long: ${tokens} tokens > 12000 maximum; ${secretOf(way)}`;
    const messages = [
      user("call"),
      ...turn("k", logOf(way, SHORT), secretOf(way)),
      ...Array.from({ length: 12 }, (_, at) => turn(`l${at}`, logOf(way, SHORT))).flat(),
    ];
    const send = async (_: unknown, { attempt }: { attempt: number }) =>
      attempt < 2 ? Promise.reject(Object.assign(new Error(say(20_000)), { status: 400 })) : { ok: true };
    const history = { replace: () => {} };
    return spillway.call(messages, send, { wire: "anthropic", window: 1_000_000, persist: true, history });
  },
  "call that fails": (spillway, way) =>
    spillway
      .call(
        [user("call"), ...turn("k", logOf(way, SHORT))],
        async () => Promise.reject(new Error(`prompt is too long: 20000 tokens > 10 maximum; ${secretOf(way)}`)),
        { wire: "anthropic" },
      )
      .catch(() => null),
  compact: (spillway, way) => {
    const turns = Array.from({ length: 40 }, (_, at) => [...turn(`m${at}`, logOf(way, SHORT)), user("go on")]).flat();
    return spillway.compact([user("compact"), ...turns], { wire: "anthropic", targetTokens: 20_000 });
  },
  summary: (spillway, way) => spillway.admit({ tool: "x", output: logOf(way), summarize: true }),
  guard: async (spillway, way) => {
    const message = {
      role: "toolResult",
      toolCallId: "g",
      toolName: secretOf(way),
      content: [{ type: "text", text: logOf(way) }],
    };
    await spillway.guard(message, { session: "s" });
    const bulky = { ...message, toolName: "x", details: { log: logOf(way), token: secretOf(way) } };
    await spillway.guard(bulky);
    spillway.guardSync(bulky);
    spillway.guardSync({ ...message, content: [{ type: "text", text: `${logOf(way)} again` }] });
  },
  cap: async (spillway, way) =>
    spillway.cap(Array.from({ length: 40 }, (_, at) => [user(logOf(way)), ...turn(`p${at}`, logOf(way))]).flat()),
  "recall and search": async (spillway, way) => {
    const { receipt } = await spillway.admit({ tool: "bash", output: logOf(way) });
    const id = receipt.artifact as string;
    await spillway.recall(id, { lines: [1, 20] });
    await spillway.recall(id, { around: { pattern: secretOf(way) } }).catch(() => null);
    await spillway.search(id, { pattern: secretOf(way) });
    await spillway.search(id, { pattern: `(${secretOf(way)}` }).catch(() => null);
    await spillway.recall(secretOf(way)).catch(() => null);
  },
};

/** Ways in by the command, each a list of arguments and what it reads. */
const commands: Record<string, (way: string, place: Place) => [args: string[], input?: string]> = {
  "spillway run": (way) => [["run", "--session", "r", "--", "cat", fileOf(way, logOf(way))]],
  "spillway run of a short output": (way) => [["run", "--", "cat", fileOf(way, secretOf(way))]],
  "spillway clamp --save": (way) => [["clamp", "--save"], logOf(way)],
  "spillway hook": (way) => [
    ["hook"],
    JSON.stringify({
      hook_event_name: "PostToolUse",
      session_id: "s",
      tool_use_id: "t",
      tool_name: "Bash",
      tool_response: { stdout: logOf(way), stderr: "", interrupted: false },
    }),
  ],
  "spillway prune": (way) => [
    [
      "prune",
      fileOf(way, JSON.stringify([user(way), ...turn("a", logOf(way, SHORT * 2)), ...ended])),
      "--window",
      "9000",
    ],
  ],
  "spillway guard": (way) => [["guard", fileOf(way, JSON.stringify([user(way), ...turn("a", logOf(way))]))]],
  "spillway mcp": (way) => [
    ["mcp", "--", process.execPath, fileOf(`${way}.mjs`, mcpServer(fileOf(way, logOf(way))))],
    [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "log", arguments: {} } },
    ]
      .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      .join(""),
  ],
};

function fileOf(name: string, text: string): string {
  const path = join(
    folder,
    `${createHash("sha256").update(name).digest("hex").slice(0, 8)}-${name.replaceAll(/\W+/g, "-")}`,
  );
  writeFileSync(path, text);
  return path;
}

/** A server with one tool; it ends after its answer. */
function mcpServer(file: string): string {
  return `import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const text = method === "tools/call" ? readFileSync(${JSON.stringify(file)}, "utf8") : "";
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "log", version: "1" } }
    : method === "tools/list" ? { tools: [{ name: "log", inputSchema: { type: "object" } }] } : { content: [{ type: "text", text }] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}`;
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(path, entry.name)) : join(path, entry.name),
  );

/** All that a place holds, each with where it is: files as they are, rows of tables, artifacts as they are read. */
async function everythingIn({ dir, runs, events }: Place): Promise<{ where: string; bytes: Buffer }[]> {
  const found = [dir, runs, events]
    .filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
    .flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : path))
    .map((path) => ({
      where: path.slice(folder.length),
      bytes: Buffer.concat([Buffer.from(path), readFileSync(path)]),
    }));
  const database = await openDatabase(dir);
  const tables = database.raw.prepare("select name from sqlite_master where type = 'table'").all() as {
    name: string;
  }[];
  for (const { name } of tables) {
    for (const row of database.raw.prepare(`select * from "${name}"`).all() as Record<string, unknown>[]) {
      const values = Object.values(row).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value) : String(value),
      );
      found.push({ where: `table ${name}`, bytes: Buffer.concat(values.map((value) => Buffer.from(value))) });
    }
  }
  await database.close();
  const { store, close } = await openLocal(dir);
  for (const { id, bytes } of await store.list({ scope: "local" })) {
    found.push({
      where: `artifact ${id}`,
      bytes: Buffer.from((await store.read(id, "local", { from: 0, to: bytes })) ?? []),
    });
  }
  await close();
  return found;
}

const leaksIn = (found: readonly { where: string; bytes: Buffer }[], names: readonly string[]) =>
  names.flatMap((way) =>
    found.flatMap(({ where, bytes }) => (bytes.includes(secretOf(way)) ? `${way}: ${where}` : [])),
  );

describe("no secret is kept in clear", () => {
  const provider = startFakeProvider({ speaks: "openai-chat", script: Array(40).fill(SUMMARY("answers of a model")) });
  afterAll(async () => (await provider).stop());

  async function pass(place: Place, options: SpillwayOptions, names = Object.keys(ways)) {
    const { url } = await provider;
    const summarizer = { endpoint: `${url}/v1`, model: "small-1", speaks: "openai" as const };
    const spillway = await createSpillway({ ...place, env: {}, summarizer, reader: { by: "file" }, ...options });
    for (const name of names) await ways[name]?.(spillway, name);
    await spillway.store?.close();
    await spillway.ledger?.close();
  }

  it("whichever way it came into a process", async () => {
    const place = placeOf("process");
    await pass(place, {});
    const found = await everythingIn(place);
    // All of them kept something, but for `cap`, which only tells.
    const artifacts = found.filter(({ where }) => where.startsWith("artifact"));
    const keeps = (way: string) => artifacts.some(({ bytes }) => bytes.includes(`of ${way}`));
    expect(Object.keys(ways).filter((way) => !keeps(way))).toEqual(["cap"]);
    const told = (kind: string) => found.some(({ where, bytes }) => where === "table events" && bytes.includes(kind));
    for (const kind of ["history-capped", "overflow-recovered", "overflow-failed", "history-compacted"])
      expect({ kind, told: told(kind) }).toEqual({ kind, told: true });
    expect(leaksIn(found, [...Object.keys(ways), "answers of a model"])).toEqual([]);
    for (const table of ["projections", "events", "artifacts", "small"])
      expect(found.filter(({ where }) => where === `table ${table}`)).not.toEqual([]);
  });

  it("whichever way it came through the command", async () => {
    const place = placeOf("command");
    const config = fileOf("own.json", JSON.stringify(place));
    for (const [way, of] of Object.entries(commands)) {
      const [args, input = ""] = of(way, place);
      const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
        input,
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: folder, SPILLWAY_CONFIG: config },
        maxBuffer: 1e8,
        timeout: 240_000,
      });
      expect({ way, status, stderr: stderr.slice(0, 300) }).toMatchObject({ way, status: 0 });
    }
    const found = await everythingIn(place);
    expect(found.length).toBeGreaterThan(10);
    expect(leaksIn(found, Object.keys(commands))).toEqual([]);
  });

  it("where it is off, what was asked for is kept, so the search above finds what there is", async () => {
    const place = placeOf("off");
    await pass(place, { redact: "off" }, ["text", "blocks", "prepare, cleared"]);
    const found = await everythingIn(place);
    expect(new Set(leaksIn(found, ["text", "blocks", "prepare, cleared"]).map((leak) => leak.split(":")[0]))).toEqual(
      new Set(["text", "blocks", "prepare, cleared"]),
    );
  });
});
