import { PassThrough, type Readable } from "node:stream";

const MARK = Buffer.from("stderr: ");
/** A line longer than this is passed on in parts. */
const MAX_LINE_BYTES = 64 * 1024;
const BREAK = 10;

/** Two streams as one, line by line, in the order in which they reach us. Lines of the second may be marked. */
export function joinStreams(stdout: Readable, stderr: Readable, markStderr: boolean): Readable {
  const joined = new PassThrough();
  const sources = [stdout, stderr];
  let open = sources.length;
  joined.on("drain", () => sources.forEach((source) => source.resume()));
  joined.on("close", () => sources.forEach((source) => source.destroy()));
  for (const source of sources) {
    const lines = lineCutter(source === stderr && markStderr);
    const pass = (bytes: Buffer) => {
      if (bytes.length > 0 && !joined.write(bytes)) sources.forEach((each) => each.pause());
    };
    source.on("data", (chunk: Buffer) => pass(lines.add(chunk)));
    source.on("error", () => {});
    source.once("close", () => {
      if (joined.destroyed) return;
      pass(lines.end());
      open -= 1;
      if (open === 0) joined.end();
    });
  }
  return joined;
}

/** Holds back the line that is not complete, so that no line of the other stream comes into its midst. */
function lineCutter(isMarked: boolean): { add(chunk: Buffer): Buffer; end(): Buffer } {
  let held: Buffer = Buffer.alloc(0);
  let isLineStart = true;
  function marked(bytes: Buffer): Buffer {
    if (!isMarked || bytes.length === 0) return bytes;
    const parts: Buffer[] = [];
    for (let from = 0; from < bytes.length; ) {
      const at = bytes.indexOf(BREAK, from);
      const to = at < 0 ? bytes.length : at + 1;
      if (isLineStart) parts.push(MARK);
      parts.push(bytes.subarray(from, to));
      isLineStart = at >= 0;
      from = to;
    }
    return Buffer.concat(parts);
  }
  return {
    add(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = bytes.lastIndexOf(BREAK) + 1;
      const cut = bytes.length - end > MAX_LINE_BYTES ? bytes.length : end;
      held = bytes.subarray(cut);
      return marked(bytes.subarray(0, cut));
    },
    end: () => marked(held),
  };
}
