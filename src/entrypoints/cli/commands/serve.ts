import { readFile, stat } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { Readable } from "node:stream";
import { InvalidArgumentError } from "commander";
import type { Reader } from "../../../admit/reader.ts";
import { badInput, messageOf, whyUnreadable } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { ROLES, type Role, type Token } from "../../serve/callers.ts";
import { PUBLIC_UPSTREAMS } from "../../serve/upstreams.ts";
import type { Command } from "../command.ts";
import { addPolicyFlags, configFromFlags, type PolicyFlags } from "../flags.ts";
import {
  addPlaceFlag,
  LOCAL_SCOPE,
  type PlaceFlags,
  type ServedPlace,
  servePlace,
  shellReader,
} from "../open-place.ts";
import { FAULTS, tell } from "../tell.ts";
import { VERSION } from "../version.ts";
import { writeOut } from "../write-out.ts";

interface ServeFlags extends PolicyFlags, PlaceFlags {
  host: string;
  port: number;
  tokens?: string;
  hostName: string[];
  anthropic?: string;
  openai?: string;
  gemini?: string;
  allowUpstream?: string[];
  addRecallTool?: boolean;
  redact: boolean;
}

/** `spillway serve`: the gateway and the API. */
export function addServeCommand(program: Command): void {
  const command = program
    .command("serve")
    .description("stand between agents and model providers, and serve what happened and the saved outputs over HTTP")
    .option("--port <n>", "the port; 0 takes a free one", readPort, 8787)
    .option("--host <address>", "the address to listen at; another one than this machine's needs a token", "127.0.0.1")
    .option(
      "--tokens <file>",
      "a file of tokens, each on a line after its role (read, write or admin), then its scope and its name if it has them",
    )
    .option("--host-name <name...>", "names by which this server is reached, besides addresses and localhost", [])
    .option("--anthropic <address>", `where Anthropic's API is (default ${PUBLIC_UPSTREAMS.anthropic})`)
    .option("--openai <address>", `where OpenAI's API is, or one like it (default ${PUBLIC_UPSTREAMS.openai})`)
    .option("--gemini <address>", `where Gemini's API is (default ${PUBLIC_UPSTREAMS.gemini})`)
    .option("--allow-upstream <address...>", "addresses that a request may name in x-spillway-upstream")
    .option("--add-recall-tool", "add recall and search to requests that offer tools, and answer them here")
    .option("--no-redact", "save secrets as they are");
  addPlaceFlag(addPolicyFlags(command))
    .notes(`
Requests go on to the provider with the agent's own key, which is not kept. Results of tools that are over their limits are
cut and saved, old ones are shown shorter when the window fills, and a request that is refused for its size is made smaller
and sent again. Everything else passes as it came.

The variable SPILLWAY_TOKEN is a token of the role admin. Without any token, everybody who can reach the port may ask
for everything, so the server then listens on this machine's own address only. Agents send a token as x-spillway-token; the API
and /metrics take it in that header too, or as Authorization: Bearer.

A line of the file of tokens is "ROLE TOKEN", "ROLE TOKEN SCOPE" or "ROLE TOKEN SCOPE NAME". A token reaches the
artifacts, events and sessions of its scope and of no other. If a saved output is read with a token, the event has the token's
name, and never the token.

Examples:
  spillway serve
  spillway serve --openai http://127.0.0.1:11434/v1
  SPILLWAY_TOKEN=$(openssl rand -hex 24) spillway serve --host 0.0.0.0`)
    .action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  const { options, upstreams: config } = await configFromFlags(flags, { strict: true });
  const { policy, dir: _dir, retention: _retention, ...userOptions } = options;
  const tokens = await readTokens(flags.tokens);
  const place = await servePlace(flags);
  try {
    const [{ startServe }, { gatherEvents }] = await Promise.all([
      import("../../serve/start-serve.ts"),
      import("../../serve/gather-events.ts"),
    ]);
    const { store, spool } = place;
    const open = (scope: string) => {
      const ledger = gatherEvents(place.ledgerOf(scope));
      const reader = agentReader(flags, place, scope);
      return createSpillway({ ...userOptions, scope, store, ledger, policy, env: {}, reader, logger: FAULTS });
    };
    const spillway = await open(place.scope);
    const otherScopes = new Set(tokens.flatMap(({ scope }) => scope ?? []));
    otherScopes.delete(place.scope);
    const others = await Promise.all([...otherScopes].map(open));
    const { host, port, hostName: hostNames, addRecallTool } = flags;
    const upstreams = {
      anthropic: flags.anthropic ?? config.anthropic ?? PUBLIC_UPSTREAMS.anthropic,
      openai: flags.openai ?? config.openai ?? PUBLIC_UPSTREAMS.openai,
      gemini: flags.gemini ?? config.gemini ?? PUBLIC_UPSTREAMS.gemini,
    };
    const allowed = flags.allowUpstream ?? config.allowed ?? [];
    const gateway = { upstreams, allowed, exchange: { addRecallTool } };
    const shared = { spillway, others, policy, version: VERSION, tokens, hostNames, gateway, spool };
    await warmUp();
    const server = await startServe({ ...shared, host, port, warn: tell });
    warnOfKeys(process.env);
    await writeOut(greeting(server.url, hostNames, tokens.length > 0));
    place.ledger.sessions({ max: 1 }).catch((error: unknown) => {
      tell(`requests pass, but nothing is recorded until this is mended: ${messageOf(error)}`);
    });
    await untilStopped(server.stop);
    for (const { ledger } of [spillway, ...others]) await ledger?.close();
  } finally {
    await place.close();
  }
}

/**
 * The shell of an agent has neither the flags nor the variables of this process. What can be named again is named; the
 * address of a bucket's ledger cannot, since it holds a password.
 */
function agentReader(flags: ServeFlags, place: ServedPlace, scope: string): Reader {
  const { SPILLWAY_DIR, SPILLWAY_STORE } = process.env;
  if (flags.store ?? SPILLWAY_STORE) return { by: "operator" };
  const named = definedOnly({
    dir: flags.dir ?? (SPILLWAY_DIR || undefined),
    scope: scope === LOCAL_SCOPE ? undefined : scope,
  });
  return shellReader({ ...flags, ...named }, place);
}

/** What to set for an agent. */
function greeting(listens: string, hostNames: readonly string[], needsToken: boolean): string {
  const url = listens.replace(/(?<=\/\/)(?:0\.0\.0\.0|\[::\])(?=:)/, () => hostNames[0] ?? ownAddress());
  const token = `Agents need a token, as the header x-spillway-token. For Claude Code:
  export ANTHROPIC_CUSTOM_HEADERS="x-spillway-token: TOKEN"
The API and /metrics take it in the same header, or as Authorization: Bearer TOKEN.
`;
  return `Spillway ${VERSION} listens at ${listens}. For your agent, set the one that it reads:
  export ANTHROPIC_BASE_URL=${url}
  export OPENAI_BASE_URL=${url}/v1
  export GOOGLE_GEMINI_BASE_URL=${url}
${needsToken ? token : ""}What happened: ${url}/ in a browser. All that can be asked: ${url}/api/openapi.json
`;
}

/** An address by which other machines reach this one. Its name would be refused unless --host-name says it. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? hostname();
}

/** Rounds after which the hot path is compiled. */
const WARM_ROUNDS = 20;

/**
 * Passes a conversation through a Spillway that keeps nothing. Otherwise the first requests of all would wait until code is
 * loaded and compiled, for some hundred milliseconds.
 */
async function warmUp(): Promise<void> {
  const spillway = await createSpillway({ store: null, ledger: null, env: {}, onEvent: () => {} });
  const headers = { get: (name: string) => (name === "content-type" ? "application/json" : null) };
  const answer = Buffer.from('{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":999,"output_tokens":1}}');
  const send = async () => ({ status: 200, headers, body: Readable.from([answer]) });
  const messages: object[] = [{ role: "user", content: "warm up" }];
  for (let at = 0; at < WARM_ROUNDS; at++) {
    const content = `row ${at} of a table that nobody reads\n`.repeat(at === 0 ? 5000 : 50);
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id: `t${at}`, name: "bash", input: { command: "ls" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content }] },
    );
    const body = Buffer.from(JSON.stringify({ model: "warm-up", messages }));
    await spillway.exchange({ method: "POST", url: "/v1/messages", headers, body }, send, { records: "all" });
  }
}

const KEYS = {
  Anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  OpenAI: ["OPENAI_API_KEY"],
  Gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

/** Agents send their own keys, which they mostly take from the same environment. */
function warnOfKeys(env: NodeJS.ProcessEnv): void {
  const missing = Object.entries(KEYS).filter(([, names]) => !names.some((name) => env[name]));
  if (missing.length === 0) return;
  const which = missing.map(([provider, [name]]) => `${provider} (${name})`).join(", ");
  tell(`no key is set here for ${which}: an agent that has none of its own is refused by the provider`);
}

/** Waits for a signal, then for the answers that have begun. A second signal ends them. */
export function untilStopped(stop: (how?: { now: boolean }) => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = () => {
      if (isStopping) return void stop({ now: true });
      isStopping = true;
      tell("stopping once the answers that have begun are done; a second signal ends them");
      stop().then(resolve, resolve);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}

async function readTokens(file: string | undefined): Promise<Token[]> {
  const own = process.env["SPILLWAY_TOKEN"];
  const tokens: Token[] = own ? [{ role: "admin", token: own, name: "SPILLWAY_TOKEN" }] : [];
  if (file === undefined) return tokens;
  const lines = (await readFile(file, "utf8").catch(failed(file))).split("\n");
  if (process.platform !== "win32" && ((await stat(file)).mode & 0o077) !== 0) {
    tell(`other users of this machine may read the tokens in ${file}: chmod 600 ${file}`);
  }
  for (const [at, line] of lines.entries()) {
    const words = line.trim();
    if (words === "" || words.startsWith("#")) continue;
    const [role = "", token, scope, name, ...more] = words.split(/\s+/);
    if (!isRole(role) || token === undefined || more.length > 0) {
      // What stands there is a secret, so that it is not repeated.
      const form = `expected "ROLE TOKEN", "ROLE TOKEN SCOPE" or "ROLE TOKEN SCOPE NAME", with one of ${ROLES.join(", ")}`;
      throw badInput(`${file}:${at + 1}: ${form}`);
    }
    tokens.push({ role, token, scope, name });
  }
  return tokens;
}

function failed(file: string): (error: unknown) => never {
  return (error) => {
    throw badInput(`--tokens ${file} cannot be read: ${whyUnreadable(error)}`);
  };
}

function isRole(word: string): word is Role {
  return (ROLES as readonly string[]).includes(word);
}

/** Reads a port. */
export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError(`--port takes a number from 0 to 65535; got "${text}"`);
}
