import type { RunningCommand } from "../../tools/index.ts";
import { readOutput } from "./pipe-reader.ts";
import { type StartedCommand, startCommand } from "./start-command.ts";

/** Our own standard input carries messages: no command may read from it. */
const SCRIPT = 'cd -- "$1" && exec "$(command -v bash || echo sh)" -c "$2" </dev/null';

/** Starts a line of shell for a tool. */
export function runForTools(command: string, folder: string): RunningCommand {
  const started = startCommand(["sh", "-c", SCRIPT, "sh", folder, command], false);
  const { exitCode, signal, letGo } = started;
  return { output: outputOf(started), exitCode, signal, letGo };
}

async function* outputOf({ fault, output, exitCode }: StartedCommand): AsyncGenerator<Uint8Array> {
  const reason = await fault;
  if (reason !== null) throw new Error(reason);
  yield* readOutput(output, exitCode);
}
