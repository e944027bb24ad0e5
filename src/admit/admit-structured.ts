import type { Access } from "../stages/mark/access.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { spillNow, startSpill } from "../stages/spill/spill.ts";
import { LargeJson } from "../values.ts";
import type { AdmitPlan, AdmittedOutput } from "./admission.ts";
import { admitBlocks, admitUnwalked, holdBlocks, plainResult } from "./admit-blocks.ts";
import { boundObject } from "./admit-object.ts";
import { type AdmittedBlocks, isCutBlock } from "./admit-texts.ts";
import { cutAnew, type KnownText, knownText, knownTextNow } from "./known-texts.ts";
import type { ModelView } from "./model-view.ts";
import type { OutputPorts } from "./ports.ts";
import { withFaults } from "./receipts.ts";
import { redactedPlace } from "./redaction.ts";
import { standInFor } from "./stand-in.ts";

type AdmitResult = (plan: AdmitPlan, result: object) => AdmittedBlocks<object>;

/** What a structured result passes with; the model's view of it is handed in besides. */
type StructuredPorts = Omit<OutputPorts, "loadView" | "exit"> & Partial<Pick<OutputPorts, "loadView">>;

/** Admits a structured result; `admit` says how its parts share the limits. */
export async function admitStructured(
  plan: AdmitPlan,
  result: object,
  ports: StructuredPorts,
  view: ModelView | null,
  admit: AdmitResult = admitBlocks,
): Promise<AdmittedOutput> {
  const { place, about, access, knownTexts } = ports;
  const { blocks, write } = view === null ? admit(plan, result) : admitRedacted(plan, result, view);
  const faults: string[] = [];
  const kept: KnownText[] = [];
  for (const block of blocks) {
    const isCut = isCutBlock(block);
    const known = isCut && block.text !== null ? knownTexts.find(block.text) : null;
    const again = known === null ? null : await cutAnew(block.plan, known, place.store);
    if (known !== null && again !== null) {
      block.ended = again;
      kept.push(known);
      continue;
    }
    const redacted = redactedPlace(place, block.plan.source, block.text === null);
    const spill = startSpill(isCut ? redacted : { ...place, store: null }, about);
    if (isCut) for (const bytes of block.chunks()) await spill.add(bytes);
    const { artifact, fault } = await spill.end(plan.exitCode);
    if (fault !== null) faults.push(fault);
    const { exitCode, note } = block.plan;
    const raw = { ...(await knownText(artifact, access, exitCode)), ...(note !== undefined && { note }) };
    if (block.ended === null) {
      kept.push(raw);
      continue;
    }
    const saved = { raw, html: () => block.text, fault: undefined, exitCode };
    const standIn = await standInFor(block.ended, saved, ports, faults);
    block.text = standIn.text ?? block.text;
    block.ended = standIn.ended;
    kept.push(standIn.kept);
  }
  const { texts, ...admitted } = write(kept);
  texts.forEach((text, index) => {
    if (blocks[index]?.ended?.cut) knownTexts.remember(text, kept[index] as KnownText);
  });
  return holdBlocks(plan, { ...admitted, receipt: withFaults(admitted.receipt, faults) });
}

/** The same before it returns, for hosts that cannot wait: what the store cannot save at once is marked as not saved. */
export function admitStructuredNow(
  plan: AdmitPlan,
  result: object,
  { place, about, knownTexts }: Pick<OutputPorts, "place" | "about" | "knownTexts">,
  access: Access,
  admit: AdmitResult = admitBlocks,
): AdmittedOutput {
  const { blocks, write } = admit(plan, result);
  const spills = blocks.map((block) =>
    isCutBlock(block) ? spillNow(place, about, block.chunks()) : { artifact: null, fault: null },
  );
  const kept = blocks.map((block, index) => knownTextNow(spills[index]?.artifact ?? null, access, block.plan.exitCode));
  const { texts, ...admitted } = write(kept);
  texts.forEach((text, index) => knownTexts.remember(text, kept[index] as KnownText));
  const faults = spills.flatMap(({ fault }) => fault ?? []);
  return holdBlocks(plan, { ...admitted, receipt: withFaults(admitted.receipt, faults) });
}

/** Secrets are replaced before anything is measured or chosen, so that no cut leaves half of one. */
function admitRedacted(plan: AdmitPlan, given: object, view: ModelView): AdmittedBlocks<object> {
  const maxBytes = plan.limits.maxBytes ?? plan.limits.maxChars ?? NUMBERS.ceilingBytes.default;
  if (given instanceof LargeJson) return boundObject(plan, given, view.copy(given.seen, 2 * maxBytes));
  const result = plan.boundDetails ? view.details(given, NUMBERS.detailsBytes.default) : given;
  const plain = plainResult(result, plan.limits);
  const redacted = plain === null ? null : view.result(plain);
  // Cut at twice the size that will be shown, so that what a cut left of a secret is not.
  if (redacted === null) return admitUnwalked(plan, result, view.copy(result, 2 * maxBytes));
  return admitBlocks({ ...plan, source: view.sum(redacted.sources) }, redacted.result, redacted.sources);
}
