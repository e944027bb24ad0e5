import type { Cut, Gap, Piece } from "../contract/cut.ts";
import type { Extent } from "../contract/size.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import {
  type FoundText,
  type FoundTexts,
  findTexts,
  type PlacedText,
  replaceTexts,
} from "../stages/clamp/find-texts.ts";
import { encodeText, newScan, scanBytes, scannedChars } from "../stages/measure/scan.ts";
import { startRedact } from "../stages/redact/redact.ts";
import type { RedactionRule } from "../stages/redact/redaction-rule.ts";
import { Replacements } from "../stages/redact/replacements.ts";
import type { Redactor } from "../stages/spill/spill.ts";
import type { SourceAccount, SourceCut } from "./admission.ts";
import { DETAILS } from "./admit-texts.ts";
import { addRedactions } from "./receipts.ts";

/** One output whose secrets are replaced before anything else sees it; what is cut of it is told in units of its source. */
class RedactedSource implements SourceAccount {
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
function lessEvenly(kept: number, folded: number, less: number): { kept: number; folded: number } {
  const both = kept + folded;
  const taken = Math.min(less, both);
  const fromKept = both === 0 ? 0 : Math.min(kept, Math.round((taken * kept) / both));
  const fromFolded = Math.min(folded, taken - fromKept);
  return { kept: kept - (taken - fromFolded), folded: folded - fromFolded };
}

function isPiece(part: Piece | Gap): part is Piece {
  return "text" in part;
}

/** Replaces secrets in what the model reads; loaded only where that was asked for. */
export interface ModelView {
  /** One text or stream. */
  source(): RedactedSource;
  /** A structured result; null if it is larger than anyone should walk. */
  result<T extends object>(result: T): RedactedResult<T> | null;
  /** A bounded copy of one that is. */
  copy(result: object, maxBytes: number): object;
  /** The fields beside the content that reach a model too. */
  details<T extends object>(result: T, maxBytes: number): T;
  sum(sources: readonly ReplacedSource[]): SourceAccount;
}

/** The model's view by these rules. */
export function modelView(rules: readonly RedactionRule[]): ModelView {
  return {
    source: () => new RedactedSource(rules),
    result: (result) => redactResult(rules, result),
    copy: (result, maxBytes) => redactCopy(rules, result, maxBytes),
    details(result, maxBytes) {
      const changed: [string, unknown][] = [];
      for (const key of DETAILS) {
        if (!Object.hasOwn(result, key)) continue;
        const held = { [key]: Reflect.get(result, key) as unknown };
        const redacted: object = redactResult(rules, held)?.result ?? redactCopy(rules, held, maxBytes);
        if (redacted !== held) changed.push([key, Reflect.get(redacted, key)]);
      }
      return changed.length === 0 ? result : { ...result, ...Object.fromEntries(changed) };
    },
    sum: (sources) => new SummedSource(sources),
  };
}

/** Longer values are texts, not secrets. */
const MAX_NAMED_CHARS = 4096;
/** Most strings of a result are shorter: looking at each alone would cost more than reading it. */
const SHORT_CHARS = 256;

/** A source of which it is known how much our marks take. */
interface ReplacedSource extends SourceAccount {
  readonly markBytes: number;
}

const UNCHANGED: ReplacedSource = {
  markBytes: 0,
  redactions: { count: 0, bytes: 0 },
  account: (cut) => ({ ...cut, redacted: { bytes: 0, lines: 0 } }),
};

/** A structured result whose secrets are replaced. */
interface RedactedResult<T> {
  result: T;
  /** One for each of its texts, in the order in which `findTexts` finds them. */
  sources: ReplacedSource[];
}

/** Replaces the secrets in a result's texts; the result itself is not changed. Null if it is larger than anyone should walk. */
function redactResult<T extends object>(rules: readonly RedactionRule[], result: T): RedactedResult<T> | null {
  const found = findTexts(result);
  if (found === null) return null;
  const sources: ReplacedSource[] = [];
  const changed: PlacedText[] = [];
  const mayChange = lookAtShort(rules, found);
  found.texts.forEach((place, index) => {
    const redacted = mayChange[index] ? redactPlaced(rules, place, found.hasContent) : null;
    sources.push(redacted?.source ?? UNCHANGED);
    if (redacted !== null) changed.push({ path: place.path, text: redacted.text });
  });
  return { result: changed.length === 0 ? result : replaceTexts(result, changed), sources };
}

/** Which texts have to be looked at one by one. Short ones are looked at together, each on a line of its own. */
function lookAtShort(rules: readonly RedactionRule[], { texts, hasContent }: FoundTexts): boolean[] {
  const short: number[] = [];
  let joined = "";
  texts.forEach((place, index) => {
    const json = place.text.length > SHORT_CHARS ? null : JSON.stringify(place.text);
    // What JSON spells otherwise reads otherwise.
    if (json?.length !== place.text.length + 2) return;
    short.push(index);
    joined += `${keyOf(place, hasContent)}${json}\n`;
  });
  const before = joined.split("\n");
  const after = new RedactedSource(rules).readText(joined).split("\n");
  const may = texts.map(() => true);
  short.forEach((index, line) => {
    may[index] = before[line] !== after[line];
  });
  return may;
}

/** What stands as JSON is also known by its key: {"password": "..."}. */
function keyOf({ path }: FoundText, hasContent: boolean): string {
  const key = path.at(-1);
  return hasContent || typeof key !== "string" ? "" : `${JSON.stringify(key)}: `;
}

/** One text with its secrets replaced; null if it has none. */
function redactPlaced(
  rules: readonly RedactionRule[],
  place: FoundText,
  hasContent: boolean,
): { text: string; source: RedactedSource } | null {
  const key = keyOf(place, hasContent);
  const named = key === "" ? null : redactNamed(rules, key, place.text);
  if (named !== null) return named;
  const source = new RedactedSource(rules);
  const text = source.readText(place.text);
  return source.redactions.count > 0 ? { text, source } : null;
}

/** A short text that is a secret by the name it stands under; null if it is none. */
function redactNamed(
  rules: readonly RedactionRule[],
  before: string,
  text: string,
): { text: string; source: RedactedSource } | null {
  if (text.length > MAX_NAMED_CHARS) return null;
  const written = new RedactedSource(rules).readText(`${before}${JSON.stringify(text)}`);
  const shown = written.match(/^.*: "(\[redacted:[^\]]+\])"$/)?.[1];
  if (shown === undefined || !written.startsWith(before)) return null;
  // All of it is the secret.
  const source = new RedactedSource([]);
  source.replaceAll(text, shown);
  return { text: shown, source };
}

/** A bounded copy of a result that is too large to walk, its secrets replaced. */
function redactCopy(rules: readonly RedactionRule[], result: object, maxBytes: number): object {
  const { value } = boundValue(result, maxBytes);
  if (typeof value !== "object" || value === null) return {};
  return redactResult(rules, value)?.result ?? {};
}

/** All texts of a result as one source, of which nobody knows where each stands. */
class SummedSource implements SourceAccount {
  readonly redactions: { count: number; bytes: number };
  readonly #markBytes: number;

  constructor(sources: readonly ReplacedSource[]) {
    this.redactions = sources.map((source) => source.redactions).reduce(addRedactions, { count: 0, bytes: 0 });
    this.#markBytes = sources.reduce((sum, source) => sum + source.markBytes, 0);
  }

  account(cut: Cut): SourceCut {
    const { kept, folded } = cut;
    const share = cut.total.bytes === 0 ? 0 : (kept.bytes + folded.bytes) / cut.total.bytes;
    const bytes = lessEvenly(kept.bytes, folded.bytes, Math.round(this.#markBytes * share));
    const total = { ...cut.total, bytes: Math.max(0, cut.total.bytes - this.#markBytes + this.redactions.bytes) };
    const left = total.bytes - bytes.kept - bytes.folded;
    const secretBytes = cut.omitted.bytes === 0 ? left : Math.min(left, Math.round(this.redactions.bytes * share));
    const omitted = { bytes: left - secretBytes, lines: cut.omitted.lines };
    const parts = cut.parts.map((part) => ("text" in part ? part : { ...part, bytes: omitted.bytes }));
    return {
      ...cut,
      parts,
      total,
      kept: { ...kept, bytes: bytes.kept },
      folded: { ...folded, bytes: bytes.folded },
      redacted: { bytes: secretBytes, lines: 0 },
      omitted,
    };
  }
}
