import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkStore } from "./faults/check-store.mjs";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
let folder: string;
// A disk that is really full needs one of its own.
const canMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const running: ChildProcess[] = [];
const stops: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-serve-"));
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const stop of stops.splice(0)) await stop();
  rmSync(folder, { recursive: true, force: true });
});

const env = (more = {}) => ({ PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place"), ...more });

/** Starts `spillway serve` and waits until it says where it is. */
async function serve(args: string[], more = {}, { where = ".", limit = "" } = {}) {
  const cwd = join(folder, where);
  const command = [process.execPath, CLI, "serve", "--port", "0", ...args];
  const [program = "", ...words] = limit === "" ? command : ["sh", "-c", `${limit}; exec "$@"`, "sh", ...command];
  const child = spawn(program, words, { cwd, env: env(more) });
  running.push(child);
  const exit = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const [, found] = /listens at (\S+)\. [^]*openapi\.json\n/.exec(said) ?? [];
      if (found) resolve(found);
    });
    child.stderr.on("data", (chunk) => (said += chunk));
    child.once("exit", () => reject(new Error(said)));
  });
  const reached = args.includes("0.0.0.0") ? /(?<=ANTHROPIC_BASE_URL=)\S+/.exec(said)?.[0] : url;
  for (const line of [
    `ANTHROPIC_BASE_URL=${reached}\n`,
    `OPENAI_BASE_URL=${reached}/v1\n`,
    `GOOGLE_GEMINI_BASE_URL=${reached}\n`,
  ]) {
    expect(said).toContain(`export ${line}`);
  }
  return { url, child, exit, said: () => said };
}

/** A provider that keeps what it gets. */
async function provider() {
  const bodies: { messages: unknown[] }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const turn = (at: number, chars: number) => [
  { role: "assistant", content: [{ type: "tool_use", id: `t${at}`, name: "lookup", input: { at } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content: `word${at} `.repeat(chars / 7) }] },
];
const messages = (turns: number) => [
  { role: "user", content: "go" },
  ...Array.from({ length: turns }, (_, at) => turn(at, 28_000)).flat(),
];
const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

describe("spillway serve", () => {
  it("killed and started again amid a conversation shows the same, and has all that it kept", async () => {
    const upstream = await provider();
    const config = join(folder, "spillway.yaml");
    writeFileSync(config, "context_tokens: 60000\n");
    const args = ["--anthropic", upstream.url, "--config", config];
    const first = await serve(args);
    for (const turns of [8, 9])
      expect((await post(`${first.url}/v1/messages`, { messages: messages(turns) })).status).toBe(200);
    first.child.kill("SIGKILL");
    await first.exit;
    const second = await serve(args);
    await post(`${second.url}/v1/messages`, { messages: messages(9) });
    const [, before = "", again] = upstream.bodies.map((body) => JSON.stringify(body.messages));
    expect(before).toContain("[Old tool result content cleared]");
    expect(again === before).toBe(true);
    const { items } = (await (await fetch(`${second.url}/api/artifacts`)).json()) as {
      items: { id: string; command: string }[];
    };
    expect(items.length).toBeGreaterThan(0);
    const [one] = items;
    const content = await (await fetch(`${second.url}/api/artifacts/${one?.id}/content`)).text();
    expect(content).toBe(`word${JSON.parse(one?.command ?? "").at} `.repeat(4000));
  });

  it.skipIf(!canMount)("a disk that fills up fails no request, and nothing that was told of is lost", async () => {
    const place = join(folder, "place");
    mkdirSync(place);
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=100m,mode=700", "tmpfs", place]).status).toBe(0);
    // Lazily: a driver may close its file only when it is collected.
    stops.push(async () => spawnSync("umount", ["-l", place]));
    const upstream = await provider();
    const args = ["--anthropic", upstream.url];
    // Some are kept as rows and some as files.
    const outputOf = (name: string, at: number) => `${name}, output ${at}\n`.repeat(at % 2 === 0 ? 2500 : 20_000);
    const send = async (url: string, name: string, outputs = [0, 1, 2, 3]) => {
      const statuses = outputs.map(async (at) => {
        const [call, result] = turn(at, 0);
        Object.assign(result?.content[0] ?? {}, { content: outputOf(name, at) });
        return (await post(`${url}/v1/messages`, { messages: [{ role: "user", content: name }, call, result] })).status;
      });
      expect([name, await Promise.all(statuses)]).toEqual([name, outputs.map(() => 200)]);
    };
    const fill = () => spawnSync("dd", ["if=/dev/zero", `of=${join(place, "filler")}`, "bs=4k"]);
    const first = await serve(args);
    await send(first.url, "before");
    expect(String(fill().stderr)).toContain("No space left");
    await send(first.url, "full");
    await send(first.url, "still full");
    first.child.kill("SIGKILL");
    await first.exit;
    fill();
    const second = await serve(args);
    // Of one only: a store that fails three times is left alone for half a minute.
    await send(second.url, "begun full", [0]);
    expect(second.said()).toContain("requests pass, but nothing is saved or recorded until there is room");
    rmSync(join(place, "filler"));
    await send(second.url, "after");
    // Each that a marker names is there, to the byte.
    const bodies = upstream.bodies.map((body) => JSON.stringify(body.messages));
    expect(bodies.length).toBe(17);
    const named = bodies.flatMap((body) => {
      const [, id] = /(?:artifact|recall) ([a-z2-7]{12})/.exec(body) ?? [];
      const [, name = "", at] = /([a-z ]+), output (\d)/.exec(body) ?? [];
      return id === undefined ? [] : [{ id, name, at }];
    });
    for (const { id, name, at } of named) {
      const response = await fetch(`${second.url}/api/artifacts/${id}/content`);
      expect([name, at, response.status]).toEqual([name, at, 200]);
      expect((await response.text()) === outputOf(name, Number(at))).toBe(true);
    }
    const savedOf = (round: string) => named.filter(({ name }) => name === round).length;
    expect([savedOf("before"), savedOf("after")]).toEqual([4, 4]);
    for (const body of bodies) expect(body.length).toBeLessThan(60_000);
    second.child.kill("SIGTERM");
    expect(await second.exit).toBe(0);
    expect(checkStore(place, [])).toEqual([]);
  });

  it("sends to the upstreams of the user's own config, not to a project's, and flags win", async () => {
    const [own, other] = [await provider(), await provider()];
    mkdirSync(join(folder, ".config", "spillway"), { recursive: true });
    writeFileSync(
      join(folder, ".config", "spillway", "spillway.yaml"),
      `upstreams: { anthropic: "${own.url}", openai: "${own.url}/v1", allowed: ["${other.url}"] }\n`,
    );
    mkdirSync(join(folder, "project"));
    writeFileSync(join(folder, "project", "spillway.yaml"), `upstreams: { anthropic: "${other.url}" }\n`);
    const { url } = await serve(["--openai", `${other.url}/v1`], {}, { where: "project" });
    const ask = async (path: string, content: string, headers = {}) => {
      const body = JSON.stringify({ messages: [{ role: "user", content }] });
      await fetch(url + path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
    };
    await ask("/v1/messages", "from the config");
    await ask("/v1/chat/completions", "from the flag");
    await ask("/v1/messages", "by the header", { "x-spillway-upstream": other.url });
    expect([own.bodies.length, other.bodies.length]).toEqual([1, 2]);
    expect(own.bodies[0]?.messages).toEqual([{ role: "user", content: "from the config" }]);
  });

  it("says for which providers no key is set", async () => {
    const { said } = await serve([], { OPENAI_API_KEY: "k" });
    expect(said()).toContain("no key is set here for Anthropic (ANTHROPIC_API_KEY), Gemini (GEMINI_API_KEY): an agent");
  });

  it.skipIf(process.platform === "win32")(
    "a disk that is full costs no answer, and nothing that a marker names as saved is lost",
    async () => {
      const upstream = await provider();
      // No file may be over 1 MiB (2 in some shells). To a program that is what a full disk is: it can write no more.
      const { url } = await serve(["--anthropic", upstream.url], {}, { limit: "ulimit -f 2048" });
      const rows = (at: number) => Array.from({ length: 20_000 }, (_, row) => `${at} row ${row * 7919}`).join("\n");
      const texts = Array.from({ length: 14 }, (_, at) => rows(at));
      for (let turns = 1; turns <= texts.length; turns++) {
        const conversation = texts.slice(0, turns).flatMap((content, at) => [
          { role: "assistant", content: [{ type: "tool_use", id: `t${at}`, name: "lookup", input: { at } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content }] },
        ]);
        const response = await post(`${url}/v1/messages`, {
          messages: [{ role: "user", content: "go" }, ...conversation],
        });
        expect([turns, response.status, await response.text()]).toEqual([turns, 200, "{}"]);
      }
      // Each was sent within its limits, and says whether it was saved.
      const last = JSON.stringify(upstream.bodies.at(-1)?.messages);
      expect(last.length).toBeLessThan(texts.length * 60_000);
      const named = new Set([...last.matchAll(/artifact ([a-z2-7]{12})/g)].map(([, id]) => id));
      expect(named.size).toBeGreaterThan(0);
      expect(last).toContain("not saved");
      let whole = 0;
      for (const id of named) {
        const response = await fetch(`${url}/api/artifacts/${id}/content`);
        expect([id, response.status]).toEqual([id, 200]);
        const content = await response.text();
        if (texts.includes(content)) whole++;
      }
      expect(whole).toBeGreaterThan(0);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    },
  );

  it("ends on SIGTERM once its answers are done", async () => {
    let finish: (() => void) | undefined;
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"content_block_delta"}\n\n');
      finish = () => response.end("data: end\n\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stops.push(() => new Promise((resolve) => server.close(resolve)));
    const { url, child, exit } = await serve([
      "--anthropic",
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ]);
    const response = await post(`${url}/v1/messages`, { messages: [{ role: "user", content: "hi" }] });
    child.kill("SIGTERM");
    await new Promise((resolve) => child.stderr?.once("data", resolve));
    finish?.();
    expect(await response.text()).toContain("data: end");
    expect(await exit).toBe(0);
  });

  it("names an address that other machines can use, and the header for the token", async () => {
    const token = "a-token-of-24-characters";
    for (const [names, host] of [
      [["--host-name", "gateway.test"], /^gateway\.test$/],
      [[], /^(?!0\.0\.0\.0$)[\w.-]+$/],
    ] as const) {
      const { child, exit, said } = await serve(["--host", "0.0.0.0", ...names], { SPILLWAY_TOKEN: token });
      const [, named = ""] = /ANTHROPIC_BASE_URL=http:\/\/(.*):\d+\n/.exec(said()) ?? [];
      expect(named).toMatch(host);
      expect(said()).toContain('export ANTHROPIC_CUSTOM_HEADERS="x-spillway-token: TOKEN"');
      expect(said()).not.toContain(token);
      child.kill("SIGTERM");
      await exit;
    }
  });

  it("with a token nobody reads without it, and it stands in no output", async () => {
    writeFileSync(join(folder, "tokens"), "# for the page\nread 0123456789abcdef-read\n");
    chmodSync(join(folder, "tokens"), 0o640);
    const { url, said } = await serve(["--tokens", "tokens"], { SPILLWAY_TOKEN: "0123456789abcdef-admin" });
    expect(said()).toContain("other users of this machine may read the tokens in tokens: chmod 600 tokens\n");
    const status = async (token?: string) =>
      (await fetch(`${url}/api/events`, token ? { headers: { authorization: `Bearer ${token}` } } : {})).status;
    expect(await Promise.all([status(), status("0123456789abcdef-read"), status("0123456789abcdef-admin")])).toEqual([
      401, 200, 200,
    ]);
  });

  it("a marker's command works as it stands in a shell that has neither the flags nor the variables of the gateway", async () => {
    const upstream = await provider();
    const token = "0123456789abcdef-team-a";
    writeFileSync(join(folder, "tokens"), `write ${token} team-a\nwrite 0123456789abcdef-own\n`);
    chmodSync(join(folder, "tokens"), 0o600);
    const { url, said } = await serve(["--tokens", "tokens", "--anthropic", upstream.url]);
    expect(said()).not.toContain("chmod");
    const content = Array.from({ length: 9000 }, (_, at) => `row ${at + 1} of a table\n`).join("");
    const shown = async (as: string, more = {}) => {
      const messages = [
        { role: "user", content: `go ${JSON.stringify(more)}` },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: { command: "seq" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content }] },
      ];
      const body = { tools: [{ name: "bash" }], messages };
      const headers = { "content-type": "application/json", "x-spillway-token": as, ...more };
      await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) });
      return JSON.stringify(upstream.bodies.at(-1)?.messages);
    };
    for (const as of [token, "0123456789abcdef-own"]) {
      const [, words = ""] = /spillway (recall .*?) --lines FROM-TO/.exec(await shown(as)) ?? [];
      const args = [CLI, ...words.split(" "), "--lines", "5000-5001"];
      const { SPILLWAY_DIR: _dir, ...bare } = env();
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env: bare, encoding: "utf8" });
      expect([words, stderr, stdout]).toEqual([words, "", expect.stringContaining("row 5000 of a table\n")]);
    }
    // On another machine that command would find nothing.
    for (const more of [{ "x-forwarded-for": "10.1.2.3" }, { forwarded: "for=10.1.2.3" }]) {
      expect(await shown(token, more)).toMatch(/artifact [a-z2-7]{12}, which the operator can/);
    }
  });

  it.each([
    [["--host", "0.0.0.0"], "so a token is needed"],
    [["--openai", "api.example.com"], "the upstream of openai must be an address"],
    [["--allow-upstream", "http://u:p@x"], "an allowed upstream must be an address"],
    [["--tokens", "bad"], 'bad:2: expected "ROLE TOKEN"'],
    [["--tokens", "nowhere"], "--tokens nowhere cannot be read: no such file\n"],
    [["--port", "70000"], "--port takes a number from 0 to 65535"],
  ])("%j is a mistake", (args, message) => {
    writeFileSync(join(folder, "bad"), "\nsomething secret here\n");
    const { status, stderr } = spawnSync(process.execPath, [CLI, "serve", ...args], {
      cwd: folder,
      env: env(),
      encoding: "utf8",
      timeout: 240_000,
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain("secret");
  });
});

it("spillway demo plays all of it offline, the same each time, keeps nothing and ends", () => {
  const play = () =>
    spawnSync(process.execPath, [CLI, "demo"], { cwd: folder, env: env(), encoding: "utf8", timeout: 240_000 });
  const { status, stdout, stderr } = play();
  const withoutTimes = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "");
  expect(withoutTimes(play().stdout)).toBe(withoutTimes(stdout));
  expect([status, stderr]).toEqual([0, ""]);
  for (const kind of [
    "output-clamped",
    "request-pruned",
    "overflow-detected",
    "overflow-recovered",
    "artifact-recalled",
  ]) {
    expect(stdout).toContain(kind);
  }
  expect(stdout).toMatch(/request-pruned .* 1 result was over the limits, and clamped/);
  expect(stdout).toMatch(/ of 2\.4 MiB became .*; \d{3},\d{3} tokens were saved/);
  expect(stdout).toContain("the model says: src/parser.ts:88");
  expect(stdout).toMatch(
    /The agent sent 10 requests, and 12 reached the provider, whose .*:\n1 refused for size .* and 1 more after a recall/,
  );
  expect(stdout.match(/^the agent sent/gm)).toHaveLength(10);
});
