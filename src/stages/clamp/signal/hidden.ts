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
  #counted = 0;

  see(line: Uint8Array): void {
    const text = textOf(line);
    const form = FORMS.findIndex(({ is }) => is.test(text));
    if (form !== -1) this.#counts[form] = (this.#counts[form] as number) + 1;
    const numbers = [...text.matchAll(COUNTED)].map(([, before, behind]) => Number(before ?? behind));
    if (numbers.length > 0) this.#counted = Math.max(...numbers);
  }

  /** What is missing among lines that are shown; null if as many are named as can be. */
  missingIn(lines: readonly Uint8Array[]): Hidden | null {
    const most = Math.max(...this.#counts);
    const form = FORMS[this.#counts.indexOf(most)];
    if (most === 0 || form === undefined) return null;
    const shown = lines.filter((line) => form.is.test(textOf(line))).length;
    // Any line may claim a number: no more are told of than were seen.
    const counted = Math.min(most, this.#counted);
    if (shown >= counted) return null;
    return { pattern: form.pattern, failures: { counted, shown } };
  }
}

function textOf(line: Uint8Array): string {
  return decode(line.subarray(0, MAX_BYTES)).trimEnd();
}

/** A word that may stand in a marker: it names something, and says nothing. */
const NAME = /^[\w.:@/-]{2,40}$/;
const MOST_WORDS = 3;

/** What of an output is missing in the rows that are kept, though its summary counts it or somebody asked for it. */
export function hiddenIn(
  store: UnitStore,
  kept: Uint8Array,
  names: FailureNames,
  { focus, words }: { focus: Focus | undefined; words: WordCounts | null },
): Hidden[] {
  const { bytes, byteAt, byteLength } = store;
  const lines: Uint8Array[] = [];
  let seen = 0;
  for (let row = 0; row < store.length; row++) {
    if (kept[row] === 0) continue;
    seen |= store.words[row] as number;
    const at = byteAt[row] as number;
    lines.push(bytes.subarray(at, at + (byteLength[row] as number)));
  }
  const failures = names.missingIn(lines);
  const missing = (focus?.texts ?? [])
    .filter((text, word) => NAME.test(text) && words?.isMissing(word, seen))
    .slice(0, MOST_WORDS);
  const pattern = missing.map((text) => text.replace(/[.]/g, "\\.")).join("|");
  return [...(failures === null ? [] : [failures]), ...(pattern === "" ? [] : [{ pattern }])];
}
