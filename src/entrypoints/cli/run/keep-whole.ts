import { redactionOf } from "../../../admit/redaction.ts";
import type { Receipt } from "../../../contract/receipt.ts";
import type { SpillwayParts } from "../../../spillway.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { newBreaker } from "../../../stages/spill/breaker.ts";
import { startSpill } from "../../../stages/spill/spill.ts";
import { type Place, SCOPE } from "../open-place.ts";

/** Outputs within their limits are held up to this; with larger limits they are saved on the way, as being over them. */
export const MAX_HELD_BYTES = 1024 * 1024;

/** Holds an output while it is small. */
export class HeldOutput {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(chunk: Uint8Array): void {
    if (this.#bytes > MAX_HELD_BYTES) return;
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HELD_BYTES) this.#chunks = [];
    else this.#chunks.push(new Uint8Array(chunk));
  }

  /** Saves what was within its limits, and says so on the receipt. */
  async keep({ store, ledger }: Place, receipt: Receipt, redact: SpillwayParts["redact"]): Promise<Receipt> {
    if (receipt.saved !== null || this.#chunks.length === 0) return receipt;
    const { session, tool, call } = receipt;
    const redaction = redactionOf(redact);
    const spill = startSpill(
      {
        store,
        breaker: newBreaker(1, 0, Date.now),
        deadlineMs: NUMBERS.spillDeadlineMs.default,
        loadRedactor: redaction && (() => redaction.loadRedactor()),
      },
      { scope: SCOPE, session, tool, call },
    );
    for (const chunk of this.#chunks) await spill.add(chunk);
    const { artifact, fault } = await spill.end();
    if (artifact === null)
      return { ...receipt, saved: "no", faults: [...(receipt.faults ?? []), fault ?? "not saved"] };
    const { id, sha256, saved, bytes: savedBytes, redactions } = artifact;
    const about = { session, tool, call, artifact: id, receipt: null, atMs: Date.now() };
    await ledger.record({ ...about, kind: "artifact-spilled", more: { saved, savedBytes } }).catch(() => {});
    const replaced = redactions.count > 0 ? { storedRedactions: redactions } : {};
    return { ...receipt, artifact: id, sha256, saved, savedBytes, ...replaced };
  }
}
