import { decode } from "../fit.ts";
import { RareLines, type Said } from "../ranked/rare-lines.ts";
import { startRanked } from "../ranked/start-ranked.ts";
import { type KindSample, type KindStrategy, shareOfLines } from "./kind.ts";
import { isTable } from "./table.ts";

const RANKS = 14;
const LOOK_BYTES = 400;
/** The share of the room for lines that say something rare, with the heads above them. */
const RARE_SHARE = 0.6;
/** Lines of one section in the first step of its depth; each further step has twice as many. */
const FIRST_LINES = 2;

/**
 * Keeps the structure of what is written as keys and values, records, commits, threads or elements: values, keys and numbers
 * that are rare among their like and what tells of trouble, each with the heads above it, then what is higher before what is deeper.
 */
export const sections: KindStrategy = {
  name: "sections",
  exact: true,
  kinds: [{ name: "sections", order: 45, is: isSections }],
  start: (request) => {
    const reader = new SectionReader();
    let line: SectionLine | null = null;
    return startRanked(request, {
      ranks: RANKS,
      name: (rank) => (rank === 0 ? "rare or trouble" : rank === 1 ? "head" : `${rank - 1} deep`),
      headShare: 0.8,
      share: (rank) => (rank === 0 ? RARE_SHARE : 1),
      late: { rank: 0, holder: (mostBytes) => new RareLines(mostBytes, () => line?.said ?? null, true) },
      rank(bytes, number) {
        line = reader.read(decode(bytes.subarray(0, LOOK_BYTES)), number);
        return Math.min(RANKS - 1, 1 + line.depth + Math.floor(Math.log2(1 + line.place / FIRST_LINES)));
      },
    });
  },
};

/** A line of a section: what it says, how deep it stands, and how many of its section stand before it. */
interface SectionLine {
  said: Said;
  depth: number;
  place: number;
  /** True if a key of its section stands for the second time. */
  isRepeated: boolean;
  hasKey: boolean;
}

/** A head under which lines stand. */
interface Section {
  indent: number;
  /** The keys above it without what only numbers them: the same for all sections of one sort. */
  path: string;
  line: number;
  /** The line with its name, if it has one. */
  named: number | null;
  /** How often each key stands in it. */
  keys: Map<string, number>;
  lines: number;
}

/** Begins a section whatever its indent: `[x]`, a record of psql or mysql, a commit, a thread, a document of YAML. */
const HEAD =
  /^(?:\[[^\]]+\]\s*$|-\[ RECORD \d|\*{9,} *\d+\. row|commit [0-9a-f]{7,40}\b|"[^"]*" (?:#\d|daemon|prio=|tid=)|---\s*$)/;
/** A key and its value: `key: value`, `key = value`, `key | value`, `<key attributes>`. */
const KEYED =
  /^("[^"]*"|<[\w:.-]+|[\w./$@%*-][\w./$@%()-]*(?: [\w./()-]+){0,4}?)(?:\s*(?::(?=\s|$)|[=|])\s*|(?<=^<\S+)[\s>])(.*)$/;
const ITEM = /^(?:- +)+/;
/** Keys whose value names what the section is about. */
const NAMES = /^(?:name|id|title)$/i;
/** What only numbers or names one of many: left out where sections are compared. */
const NUMBERING = /"[^"]*"|\b[0-9a-f]{7,40}\b|\d+/g;
const TROUBLE =
  /\b(?:False|Fail(?:ed|ure|ing)?|FAIL(?:ED|URE)?|Errors?|ERROR|Warning|Waiting|Unhealthy|Degraded|OutOfSync|Evicted|NotReady|Unavailable|Killed|OOMKilled|BLOCKED|deadlock|Revert|\w*BackOff|\w*[a-z]Error|denied|refused|timed out|exceeded|unhealthy|not found|does not)\b|^Exit Code:\s*[1-9]|<(?:failure|error)\b/;

/** Reads lines as sections within sections, by their indents and heads. */
class SectionReader {
  #open: Section[] = [];
  /** The first key of every record, where keys are set to the right; else empty. */
  #recordKey: string | null = null;
  #isAfterBlank = true;
  #isSubject = false;

  read(text: string, number: number): SectionLine {
    const body = text.trimStart();
    if (body === "") {
      this.#isAfterBlank = true;
      return { said: { values: [] }, depth: RANKS, place: 0, isRepeated: false, hasKey: false };
    }
    const parts = partsOf(text, body);
    const { isHead, item, key, value } = parts;
    const indent = this.#indentOf(text, body, parts);
    while (this.#open.length > 0 && (this.#open.at(-1) as Section).indent >= indent) this.#open.pop();
    const parent = this.#open.at(-1);
    const before = parent?.keys.get(key) ?? 0;
    parent?.keys.set(key, before + 1);
    const nth = key === "" || item !== "" || isHead ? 0 : Math.min(before, MOST_ALIKE);
    const path =
      indent === TOP && !isHead
        ? RECORD
        : `${parent?.path ?? ""}/${item === "" ? "" : "-"}${key.replaceAll(NUMBERING, "0")}${nth || ""}`;
    const isSubject = !isHead && this.#isAfterBlank && this.#isSubject;
    const place = isSubject ? 0 : (parent?.lines ?? 0);
    if (parent !== undefined) parent.lines++;
    if (NAMES.test(key)) for (const section of this.#open.slice(-2)) section.named ??= number;
    const depth = isSubject ? 0 : this.#open.length;
    const above = this.#open.flatMap(({ line, named }) => (named === null ? [line] : [line, named]));
    // A commit's message has words of all sorts: no word of it stands out, and the trouble it tells of is over.
    const isMessage = this.#open[0]?.path.startsWith("/commit") ?? false;
    const said: Said = isMessage
      ? { values: [], above }
      : { values: [[path, value]], within: parent?.path, above, sign: TROUBLE.exec(body)?.[0] };
    if ((key !== "" || item !== "") && this.#open.length < MOST_DEPTH) {
      this.#open.push({ indent, path, line: number, named: null, keys: new Map(), lines: 0 });
    }
    this.#isAfterBlank = false;
    this.#isSubject = isHead ? text.startsWith("commit ") : this.#isSubject && !isSubject;
    return { said, depth, place, isRepeated: nth > 0, hasKey: key !== "" };
  }

  /** How far in a line stands; `TOP` for heads, and for the first key of records whose keys are set to the right. */
  #indentOf(text: string, body: string, { isHead, item, key }: Parts): number {
    // If the output begins with an indented key, keys are set to the right, and this one begins every record.
    this.#recordKey ??= text.startsWith(" ") ? key : "";
    if (isHead || (key !== "" && key === this.#recordKey)) return TOP;
    return this.#recordKey !== "" ? 0 : text.length - body.length + (item === "" ? 0 : 1);
  }
}

/** The indent of what stands above all else. */
const TOP = -1;
/** So many like keys in one section are told apart, as the cells of a row are. */
const MOST_ALIKE = 15;
/** Deeper lines stand under the same heads. */
const MOST_DEPTH = 32;
/** The path of records whose keys are set to the right. */
const RECORD = "record";

interface Parts {
  isHead: boolean;
  item: string;
  key: string;
  value: string;
}

/** A line as a head, or as an item with a key and its value. `body` is the line without its indent. */
function partsOf(text: string, body: string): Parts {
  if (HEAD.test(text)) return { isHead: true, item: "", key: headKey(text), value: "" };
  const item = ITEM.exec(body)?.[0] ?? "";
  const keyed = KEYED.exec(body.slice(item.length));
  return { isHead: false, item, key: keyed?.[1] ?? "", value: keyed?.[2] ?? body };
}

function headKey(text: string): string {
  if (text.startsWith("[")) return /[\s:."]/.test(text.trim()) ? (/^\[[\w-]*/.exec(text)?.[0] ?? "[") : "[";
  return text.slice(0, 40);
}

const LEAST_LINES = 8;
const KEYED_SHARE = 0.7;
const MOST_REPEATED = 0.05;
const THREADS = /^(?:Full thread dump |"[^"]+" (?:#\d+ |daemon ).*\btid=)/;
/** Lines of programs, and what ends like them. */
const CODE =
  /[;{(,]$|^\s*(?:import|from|def|class|return|if|for|while|else|elif|try|except|const|let|var|function|public|private|export)\b(?!\s*[:=])/;
const TIMED = /^\W{0,2}\d{4}-\d\d-\d\d[T ]\d|^\W{0,2}\d\d:\d\d:\d\d|^[A-Z][a-z]{2} +\d+ \d\d:\d\d/;

/** Keys and values in sections: in one section no key stands twice, unlike the words before a log's lines. */
function isSections(sample: KindSample): boolean {
  const { lines } = sample;
  if (lines.length < LEAST_LINES || isTable(sample)) return false;
  const [first = ""] = lines;
  if (/^commit [0-9a-f]{40}/.test(first))
    return lines.some((line) => line.startsWith("Author: ")) && !lines.some((line) => line.startsWith("diff --git "));
  if (lines.slice(0, 3).some((line) => THREADS.test(line))) return true;
  // Other XML has its messages all over: what is rare in it is not what is looked for.
  if (first.startsWith("<")) return lines.some((line) => /^\s*<testcase\b/.test(line));
  if (shareOfLines(lines, (line) => TIMED.test(line)) > 0 || shareOfLines(lines, (line) => CODE.test(line)) > 0.1)
    return false;
  const reader = new SectionReader();
  const read = lines.map((line, index) => reader.read(line, index + 1));
  const share = (is: (line: SectionLine) => boolean) => read.filter(is).length / read.length;
  return (
    share(({ hasKey }) => hasKey) >= KEYED_SHARE &&
    share(({ isRepeated }) => isRepeated) <= MOST_REPEATED &&
    share(({ depth }) => depth > 0) >= 0.3
  );
}
