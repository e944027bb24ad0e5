import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

/** The folder of recorded logs and conversations: data of others, no part of the repository, beside it by default. */
const corpus = process.env.SPILLWAY_CORPUS ?? fileURLToPath(new URL("../../shared/corpus", import.meta.url));

/** A folder of the corpus. Where it is absent the test is skipped, and says so. */
export function corpusFolder(name: string, { skip }: TestContext): string {
  const path = join(corpus, name);
  if (existsSync(path)) return path;
  const why = `no corpus at ${path}: set SPILLWAY_CORPUS to the folder that has ${name}/`;
  process.stderr.write(`NOT CHECKED: ${why}\n`);
  return skip(why);
}
