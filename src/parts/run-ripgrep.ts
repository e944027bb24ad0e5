import { type ChildProcess, spawn } from "node:child_process";

/** What ripgrep is given to read: a file, or bytes that come one after another. */
export type RipgrepInput = { file: string } | { chunks: AsyncIterable<Uint8Array> };

/** One run. */
export interface RipgrepRun {
  args: string[];
  input: RipgrepInput;
  /** True ends the run: enough was seen. */
  onOutput: (chunk: Buffer) => boolean;
  /** Ends the run when aborted. */
  signal: AbortSignal;
}

/** How a run ended. */
export interface RipgrepEnd {
  /** 0 found, 1 found nothing, 2 failed; null when it was ended from here. */
  code: number | null;
  complaint: string;
}

const MAX_COMPLAINT_CHARS = 4096;
/** So that ripgrep never waits for us while we wait for it. */
const CHUNKS_AHEAD = 4;

// No config file, no encoding guessed, no folder walked, no backtracking engine: lines are as the store counts them.
const ALWAYS = [
  "--no-config",
  "--text",
  "--encoding=none",
  "--engine=default",
  "--no-ignore",
  "--hidden",
  "--no-filename",
  "--no-heading",
  "--color=never",
  "--threads=1",
  "--regex-size-limit=10M",
  "--dfa-size-limit=10M",
];

/** Starts ripgrep itself, never a shell, and resolves once its process is gone. Rejects if it cannot be started. */
export function runRipgrep(rgPath: string, run: RipgrepRun): Promise<RipgrepEnd> {
  const { input, signal } = run;
  const isFile = "file" in input;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve({ code: null, complaint: "" });
    const child = spawn(rgPath, [...ALWAYS, ...run.args, "--", isFile ? input.file : "-"], {
      env: process.platform === "win32" ? { SystemRoot: process.env.SystemRoot } : {},
      stdio: [isFile ? "ignore" : "pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    let complaint = "";
    let fault: unknown;
    const end = () => void child.kill("SIGKILL");
    signal.addEventListener("abort", end);
    child.stdout?.on("data", (chunk: Buffer) => {
      if (fault === undefined && run.onOutput(chunk)) end();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
    });
    child.on("error", (error) => {
      fault = error;
      // A process that never started has no end of its own.
      if (child.pid === undefined) finish(null);
    });
    child.on("close", finish);
    if (!isFile) {
      feed(child, input.chunks).catch((error: unknown) => {
        fault ??= error;
        end();
      });
    }
    function finish(code: number | null): void {
      signal.removeEventListener("abort", end);
      if (fault !== undefined) reject(fault);
      else resolve({ code, complaint });
    }
  });
}

async function feed({ stdin, exitCode }: ChildProcess, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  if (stdin === null || exitCode !== null) return;
  // Ripgrep may stop reading before the end; what it did not want is no fault.
  stdin.on("error", () => {});
  const writing: Promise<void>[] = [];
  for await (const chunk of chunks) {
    if (stdin.destroyed) return;
    // Called with a fault, too.
    writing.push(new Promise((resolve) => stdin.write(chunk, () => resolve())));
    if (writing.length > CHUNKS_AHEAD) await writing.shift();
  }
  stdin.end();
}
