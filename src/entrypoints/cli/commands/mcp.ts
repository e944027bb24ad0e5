import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import { badInput, whyUnreadable } from "../../../errors.ts";
import { withoutUserInfo } from "../../../values.ts";
import { type ServerHandlers, UnableServer, type Upstream } from "../../mcp/upstream.ts";
import { readBytes } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addServeFlags, type ServeFlags, serveMcp } from "../serve-mcp.ts";
import { FaultWithCode } from "../tell.ts";

interface McpFlags extends ServeFlags {
  url?: string;
  header?: Record<string, string>;
  tokenEnv?: string;
  tokenFile?: string;
  forwardHeader?: string[];
  maxMediaBytes?: number;
  readBack: boolean;
  lookingFor: boolean;
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
      "a header to send to that server with each request, such as 'X-Team: tools'; for a token use the next two",
      readHeader,
    )
    .option(
      "--token-env <name>",
      "send the token in this environment variable to that server, as Authorization: Bearer",
    )
    .option("--token-file <path>", "send the token in this file, which is read again for each request")
    .option(
      "--forward-header <names>",
      "with --listen and --url: headers of the client's own requests that go on to the server, separated by commas",
      readNames,
    )
    .option(
      "--max-media-bytes <size>",
      "let images, sounds and files of one result pass up to this; those beyond it are saved and named (default: all pass)",
      readBytes,
    )
    .option("--no-read-back", "do not offer recall and search here: another server of this client does")
    .option("--no-looking-for", "do not add the optional argument looking_for to the server's tools")
    .notes(`
In the client's configuration put "spillway mcp --" before the server's command. Results of
tools are brought under their limits, and everything else passes as it is. Two tools are added, recall and search, which read
the rest. If the server ends, it is started again. If it cannot be run at all, the exit code is 127 (no such command) or 126.

Examples:
  spillway mcp -- npx -y @modelcontextprotocol/server-filesystem .
  spillway mcp --max-chars 10000 -- python -m my_server
  spillway mcp --url https://mcp.example.com/mcp --token-env MCP_TOKEN
  spillway mcp --listen 8808 -- npx -y @modelcontextprotocol/server-everything`)
    .action(runProxy);
}

async function runProxy(words: string[], flags: McpFlags): Promise<void> {
  const { maxMediaBytes, readBack, lookingFor, forwardHeader } = flags;
  if (forwardHeader !== undefined && (flags.listen === undefined || flags.url === undefined)) {
    throw badInput("--forward-header needs --listen and --url: only requests over HTTP have headers");
  }
  try {
    await serveMcp(flags, async () => ({
      start: await upstreamOf(words, flags),
      rules: { maxMediaBytes, readBack, lookingFor },
      forwardHeader,
    }));
  } catch (error) {
    throw error instanceof UnableServer ? new FaultWithCode(error, error.exitCode) : error;
  }
}

async function upstreamOf(words: string[], flags: McpFlags): Promise<(handlers: ServerHandlers) => Upstream> {
  const { url } = flags;
  if (words.length > 0 === (url !== undefined)) {
    const what = "spillway mcp -- npx some-server, or spillway mcp --url https://...";
    throw badInput(`say which one server to stand before: ${what}`);
  }
  if (url === undefined) {
    const { startChildServer } = await import("../../mcp/child-server.ts");
    return (handlers) => startChildServer(words, handlers);
  }
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    throw badInput(`--url takes an address that begins with http:// or https://; got "${withoutUserInfo(url)}"`);
  }
  const { startHttpServer } = await import("../../mcp/http-server.ts");
  const headers = headersOf(flags);
  await headers();
  return (handlers) => startHttpServer({ url: new URL(url), headers }, handlers);
}

/** The headers of each request. A token is read anew each time, since it may be renewed. */
function headersOf({ header = {}, tokenEnv, tokenFile }: McpFlags): () => Promise<Record<string, string>> {
  if (tokenEnv !== undefined && tokenFile !== undefined) {
    throw badInput("--token-env and --token-file exclude each other");
  }
  const bearer = (token: string | undefined, from: string) => {
    const said = token?.trim() ?? "";
    if (!/^[\x21-\x7e]+$/.test(said)) throw badInput(`there is no token in ${from}`);
    return { ...header, authorization: `Bearer ${said}` };
  };
  if (tokenEnv !== undefined) {
    return async () => bearer(process.env[tokenEnv], `the variable ${tokenEnv}, which --token-env names`);
  }
  if (tokenFile === undefined) return async () => header;
  return async () => {
    const text = await readFile(tokenFile, "utf8").catch((error: unknown) => {
      throw badInput(`--token-file ${tokenFile} cannot be read: ${whyUnreadable(error)}`);
    });
    return bearer(text, tokenFile);
  };
}

function readNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.some((name) => !/^[\w-]+$/.test(name))) {
    throw new InvalidArgumentError(`--forward-header takes names such as authorization,x-team; got "${text}"`);
  }
  return names;
}

function readHeader(line: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError("--header takes a name, a colon and a value, such as 'X-Team: tools'");
  return { ...before, [name]: value ?? "" };
}
