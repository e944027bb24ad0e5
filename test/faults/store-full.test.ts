import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeChildModule } from "../child-module.ts";
import { checkStore, filesOf } from "./check-store.mjs";

const base = await mkdtemp(join(tmpdir(), "spillway-full-"));
const child = join(base, "child.mjs");

// Keeps one artifact of `bytes`; says what it got, what was thrown, and what was kept all the same.
const SOURCE = `
import { openDatabase } from "./src/storage/local/open-database.ts";
import { localStore } from "./src/storage/stores/local.ts";
process.on("SIGXFSZ", () => {});
const [dir, bytes, word] = process.argv.slice(2);
const told = { fault: null, artifact: null };
try {
  const database = await openDatabase(dir);
  const store = await localStore({ dir, database, limits: { freeReserveBytes: 0 } });
  const writer = await store.begin({ scope: "local", session: "s", tool: "x", call: null });
  const chunk = Buffer.alloc(65536, word + " of many\\n");
  try {
    for (let at = 0; at < Number(bytes); at += chunk.length) await writer.add(chunk);
  } catch (error) {
    told.fault = { code: error.code, message: error.message };
  }
  told.artifact = await writer.end();
  await database.close();
} catch (error) {
  told.fault ??= { code: error.code, message: error.message };
}
process.stdout.write(JSON.stringify(told));
`;
beforeAll(() => writeChildModule(SOURCE, child));
afterAll(() => rm(base, { recursive: true }));

interface Told {
  fault: { code: string; message: string } | null;
  artifact: Parameters<typeof checkStore>[1][number] & { saved: string };
}

async function run(command: string[], options: { uid?: number; gid?: number } = {}): Promise<Told> {
  const [program = "", ...rest] = command;
  const started = spawn(program, rest, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const part of started.stdout) text += String(part);
  return JSON.parse(text) as Told;
}

const keep = (dir: string, bytes: number, word: string) => [process.execPath, child, dir, String(bytes), word];

it("a disk that fills up on the way: the bytes before that are kept, whole and marked as partial", async () => {
  const dir = join(base, "limited");
  await run(keep(dir, 100_000, "before"));
  // A limit on the size of files stands in for a full disk; 4 MiB in blocks of 512 bytes or of 1 KiB.
  const limited = ["sh", "-c", 'ulimit -f 8192; exec "$@"', "sh", ...keep(dir, 20_000_000, "partial")];
  const { fault, artifact } = await run(limited);
  expect(fault).toMatchObject({ code: "store-full" });
  expect(artifact.saved).toBe("partial");
  expect(artifact.bytes).toBeGreaterThan(1_000_000);
  expect(checkStore(dir, [artifact])).toEqual([]);
  expect(filesOf(dir).filter((path) => path.endsWith(".part"))).toEqual([]);
});

it("a file system with no room at all: said in words, nothing half-written, and it works again after", async () => {
  const dir = join(base, "tiny");
  await mkdir(dir);
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", dir]).status === 0;
  try {
    const { fault, artifact } = await run(keep(dir, isMounted ? 20_000_000 : 1000, "too much"));
    if (isMounted) {
      expect(fault).toMatchObject({ code: "store-full" });
      expect(artifact === null || artifact.saved === "partial").toBe(true);
    }
    expect(checkStore(dir, artifact === null ? [] : [artifact])).toEqual([]);
    expect(filesOf(dir).filter((path) => path.endsWith(".part"))).toEqual([]);
  } finally {
    // Lazily: a driver may close its file only when it is collected.
    if (isMounted) spawnSync("umount", ["-l", dir]);
  }
});

it("a folder that cannot be written: said in words", async () => {
  const dir = join(base, "read-only");
  await run(keep(dir, 100, "before"));
  // Root may write anywhere, so another user tries.
  const isRoot = process.getuid?.() === 0;
  await chmod(base, 0o755);
  if (!isRoot) await chmod(dir, 0o500);
  const { fault, artifact } = await run(keep(dir, 100, "after"), isRoot ? { uid: 65_534, gid: 65_534 } : {});
  await chmod(dir, 0o700);
  expect(artifact).toBeNull();
  expect(fault).toMatchObject({ code: "store-unavailable", message: expect.stringMatching(/read-only/) });
});

it("two processes that begin at once share one secret and keep the same bytes once", async () => {
  const dir = join(base, "two");
  const told = await Promise.all([1, 2, 3, 4].map(() => run(keep(dir, 300_000, "same"))));
  const ids = new Set(told.map(({ artifact }) => artifact.id));
  expect(ids.size).toBe(1);
  expect(
    checkStore(
      dir,
      told.map(({ artifact }) => artifact),
    ),
  ).toEqual([]);
  expect(filesOf(dir)).toHaveLength(1);
});

it.skipIf(process.platform === "win32")("more outputs at once than files can be open: all are saved", async () => {
  const many = join(base, "many.mjs");
  const source = `
import { createSpillway } from "./src/index.ts";
import { NUMBERS } from "./src/stages/policy/defaults.ts";
// A store that takes longer holds nobody up. Here it has all the time that a slow machine needs.
NUMBERS.spillDeadlineMs.default = 500_000;
const spillway = await createSpillway({ dir: process.argv[2], env: {}, redact: "off" });
async function* output(at) {
  for (let chunk = 0; chunk < 5; chunk += 1) yield Buffer.alloc(30_000, "output " + at + "\\n");
}
const all = Array.from({ length: 250 }, (_none, at) => spillway.admit({ tool: "bash", output: output(at) }));
const saved = (await Promise.all(all)).map(({ receipt }) => [receipt.saved, ...(receipt.faults ?? [])].join(": "));
process.stdout.write(JSON.stringify([...new Set(saved)]), () => process.exit(0));
`;
  await writeChildModule(source, many);
  const command = ["sh", "-c", 'ulimit -n 96; exec "$@"', "sh", process.execPath, many, join(base, "many")];
  expect(await run(command)).toEqual(["yes"]);
});
