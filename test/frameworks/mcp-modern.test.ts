import { type ChildProcess, spawn } from "node:child_process";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CLI, freePort, untilAnswered } from "./mcp-clients.ts";

// The protocol of 2026-07-28 through the proxy, with a server of the official SDK on the other side.

const SERVER = new URL("modern-server.mjs", import.meta.url).pathname;
const children: ChildProcess[] = [];
const urls = { server: "", front: "", both: "" };
const clients: Client[] = [];

beforeAll(async () => {
  const start = async (name: keyof typeof urls, ...args: string[]) => {
    const port = String(await freePort());
    urls[name] = `http://127.0.0.1:${port}/mcp`;
    children.push(
      spawn(
        process.execPath,
        args.map((arg) => (arg === "PORT" ? port : arg)),
        { stdio: "ignore" },
      ),
    );
    await untilAnswered(urls[name]);
  };
  await start("server", SERVER, "PORT");
  await start("front", CLI, "mcp", "--listen", "PORT", "--", process.execPath, SERVER);
  await start("both", CLI, "mcp", "--listen", "PORT", "--url", urls.server);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await Promise.all(children.map((child) => new Promise((resolve) => child.once("exit", resolve) && child.kill())));
});

async function connect(target: string[] | string): Promise<Client> {
  const client = new Client({ name: "modern", version: "1" }, { versionNegotiation: { mode: "auto" } });
  clients.push(client);
  const stdio = { command: process.execPath, args: target as string[], stderr: "ignore" as const };
  await client.connect(
    typeof target === "string" ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport(stdio),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  return client;
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

describe.each<[string, () => string[] | string]>([
  ["stdio to stdio", () => [CLI, "mcp", "--", process.execPath, SERVER]],
  ["stdio to HTTP", () => [CLI, "mcp", "--url", urls.server]],
  ["HTTP to stdio", () => urls.front],
  ["HTTP to HTTP", () => urls.both],
])("%s", (_, target) => {
  test("a long result is cut, what it repeats goes, and recall and search are answered as the client wants", async () => {
    const client = await connect(target());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["log", "recall", "search"]));
    const result = await client.callTool({ name: "log", arguments: { lines: 9000 } });
    expect(result.structuredContent).toBeUndefined();
    const id = /recall\(\{"id":"(\w+)"/.exec(textOf(result))?.[1];
    const page = await client.callTool({ name: "recall", arguments: { id, lines: [4500, 4501] } });
    expect(textOf(page)).toContain("line 4500 of a log\nline 4501 of a log\n");
    const found = await client.callTool({ name: "search", arguments: { id, pattern: "line 7777 " } });
    expect(textOf(found)).toContain("7777:line 7777 of a log");
  });

  test("an argument that the tool wants as a header arrives, listed or not", async () => {
    const client = await connect(target());
    const call = () => client.callTool({ name: "where", arguments: { region: "Zürich" } });
    if (typeof target() !== "string") expect(textOf(await call())).toBe("in Zürich");
    await client.listTools();
    expect(textOf(await call())).toBe("in Zürich");
  });

  test("two clients at the same time each get their own progress, and one that leaves cancels its own call", async () => {
    const [one, two] = [await connect(target()), await connect(target())];
    const steps = async (client: Client, who: string) => {
      const seen: unknown[] = [];
      const onprogress = ({ message }: { message?: string }) => void seen.push(message);
      return [textOf(await client.callTool({ name: "steps", arguments: { who } }, { onprogress })), seen];
    };
    expect(await Promise.all([steps(one, "one"), steps(two, "two")])).toEqual([
      ["done for one", ["one", "one", "one"]],
      ["done for two", ["two", "two", "two"]],
    ]);
    const countOf = async (client: Client, name: string) => Number(textOf(await client.callTool({ name })));
    const count = () => countOf(two, "cancelled");
    const isSameServer = typeof target() === "string";
    const before = await count();
    /** Begins a call that never ends, and waits until the server has it. */
    const begin = async (client: Client) => {
      const begun = await countOf(client, "begun");
      const abort = new AbortController();
      const ended = client.callTool({ name: "endless" }, { signal: abort.signal }).then(
        () => "answered",
        () => "broken off",
      );
      await expect.poll(() => countOf(client, "begun")).toBe(begun + 1);
      return { abort, ended };
    };
    const [broken, other] = [await begin(one), await begin(two)];
    broken.abort.abort();
    expect(await broken.ended).toBe("broken off");
    if (isSameServer) await expect.poll(count).toBe(before + 1);
    other.abort.abort();
    await other.ended;
    await expect.poll(count).toBeGreaterThan(before);
  });
});

test("spillway tools speaks it too", async () => {
  const client = await connect([CLI, "tools", new URL(".", import.meta.url).pathname]);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("read_file");
  const file = await client.callTool({ name: "read_file", arguments: { path: "package.json" } });
  expect(textOf(file)).toContain("spillway-frameworks");
  expect((await client.callTool({ name: "recall", arguments: { id: "none" } })).isError).toBe(true);
});
