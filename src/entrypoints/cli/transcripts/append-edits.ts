import { closeSync, fstatSync, fsyncSync, openSync, writeSync } from "node:fs";
import { badInput } from "../../../errors.ts";
import { freeId, type Survey, surveyEntries } from "./entries.ts";
import type { Snapshot } from "./rewrite-file.ts";
import { lockFile } from "./rewrite-file.ts";

/** New content for one entry. */
export interface Edit {
  targetId: string;
  content: unknown;
}

const MAX_ATTEMPTS = 3;
/** All edits are made before the first is written, so that none is written after a message that came meanwhile. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/**
 * Appends context_edit records to a session: they change what a model is sent and leave every line as it is. The records are
 * children of the leaf. If another process appends meanwhile, they are made again after what it wrote.
 */
export async function appendEdits(
  path: string,
  dryRun: boolean,
  edits: (old: Snapshot, survey: Survey) => AsyncIterable<Edit>,
): Promise<{ bytesBefore: number; bytesAfter: number }> {
  const unlock = dryRun ? () => {} : lockFile(path);
  const descriptor = openSync(path, dryRun ? "r" : "a+");
  try {
    for (let attempt = 1; ; attempt++) {
      const { size } = fstatSync(descriptor);
      const old = { descriptor, bytes: size };
      const survey = surveyEntries(old);
      const lines = await linesOf(edits(old, survey), survey);
      if (dryRun || lines.length === 0) return { bytesBefore: size, bytesAfter: size + lines.length };
      if (fstatSync(descriptor).size === size) {
        for (let at = 0; at < lines.length; ) at += writeSync(descriptor, lines, at);
        fsyncSync(descriptor);
        return { bytesBefore: size, bytesAfter: size + lines.length };
      }
      if (attempt === MAX_ATTEMPTS) {
        throw badInput(`${path} is being appended to all the time; nothing was done`);
      }
    }
  } finally {
    closeSync(descriptor);
    unlock();
  }
}

async function linesOf(edits: AsyncIterable<Edit>, { ids, leaf, isComplete }: Survey): Promise<Buffer> {
  const lines: Buffer[] = [];
  let bytes = 0;
  let parentId = leaf;
  for await (const { targetId, content } of edits) {
    const id = freeId(ids);
    const timestamp = new Date().toISOString();
    const edit = { type: "context_edit", id, parentId, timestamp, targetId, replacement: { content } };
    // If the last line has no break, it gets one, so that it stays a line of its own.
    const begin = lines.length === 0 && !isComplete ? "\n" : "";
    lines.push(Buffer.from(`${begin}${JSON.stringify(edit)}\n`));
    bytes += lines.at(-1)?.length ?? 0;
    if (bytes > MAX_HELD_BYTES) {
      throw badInput("there are too many results to edit; use --rewrite");
    }
    parentId = id;
  }
  return Buffer.concat(lines, bytes);
}
