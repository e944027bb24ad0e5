import { newRecorder } from "../../../admit/recorder.ts";
import { type Redact, redactionOf } from "../../../admit/redaction.ts";
import { safeNames } from "../../../admit/safe-names.ts";
import { withFaults } from "../../../admit/with-faults.ts";
import type { Receipt } from "../../../contract/receipt.ts";
import { estimateCounter } from "../../../stages/measure/estimate-tokens.ts";
import { newScan, scanBytes, scannedChars, scannedLines } from "../../../stages/measure/scan.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { newBreaker } from "../../../stages/spill/breaker.ts";
import { startSpill } from "../../../stages/spill/spill.ts";
import { type Place, SCOPE } from "../open-place.ts";

/** What is passed on as it comes. */
export interface RawOutput {
  tool: string;
  session: string | null;
  chunks: AsyncIterable<Uint8Array>;
  exitCode: Promise<number>;
}

/** Where it is kept and told. */
export interface RawKeeping {
  redact?: Redact | undefined;
  events?: string | undefined;
  runs?: string | undefined;
}

/** Tokens are estimated by a sample of this many bytes. */
const SAMPLE_BYTES = 256 * 1024;

/** Saves an output of which nothing is held back from anybody, and writes its receipt: all of it is shown. */
export async function passRaw(output: RawOutput, place: Place | null, keeping: RawKeeping): Promise<Receipt> {
  const { store = null, ledger = null } = place ?? {};
  const redaction = redactionOf(keeping.redact);
  const tool = await safeNames(redaction)(output.tool);
  const breaker = () => newBreaker(1, 0, Date.now);
  const deadlineMs = NUMBERS.spillDeadlineMs.default;
  const loadRedactor = redaction && (() => redaction.loadRedactor());
  const about = { scope: SCOPE, session: output.session, tool, call: null };
  const spill = startSpill({ store, breaker: breaker(), deadlineMs, loadRedactor }, about);
  const scan = newScan();
  const sample: Uint8Array[] = [];
  let sampledBytes = 0;
  for await (const chunk of output.chunks) {
    scanBytes(scan, chunk);
    if (sampledBytes < SAMPLE_BYTES) {
      sample.push(Uint8Array.from(chunk));
      sampledBytes += chunk.length;
    }
    await spill.add(chunk);
  }
  const { bytes } = scan;
  const lines = scannedLines(scan);
  const { artifact, fault } = bytes === 0 ? { artifact: null, fault: null } : await spill.end();
  const sampledTokens = estimateCounter.count(new TextDecoder().decode(Buffer.concat(sample)));
  const tokens = bytes === 0 ? 0 : Math.ceil((sampledTokens * bytes) / sampledBytes);
  const none = { bytes: 0, lines: 0 };
  const receipt: Receipt = {
    tool: output.tool,
    session: output.session,
    call: null,
    strategy: "off",
    total: { bytes, lines },
    kept: { bytes, lines },
    folded: none,
    redacted: none,
    omitted: none,
    shown: { bytes, chars: scannedChars(scan), lines, tokens },
    estimated: ["tokens"],
    limits: {},
    cutBy: null,
    cuts: [],
    moreCuts: 0,
    artifact: artifact?.id ?? null,
    sha256: artifact?.sha256 ?? null,
    saved: artifact?.saved ?? (bytes === 0 ? null : "no"),
    savedBytes: artifact?.bytes ?? 0,
    exitCode: await output.exitCode,
    ...(artifact !== null && artifact.redactions.count > 0 && { storedRedactions: artifact.redactions }),
  };
  const { events, runs } = keeping;
  const { openEventFiles } = await import("../../../storage/event-files/open-event-files.ts");
  const { logs } = place === null ? { logs: [] } : openEventFiles({ events, runs }, store);
  const recorder = newRecorder({
    ledger,
    logs,
    listeners: {},
    redaction,
    newBreaker: breaker,
    deadlineMs,
    now: Date.now,
  });
  const told = withFaults(receipt, fault === null ? [] : [fault]);
  return withFaults(told, await recorder.receipt(told, null));
}
