import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres } from "./postgres.ts";
import { findS3 } from "./s3.ts";

// Two teams share one store and one gateway, with a token each. Neither may learn anything of the other. What is asked is read
// from the OpenAPI document, so that a route that is added is asked too.
const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-isolation-"));
const [postgres, s3] = await Promise.all([startPostgres(), findS3()]);
afterAll(async () => {
  if (typeof postgres !== "string") await postgres.end();
  rmSync(folder, { recursive: true, force: true });
});

const TOKENS = { alpha: "alpha-token-0123456789", beta: "beta-token-01234567890", own: "own-token-012345678901" };
type Team = keyof typeof TOKENS;
/** No artifact has this id. */
const NO_ID = "a2a2a2a2a2a2";
const longOutput = (word: string) =>
  Array.from({ length: 6000 }, (_, at) => `row ${at + 1} of ${word}-rows\n`).join("");

/** A model that says what it is told to say next, and keeps what it was asked. */
async function startProvider() {
  const bodies: string[] = [];
  const next: object[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks).toString());
    const { status = 200, ...answer } = { content: [], usage: { input_tokens: 1, output_tokens: 1 }, ...next.shift() };
    response.writeHead(status as number, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, next, server };
}

const PLACES = [
  { name: "a folder", missing: null, env: async () => ({}) },
  {
    name: "a ledger in PostgreSQL",
    missing: typeof postgres === "string" ? postgres : null,
    env: async () => (typeof postgres === "string" ? {} : { SPILLWAY_LEDGER: await postgres.fresh() }),
  },
  {
    name: "PostgreSQL and a bucket",
    missing: [postgres, s3].find((each) => typeof each === "string") ?? null,
    env: async () =>
      typeof postgres === "string" || typeof s3 === "string"
        ? {}
        : { SPILLWAY_LEDGER: await postgres.fresh(), SPILLWAY_STORE: s3.fresh(), ...s3.env },
  },
];
for (const { name, missing } of PLACES)
  if (missing !== null) process.stderr.write(`not run: isolation in ${name}: ${missing}\n`);

for (const { name, missing, env: placeEnv } of PLACES) {
  describe.skipIf(missing !== null)(`two scopes in ${name}`, () => {
    const running: ChildProcess[] = [];
    let env: Record<string, string | undefined> = {};
    let url = "";
    let provider: Awaited<ReturnType<typeof startProvider>>;
    /** What each team has: an artifact and a session that only it has, and its id of the output that both have. */
    const mine: Record<string, { id: string; session: string; shared: string; word: string }> = {};

    beforeAll(async () => {
      provider = await startProvider();
      const dir = mkdtempSync(join(folder, "place-"));
      env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(dir, "data"), ...(await placeEnv()) };
      const file = join(dir, "tokens");
      writeFileSync(
        file,
        `admin ${TOKENS.alpha} alpha agents-of-alpha\nadmin ${TOKENS.beta} beta\nadmin ${TOKENS.own}\n`,
      );
      const words = ["serve", "--port", "0", "--tokens", file, "--add-recall-tool", "--anthropic", provider.url];
      const child = spawn(process.execPath, [CLI, ...words], { cwd: dir, env });
      running.push(child);
      let said = "";
      child.stderr.on("data", (chunk) => (said += chunk));
      url = await new Promise<string>((resolve, reject) => {
        child.stdout.on("data", (chunk) => {
          said += chunk;
          const [, found] = /listens at (\S+)\. /.exec(said) ?? [];
          if (found) resolve(found);
        });
        child.once("exit", () => reject(new Error(said)));
      });
      for (const team of ["alpha", "beta"] as const) {
        const word = `${team}-only`;
        await converse(team, word, longOutput(word));
        await converse(team, "shared", longOutput("shared"));
        const [shared, own, ...more] = (await asked(team, "/api/artifacts")).json.items;
        if (own === undefined || more.length > 0) throw new Error("each team should have saved two outputs");
        mine[team] = { id: own.id, session: own.session, shared: shared.id, word };
      }
    });
    afterAll(() => {
      for (const child of running.splice(0)) child.kill("SIGKILL");
      provider?.server.close();
    });

    /** Asks the gateway as an agent of a team does whose tool gave an output. */
    async function converse(team: Team, about: string, output: string, tools: object[] = []): Promise<number> {
      const call = { type: "tool_use", id: "call_1", name: "run_command", input: { command: "make" } };
      const answer = await fetch(`${url}/v1/messages`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": "k",
          "x-spillway-token": TOKENS[team],
          // Both teams have a session of this name.
          ...(about === "shared" && { "x-spillway-session": about }),
        },
        body: JSON.stringify({
          model: "claude-sonnet-4-5",
          max_tokens: 100,
          ...(tools.length > 0 && { tools }),
          messages: [
            { role: "user", content: `look into ${about}` },
            { role: "assistant", content: [call] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: output }] },
          ],
        }),
      });
      await answer.arrayBuffer();
      return answer.status;
    }

    /** Asks the API. Of an answer that goes on, the beginning is read. */
    async function asked(team: Team | null, path: string, init: RequestInit = {}) {
      const headers = {
        ...(team !== null && { authorization: `Bearer ${TOKENS[team]}` }),
        ...(init.body !== undefined && { "content-type": "application/json" }),
      };
      const response = await fetch(url + path, { ...init, headers });
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (path.includes("/live")) break;
      }
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
    }

    const of = (team: string) => mine[team] as NonNullable<(typeof mine)[string]>;
    const bodyOf = (path: string, id: string): object | undefined => {
      if (path.endsWith("/pin")) return { pinned: true };
      return path.endsWith("/try") ? { artifact: id } : undefined;
    };

    /** Every route of the document, with its names filled in. */
    async function routes(named: { id: string; session: string }) {
      const { paths } = (await asked("beta", "/api/openapi.json")).json as { paths: Record<string, object> };
      return Object.entries(paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => {
          const filled = path
            .replace("{id}", named.id)
            .replace("{session}", encodeURIComponent(named.session))
            .replace("{tool}", "bash")
            .replace("{file}", "none.js");
          const query = path.endsWith("/search") ? "?pattern=rows" : "";
          const body = bodyOf(path, named.id);
          return {
            name: `${method.toUpperCase()} ${path}`,
            isNamed: /\{(id|session)\}|\/try$/.test(path),
            path: filled + query,
            init: { method: method.toUpperCase(), ...(body !== undefined && { body: JSON.stringify(body) }) },
          };
        }),
      );
    }

    it("have different artifacts for the same bytes", async () => {
      expect(of("alpha").shared).not.toBe(of("beta").shared);
      expect(of("alpha").id).not.toBe(of("beta").id);
      for (const team of ["alpha", "beta"] as const) {
        const found = (await asked(team, `/api/artifacts/${of(team).shared}/content`)).text;
        expect(found).toBe(longOutput("shared"));
      }
    });

    it("are answered by every route as if the other had nothing", async () => {
      const other = of("alpha");
      const never = { id: NO_ID, session: "never-was" };
      const table = await routes(other);
      expect(table.length).toBeGreaterThan(20);
      expect(table.filter(({ isNamed }) => isNamed).length).toBeGreaterThan(7);
      const withoutIt = await routes(never);
      for (const [at, route] of table.entries()) {
        const about = await asked("beta", route.path, route.init);
        // An answer may repeat the id that it was asked for.
        const repeated = route.isNamed ? about.text.replaceAll(other.id, "") : about.text;
        for (const trace of [other.word, other.id, other.shared, other.session]) {
          expect([route.name, repeated]).toEqual([route.name, expect.not.stringContaining(trace)]);
        }
        if (!route.isNamed) continue;
        // Word for word what is said of one that never was.
        const none = withoutIt[at] as (typeof table)[number];
        const said = await asked("beta", none.path, none.init);
        expect([route.name, about.status]).toEqual([route.name, 404]);
        expect([route.name, about.status, about.text.replaceAll(other.id, NO_ID)]).toEqual([
          route.name,
          said.status,
          said.text,
        ]);
      }
      // Nothing was removed or pinned.
      expect((await asked("alpha", `/api/artifacts/${other.id}`)).status).toBe(200);
      const session = await asked("alpha", `/api/sessions/${encodeURIComponent(other.session)}`);
      expect(session.json).toMatchObject({ session: other.session, pinned: false });
    });

    it("see their own by the same routes", async () => {
      for (const route of await routes(of("beta"))) {
        if (route.init.method === "DELETE" || route.path.includes("/assets/")) continue;
        expect([route.name, (await asked("beta", route.path, route.init)).status]).toEqual([route.name, 200]);
      }
    });

    it("do not count for each other, nor for the server's own scope", async () => {
      const outputs = async (team: Team) =>
        [...(await asked(team, "/metrics")).text.matchAll(/^spillway_outputs_total.* (\d+)$/gm)].reduce(
          (sum, [, count]) => sum + Number(count),
          0,
        );
      expect(await outputs("alpha")).toBe(2);
      expect(await outputs("beta")).toBe(2);
      expect(await outputs("own")).toBe(0);
      for (const team of ["alpha", "beta"] as const) {
        const session = (await asked(team, "/api/sessions/shared")).json;
        expect([team, session]).toMatchObject([team, { calls: 1, requests: 1 }]);
        // What waits for its upload is that of all scopes.
        expect((await asked(team, "/metrics")).text).not.toContain("spillway_spool");
      }
      for (const path of ["/api/artifacts", "/api/sessions", "/api/events", "/api/receipts"]) {
        expect([path, (await asked("own", path)).json]).toEqual([path, { items: [], next: null }]);
      }
      const { rows } = (await asked("own", "/api/stats?by=all")).json;
      expect(rows).toMatchObject([{ calls: 0, requests: 0 }]);
    });

    it("hear nothing of each other while they follow events", async () => {
      const headers = { authorization: `Bearer ${TOKENS.beta}` };
      const following = await fetch(`${url}/api/events/live`, { headers });
      expect(following.status).toBe(200);
      let heard = "";
      for await (const chunk of following.body ?? []) {
        // With its first words it follows. The other's conversation comes first, and then one of its own.
        if (heard === "")
          for (const team of ["alpha", "beta"] as const) await converse(team, "a secret", "nothing long");
        heard += Buffer.from(chunk).toString();
        if (/^event:.*\ndata:.*\n\n/m.test(heard)) break;
      }
      const ids = [...heard.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      const { items } = (await asked("beta", "/api/events")).json;
      const own = new Set(items.map((event: { id: number }) => event.id));
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.filter((id) => !own.has(id))).toEqual([]);
    });

    it("cannot recall or search the other's through the gateway", async () => {
      const tool = { name: "run_command", input_schema: { type: "object", properties: {} } };
      /** What the gateway tells the model that asked for an artifact. */
      const told = async (team: Team, name: string, input: object) => {
        provider.next.push({ stop_reason: "tool_use", content: [{ type: "tool_use", id: "toolu_own", name, input }] });
        const before = provider.bodies.length;
        expect(await converse(team, `${name} ${JSON.stringify(input)}`, "short", [tool])).toBe(200);
        expect(provider.bodies.length).toBe(before + 2);
        const { messages } = JSON.parse(provider.bodies.at(-1) ?? "");
        return JSON.stringify(messages.at(-1));
      };
      const names = (JSON.parse((await lastBodyWithTools()) ?? "{}").tools as { name: string }[]).map(
        (each) => each.name,
      );
      const [recall = "", search = ""] = ["recall", "search"].map((each) => names.find((own) => own.endsWith(each)));
      const { id, word } = of("alpha");
      expect(await told("alpha", recall, { id })).toContain(`${word}-rows`);
      const [{ more }] = (await asked("alpha", "/api/events?kind=artifact-recalled&max=1")).json.items;
      expect([more.reads, more.readBy]).toEqual(["model", "agents-of-alpha"]);
      for (const [name, more] of [
        [recall, {}],
        [search, { pattern: "row" }],
      ] as const) {
        const said = await told("beta", name, { id, ...more });
        expect(said).not.toContain(word);
        expect(said.replaceAll(id, NO_ID)).toBe(await told("beta", name, { id: NO_ID, ...more }));
      }

      async function lastBodyWithTools() {
        await converse("alpha", "tools", "short", [tool]);
        return provider.bodies.at(-1);
      }
    });

    it("are not told from the gateway's memory what a provider refused the other", async () => {
      const refusal = {
        status: 400,
        type: "error",
        error: { type: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum" },
      };
      const ask = async (team: Team) => {
        const before = provider.bodies.length;
        provider.next.push(...Array.from({ length: 12 }, () => refusal));
        await converse(team, "too much", "short");
        provider.next.splice(0);
        return provider.bodies.length - before;
      };
      const first = await ask("alpha");
      expect(first).toBeGreaterThan(0);
      expect(await ask("beta")).toBe(first);
    });

    it("have tokens that open nothing else, and nobody comes in without one", async () => {
      for (const path of ["/api/artifacts", "/metrics", "/api/openapi.json"]) {
        expect((await asked(null, path)).status).toBe(401);
      }
      // The gateway's header opens the API too, and the same scope of it.
      const response = await fetch(`${url}/api/artifacts`, { headers: { "x-spillway-token": TOKENS.alpha } });
      const text = await response.text();
      expect(text).toContain(of("alpha").id);
      expect(text).not.toContain(of("beta").id);
      const mixed = await fetch(`${url}/api/artifacts`, {
        headers: { "x-spillway-token": TOKENS.alpha, authorization: `Bearer ${TOKENS.beta}` },
      });
      expect(await mixed.text()).not.toContain(of("alpha").id);
    });

    it("cannot recall or search the other's through MCP", async () => {
      const { id, word } = of("alpha");
      const say = await startMcp("beta");
      const other = await startMcp("alpha");
      expect(await other("recall", { id })).toContain(`${word}-rows`);
      for (const [name, more] of [
        ["recall", {}],
        ["search", { pattern: "row" }],
      ] as const) {
        const said = await say(name, { id, ...more });
        expect(said).not.toContain(word);
        expect(said.replaceAll(id, NO_ID)).toBe(await say(name, { id: NO_ID, ...more }));
      }
      expect(await say(null, { uri: `spillway://artifact/${id}` })).not.toContain(`${word}-rows`);
    });

    it("are apart at the command line too, by --scope and by SPILLWAY_SCOPE", () => {
      const { id, word } = of("alpha");
      const run = (words: string[], more = {}) =>
        spawnSync(process.execPath, [CLI, ...words], { cwd: folder, env: { ...env, ...more }, encoding: "utf8" });
      expect(run(["recall", id, "--scope", "alpha", "--raw"]).stdout).toBe(longOutput(word));
      expect(run(["recall", id, "--raw"], { SPILLWAY_SCOPE: "alpha" }).stdout).toBe(longOutput(word));
      // Word for word what is said of one that never was.
      const said = (words: string[], more = {}) => {
        const { status, stdout, stderr } = run(words, more);
        const text = (stdout + stderr).replaceAll(id, NO_ID);
        return { status, text: text.replaceAll(id.slice(0, 8), NO_ID.slice(0, 8)) };
      };
      const asks = (of: string) => [
        ["recall", of],
        ["recall", of.slice(0, 8)],
        ["show", of],
        ["explain", of],
        ["diff", of],
        ["search", of, "row"],
        ["rm", of],
      ];
      for (const [at, words] of asks(id).entries()) {
        const none = asks(NO_ID)[at] ?? [];
        expect([words, said([...words, "--scope", "beta"])]).toEqual([words, said([...none, "--scope", "beta"])]);
        expect([words, said(words)]).toEqual([words, said(none)]);
      }
      for (const words of [["ls"], ["events"], ["stats"], ["stats", "--by", "session"], ["export"]]) {
        const { status, stdout } = run([...words, "--scope", "beta"]);
        expect([words, status]).toEqual([words, 0]);
        for (const trace of [word, id, of("alpha").session]) expect(stdout).not.toContain(trace);
      }
      expect(run(["ls", "--scope", ""]).stderr).toMatch(/--scope takes a name/);
      // A session of the other that has the same name stays whole.
      const ofSession = () => run(["events", "--session", "shared", "--json", "--scope", "alpha"]).stdout;
      const before = ofSession();
      expect(before).toContain(of("alpha").shared);
      expect(run(["rm", "--session", "shared", "--scope", "beta"]).status).toBe(0);
      expect(ofSession()).toBe(before);
      expect(run(["recall", of("alpha").shared, "--scope", "alpha", "--raw"]).stdout).toBe(longOutput("shared"));
      expect(run(["recall", of("beta").shared, "--scope", "beta", "--raw"]).status).not.toBe(0);
      expect(run(["stats", "--session", "shared", "--scope", "alpha"]).stdout).toMatch(/\b1\b/);
    });

    /** The proxy before a server that has nothing, with the scope of a team. */
    async function startMcp(scope: string) {
      const server = `process.stdin.on("data", (chunk) => { for (const line of String(chunk).split("\\n")) { if (!line) continue;
        const { id, method } = JSON.parse(line); if (id === undefined) continue;
        const result = method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: { tools: {} },
          serverInfo: { name: "none", version: "1" } } : method === "tools/list" ? { tools: [] } : {};
        process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n"); } });`;
      const words = ["mcp", "--scope", scope, "--resources", "--", process.execPath, "-e", server];
      const child = spawn(process.execPath, [CLI, ...words], { cwd: folder, env });
      running.push(child);
      const waiting = new Map<number, (answer: string) => void>();
      createInterface({ input: child.stdout }).on("line", (line) => {
        waiting.get(JSON.parse(line).id)?.(JSON.stringify(JSON.parse(line).result ?? JSON.parse(line).error));
      });
      let last = 0;
      const send = (method: string, params: object) =>
        new Promise<string>((resolve) => {
          last += 1;
          waiting.set(last, resolve);
          child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
        });
      const client = { name: "t", version: "1" };
      await send("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      await send("tools/list", {});
      return (name: string | null, args: object) =>
        name === null ? send("resources/read", args) : send("tools/call", { name, arguments: args });
    }
  });
}
