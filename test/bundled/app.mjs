// An application that bundlers make one file of: it admits a large output, and looks into what was kept.
import { Readable } from "node:stream";
import { createSpillway } from "spillway";

/** What became of an output of `lines` lines, 500 bytes each, and what the logger was told where there is one. */
export async function admitLarge({ lines, logs = false, ...options }) {
  const told = [];
  const logger = { info() {}, warn: (message) => told.push(message) };
  const spillway = await createSpillway({ ...options, ...(logs && { logger }) });
  const { text, receipt } = await spillway.admit({ tool: "bash", output: Readable.from(chunks(lines)) });
  const found = receipt.artifact && (await spillway.search(receipt.artifact, { pattern: "^line 1\\d\\d " })).total;
  const read = receipt.artifact && (await spillway.recall(receipt.artifact, { lines: [151, 151] })).text.slice(0, 8);
  return { shownChars: text.length, saved: receipt.saved, faults: receipt.faults ?? [], found, read, told };
}

function* chunks(lines) {
  for (let at = 0; at < lines; at += 1000) {
    yield Buffer.from(
      Array.from({ length: 1000 }, (_, index) => `line ${at + index} `.padEnd(499, "x")).join("\n") + "\n",
    );
  }
}
