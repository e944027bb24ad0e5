import type { Cut, Gap, Piece } from "../contract/cut.ts";
import type { Extent } from "../contract/size.ts";
import { encodeText, newScan, scanBytes, scannedChars } from "../stages/measure/scan.ts";
import { startRedact } from "../stages/redact/redact.ts";
import type { RedactionRule } from "../stages/redact/redaction-rule.ts";
import { Replacements } from "../stages/redact/replacements.ts";
import type { Redactor } from "../stages/spill/spill.ts";
import type { SourceAccount, SourceCut } from "./admission.ts";

/** One output whose secrets are replaced before anything else sees it; what is cut of it is told in units of its source. */
export class RedactedSource implements SourceAccount {
  redactions: { count: number; bytes: number } = { count: 0, bytes: 0 };
  readonly #scan = newScan();
  readonly #seen = new Replacements();
  readonly #redact: Redactor;
  #chunk: Uint8Array | null = null;
  #certain: Uint8Array[] = [];
  #redactedBytes = 0;

  constructor(rules: readonly RedactionRule[]) {
    // What redaction lets go is only valid while it says so, unless it is the chunk itself.
    const take = (bytes: Uint8Array) => void this.#certain.push(bytes === this.#chunk ? bytes : new Uint8Array(bytes));
    this.#redact = startRedact(rules, take, this.#seen);
  }

  /** The redacted stream, chunk by chunk. */
  async *read(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) yield* this.#add(chunk);
    } catch (error) {
      // A source that failed has still sent what came before.
      yield* this.#end();
      throw error;
    }
    yield* this.#end();
  }

  /** Bytes of our marks. */
  get markBytes(): number {
    return this.#seen.before(Number.POSITIVE_INFINITY).markBytes;
  }

  /** A text with its secrets replaced. */
  readText(text: string): string {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let redacted = "";
    const take = (parts: Iterable<Uint8Array>) => {
      for (const part of parts) redacted += decoder.decode(part, { stream: true });
    };
    for (const bytes of encodeText(text)) take(this.#add(bytes));
    take(this.#end());
    return redacted + decoder.decode();
  }

  /** For a text that is a secret as a whole. */
  replaceAll(text: string, mark: string): void {
    for (const bytes of encodeText(text)) scanBytes(this.#scan, bytes);
    const { bytes } = this.#scan;
    this.#redactedBytes = mark.length;
    this.#seen.mark(new TextEncoder().encode(mark));
    this.#seen.covered(bytes);
    this.#seen.end();
    this.redactions = { count: 1, bytes };
  }

  account(cut: Cut): SourceCut {
    const total = { ...cut.total, bytes: this.#scan.bytes, chars: scannedChars(this.#scan) };
    const shown = { markBytes: 0, secretBytes: 0, lines: 0 };
    for (const [from, to] of this.#ranges(cut)) {
      const [first, last] = [this.#seen.before(from), this.#seen.before(to)];
      shown.markBytes += last.markBytes - first.markBytes;
      shown.secretBytes += last.secretBytes - first.secretBytes;
      shown.lines += last.lines - first.lines;
    }
    const bytes = lessEvenly(cut.kept.bytes, cut.folded.bytes, shown.markBytes);
    const lines = lessEvenly(cut.kept.lines, cut.folded.lines, shown.lines);
    const redacted: Extent = {
      bytes: Math.min(shown.secretBytes, Math.max(0, total.bytes - bytes.kept - bytes.folded)),
      lines: cut.kept.lines + cut.folded.lines - lines.kept - lines.folded,
    };
    return {
      ...cut,
      total,
      parts: this.#sourceGaps(cut.parts),
      kept: { bytes: bytes.kept, lines: lines.kept },
      folded: { bytes: bytes.folded, lines: lines.folded },
      redacted,
      omitted: { bytes: total.bytes - bytes.kept - bytes.folded - redacted.bytes, lines: cut.omitted.lines },
    };
  }

  *#add(chunk: Uint8Array): Generator<Uint8Array> {
    scanBytes(this.#scan, chunk);
    this.#chunk = chunk;
    this.#redact.add(chunk);
    yield* this.#letGo();
  }

  *#end(): Generator<Uint8Array> {
    this.#chunk = null;
    this.redactions = this.#redact.end();
    yield* this.#letGo();
  }

  *#letGo(): Generator<Uint8Array> {
    const certain = this.#certain;
    this.#certain = [];
    for (const bytes of certain) this.#redactedBytes += bytes.length;
    yield* certain;
  }

  /** What is shown of the redacted stream. */
  #ranges({ parts, omitted }: Cut): (readonly [from: number, to: number])[] {
    if (omitted.bytes === 0) return [[0, this.#redactedBytes]];
    return parts.filter(isPiece).map(({ source }) => source);
  }

  /** Gaps lie between pieces; one with a note of its own lies inside a piece and stays as it was counted. */
  #sourceGaps(parts: Cut["parts"]): Cut["parts"] {
    let at = 0;
    return parts.map((part, index) => {
      if (isPiece(part)) {
        at = part.source[1];
        return part;
      }
      if (part.noted) return part;
      const from = this.#seen.before(at);
      const end = parts.slice(index).find(isPiece)?.source[0] ?? this.#redactedBytes;
      const to = this.#seen.before(end);
      const secrets = to.secretBytes - from.secretBytes;
      return { ...part, bytes: part.bytes - (to.markBytes - from.markBytes) + secrets };
    });
  }
}

/** Takes `less` from both in proportion: marks stand in what is kept as often as in what was folded. */
export function lessEvenly(kept: number, folded: number, less: number): { kept: number; folded: number } {
  const both = kept + folded;
  const taken = Math.min(less, both);
  const fromKept = both === 0 ? 0 : Math.min(kept, Math.round((taken * kept) / both));
  const fromFolded = Math.min(folded, taken - fromKept);
  return { kept: kept - (taken - fromFolded), folded: folded - fromFolded };
}

function isPiece(part: Piece | Gap): part is Piece {
  return "text" in part;
}
