import { spawn } from "node:child_process";
import { isAbsolute, relative, resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type * as Ripgrep from "@vscode/ripgrep";
import { SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";
import type { Roots } from "./roots.ts";

const MAX_RECORD_CHARS = 1024 * 1024;
const MAX_COMPLAINT_CHARS = 500;
/** A model waits no longer for a look through all files. */
const DEADLINE_MS = 20_000;

/** Folders that hold no work of the project, where no .gitignore says so. They are searched if they are named. */
const SKIPPED = (
  "node_modules bower_components dist .venv venv site-packages __pycache__ .tox .nox .mypy_cache .pytest_cache " +
  ".ruff_cache .next .nuxt .svelte-kit .turbo .parcel-cache .gradle .terraform"
).split(" ");
const VERSIONS = [".git", ".hg", ".svn", ".jj"];

/** What is left out of a walk, in words. */
export const SKIPPED_WORDS = "what .gitignore names, node_modules, dist, .venv and the like";

/** Where ripgrep looks. */
export interface RgWalk {
  /** Files or folders, true paths. */
  paths: readonly string[];
  /** Only files that this matches. */
  glob?: string | undefined;
  includeIgnored?: boolean;
}

async function findRipgrep(): Promise<string> {
  try {
    return (await loadPackage<typeof Ripgrep>("@vscode/ripgrep")).rgPath;
  } catch (cause) {
    const message = "files are found with the package @vscode/ripgrep, which could not be loaded";
    throw new SpillwayError("missing-part", `${message}: npm install @vscode/ripgrep`, { cause });
  }
}

/**
 * Runs ripgrep and hands over what it prints up to each `separator`. Returns false if it was stopped because its time was
 * up.
 */
export async function runRg(
  { base }: Pick<Roots, "base">,
  { paths, glob, includeIgnored = false }: RgWalk,
  args: readonly string[],
  onRecord: (record: string) => void,
  { separator = "\n", signal }: { separator?: string; signal?: AbortSignal | undefined },
): Promise<boolean> {
  signal?.throwIfAborted();
  const skipped = includeIgnored ? VERSIONS : [...VERSIONS, ...SKIPPED];
  const child = spawn(
    await findRipgrep(),
    [
      "--no-config",
      "--no-require-git",
      "--color=never",
      "--path-separator=/",
      "--hidden",
      "--null",
      ...(includeIgnored ? ["--no-ignore"] : []),
      ...(glob === undefined ? [] : [`--glob=${glob}`]),
      ...skipped.map((name) => `--glob=!${name}`),
      ...args,
      "--",
      ...paths.map((path) => fromBase(base, path)),
    ],
    { cwd: base, stdio: ["ignore", "pipe", "pipe"], windowsHide: true },
  );
  let isLate = false;
  const stop = () => void child.kill();
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, DEADLINE_MS);
  signal?.addEventListener("abort", stop);
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  ended.catch(() => {}); // reported below, once the output is read
  try {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    for await (const chunk of child.stdout) {
      const records = (rest + decoder.write(chunk as Buffer)).split(separator);
      rest = (records.pop() ?? "").slice(0, MAX_RECORD_CHARS);
      for (const record of records) onRecord(record);
    }
    const code = await ended;
    signal?.throwIfAborted();
    // ripgrep also ends with 2 if it may not read some files. What it found is still valid.
    if (code === 2 && /regex|glob|error parsing/.test(complaint)) throw new Error(complaintText(complaint));
    return !isLate;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** A path as ripgrep gets it. It cannot be taken for a flag. */
function fromBase(base: string, path: string): string {
  const way = relative(base, path);
  return isAbsolute(way) ? way : `./${way}`;
}

/** ripgrep's words, without its name and without advice about its flags. */
function complaintText(complaint: string): string {
  const lines = complaint.trim().split("\n");
  return lines.flatMap((line) => (/ --\w/.test(line) ? [] : [line.replace(/^rg: /, "")])).join("\n");
}

/** Files in no order. */
export interface FoundFiles {
  /** True paths. */
  files: string[];
  /** Some were not listed, because there are so many or the time was up. */
  isPartial: boolean;
}

/** Held in memory for a listing; a larger tree is told as such. */
const MAX_FILES = 200_000;

/** Lists files. */
export async function listFiles(
  roots: Pick<Roots, "base">,
  walk: RgWalk,
  signal: AbortSignal | undefined,
): Promise<FoundFiles> {
  const files: string[] = [];
  let total = 0;
  const isWhole = await runRg(
    roots,
    walk,
    ["--files"],
    (path) => {
      if (total++ < MAX_FILES) files.push(resolve(roots.base, path));
    },
    { separator: "\0", signal },
  );
  return { files, isPartial: !isWhole || total > MAX_FILES };
}
