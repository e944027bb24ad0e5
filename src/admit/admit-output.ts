import type { OutputStream } from "../contract/output.ts";
import type { Artifact, Store } from "../contract/store.ts";
import type { Keeping } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/encode-text.ts";
import { bytesOf, isStream, readChunks } from "../stages/measure/read-chunks.ts";
import { startSpill } from "../stages/spill/spill.ts";
import { type AdmissionRequest, type Admitted, NOT_KEPT, startAdmission } from "./admission.ts";
import { admitBlocks } from "./admit-blocks.ts";

/** What came of an output: its own shape for the caller, its text, and the receipt. */
export interface AdmittedOutput extends Admitted {
  output: unknown;
}

/** Admits an output of any shape, spilling what is held back while it comes. */
export async function admitOutput(
  request: AdmissionRequest,
  output: unknown,
  store: Store | null,
): Promise<AdmittedOutput> {
  if (typeof output === "string") {
    const admitted = await admitChunks(request, encodeText(output), store, output.toWellFormed());
    return { output: admitted.text, ...admitted };
  }
  if (isStream(output)) {
    const admitted = await admitChunks(request, readChunks(output as OutputStream), store);
    return { output: admitted.text, ...admitted };
  }
  if (output instanceof ArrayBuffer || ArrayBuffer.isView(output)) {
    const admitted = await admitChunks(request, [bytesOf(output)], store);
    return { output: admitted.text, ...admitted };
  }
  if (typeof output === "object" && output !== null) return admitStructured(request, output, store);
  // Numbers, booleans and nothing are no larger than themselves.
  const text = output === null || output === undefined ? "" : String(output);
  return { ...(await admitChunks(request, encodeText(text), store, text)), output };
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

async function admitChunks(
  request: AdmissionRequest,
  chunks: Chunks,
  store: Store | null,
  original?: string,
): Promise<Admitted> {
  const admission = startAdmission(request);
  const spill = startSpill(store);
  let fault: string | undefined;
  try {
    for await (const chunk of chunks) {
      const before = admission.add(chunk);
      if (before.length > 0) await spill.add(before);
      if (admission.over) await spill.add(chunk);
    }
  } catch (error) {
    fault = firstLine(error);
  }
  const { held } = admission;
  const ended = admission.end(fault);
  if (!ended.cut) return ended.write(NOT_KEPT, null, original);
  if (held.length > 0) await spill.add(held);
  return withFault(ended.write, await spill.end());
}

async function admitStructured(
  request: AdmissionRequest,
  result: object,
  store: Store | null,
): Promise<AdmittedOutput> {
  const { blocks, write } = admitBlocks(request, result);
  const faults: string[] = [];
  const kept: { keeping: Keeping; sha256: string | null }[] = [];
  for (const { text, ended } of blocks) {
    if (!ended.cut) {
      kept.push({ keeping: NOT_KEPT, sha256: null });
      continue;
    }
    const spill = startSpill(store);
    for (const bytes of encodeText(text)) await spill.add(bytes);
    const { artifact, fault } = await spill.end();
    if (fault !== null) faults.push(fault);
    kept.push({ keeping: keepingOf(artifact), sha256: artifact?.sha256 ?? null });
  }
  const admitted = write(kept);
  return faults.length === 0 ? admitted : { ...admitted, receipt: withFaults(admitted.receipt, faults) };
}

function withFault(
  write: (keeping: Keeping, sha256: string | null) => Admitted,
  spilled: { artifact: Artifact | null; fault: string | null },
): Admitted {
  const admitted = write(keepingOf(spilled.artifact), spilled.artifact?.sha256 ?? null);
  return spilled.fault === null ? admitted : { ...admitted, receipt: withFaults(admitted.receipt, [spilled.fault]) };
}

function withFaults(receipt: Admitted["receipt"], faults: string[]): Admitted["receipt"] {
  return { ...receipt, faults: [...(receipt.faults ?? []), ...faults] };
}

function keepingOf(artifact: Artifact | null): Keeping {
  return artifact === null ? NOT_KEPT : { saved: artifact.saved, savedBytes: artifact.bytes, id: artifact.id };
}

const MAX_FAULT_CHARS = 200;

/** Why a stream failed, on one short line: it is told to the model. */
export function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ""] = message.toWellFormed().split(/[\r\n]/, 1);
  return line.length > MAX_FAULT_CHARS
    ? `${line.slice(0, MAX_FAULT_CHARS).toWellFormed()}...`
    : line || "unknown error";
}
