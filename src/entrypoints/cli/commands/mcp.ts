import { type Command, InvalidArgumentError } from "commander";
import { SpillwayError } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import type { ServerHandlers, Upstream } from "../../mcp/upstream.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "../open-place.ts";
import { addPolicyFlags, type PolicyFlags, policyFromFlags } from "../policy-flags.ts";
import { tell } from "../tell.ts";

interface McpFlags extends PolicyFlags, PlaceFlags {
  url?: string;
  header: Record<string, string>;
  listen?: { host: string; port: number };
  session?: string;
  redact: boolean;
}

/** `spillway mcp`: a proxy before any MCP server. */
export function addMcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .description("stand before an MCP server: clamp what its tools return, keep the whole, and add recall and search")
    .argument("[command...]", "the server to run, after --")
    .passThroughOptions();
  addPlaceFlag(addPolicyFlags(command))
    .option("--url <address>", "the server to reach over streamable HTTP, in place of a command")
    .option(
      "--header <line>",
      "sent to that server with each request, such as 'Authorization: Bearer x'",
      readHeader,
      {},
    )
    .option("--listen <port>", "serve clients over HTTP, on 127.0.0.1 unless a host is given (host:port)", readAddress)
    .option("--session <name>", "the session that the outputs belong to (default: a new one)")
    .option("--no-redact", "save secrets as they are")
    .addHelpText(
      "after",
      `
In the client's configuration put "spillway mcp --" before the server's command. Everything passes as it is but the
tools' results, which are brought under their limits; two tools are added, recall and search, that read the rest.

Examples:
  spillway mcp -- npx -y @modelcontextprotocol/server-filesystem .
  spillway mcp --max-chars 10000 -- python -m my_server
  spillway mcp --url https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"
  spillway mcp --listen 8808 -- npx -y @modelcontextprotocol/server-everything`,
    )
    .action(runProxy);
}

async function runProxy(words: string[], flags: McpFlags): Promise<void> {
  const policy = await policyFromFlags(flags);
  const upstream = await upstreamOf(words, flags);
  const place = await openPlace(flags);
  try {
    const { store, ledger } = place;
    const redact = flags.redact ? {} : { redact: "off" as const };
    const spillway = await createSpillway({ store, ledger, policy, env: {}, ...redact });
    const isStopped = new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    });
    if (flags.listen !== undefined) {
      const { startHttpFront } = await import("../../mcp/http-front.ts");
      const front = await startHttpFront({ spillway, ...flags.listen, upstream, warn: tell });
      tell(`MCP at ${front.url}`);
      await isStopped;
      return await front.stop();
    }
    const { proxyStdio } = await import("../../mcp/proxy-stdio.ts");
    void isStopped.then(() => process.stdin.destroy());
    const streams = { input: process.stdin, output: process.stdout };
    await proxyStdio({ spillway, session: flags.session, upstream, warn: tell }, streams);
  } finally {
    await place.close();
  }
}

async function upstreamOf(words: string[], { url, header }: McpFlags): Promise<(handlers: ServerHandlers) => Upstream> {
  if (words.length > 0 === (url !== undefined)) {
    const what = "spillway mcp -- npx some-server, or spillway mcp --url https://...";
    throw new SpillwayError("bad-input", `say which one server to stand before: ${what}`);
  }
  if (url === undefined) {
    const { startChildServer } = await import("../../mcp/child-server.ts");
    return (handlers) => startChildServer(words, handlers);
  }
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    throw new SpillwayError("bad-input", `--url takes an address that begins with http:// or https://; got "${url}"`);
  }
  const { loadHttpServer } = await import("../../mcp/http-server.ts");
  return loadHttpServer({ url: new URL(url), headers: header });
}

function readHeader(line: string, before: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
  if (name === undefined) throw new InvalidArgumentError("--header takes a name, a colon and a value.");
  return { ...before, [name]: value ?? "" };
}

function readAddress(text: string): { host: string; port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError("--listen takes a port, or a host and a port, such as 8808 or 0.0.0.0:8808.");
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}
