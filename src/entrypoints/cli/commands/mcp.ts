import { type Command, InvalidArgumentError } from "commander";
import { SpillwayError } from "../../../errors.ts";
import { type ServerHandlers, UnableServer, type Upstream } from "../../mcp/upstream.ts";
import { readBytes } from "../amounts.ts";
import { addServeFlags, type ServeFlags, serveMcp } from "../serve-mcp.ts";
import { FaultWithCode } from "../tell.ts";

interface McpFlags extends ServeFlags {
  url?: string;
  header?: Record<string, string>;
  maxMediaBytes?: number;
  readBack: boolean;
}

/** `spillway mcp`: a proxy before any MCP server. */
export function addMcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .description("stand before an MCP server: clamp what its tools return, keep the whole, and add recall and search")
    .argument("[command...]", "the server to run, after --")
    .passThroughOptions();
  addServeFlags(command)
    .option("--url <address>", "the server to reach over streamable HTTP, in place of a command")
    .option(
      "--header <line>",
      "a header to send to that server with each request, such as 'Authorization: Bearer x'",
      readHeader,
    )
    .option(
      "--max-media-bytes <size>",
      "let images, sounds and files of one result pass up to this; those beyond it are saved and named (default: all pass)",
      readBytes,
    )
    .option("--no-read-back", "do not offer recall and search here: another server of this client does")
    .addHelpText(
      "after",
      `
In the client's configuration put "spillway mcp --" before the server's command. Everything passes as it is but the
tools' results, which are brought under their limits; two tools are added, recall and search, that read the rest.
A server that ends is started again; one that cannot be run at all ends this with 127 (no such command) or 126.

Examples:
  spillway mcp -- npx -y @modelcontextprotocol/server-filesystem .
  spillway mcp --max-chars 10000 -- python -m my_server
  spillway mcp --url https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"
  spillway mcp --listen 8808 -- npx -y @modelcontextprotocol/server-everything`,
    )
    .action(runProxy);
}

async function runProxy(words: string[], flags: McpFlags): Promise<void> {
  const { maxMediaBytes, readBack } = flags;
  try {
    await serveMcp(flags, async () => ({ start: await upstreamOf(words, flags), rules: { maxMediaBytes, readBack } }));
  } catch (error) {
    throw error instanceof UnableServer ? new FaultWithCode(error, error.exitCode) : error;
  }
}

async function upstreamOf(
  words: string[],
  { url, header = {} }: McpFlags,
): Promise<(handlers: ServerHandlers) => Upstream> {
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

function readHeader(line: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
  if (name === undefined) throw new InvalidArgumentError("--header takes a name, a colon and a value.");
  return { ...before, [name]: value ?? "" };
}
