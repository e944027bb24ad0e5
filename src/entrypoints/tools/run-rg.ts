import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import type * as Ripgrep from "@vscode/ripgrep";
import { SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";

const MAX_LINE_CHARS = 1024 * 1024;
const MAX_COMPLAINT_CHARS = 500;

async function findRipgrep(): Promise<string> {
  try {
    return (await loadPackage<typeof Ripgrep>("@vscode/ripgrep")).rgPath;
  } catch (cause) {
    const message = "files are found with the package @vscode/ripgrep, which could not be loaded";
    throw new SpillwayError("missing-part", `${message}: npm install @vscode/ripgrep`, { cause });
  }
}

/** Runs ripgrep in a folder, a line at a time; 1 means that nothing was found. */
export async function runRg(
  args: readonly string[],
  folder: string,
  signal: AbortSignal | undefined,
  onLine: (line: string) => void,
): Promise<void> {
  const rgPath = await findRipgrep();
  const child = spawn(rgPath, ["--no-config", "--no-require-git", "--color=never", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    ...(signal && { signal }),
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  ended.catch(() => {}); // reported below, once the output is read
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.write(chunk as Buffer)).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
    for (const line of lines) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  }
  if (rest !== "") onLine(rest);
  const code = await ended;
  // ripgrep also ends with 2 if it may not read some files. What it found is still valid.
  if (code === 2 && /regex|glob|error parsing/.test(complaint)) throw new Error(complaint.trim());
}
