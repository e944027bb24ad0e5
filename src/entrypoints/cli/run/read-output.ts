import type { CommandOutput } from "./pipe-reader.ts";

/** How long a pipe may stay open after its command has ended: a background child has it still. */
const LINGER_MS = 1000;
const LOOK_MS = 20;
/** What a pipe can hold: all that the command itself can have left in it. */
const LEFT_BYTES = 1024 * 1024;

/** A command's output, until it ends or the command has ended and only children that it left behind could add to it. */
export async function* readOutput(output: CommandOutput, exited: Promise<unknown>): AsyncGenerator<Uint8Array> {
  let isWaiting = false;
  let looks = 0;
  let lateBytes = 0;
  let isLate = false;
  let interval: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = () => {
    isLate = true;
    looks = isWaiting ? looks + 1 : 0;
    if (looks > 2 || lateBytes > LEFT_BYTES) output.destroy();
  };
  const watch = () => {
    if (!isOver) interval = setInterval(look, LOOK_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  void exited.then(() => {
    if (!isOver) timer = setTimeout(watch, LINGER_MS);
  });
  try {
    isWaiting = true;
    for await (const chunk of output) {
      isWaiting = false;
      looks = 0;
      if (isLate) lateBytes += chunk.length;
      yield chunk;
      isWaiting = true;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    clearInterval(interval);
  }
}
