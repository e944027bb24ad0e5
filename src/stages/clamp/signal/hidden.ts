import type { Hidden } from "../../../contract/cut.ts";
import type { Focus } from "../../../contract/strategy.ts";
import { decode } from "../fit.ts";
import type { WordCounts } from "../focus/word-counts.ts";
import type { UnitStore } from "./unit-store.ts";

/** The forms in which tools name a failure, and a pattern that finds each. */
const FORMS = [
  { is: /--- FAIL: /, pattern: "--- FAIL: " },
  { is: /^\s*not ok \d/, pattern: "^ *not ok " },
  { is: /^\s*FAIL(?:ED)?:? +\S/, pattern: "^ *FAIL(ED)?:? " },
  { is: /● \S.* › /, pattern: "● .* › " },
  { is: /^\s*[✕✗×✖] +\S/, pattern: "^ *[✕✗×✖] " },
  { is: /\s(?:FAILED|FAIL|<<< (?:FAILURE|ERROR)!)$/, pattern: "(FAILED|FAIL|<<< (FAILURE|ERROR)!)$" },
  { is: /\berror(?::|\[\w+\]| TS\d)/, pattern: "error(:|\\[| TS[0-9])" },
];

/** How many failures a summary counts. */
const COUNTED =
  /\b(\d{1,6}) (?:tests? |specs? |examples? |suites? )?(?:fail(?:ed|ing|ures?)?|errors?)\b|\b(?:fail(?:ed|ures?)?|errors?)[:=] *(\d{1,6})\b/gi;
const MAX_BYTES = 400;

/** Counts the lines that name a failure, and knows how many failures the last summary counts. */
export class FailureNames {
  readonly #counts = new Int32Array(FORMS.length);
  /** How many failures the last summary counts. */
  counted = 0;

  see(line: Uint8Array): void {
    const text = textOf(line);
    const form = FORMS.findIndex(({ is }) => is.test(text));
    if (form !== -1) this.#counts[form] = (this.#counts[form] as number) + 1;
    const numbers = [...text.matchAll(COUNTED)].map(([, before, behind]) => Number(before ?? behind));
    if (numbers.length > 0) this.counted = Math.max(...numbers);
  }

  /** What is missing of the lines that name a failure, given those that are shown and those that are not; null if nothing is. */
  missingIn(shown: readonly Line[], others: readonly Line[]): { hidden: Hidden; rows: number[] } | null {
    // The form that stands as often as is counted, or a little more often: others are found in the failures' own texts.
    const enough = this.#counts.filter((count) => count >= this.counted);
    const most = enough.length > 0 ? Math.min(...enough) : Math.max(...this.#counts);
    const form = FORMS[this.#counts.indexOf(most)];
    if (most === 0 || this.counted === 0 || form === undefined) return null;
    const isNaming = ({ bytes }: Line) => form.is.test(textOf(bytes));
    const named = shown.filter(isNaming).length;
    // Any line may claim a number: no more are told of than were seen.
    const counted = Math.min(most, this.counted);
    if (named >= counted) return null;
    // Lines of a form that is rarer than the count are perhaps not what is counted.
    const rows = enough.length === 0 ? [] : others.filter(isNaming).map(({ row }) => row);
    return {
      hidden: { pattern: form.pattern, failures: { counted, shown: named } },
      rows: rows.slice(0, counted - named),
    };
  }
}

interface Line {
  row: number;
  bytes: Uint8Array;
}

function textOf(line: Uint8Array): string {
  return decode(line.subarray(0, MAX_BYTES)).trimEnd();
}

/** A word that may stand in a marker: it names something, and says nothing. */
const NAME = /^[\w.:@/-]{2,40}$/;
const MOST_WORDS = 3;

/** What a reader of a cut will miss, and rows that have it. */
interface Missing {
  hidden: Hidden[];
  rows: number[];
}

/** What of an output is missing in the rows that are kept, though its summary counts it or somebody asked for it. */
export function missingIn(
  store: UnitStore,
  kept: Uint8Array,
  names: FailureNames,
  { focus, words }: { focus: Focus | undefined; words: WordCounts | null },
): Missing {
  const { bytes, byteAt, byteLength } = store;
  const shown: Line[] = [];
  const others: Line[] = [];
  let seen = 0;
  for (let row = 0; row < store.length; row++) {
    const at = byteAt[row] as number;
    const line = { row, bytes: bytes.subarray(at, at + (byteLength[row] as number)) };
    if (kept[row] === 0) others.push(line);
    else {
      seen |= store.words[row] as number;
      shown.push(line);
    }
  }
  const failures = names.missingIn(shown, others);
  const missing = (focus?.texts ?? []).flatMap((text, word) =>
    NAME.test(text) && words?.isMissing(word, seen) ? [{ text, word }] : [],
  );
  const asked = missing.slice(0, MOST_WORDS);
  const pattern = asked.map(({ text }) => text.replace(/[.]/g, "\\.")).join("|");
  const firstWith = (word: number) => others.find(({ row }) => ((store.words[row] as number) & (1 << word)) !== 0);
  return {
    hidden: [...(failures === null ? [] : [failures.hidden]), ...(pattern === "" ? [] : [{ pattern }])],
    rows: [...asked.flatMap(({ word }) => firstWith(word)?.row ?? []), ...(failures?.rows ?? [])],
  };
}
