import type { Cut } from "../contract/cut.ts";
import type { Limits } from "../contract/limits.ts";
import type { Receipt } from "../contract/receipt.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { jsonChunks } from "../stages/clamp/json-chunks.ts";
import { replaceTexts } from "../stages/clamp/replace-texts.ts";
import { accessText, type Keeping } from "../stages/mark/access.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { encodeText, newScan, scanBytes, scannedChars, scannedLines } from "../stages/measure/scan.ts";
import { type ReceiptFacts, writeReceipt } from "../stages/record/write-receipt.ts";
import { type AdmissionRequest, type Admitted, NOT_KEPT, startAdmission } from "./admission.ts";
import { type AdmittedBlock, type AdmittedBlocks, admitTexts, type SourceText } from "./admit-texts.ts";

/** Each takes twice what the one before took: enough for any limit there is. */
const MOST_TRIES = 24;

/**
 * Clamps an object that reaches a model as JSON. Its texts are clamped in place while that is enough; where its keys and
 * numbers are too many, a bounded copy stands for it and all of it is kept as JSON.
 */
export function admitObject<T extends object>(
  request: AdmissionRequest,
  result: T,
  texts: SourceText[] | null,
): AdmittedBlocks<T> {
  if (texts === null) return boundObject(request, result);
  const most = mostBytes(request.limits);
  const emptied = replaceTexts(
    result,
    texts.map(({ path }) => ({ path, text: "" })),
  );
  const shape = boundValue(emptied, most);
  if (shape.cut || shape.bytes > most / 2)
    return isWithin(result, request) ? asItIs(request, result) : boundObject(request, result);
  // Breaks and quotes take two bytes in JSON: a second try makes room for what the first one met.
  for (let over = shape.bytes, tries = 0; tries < 3 && over < most; tries++) {
    const admitted = admitTexts({ ...request, limits: lessBytes(request.limits, over) }, result, texts);
    const { output } = admitted.write([]);
    const excess = jsonBytes(output) - most;
    if (excess <= 0) return asJson(request, admitted, shape.bytes);
    over += excess;
  }
  return boundObject(request, result);
}

function mostBytes({ maxBytes, maxChars }: Limits): number {
  return Math.min(maxBytes ?? Number.POSITIVE_INFINITY, maxChars ?? Number.POSITIVE_INFINITY);
}

function lessBytes(limits: Limits, bytes: number): Limits {
  const less = (limit: number) => Math.max(0, limit - bytes);
  return {
    ...limits,
    ...(limits.maxBytes !== undefined && { maxBytes: less(limits.maxBytes) }),
    ...(limits.maxChars !== undefined && { maxChars: less(limits.maxChars) }),
  };
}

function jsonBytes(value: unknown): number {
  return boundValue(value, Number.POSITIVE_INFINITY).bytes;
}

/** Cuts the largest text that was cut by so many bytes more. */
function tighten(blocks: readonly AdmittedBlock[], bytes: number): void {
  const room = (block: AdmittedBlock) => mostBytes(block.request.limits);
  const [largest] = blocks.filter(({ ended }) => ended.cut).sort((a, b) => room(b) - room(a));
  if (largest === undefined) return;
  largest.request = { ...largest.request, limits: lessBytes(largest.request.limits, bytes) };
  const admission = startAdmission(largest.request);
  for (const chunk of largest.chunks()) admission.add(chunk);
  largest.ended = { ...admission.end(), source: null };
}

/** Clamped texts in place; what the model gets is their JSON, and the shape around them counts as kept. */
function asJson<T extends object>(
  request: AdmissionRequest,
  admitted: AdmittedBlocks<T>,
  shapeBytes: number,
): AdmittedBlocks<T> {
  // What a summary takes as JSON is not known before it is written.
  for (const block of admitted.blocks) block.ended = { ...block.ended, source: null };
  return {
    blocks: admitted.blocks,
    write(kept) {
      let written = admitted.write(kept);
      // Markers that say where the rest is have other quotes than those that were tried.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const excess = jsonBytes(written.output) - mostBytes(request.limits);
        if (excess <= 0) break;
        tighten(admitted.blocks, excess * 2 ** tries);
        written = admitted.write(kept);
      }
      const text = JSON.stringify(boundValue(written.output, Number.POSITIVE_INFINITY).value) ?? "";
      const { total, kept: shown } = written.receipt;
      const receipt: Receipt = {
        ...written.receipt,
        total: { ...total, bytes: total.bytes + shapeBytes },
        kept: { ...shown, bytes: shown.bytes + shapeBytes },
        shown: measureText(text, request.counter),
        limits: request.limits,
      };
      return { ...written, text, receipt, totalChars: written.totalChars + shapeBytes };
    },
  };
}

function isWithin(result: object, { limits, counter }: AdmissionRequest): boolean {
  const { value, cut } = boundValue(result, mostBytes(limits));
  return !cut && counter.count(JSON.stringify(value) ?? "") <= (limits.maxTokens ?? Number.POSITIVE_INFINITY);
}

/** Mostly keys and numbers, and within the limits. */
function asItIs<T extends object>(request: AdmissionRequest, result: T): AdmittedBlocks<T> {
  const text = JSON.stringify(boundValue(result, mostBytes(request.limits)).value) ?? "";
  const { blocks, write } = admitTexts({ ...request, limits: {} }, { content: text }, [{ text, path: ["content"] }]);
  return { blocks, write: (kept) => ({ ...write(kept), output: result, texts: [] }) };
}

/** A bounded copy, of `seen` if not of the result itself; the whole is kept as JSON, one element or field a line. */
export function boundObject<T extends object>(
  request: AdmissionRequest,
  result: T,
  seen: object = result,
): AdmittedBlocks<T> {
  const chunks = function* () {
    for (const chunk of jsonChunks(result)) yield* encodeText(chunk);
  };
  const scan = newScan();
  for (const bytes of chunks()) scanBytes(scan, bytes);
  const total = { bytes: scan.bytes, lines: scannedLines(scan), chars: scannedChars(scan), breaks: scan.breaks };
  const write = (keeping: Keeping, sha256: string | null): Admitted & { output: unknown } => {
    const { output, text } = fitted(request, seen, `shortened from ${total.bytes} bytes. ${accessText(keeping)}`);
    const shown = measureText(text, request.counter);
    const kept = { bytes: Math.min(shown.bytes, total.bytes), lines: Math.min(shown.lines, total.lines) };
    const omitted = { bytes: total.bytes - kept.bytes, lines: total.lines - kept.lines };
    const gap = { fromLine: 1, toLine: total.lines, lines: omitted.lines, bytes: omitted.bytes, chars: total.chars };
    const cut: Cut = { parts: [gap], total, kept, folded: { bytes: 0, lines: 0 }, omitted, cutBy: "bytes" };
    const { tool, session, call, limits, counter, exitCode } = request;
    const facts: ReceiptFacts = {
      tool,
      session,
      call,
      strategy: "bounded",
      shown,
      estimated: counter.exact ? [] : ["tokens"],
      limits,
      artifact: keeping.id,
      sha256,
      saved: keeping.saved,
      savedBytes: keeping.savedBytes,
      exitCode,
      ...(keeping.redactions.count > 0 ? { storedRedactions: keeping.redactions } : {}),
    };
    const receipt = writeReceipt(facts, request.source?.account(cut) ?? cut, 1);
    return { output, text, receipt, totalChars: total.chars };
  };
  return {
    blocks: [{ text: null, request, chunks, ended: { cut: true, source: null, write } }],
    write([kept]) {
      const { keeping, sha256 } = kept ?? {
        keeping: NOT_KEPT,
        sha256: null,
      };
      return { ...write(keeping, sha256), texts: [] } as ReturnType<AdmittedBlocks<T>["write"]>;
    },
  };
}

/** Notes that stand for left-out content blocks become blocks themselves. */
function withTextBlocks(copy: unknown): unknown {
  if (typeof copy !== "object" || copy === null || !Array.isArray((copy as { content?: unknown }).content)) return copy;
  const content = (copy as { content: unknown[] }).content;
  if (!content.some((block) => typeof block === "object")) return copy;
  return {
    ...copy,
    content: content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
  };
}

/** The copy, with our note on it where it is an object, small enough in every unit. */
function fitted(request: AdmissionRequest, result: object, note: string): { output: unknown; text: string } {
  const { maxTokens = Number.POSITIVE_INFINITY } = request.limits;
  for (let most = mostBytes(request.limits); ; most = Math.floor(most / 2)) {
    // Room for the note, and for what makes a block of one.
    const room = note.length + 64 < most / 4 ? note.length + 64 : 0;
    const { value: copy } = boundValue(result, most - room);
    const value = withTextBlocks(copy);
    if (room > 0 && typeof value === "object" && value !== null && "[cut]" in value)
      (value as Record<string, unknown>)["[cut]"] = note;
    const text = JSON.stringify(value) ?? "";
    if (most < 2 || request.counter.count(text) <= maxTokens) return { output: value, text };
  }
}
