import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type AnyClient, CLI, connect, freePort, type Target, untilAnswered } from "./mcp-clients.ts";

const at = (path: string) => new URL(path, import.meta.url).pathname;
const EVERYTHING = at("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const FILES = at("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const BIG = at("big-server.mjs");
const proxied = (...server: string[]) => [CLI, "mcp", "--resources", "--", process.execPath, ...server];

const children: ChildProcess[] = [];
const urls = { everything: "", front: "", both: "" };
let client: AnyClient | null = null;

beforeAll(async () => {
  const [everything, front, both] = (await Promise.all([freePort(), freePort(), freePort()])) as [
    number,
    number,
    number,
  ];
  urls.everything = `http://127.0.0.1:${everything}/mcp`;
  urls.front = `http://127.0.0.1:${front}/mcp`;
  urls.both = `http://127.0.0.1:${both}/mcp`;
  const start = (args: string[], port: number) =>
    children.push(spawn(process.execPath, args, { stdio: "ignore", env: { ...process.env, PORT: String(port) } }));
  start([EVERYTHING, "streamableHttp"], everything);
  start([CLI, "mcp", "--resources", "--listen", String(front), "--", process.execPath, EVERYTHING], front);
  start([CLI, "mcp", "--resources", "--listen", String(both), "--url", urls.everything], both);
  await Promise.all(Object.values(urls).map(untilAnswered));
});
afterEach(async () => {
  await client?.close();
  client = null;
});
afterAll(async () => {
  await Promise.all(children.map((child) => new Promise((resolve) => child.once("exit", resolve) && child.kill())));
});

const WAYS: [way: string, target: () => Target][] = [
  ["stdio to stdio", () => ({ args: proxied(EVERYTHING) })],
  ["stdio to HTTP", () => ({ args: [CLI, "mcp", "--resources", "--url", urls.everything] })],
  ["HTTP to stdio", () => ({ url: urls.front })],
  ["HTTP to HTTP", () => ({ url: urls.both })],
];
const SDKS = ["v1", "v2", "v2 auto"] as const;

describe.each(WAYS)("%s", (_, target) => {
  test.each(SDKS)("with the %s client: tools, a long result, recall, progress, resources", async (sdk) => {
    client = await connect(sdk, target());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "recall", "search"]));
    const message = Array.from({ length: 5000 }, (__, i) => `line ${i + 1} of it all`).join("\n");
    const { text } = (await client.call("echo", { message })).content[0] as { text: string };
    expect(text.length).toBeLessThanOrEqual(51_200);
    const asked = /recall\((\{.*?\})\)/.exec(text)?.[1]?.replace("[from,to]", "[2500,2501]") ?? "";
    const page = (await client.call("recall", JSON.parse(asked))).content[0]?.text;
    expect(page).toContain("line 2500 of it all\nline 2501 of it all\n");
    const found = /search\((\{.*?\})\)/.exec(text)?.[1]?.replace("...", "line 4321 ") ?? "";
    expect((await client.call("search", JSON.parse(found))).content[0]?.text).toContain("4321:line 4321 of it all");
    const steps: number[] = [];
    await client.call("trigger-long-running-operation", { duration: 0.3, steps: 3 }, (step) => steps.push(step));
    expect(steps).toContain(1);
    expect((await client.listResources()).resources.some(({ uri }) => uri.startsWith("spillway://"))).toBe(true);
  });
});

test("the filesystem server's own files come through", async () => {
  client = await connect("v1", { args: proxied(FILES, at(".")) });
  const text = (await client.call("read_text_file", { path: at("package-lock.json") })).content[0]?.text ?? "";
  expect(text).toMatch(/"name": ?"spillway-frameworks"/);
  expect(text).toMatch(/\[Output cut to fit/);
});

test("the inspector's command line sees the tools and a clamped result", () => {
  const inspect = (...args: string[]) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [
          at("node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"),
          "--cli",
          // It takes the "--" for its own.
          process.execPath,
          CLI,
          "mcp",
          process.execPath,
          BIG,
          ...args,
        ],
        { encoding: "utf8", timeout: 240_000, stdio: ["ignore", "pipe", "ignore"] },
      ),
    );
  const { tools } = inspect("--method", "tools/list");
  expect(tools.map(({ name }: { name: string }) => name)).toContain("recall");
  const { content } = inspect("--method", "tools/call", "--tool-name", "log", "--tool-arg", "lines=9000");
  expect(content[0].text.length).toBeLessThanOrEqual(51_200);
});

const peakMb = ({ pid }: AnyClient) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test("results of 20 and 200 MB pass, clamped, in bounded memory", async () => {
  client = await connect("v1", { args: proxied(BIG) });
  for (const [lines, mostMb] of [
    [400_000, 250],
    [4_000_000, 400],
  ] as const) {
    const { content } = await client.call("log", { lines });
    expect(content[0]?.text.length).toBeLessThanOrEqual(51_200);
    if (process.platform === "linux") expect(peakMb(client)).toBeLessThan(mostMb);
  }
});

test.each(["application/json", "text/event-stream"])("200 MB over HTTP as %s pass in bounded memory", async (type) => {
  const server = createServer(async (request, response) => {
    const { id, method, params } = (request.method === "POST" ? await json(request) : {}) as Record<string, never>;
    if (id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
    const isEvents = type === "text/event-stream";
    const { protocolVersion } = params ?? {};
    const begun = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
    const result = method === "initialize" ? begun : { content: [{ type: "text", text: "LINES" }] };
    const [start = "", end] = JSON.stringify({ jsonrpc: "2.0", id, result }).split("LINES");
    const lines = "a line of a log with words of ordinary length\\n".repeat(1400);
    response.writeHead(200, { "content-type": type });
    response.write(`${isEvents ? "data: " : ""}${start}`);
    for (let left = end === undefined ? 0 : 3050; left > 0; left--)
      if (!response.write(lines)) await once(response, "drain");
    return response.end(`${end ?? ""}${isEvents ? "\n\n" : ""}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const { port } = server.address() as AddressInfo;
    client = await connect("v1", { args: [CLI, "mcp", "--url", `http://127.0.0.1:${port}/mcp`] });
    const { content } = await client.call("log", {});
    expect(content[0]?.text.length).toBeLessThanOrEqual(51_200);
    expect(content[0]?.text).toContain("of 196,420,000 bytes shown");
    if (process.platform === "linux") expect(peakMb(client)).toBeLessThan(400);
  } finally {
    server.close().closeAllConnections();
  }
});

test("100 MB in very many blocks, or in the rows of structured content, pass in bounded memory", async () => {
  for (const [tool, lines] of [
    ["blocks", 1_800_000],
    ["rows", 2_200_000],
  ] as const) {
    client = await connect("v1", { args: proxied(BIG) });
    const result = await client.call(tool, { lines });
    expect(JSON.stringify(result).length).toBeLessThan(60_000);
    if (process.platform === "linux") expect(peakMb(client)).toBeLessThan(400);
    await client.close();
  }
});

test("a server that fails answers with a clear tool error and is there again", async () => {
  client = await connect("v2", { args: proxied(BIG) });
  const broken = await client.call("crash");
  expect(broken.isError).toBe(true);
  expect(broken.content[0]?.text).toMatch(/ended \(exit code 3\) before it answered/);
  expect((await client.call("log", { lines: 1 })).content[0]?.text).toContain("line 1 of a log");
});

test("garbage and a server that never answers do not stop the others", async () => {
  client = await connect("v1", { args: proxied(BIG) });
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === "log")?.outputSchema).toBeUndefined();
  const silent = client.call("silent").catch(() => null);
  expect((await client.call("garbage", { lines: 2 })).content[0]?.text).toContain("line 2 of a log");
  await client.close();
  client = null;
  await silent;
});

test("spillway tools: bounded tools, confined to their folder", async () => {
  client = await connect("v2", { args: [CLI, "tools", at(".")] });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["read_file", "list_directory", "get_repo_structure", "search_files", "repo_map", "recall"]),
  );
  expect((await client.call("read_file", { path: "package.json" })).content[0]?.text).toContain("spillway-frameworks");
  expect((await client.call("read_file", { path: "../../package.json" })).isError).toBe(true);
  const map = (await client.call("repo_map", { max_tokens: 500 })).content[0]?.text ?? "";
  expect(map).toContain("mcp-clients.ts:");
});

test("sessions_history: another session's messages in at most 80 KiB, whatever the limit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-sessions-"));
  const header = { type: "session", version: 3, id: "s1", timestamp: new Date(0).toISOString(), cwd: "/" };
  const entries = Array.from({ length: 80 }, (_, i) => ({
    type: "message",
    id: `e${i}`,
    parentId: i === 0 ? null : `e${i - 1}`,
    timestamp: new Date(i).toISOString(),
    message: { role: "user", content: [{ type: "text", text: `message ${i} ${"word ".repeat(1000)}` }], timestamp: i },
  }));
  writeFileSync(
    join(folder, "main.jsonl"),
    `${[header, ...entries].map((entry) => JSON.stringify(entry)).join("\n")}\n`,
  );
  try {
    client = await connect("v2", { args: [CLI, "tools", at("."), "--transcripts", folder] });
    const { content } = await client.call("sessions_history", { sessionKey: "main", limit: 500 });
    const text = content[0]?.text ?? "";
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(80 * 1024);
    const history = JSON.parse(text);
    expect(history).toMatchObject({
      sessionKey: "main",
      truncated: true,
      droppedMessages: true,
      contentTruncated: true,
    });
    expect(JSON.stringify(history.messages.at(-1))).toContain("message 79 ");
    expect((await client.call("sessions_history", { sessionKey: "../../etc/passwd" })).isError).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
