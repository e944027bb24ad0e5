import { CommanderError } from "commander";

/** The exit code for a mistake in what we were asked. */
export const EXIT_BAD_INPUT = 2;

/** Tells a person what went wrong, on one line, and gives the exit code for it. */
export function tellFault(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  const plain = error instanceof CommanderError ? message.replace(/^error: /, "") : message;
  process.stderr.write(`spillway: ${plain.trim().replaceAll("\n", " ")}\n`);
  return EXIT_BAD_INPUT;
}
