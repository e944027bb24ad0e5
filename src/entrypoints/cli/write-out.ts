/** Writes to standard output and waits until it is taken, so that a slow reader holds us up and not our memory. */
export function writeOut(chunk: string | Uint8Array): Promise<void> {
  if (chunk.length === 0) return Promise.resolve();
  return new Promise((resolve) => process.stdout.write(chunk, () => resolve()));
}

/** Writes a value as one line of JSON. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${JSON.stringify(value)}\n`);
}

/** Writes a text as it is; on a terminal its last line has no break of its own. */
export async function writeText(text: string): Promise<void> {
  await writeOut(text);
  if (process.stdout.isTTY && !text.endsWith("\n")) process.stderr.write("\n");
}
