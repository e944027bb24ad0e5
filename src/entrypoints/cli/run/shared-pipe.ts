import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PipeReader } from "./pipe-reader.ts";

/** A pipe whose one writing end several streams of a child can share. */
export interface SharedPipe {
  write: number;
  output: PipeReader;
}

/**
 * A real pipe, made by way of a named one that is gone again at once: what Node makes for a child is a socket, one for
 * each stream, and a program cannot open /dev/stdout on it. Null where it cannot be had.
 */
export function openSharedPipe(): SharedPipe | null {
  let folder: string | null = null;
  let read: number | null = null;
  try {
    folder = mkdtempSync(join(tmpdir(), "spillway-run-"));
    const path = join(folder, "pipe");
    if (spawnSync("mkfifo", ["-m", "600", path], { stdio: "ignore" }).status !== 0) return null;
    read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    return { write, output: new PipeReader(read) };
  } catch {
    if (read !== null) closeSync(read);
    return null;
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}
