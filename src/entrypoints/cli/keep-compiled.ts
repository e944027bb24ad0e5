// Compiling our own code is most of what a short command waits for, and V8 can keep what it compiled. Node 22's own cache
// keeps a file as it is after loading, which saves half as much as keeping it with what a command then called.
// Whatever goes wrong here, the code is compiled as ever.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** What was not used for so long belongs to a version that is gone. */
const STALE_MS = 30 * 24 * 3_600_000;

const SUM_BYTES = 4;
/** Other things may stand in the folder: they are nobody's to remove. */
const OWN_NAME = /^v\d[\w.+-]*\.cjs(\.\d+)?$/;

/** Loads the command's files compiled where they were before, and keeps them so for the next start. */
export function keepCompiled(ownFolder: string): void {
  try {
    // The name that Node's own cache is turned off by.
    if (process.env["NODE_DISABLE_COMPILE_CACHE"]) return;
    // Early versions of Node 20 lack it.
    if (typeof crc32 !== "function") return;
    const folder = cacheFolder();
    // A HOME that is no absolute path would have us run what lies in a working directory.
    if (isAbsolute(folder) && isOurs(folder)) compileFrom(folder, ownFolder);
  } catch {}
}

function compileFrom(folder: string, ownFolder: string): void {
  const missed: { file: string; script: Script }[] = [];
  const { extensions } = createRequire(ownFolder);
  extensions[".cjs"] = (module, path) => {
    const source = dirname(path) === ownFolder ? readFileSync(path, "utf8") : null;
    // Scripts of our own making may not import().
    if (source === null || source.includes("import(")) return extensions[".js"](module, path);
    // The bundler names each file by its content; somebody may have changed it since.
    const changed = Math.round(statSync(path).mtimeMs).toString(36);
    const file = join(folder, `${process.version}-${process.arch}-${changed}-${basename(path)}`);
    const cachedData = readKept(file);
    const script = new Script(
      `(function(exports,require,module,__filename,__dirname){${source}
})`,
      { filename: path, ...(cachedData && { cachedData }) },
    );
    if (!cachedData || script.cachedDataRejected) missed.push({ file, script });
    script.runInThisContext()(module.exports, createRequire(path), module, path, ownFolder);
  };
  // At the end it is known which functions a command really calls; help and the version call hardly any.
  if (/^[a-z]/.test(process.argv[2] ?? "")) process.once("exit", () => keep(folder, missed));
}

function keep(folder: string, missed: { file: string; script: Script }[]): void {
  if (missed.length === 0) return;
  try {
    for (const { file, script } of missed) {
      const data = script.createCachedData();
      const sum = Buffer.alloc(SUM_BYTES);
      sum.writeUInt32LE(crc32(data));
      const part = `${file}.${process.pid}`;
      writeFileSync(part, Buffer.concat([data, sum]), { mode: 0o600 });
      renameSync(part, file);
    }
    const staleAt = Date.now() - STALE_MS;
    for (const name of readdirSync(folder).filter((name) => OWN_NAME.test(name))) {
      const path = join(folder, name);
      const found = lstatSync(path);
      if (found.isFile() && found.atimeMs < staleAt) rmSync(path);
    }
  } catch {}
}

/** V8 takes what it is given on trust: a damaged file would end the process. */
function readKept(file: string): Buffer | undefined {
  try {
    // A pipe of that name would be waited for.
    if (!lstatSync(file).isFile()) return undefined;
    const kept = readFileSync(file);
    const data = kept.subarray(0, -SUM_BYTES);
    return kept.readUInt32LE(data.length) === crc32(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Code that somebody else could have written is never run. */
function isOurs(folder: string): boolean {
  // Not with `recursive`: that tries for ever where a folder above says that it is not there.
  for (const one of [dirname(folder), folder]) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env;
  if (xdg && isAbsolute(xdg)) return join(xdg, "spillway");
  if (process.platform === "win32") return join(local || join(homedir(), "AppData", "Local"), "spillway", "Cache");
  return join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache", "spillway");
}
