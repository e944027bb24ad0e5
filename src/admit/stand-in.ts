import type { Cut } from "../contract/cut.ts";
import type { Unit } from "../contract/limits.ts";
import type { Total } from "../contract/size.ts";
import { within } from "../deadline.ts";
import { messageOf } from "../errors.ts";
import { pageNote } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { startSpill } from "../stages/spill/spill.ts";
import { boundBy, type Ended, isCutPage, type SourceAccount, startAdmission } from "./admission.ts";
import { type KnownText, knownText } from "./known-texts.ts";
import type { LoadHtmlReader, OutputPorts } from "./ports.ts";
import { addRedactions } from "./receipts.ts";
import { redactedPlace } from "./redaction.ts";

/** An output that is cut, as it was saved and as it ended. */
interface Saved {
  /** As it came. */
  raw: KnownText;
  /** Its text, where that is at hand. */
  html(): string | null;
  fault: string | undefined;
  exitCode: number | null;
}

/** What is shown instead of the plain clamp: the text it is cut from, if that is another one, and where the whole is. */
interface StandIn {
  text?: string;
  ended: Ended;
  kept: KnownText;
}

/** What standing in works with. */
type StandInPorts = Omit<OutputPorts, "knownTexts" | "exit" | "loadView"> & Partial<Pick<OutputPorts, "loadView">>;

/**
 * What stands for a cut output in place of its clamp: a web page's text, a model's summary, or nothing else. What goes
 * wrong is added to `faults`.
 */
export async function standInFor(ended: Ended, saved: Saved, ports: StandInPorts, faults: string[]): Promise<StandIn> {
  const { loadHtmlReader, summarize } = ports;
  const html = isCutPage(ended) && ended.clamped.total.bytes <= NUMBERS.htmlBytes.default ? saved.html() : null;
  const page =
    loadHtmlReader && html !== null && (await admitPage(ended, html, saved, { ...ports, loadHtmlReader }, faults));
  const shown: StandIn = page || { ended, kept: saved.raw };
  const { plan, canSummarize, clamped } = shown.ended;
  const { summarizeOverChars: over } = plan;
  if (summarize === undefined || over === undefined || !canSummarize || clamped.total.chars <= over) return shown;
  return { ...shown, ended: { ...shown.ended, summary: await summarize(shown.ended, shown.kept, ports.about) } };
}

/** Admits a page as readable text instead of as markup; null where it has none, or with a fault more cannot be read. */
async function admitPage(
  { plan, clamped: { total, overBy } }: Ended,
  html: string,
  { raw, fault, exitCode }: Saved,
  { place, about, access, loadView = null, loadHtmlReader }: StandInPorts & { loadHtmlReader: LoadHtmlReader },
  faults: string[],
): Promise<StandIn | null> {
  const read = await readPage(html, loadHtmlReader);
  if (typeof read !== "string") {
    faults.push(read.fault);
    return null;
  }
  // Made by a script as it is looked at.
  if (read.trim() === "") return null;
  // A secret may come together only as text, where markup stood inside it.
  const view = (await loadView?.())?.source();
  const text = view?.readText(read) ?? read;
  const note = pageNote(total.bytes, raw);
  const source = pageAccount(total, (cut) => boundBy(cut, overBy, plan.limits), plan.source, view?.redactions);
  const admission = startAdmission({ ...plan, note, source });
  for (const bytes of encodeText(text)) admission.add(bytes);
  const ended = { ...admission.end(fault, exitCode), page: raw };
  if (!ended.cut) return { text, ended, kept: raw };
  const spill = startSpill(view === undefined ? place : redactedPlace(place, source), about);
  for (const bytes of encodeText(text)) await spill.add(bytes);
  const { artifact, fault: spillFault } = await spill.end(exitCode);
  if (spillFault !== null) faults.push(spillFault);
  return { text, ended, kept: { ...(await knownText(artifact, access, plan.exitCode)), note } };
}

async function readPage(html: string, load: LoadHtmlReader): Promise<string | { fault: string }> {
  const stop = new AbortController();
  try {
    const reading = (async () => (await load()).read(html, stop.signal))();
    return (await within(reading, NUMBERS.htmlReadMs.default, "reading a web page")).toWellFormed();
  } catch (error) {
    stop.abort();
    return { fault: `a web page could not be made into text: ${messageOf(error)}` };
  }
}

/** What is shown of a page's text counts as kept of the page, as far as that goes; all else was left out. */
function pageAccount(
  total: Total,
  cutBy: (cut: Cut) => Unit | null,
  source: SourceAccount | undefined,
  redactions: SourceAccount["redactions"] = { count: 0, bytes: 0 },
): SourceAccount {
  return {
    redactions: addRedactions(source?.redactions ?? { count: 0, bytes: 0 }, redactions),
    account(cut) {
      const nothing = { bytes: 0, lines: 0 };
      const all = { parts: [], total, kept: nothing, folded: nothing, omitted: total, cutBy: null };
      const { redacted, total: whole } = source?.account(all) ?? { redacted: nothing, total };
      const kept = (unit: "bytes" | "lines") => Math.min(cut.kept[unit], whole[unit] - redacted[unit]);
      return {
        ...cut,
        total: whole,
        cutBy: cutBy(cut),
        kept: { bytes: kept("bytes"), lines: kept("lines") },
        folded: nothing,
        redacted,
        omitted: {
          bytes: whole.bytes - redacted.bytes - kept("bytes"),
          lines: whole.lines - redacted.lines - kept("lines"),
        },
      };
    },
  };
}

/** Holds an output that may be a web page, until it is known to be none or to be too large. */
export class PageHolder {
  #chunks: Uint8Array[] | null = [];
  #bytes = 0;

  /** Copies the bytes. `kind` is what the output is, as far as that is known. */
  add(bytes: Uint8Array, kind: string | null): void {
    this.#bytes += bytes.length;
    if ((kind !== null && kind !== "html") || this.#bytes > NUMBERS.htmlBytes.default) this.#chunks = null;
    this.#chunks?.push(new Uint8Array(bytes));
  }

  /** The page; null where it is not held. */
  html(): string | null {
    if (this.#chunks === null) return null;
    const decoder = new TextDecoder();
    const parts = this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true }));
    return parts.join("") + decoder.decode();
  }
}
