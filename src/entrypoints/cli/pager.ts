import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setPager, showStatus, writeError, writeOut } from "./write-out.ts";

/** As git does: less ends at once if all fits, passes colours and leaves the text on the screen. */
const LESS = { LESS: "FRX", LV: "-c" };

/** A pager that has taken more than this, which is more than a pipe holds, does run. */
const TAKEN_BYTES = 256 * 1024;
/** How a shell ends that cannot start a program. */
const NOT_STARTED = new Set([126, 127]);

/** Holds the output back until it is longer than the screen. From then on a pager has it. */
export function openPager(rows: number): { end(): Promise<void> } {
  const command = process.env["PAGER"] ?? "less";
  const held: (string | Uint8Array)[] = [];
  const told: string[] = [];
  /** What the pager got, as long as it may turn out that there is none. */
  let given: (string | Uint8Array)[] = [];
  let givenBytes = 0;
  let lines = 0;
  let child: ChildProcess | null = null;
  let isGone = false;
  const onInterrupt = () => {};
  if (command.trim() === "" || command === "cat") return { end: async () => {} };
  setPager({
    get isShown() {
      return child !== null;
    },
    async write(chunk) {
      if (child === null) {
        held.push(chunk);
        lines += Buffer.from(chunk).filter((byte) => byte === 10).length;
        if (lines < rows - 1) return;
        child = start();
        for (const each of held.splice(0)) await pass(each);
      } else await pass(chunk);
    },
    hold: (text) => void told.push(text),
  });

  function start(): ChildProcess {
    showStatus("");
    const started = spawn(command, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...LESS, ...process.env },
    });
    // The pager answers Ctrl-C itself. If we ended before it, the terminal would stay as the pager left it.
    process.on("SIGINT", onInterrupt);
    started.stdin?.on("error", () => {
      isGone = true;
    });
    return started;
  }

  async function pass(chunk: string | Uint8Array): Promise<void> {
    const input = child?.stdin;
    if (givenBytes <= TAKEN_BYTES || isGone) given.push(chunk);
    else given = [];
    givenBytes += chunk.length;
    if (!input || isGone || input.write(chunk)) return;
    await Promise.race([once(input, "drain"), once(input, "close")]).catch(() => {});
  }

  return {
    async end() {
      if (child !== null) {
        const ended =
          child.exitCode === null && child.signalCode === null ? once(child, "close").catch(() => {}) : null;
        child.stdin?.end();
        await ended;
        process.off("SIGINT", onInterrupt);
      }
      setPager(null);
      const isStarted = !NOT_STARTED.has(child?.exitCode ?? 0);
      for (const each of isStarted ? held : given) await writeOut(each);
      told.forEach(writeError);
    },
  };
}
