import { InvalidArgumentError } from "commander";
import { messageOf } from "../../errors.ts";
import { createSpillway } from "../../index.ts";
import type { Spillway } from "../../spillway.ts";
import type { FrontOptions } from "../mcp/http-front.ts";
import type { ProxyOptions } from "../mcp/proxy-stdio.ts";
import type { RelayRules } from "../mcp/relay.ts";
import type { ServerHandlers, Upstream } from "../mcp/upstream.ts";
import type { Command } from "./command.ts";
import { addPolicyFlags, optionsFromFlags, type PolicyFlags } from "./flags.ts";
import { addPlaceFlag, openPlace, type PlaceFlags } from "./open-place.ts";
import { tell } from "./tell.ts";
import { outputStream } from "./write-out.ts";

/** Flags of commands that serve MCP. */
export interface ServeFlags extends PolicyFlags, PlaceFlags {
  listen?: { host: string; port: number };
  session?: string;
  redact: boolean;
  resources?: boolean;
}

/** Adds them to a command. */
export function addServeFlags(command: Command): Command {
  return addPlaceFlag(addPolicyFlags(command))
    .option("--listen <port>", "serve clients over HTTP, on 127.0.0.1 unless a host is given (host:port)", readAddress)
    .option("--session <name>", "the session that the outputs belong to (default: a new one)")
    .option("--resources", "also list the session's saved outputs as resources")
    .option("--no-redact", "save secrets as they are");
}

/** The servers behind the proxy. */
export interface Servers {
  start(handlers: ServerHandlers): Upstream;
  rules?: RelayRules;
  /** Headers of a client's requests that go on to the server. */
  forwardHeader?: readonly string[] | undefined;
  /** Ends what all servers share. */
  stop?: (() => Promise<void>) | undefined;
}

/** Serves MCP on standard input and output, or over HTTP, until the client or a signal ends it. */
export async function serveMcp(flags: ServeFlags, serversFor: (spillway: Spillway) => Promise<Servers>): Promise<void> {
  const { policy, dir: _dir, retention: _retention, ...userOptions } = await optionsFromFlags(flags);
  // A server that cannot save is of more use than none.
  const place = await openPlace(flags, { collects: true }).catch((error: unknown) =>
    tell(`nothing will be saved: ${messageOf(error)}`),
  );
  try {
    const { store = null, ledger = null } = place ?? {};
    const reader = { by: "tool" as const, recall: "recall", search: "search" };
    const spillway = await createSpillway({ ...userOptions, store, ledger, policy, env: {}, reader });
    const servers = await serversFor(spillway);
    try {
      await serve(flags, {
        spillway,
        session: flags.session,
        upstream: servers.start,
        rules: { ...servers.rules, resources: flags.resources },
        forwardHeader: servers.forwardHeader,
        warn: tell,
      });
    } finally {
      await servers.stop?.();
    }
  } finally {
    await place?.close();
  }
}

async function serve({ listen }: ServeFlags, proxy: ProxyOptions & Pick<FrontOptions, "forwardHeader">): Promise<void> {
  const isStopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  if (listen !== undefined) {
    const { startHttpFront } = await import("../mcp/http-front.ts");
    const { newMetrics } = await import("../serve/metrics.ts");
    const metrics = newMetrics();
    const front = await startHttpFront({ ...proxy, ...listen, metrics: () => metrics.text(proxy.spillway.ledger) });
    tell(`MCP at ${front.url}`);
    await isStopped;
    return front.stop();
  }
  const { proxyStdio } = await import("../mcp/proxy-stdio.ts");
  void isStopped.then(() => process.stdin.destroy());
  await proxyStdio(proxy, { input: process.stdin, output: outputStream() });
}

function readAddress(text: string): { host: string; port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError(
      `--listen takes a port, or a host and a port, such as 8808 or 0.0.0.0:8808; got "${text}"`,
    );
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}
