// What it costs to check every block that is read of an artifact: CPU of the store's reads beside reads of the same file.
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalFolder } from "../dist/extend.js";
import { median } from "./median.mjs";

const MEGABYTES = 256;
const PIECE = 1024 * 1024;
const dir = mkdtempSync(join(tmpdir(), "spillway-bench-"));
const { store, close } = await openLocalFolder(dir);
try {
  const writer = await store.begin({ scope: "local", session: null, tool: "bench", call: null });
  const chunk = Buffer.alloc(PIECE, "2026-03-01T12:00:00 INFO [worker-7] request 4711 took 12 ms\n");
  for (let i = 0; i < MEGABYTES; i++) await writer.add(chunk);
  const { id, bytes } = await writer.end();
  const file = await open(await store.file(id, "local"));
  const held = await store.hold(id, "local");
  const cpuMs = async (read) => {
    const before = process.cpuUsage();
    for (let from = 0; from < bytes; from += PIECE) await read(from, Math.min(bytes, from + PIECE));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const plain = (from, to) => file.read(Buffer.allocUnsafeSlow(to - from), 0, to - from, from);
  const runs = [];
  for (let i = 0; i < 9; i++) runs.push([await cpuMs(plain), await cpuMs((from, to) => held.read({ from, to }))]);
  const [plainMs, checkedMs] = [0, 1].map((at) => median(runs.map((run) => run[at])));
  const ratio = median(runs.map(([one, other]) => other / one));
  console.log(
    `${MEGABYTES} MB in pieces of 1 MiB, CPU: plain ${plainMs} ms, checked ${checkedMs} ms, ${ratio.toFixed(2)} times`,
  );
  await file.close();
  await held.close();
} finally {
  await close();
  rmSync(dir, { recursive: true });
}
