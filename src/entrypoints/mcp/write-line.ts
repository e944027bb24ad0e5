import type { Writable } from "node:stream";

/** Writes one message as a line; waits where the reader is slow, so that memory does not grow. */
export function writeLine(to: Writable, message: Uint8Array | string): Promise<void> {
  to.write(message);
  // What is closed already tells nothing more.
  if (to.write("\n") || to.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      to.off("drain", go).off("close", go).off("error", go);
      resolve();
    };
    to.once("drain", go).once("close", go).once("error", go);
  });
}
