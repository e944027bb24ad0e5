import type { Command } from "commander";
import { SpillwayError } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "../open-place.ts";
import { addPolicyFlags, type PolicyFlags, policyFromFlags } from "../policy-flags.ts";
import { tell } from "../tell.ts";

interface McpFlags extends PolicyFlags, PlaceFlags {
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
    .option("--session <name>", "the session that the outputs belong to (default: a new one)")
    .option("--no-redact", "save secrets as they are")
    .addHelpText(
      "after",
      `
In the client's configuration put "spillway mcp --" before the server's command. Everything passes as it is but the
tools' results, which are brought under their limits; two tools are added, recall and search, that read the rest.

Examples:
  spillway mcp -- npx -y @modelcontextprotocol/server-filesystem .
  spillway mcp --max-chars 10000 -- python -m my_server`,
    )
    .action(runProxy);
}

async function runProxy(words: string[], flags: McpFlags): Promise<void> {
  if (words.length === 0) {
    throw new SpillwayError("bad-input", "say which server to run: spillway mcp -- npx some-server");
  }
  const policy = await policyFromFlags(flags);
  const { proxyStdio } = await import("../../mcp/proxy-stdio.ts");
  const { startChildServer } = await import("../../mcp/child-server.ts");
  const place = await openPlace(flags);
  try {
    const { store, ledger } = place;
    const redact = flags.redact ? {} : { redact: "off" as const };
    const spillway = await createSpillway({ store, ledger, policy, env: {}, ...redact });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.stdin.destroy());
    await proxyStdio(
      { spillway, session: flags.session, upstream: (handlers) => startChildServer(words, handlers), warn: tell },
      { input: process.stdin, output: process.stdout },
    );
  } finally {
    await place.close();
  }
}
