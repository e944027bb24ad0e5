// Run as a process of its own: keeps artifacts and records events until it is killed, and says so after each one.
import { writeSync } from "node:fs";
import { createSpillway } from "../../src/index.ts";
import { sqlLedger } from "../../src/storage/ledgers/sql.ts";
import { openDatabase } from "../../src/storage/local/open-database.ts";
import { localStore } from "../../src/storage/stores/local.ts";

const tell = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Never ends by itself. */
export async function keepUntilKilled(dir: string, seed: string, name: string): Promise<never> {
  let state = Number(seed);
  /** The same numbers for the same seed: two processes with one seed keep the same bytes. */
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };

  const database = await openDatabase(dir);
  const store = await localStore({ dir, database });
  const ledger = sqlLedger(database, "sqlite");
  const spillway = await createSpillway({ store, ledger, env: {} });
  tell({ ready: true });
  for (let round = 0; ; round += 1) {
    // Sometimes long enough for many batches and a check of the quota.
    const bytes = random(3) === 0 ? random(2000) : random(40) === 0 ? 17_000_000 + random(2_000_000) : random(500_000);
    const word = `${seed} ${round} ${"x".repeat(random(90))}\n`;
    const call = `${name}-${round}`;
    if (random(3) === 0) {
      // The whole way: what an agent gets back is the receipt.
      const text = word.repeat(3000);
      const { receipt } = await spillway.admit({ tool: "bash", session: "s", call, output: text });
      const { artifact: id, sha256, savedBytes, total } = receipt;
      tell({ artifact: { id, scope: "local", sha256, bytes: savedBytes, lines: total.lines }, call });
      continue;
    }
    const writer = await store.begin({ scope: "local", session: `s${random(5)}`, tool: "x", call: null });
    const output = Buffer.alloc(bytes, word);
    for (let from = 0; from < bytes; from += 65_536) await writer.add(output.subarray(from, from + 65_536));
    const { id, scope, sha256, lines, ...artifact } = await writer.end();
    tell({ artifact: { id, scope, sha256, bytes: artifact.bytes, lines } });
    const receipt = null;
    const event = { kind: "output-clamped" as const, atMs: Date.now(), session: "s", tool: "x", call, artifact: id };
    await ledger.record({ ...event, receipt, more: null });
    tell({ call });
  }
}
