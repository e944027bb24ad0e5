import { counted } from "../../values.ts";
import { sizeText } from "./amounts.ts";
import { cell } from "./table.ts";
import { isTerminal, showStatus } from "./write-out.ts";

/** Nobody wonders about a shorter wait. */
const QUIET_MS = 1000;
const BETWEEN_MS = 100;

/** A line on the terminal that says what goes on. */
export interface StatusLine {
  /** For work that does not let timers run. */
  tick(): void;
  stop(): void;
}

const NONE: StatusLine = { tick() {}, stop() {} };

/** A second after the start, says on standard error what goes on, if that is a terminal. */
export function startStatus(say: (seconds: string) => string, startedMs = performance.now()): StatusLine {
  if (!isTerminal(2)) return NONE;
  let nextMs = startedMs + QUIET_MS;
  const tick = () => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + BETWEEN_MS;
    showStatus(cell(say(`${Math.floor((nowMs - startedMs) / 1000)} s`), (process.stderr.columns || 80) - 1));
  };
  const timer = setInterval(tick, BETWEEN_MS);
  timer.unref();
  return {
    tick,
    stop() {
      clearInterval(timer);
      if (nextMs > startedMs + QUIET_MS) showStatus("");
    },
  };
}

/** Shows the status line while a promise is waited for. */
export async function withStatus<T>(what: string, work: () => Promise<T>): Promise<T> {
  const status = startStatus((seconds) => `${what} ... ${seconds}`);
  try {
    return await work();
  } finally {
    status.stop();
  }
}

const TAIL_BYTES = 400;

/** Passes chunks on and shows how much came and the last line of it. */
export async function* watched(
  what: string,
  chunks: AsyncIterable<Uint8Array>,
  startedMs?: number,
): AsyncGenerator<Uint8Array> {
  if (!isTerminal(2)) return yield* chunks;
  let bytes = 0;
  let lines = 0;
  // A copy, since a chunk may overwrite the one before.
  let tail = Buffer.alloc(0);
  const lastLine = () =>
    tail
      .toString()
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? "";
  const status = startStatus(
    (seconds) =>
      `${what} ${seconds}, ${counted(lines, "line")}, ${sizeText(bytes)}${tail.length > 0 ? `: ${lastLine().trim()}` : ""}`,
    startedMs,
  );
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
      if (chunk.length > 0) tail = Buffer.from(chunk.subarray(-TAIL_BYTES));
      status.tick();
      yield chunk;
    }
  } finally {
    status.stop();
  }
}
