import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordedEvent } from "../../../contract/event.ts";
import type { StatRow } from "../../../contract/ledger.ts";
import { createSpillway } from "../../../index.ts";
import type { FakeReply, FakeRequest } from "../../../testing/fake-provider/fake-provider.ts";
import { counted, grouped } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { tell } from "../tell.ts";
import { VERSION } from "../version.ts";
import { writeOut } from "../write-out.ts";
import { describeEvent } from "./events.ts";
import { readPort, untilStopped } from "./serve.ts";

/** What the model's window is, and what we take it for: that is how overflows come about. */
const WINDOW_TOKENS = 20_000;
const BELIEVED_TOKENS = 64_000;

/** `spillway demo`: a scripted agent and a provider of our own, with the gateway between them. */
export function addDemoCommand(program: Command): void {
  program
    .command("demo")
    .description(
      "play a scripted agent through the gateway against a provider of its own, offline, and say what happened",
    )
    .option("--port <n>", "the port of the gateway; 0 takes a free one", readPort, 0)
    .option(
      "--serve",
      "go on serving afterwards, so that the dashboard shows it and the API answers, until a signal ends it",
    )
    .notes(`
Nothing of it is kept, and no key is needed.

Example:
  spillway demo --serve --port 8787`)
    .action(demo);
}

async function demo({ port, serve }: { port: number; serve?: boolean }): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "spillway-demo-"));
  const [{ openLocal }, { SECRET_BYTES }, { startFakeProvider }, { startServe }] = await Promise.all([
    import("../../../storage/local/open-local.ts"),
    import("../../../storage/local/artifact-key.ts"),
    import("../../../testing/fake-provider/start-fake-provider.ts"),
    import("../../serve/start-serve.ts"),
  ]);
  // With a random secret the ids differ from run to run, and so do all tokens that are counted of them.
  const place = await openLocal(dir, { firstSecret: new Uint8Array(SECRET_BYTES) });
  const provider = await startFakeProvider({
    speaks: "anthropic",
    window: WINDOW_TOKENS,
    countTokens: (text) => Math.ceil(text.length / 3.5),
    script: (request) => STEPS[doneIn(request)]?.does(request) ?? "Done.",
  });
  try {
    const policy = { contextTokens: BELIEVED_TOKENS };
    const spillway = await createSpillway({ store: place.store, ledger: place.ledger, policy, env: {} });
    const upstreams = { anthropic: provider.url, openai: provider.url, gemini: provider.url };
    const server = await startServe({
      spillway,
      policy,
      version: VERSION,
      host: "127.0.0.1",
      port,
      tokens: [],
      hostNames: [],
      gateway: { upstreams, allowed: [], exchange: { addRecallTool: true } },
      warn: tell,
    });
    try {
      await play(server.url, provider.requests);
      if (!serve) return;
      await writeOut(`\n${invitation(server.url)}`);
      await untilStopped(server.stop);
    } finally {
      await server.stop({ now: true });
    }
  } finally {
    await provider.stop();
    await place.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Where to look. The provider behind this gateway is a script, so nobody is told to point an agent at it. */
function invitation(url: string): string {
  return `Look at it in a browser: ${url}/ (until Ctrl-C). Programs ask ${url}/api/sessions, /api/events and /metrics.
Its model is a script: do not point an agent at it. "spillway serve" starts the real gateway.
`;
}

interface Block {
  type: string;
  id?: string;
  name?: string;
  input?: { command?: string; path?: string };
  text?: string;
}

/** The agent: asks the model through the gateway, runs what it calls, and asks again. It knows nothing of Spillway. */
async function play(url: string, requests: readonly FakeRequest[]): Promise<void> {
  const messages: object[] = [{ role: "user", content: "Why does the build fail?" }];
  const tools = ["bash", "read_file"].map((name) => ({ name, input_schema: { type: "object" } }));
  let afterId = 0;
  let sent = 0;
  for (;;) {
    const asked = JSON.stringify({ model: "demo", max_tokens: 1000, tools, messages });
    sent += 1;
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-spillway-session": "demo" },
      body: asked,
    });
    const { content = [] } = (await response.json()) as { content?: Block[] };
    const events = await readJson<{ items: RecordedEvent[] }>(
      `${url}/api/events?order=oldest&cursor=${afterId}&max=1000`,
    );
    afterId = events.items.at(-1)?.id ?? afterId;
    const got = requests.at(-1)?.bytes ?? 0;
    const why = got > asked.length ? ": the gateway adds the tools with which the model reads back what was cut" : "";
    await writeOut(`the agent sent ${sizeText(asked.length)}, the provider got ${sizeText(got)}${why}\n`);
    for (const event of events.items) if (TOLD.has(event.kind)) await writeOut(`    ${describeEvent(event)}`);
    messages.push({ role: "assistant", content });
    const called = content.filter(({ type }) => type === "tool_use");
    for (const { text } of content) if (text) await writeOut(`the model says: ${text}\n`);
    if (called.length === 0) break;
    const results = called.map(({ id, name = "", input = {} }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: outputOf(name, input),
    }));
    for (const [at, { name, input }] of called.entries()) {
      const size = sizeText(results[at]?.content.length ?? 0);
      await writeOut(`the model calls ${name} ${JSON.stringify(input)}, which prints ${size}\n`);
    }
    messages.push({ role: "user", content: results });
  }
  const { rows } = await readJson<{ rows: (StatRow & { tokensSaved: number })[] }>(`${url}/api/stats?by=all`);
  const [all] = rows;
  const refused = requests.filter((request) => request.refused !== null).length;
  await writeOut(`
The agent sent ${counted(sent, "request")}, and ${requests.length} reached the provider, whose window has ${grouped(WINDOW_TOKENS)} tokens:
${refused} refused for size and sent again, all recovered, and ${requests.length - sent - refused} more after a recall, which the gateway answers itself.
${counted(all?.calls ?? 0, "output")} of ${sizeText(all?.bytesIn ?? 0)} became ${sizeText(all?.bytesShown ?? 0)}; ${grouped(all?.tokensSaved ?? 0)} tokens were saved.
`);
}

async function readJson<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>;
}

const TOLD = new Set(
  "output-clamped request-pruned overflow-detected overflow-recovered overflow-failed artifact-recalled".split(" "),
);

const FILES = ["parser", "lexer", "printer", "types", "config", "check", "emit"].map((name) => `src/${name}.ts`);

/** What the model does, in order. */
const STEPS: readonly { does(request: FakeRequest): FakeReply }[] = [
  { does: () => calls("bash", { command: "npm run build" }) },
  { does: (request) => calls(recallIn(request), { id: markedIn(request), around: "TS2345" }) },
  ...FILES.map((path) => ({ does: () => calls("read_file", { path }) })),
  { does: () => calls("bash", { command: "npm test" }) },
  { does: () => ({ text: "src/parser.ts:88 hands a string to accept(), which takes a Token." }) },
];

function calls(tool: string, input: Record<string, unknown>): FakeReply {
  return { calls: [{ tool, input }] };
}

/** How many steps a request has behind it. */
function doneIn({ body }: FakeRequest): number {
  return JSON.stringify(body?.["messages"]).split('"type":"tool_use"').length - 1;
}

/** The name of our tool: the agent does not have it, the gateway offers it. */
function recallIn({ body }: FakeRequest): string {
  return /"name":"(\w*recall)"/.exec(JSON.stringify(body?.["tools"]))?.[1] ?? "recall";
}

/** The artifact that the first marker names. */
function markedIn({ body }: FakeRequest): string {
  return /recall\(\{[\\"]+id[\\":]+([a-z2-7]{12})/.exec(JSON.stringify(body))?.[1] ?? "";
}

/** What the agent's tools print. */
function outputOf(tool: string, { command, path }: { command?: string; path?: string }): string {
  if (tool === "read_file")
    return numbered(
      150,
      (at) => `export const rule${at} = accept("${path}", ${at}, { strict: true, depth: ${at % 7} });`,
    );
  if (command === "npm test")
    return numbered(9000, (at) => `ok ${at} - parses sample ${at} within ${(at * 37) % 90} ms`);
  return numbered(30_000, (at) =>
    at === 17_204
      ? "src/parser.ts(88,14): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Token'."
      : `[build] compiled module ${at} of 30000 from src/generated/m${(at * 7919) % 30_000}.ts`,
  );
}

function numbered(count: number, line: (at: number) => string): string {
  return `${Array.from({ length: count }, (_, at) => line(at + 1)).join("\n")}\n`;
}
