import { LateContext } from "./late-context.ts";
import { oddRows, tellingRows } from "./pin-signs.ts";
import { copiesDown, repeatsDown } from "./repeats.ts";
import type { SignalReader } from "./signal-reader.ts";
import { smoothed } from "./smooth.ts";
import { IS_WARNING, type UnitStore, WARNING_GAIN } from "./unit-store.ts";

/** Where nothing failed a line's own score says less, and its surroundings nothing. */
const PASSING_SHARE = 0.5;
/** Failing logs have their best line at -5.7 or above; where nothing comes near, no line tells more than another. */
const LEAST_SIGN = -6;

/** An output's lines with what each is worth. */
export interface Judged {
  store: UnitStore;
  /** Final scores: natural logarithms of a line's own value. */
  scores: Float32Array;
  values: Float64Array;
  units: number;
  /** Characters of the whole, folded; where some were not judged it may be bytes. */
  chars: number;
  /** Rows that tell of a failure: all of them, or some if they are many. */
  telling: number[];
  /** Rows that stand out; none if they are many. */
  odd: number[];
  isFailure: boolean;
  /** Something failed, and no line looks like a sign of it. */
  isUnsure: boolean;
}

/** Judges every line that is held, now that the whole is known. */
export function judge(reader: SignalReader, exitCode: number | undefined): Judged {
  const whole = reader.end();
  const { store } = reader;
  const late = new LateContext(whole);
  const isFailure = exitCode === undefined ? reader.tellsFailure : exitCode !== 0;
  const scores = new Float32Array(store.length);
  for (let row = 0; row < store.length; row++) {
    const gain = ((store.flags[row] as number) & IS_WARNING) !== 0 ? WARNING_GAIN : 0;
    scores[row] = isFailure
      ? (store.score[row] as number) - gain + late.look(store, row)
      : PASSING_SHARE * (store.lineScore[row] as number) + 2 * gain;
  }
  const isUnsure = isFailure && scores.every((score) => score < LEAST_SIGN);
  const copies = repeatsDown(store, scores);
  const values = smoothed(store, scores, 0, store.length);
  copiesDown(store, copies, values);
  const { units, chars, shapes } = whole;
  const telling = tellingRows(store);
  const odd = oddRows(store, shapes);
  return { store, scores, values, units, chars, telling, odd, isFailure, isUnsure };
}
