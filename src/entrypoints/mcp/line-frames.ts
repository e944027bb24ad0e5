import type { Writable } from "node:stream";

/** Reads one JSON message a line, as MCP has it on standard input and output. The SDKs stop at 10 MiB; a result may be larger. */
export interface LineFrames {
  /** Takes what was read, which must not change later; gives whole lines, without their break. */
  add(chunk: Uint8Array): Line[];
}

/** A line; a large one in parts, since joining them would take its size once more. */
export type Line = Uint8Array | Uint8Array[];

/** Called with the first bytes and the whole size of a line that is too long. */
export type TellTooLong = (start: Uint8Array, bytes: number) => void;

const START_BYTES = 4096;
const LINE_BREAK = 10;
/** Lines from this size on are given in parts. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** A line of these parts, which are joined unless it is large. */
export function lineOf(parts: Uint8Array[]): Line {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return bytes >= LARGE_BYTES ? parts : Buffer.concat(parts, bytes);
}

/** Splits a stream into lines of at most `maxBytes`. */
export function newLineFrames(maxBytes: number, tellTooLong: TellTooLong): LineFrames {
  let parts: Uint8Array[] = [];
  let heldBytes = 0;
  let isDropping = false;

  function hold(part: Uint8Array): void {
    heldBytes += part.length;
    if (!isDropping && heldBytes > maxBytes) {
      isDropping = true;
      parts = [Buffer.concat(parts).subarray(0, START_BYTES)];
    }
    if (!isDropping && part.length > 0) parts.push(part);
  }

  function take(): Line | null {
    const [wasDropping, bytes] = [isDropping, heldBytes];
    const line = lineOf(parts);
    parts = [];
    heldBytes = 0;
    isDropping = false;
    if (Array.isArray(line)) return line;
    if (wasDropping) tellTooLong(line, bytes);
    return wasDropping || line.every(isBlank) ? null : line;
  }

  return {
    add(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (let to = chunk.indexOf(LINE_BREAK); to !== -1; to = chunk.indexOf(LINE_BREAK, from)) {
        hold(chunk.subarray(from, to));
        from = to + 1;
        const line = take();
        if (line !== null) lines.push(line);
      }
      hold(chunk.subarray(from));
      return lines;
    },
  };
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13;
}

/** Writes one message as a line. If the reader is slow, it waits, so that memory does not grow. */
export async function writeLine(to: Writable, message: Uint8Array | string): Promise<void> {
  to.write(message);
  // A stream that is closed already emits no more events.
  if (!to.write("\n") && !to.destroyed) await drained(to);
}

/** Waits until a stream takes more, or takes no more for ever. */
export function drained(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      to.off("drain", go).off("close", go).off("error", go);
      resolve();
    };
    to.once("drain", go).once("close", go).once("error", go);
  });
}
