import { readTimeout } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addCallFlags, addPolicyFlags } from "../flags.ts";
import { addPlaceFlag } from "../open-place.ts";
import type { RunFlags } from "../run/run-command.ts";
import { addColorFlag } from "../screen.ts";
import { FaultWithCode, tell } from "../tell.ts";
import { goOnUnread, outputFault } from "../write-out.ts";

/** The exit code of our own failure, as of `timeout` and `env`. The command itself may end with 2. */
const EXIT_OWN_FAULT = 125;

/** `spillway run`: runs a command, prints what a model should see, keeps the rest. */
export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .description("run a command, print what a model should see of its output, and save the whole")
    .argument("<command...>", "the command to run, after --")
    .passThroughOptions()
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new FaultWithCode(error, EXIT_OWN_FAULT);
    });
  addColorFlag(addPlaceFlag(addCallFlags(addPolicyFlags(command))))
    .option("--tool <name>", "the tool whose limits apply (default run_command)")
    .option("--session <name>", "the session that the output belongs to")
    .option(
      "--timeout <seconds>",
      "end the command and its children after this long (also 5m, 1h; 0: never)",
      readTimeout,
    )
    .option("--raw", "pass every byte on as it comes, and save every byte: nothing is cut")
    .option("--pass-unsaved", "if nothing can be saved, pass everything on uncut, so that nothing is lost")
    .option("--mark-stderr", 'begin lines of standard error with "stderr: " (their order is then approximate)')
    .option("--no-redact", "save and show secrets as they are, whatever your config says")
    .option("--json", "end with one JSON object, { text, receipt, exitCode }")
    .option("-q, --quiet", "print no summary on standard error")
    .notes(`
The exit code is the command's own. It is 128+n after a signal, 124 if the time was up, 125 for a fault of ours, 126 if the
command cannot be run, and 127 if there is no such command.

Examples:
  spillway run -- npm test
  spillway run --session s1 --max-lines 80 --timeout 300 -- make -j4
  spillway run --json -- pytest -q | jq .receipt.artifact`)
    .action(async (words: string[], flags: RunFlags) => {
      // If the reader of our output stops, the command goes on, is saved, and gives its own exit code.
      goOnUnread();
      try {
        // Loaded here, since no other command needs the Node modules that start processes.
        const { runCommand } = await import("../run/run-command.ts");
        process.exitCode = await runCommand(words, flags);
        const fault = outputFault();
        if (fault !== null && fault.code !== "EPIPE") tell(`cannot write standard output: ${fault.message}`);
      } catch (error) {
        throw new FaultWithCode(error, EXIT_OWN_FAULT);
      }
    });
}
