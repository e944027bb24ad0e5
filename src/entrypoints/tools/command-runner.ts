/** A command that was started, its children included. */
export interface RunningCommand {
  /** What it writes, both its streams in one; ends with the command, whatever children it left behind. A chunk is only valid until the next one. */
  output: AsyncIterable<Uint8Array>;
  /** As a shell gives it. */
  exitCode: Promise<number>;
  /** Sends a signal to the command and all its children. */
  signal(name: NodeJS.Signals): void;
  /** Lets our process end though a child goes on. */
  letGo(): void;
}

/** Starts a line of shell in a folder, with nothing to read, in a process group of its own. */
export type CommandRunner = (command: string, folder: string) => RunningCommand;
