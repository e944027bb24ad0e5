// Stands in for node:fs and node:fs/promises under a store: it can fail any one call, decide which of the waiting calls is
// next, and knows what a power cut would take. The files are real.
import type * as Fs from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

// The module itself, not what a test has put in its place.
const fs = createRequire(import.meta.url)("node:fs") as typeof Fs;

/** What a test sets and reads. */
export const disk = {
  /** How many calls there were. */
  calls: 0,
  /** The call that fails, counted from 1; 0 for none. */
  failAt: 0,
  code: "EIO",
  /** Takes each call that somebody waits for. By default it is done at once. */
  schedule: (run: () => void): void => run(),
  /** Files and folders with changes that are not flushed, and how many bytes of them are. */
  unflushed: new Map<string, number>(),
};

const paths = new Map<number, string>();
const flushed = new Map<string, number>();

/** Says that a file was changed by somebody else, such as SQLite. */
export function changed(path: string): void {
  if (!disk.unflushed.has(path)) disk.unflushed.set(path, flushed.get(path) ?? 0);
}

function fault(): void {
  disk.calls += 1;
  if (disk.calls === disk.failAt) throw Object.assign(new Error(`${disk.code}: simulated`), { code: disk.code });
}

type Act<Args extends unknown[], T> = (...args: Args) => T;

const now =
  <Args extends unknown[], T>(act: Act<Args, T>): Act<Args, T> =>
  (...args) => {
    fault();
    return act(...args);
  };

const later =
  <Args extends unknown[], T>(act: Act<Args, T>): Act<Args, Promise<T>> =>
  (...args) =>
    new Promise((resolve, reject) => {
      disk.schedule(() => {
        try {
          fault();
          resolve(act(...args));
        } catch (error) {
          reject(error);
        }
      });
    });

function open(path: string, flags?: string | number, mode?: number): number {
  const descriptor = fs.openSync(path, flags ?? "r", mode);
  paths.set(descriptor, path);
  return descriptor;
}

function flush(descriptor: number): void {
  fs.fsyncSync(descriptor);
  const path = paths.get(descriptor) ?? "";
  flushed.set(path, fs.fstatSync(descriptor).size);
  disk.unflushed.delete(path);
}

function rename(from: string, to: string): void {
  fs.renameSync(from, to);
  for (const known of [disk.unflushed, flushed]) {
    const bytes = known.get(from);
    known.delete(from);
    if (bytes !== undefined) known.set(to, bytes);
  }
  changed(dirname(to));
}

function unlink(path: string): void {
  fs.unlinkSync(path);
  disk.unflushed.delete(path);
  flushed.delete(path);
}

function write(
  descriptor: number,
  bytes: Uint8Array,
  from = 0,
  length = bytes.length,
  at: number | null = null,
): number {
  changed(paths.get(descriptor) ?? "");
  return fs.writeSync(descriptor, bytes, from, length, at);
}

/** Even a close that fails gives the descriptor back. */
function close(descriptor: number): void {
  fs.closeSync(descriptor);
  fault();
}

async function openHandle(path: string, flags?: string | number, mode?: number) {
  const fd = await later(open)(path, flags, mode);
  return {
    fd,
    stat: later(() => fs.fstatSync(fd)),
    read: later((buffer: Uint8Array, from: number, length: number, at: number) => ({
      bytesRead: fs.readSync(fd, buffer, from, length, at),
    })),
    write: later((bytes: Uint8Array, from: number, length: number, at: number) => ({
      bytesWritten: write(fd, bytes, from, length, at),
    })),
    writeFile: later((bytes: Uint8Array) => void write(fd, bytes)),
    truncate: later((bytes: number) => fs.ftruncateSync(fd, bytes)),
    sync: later(() => flush(fd)),
    datasync: later(() => flush(fd)),
    close: () => new Promise<void>((resolve, reject) => disk.schedule(() => attempt(() => close(fd), resolve, reject))),
  };
}

function attempt(act: () => void, resolve: () => void, reject: (error: unknown) => void): void {
  try {
    act();
    resolve();
  } catch (error) {
    reject(error);
  }
}

/** In place of node:fs. What is not here is that module's own. */
export const simulatedFs = {
  ...fs,
  openSync: now(open),
  closeSync: close,
  fsyncSync: now(flush),
  renameSync: now(rename),
  unlinkSync: now(unlink),
  mkdirSync: now(fs.mkdirSync),
  writeFileSync: now((target: string | number, bytes: Uint8Array) =>
    typeof target === "number" ? void write(target, bytes) : fs.writeFileSync(target, bytes),
  ),
};

/** In place of node:fs/promises. */
export const simulatedPromises = {
  open: openHandle,
  stat: later(fs.statSync),
  lstat: later(fs.lstatSync),
  readdir: later(fs.readdirSync),
  mkdir: later(fs.mkdirSync),
  chmod: later(fs.chmodSync),
  link: later(fs.linkSync),
  rename: later(rename),
  unlink: later(unlink),
  rm: later(fs.rmSync),
  utimes: later(fs.utimesSync),
  statfs: later(fs.statfsSync),
  writeFile: later(fs.writeFileSync),
};

/** Copies a folder as a power cut now would leave it: of changes that were not flushed, any part may be lost. */
export function afterPowerCut(dir: string, copy: string, random: (below: number) => number): void {
  fs.mkdirSync(copy, { recursive: true, mode: 0o700 });
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const [from, to] = [join(dir, entry.name), join(copy, entry.name)];
    if (entry.isDirectory()) afterPowerCut(from, to, random);
    // SQLite makes this file anew.
    else if (!basename(from).endsWith("-shm")) {
      fs.copyFileSync(from, to);
      const kept = disk.unflushed.get(from);
      const { size } = fs.statSync(to);
      if (kept !== undefined) fs.truncateSync(to, Math.min(size, kept + random(size - Math.min(size, kept) + 1)));
    }
  }
}
