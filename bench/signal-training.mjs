// What learning the weights of `signal` and checking them have in common: lines with their features, and the fit.
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { PREFIX, plainLines } from "./corpus.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const signal = "./src/stages/clamp/signal";
const entry = `
export { SignalReader } from "${signal}/signal-reader.ts";
export { LINE_FEATURES, ORDERED_LINE, featureName } from "${signal}/line-features.ts";
export { CONTEXT_FEATURES, LateContext, ORDERED, contextName } from "${signal}/context.ts";
export { LINE_WEIGHTS, CONTEXT_WEIGHTS, LEVELS } from "${signal}/weights.ts";
export { startFold } from "./src/stages/fold/fold.ts";
export { startAdmission, writeEnded } from "./src/admit/admission.ts";
export { estimateCounter } from "./src/stages/measure/estimate-tokens.ts";
export { compileIntent } from "./src/stages/clamp/focus/compile-intent.ts";
export { compileFocus } from "./src/stages/clamp/focus/compile-focus.ts";
export { RunLines, compareRuns } from "./src/stages/clamp/since.ts";
export { changesText } from "./src/stages/mark/changes-text.ts";
export { strategies } from "./src/stages/clamp/strategies/index.ts";
`;
const built = buildSync({
  stdin: { contents: entry, resolveDir: root, loader: "ts" },
  bundle: true,
  format: "esm",
  platform: "node",
  write: false,
});

/** The strategy's own code, with weights that can be set. */
export const code = await import(
  `data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`
);

const decoder = new TextDecoder();
/** Every line is judged and held. */
const ALL = { roomChars: Number.POSITIVE_INFINITY, fullBytes: Number.POSITIVE_INFINITY };

/** Reads an output as the strategy does, folded, holding on to every line. `each` is called once a line was scanned. */
function readAll(raw, each) {
  const reader = new code.SignalReader(ALL);
  const { scan } = reader;
  scan.record();
  const fold = code.startFold((span) => {
    reader.add(span);
  });
  reader.onUnit = each && (() => each(scan));
  fold.add(raw, 0, 1);
  fold.end();
  return reader;
}

/** Where the truth stands: share of it on each row. The whole of it in one place, if there is one. */
function truthRows(store, truth) {
  const rows = [];
  const texts = [];
  for (let row = 0; row < store.length; row++) {
    const at = store.byteAt[row];
    const text = plainLines(decoder.decode(store.bytes.subarray(at, at + store.byteLength[row])))
      .map((line) => line.replace(PREFIX, ""))
      .filter((line) => line !== "")
      .join("\n");
    if (text === "") continue;
    rows.push(row);
    texts.push(text);
  }
  const wanted = truth.filter((line) => line !== "");
  const places = [];
  for (let at = 0; at + wanted.length <= texts.length; at++) {
    if (wanted.every((line, index) => texts[at + index] === line)) places.push(at);
  }
  const shares = new Map();
  const add = (row, share) => shares.set(row, (shares.get(row) ?? 0) + share);
  if (places.length > 0) {
    for (const at of places)
      for (let index = 0; index < wanted.length; index++) add(rows[at + index], 1 / wanted.length / places.length);
    return shares;
  }
  const byText = Map.groupBy
    ? Map.groupBy(texts.keys(), (index) => texts[index])
    : [...texts.keys()].reduce((map, index) => {
        if (!map.has(texts[index])) map.set(texts[index], []);
        map.get(texts[index]).push(index);
        return map;
      }, new Map());
  const found = [...new Set(wanted)].filter((line) => byText.has(line));
  for (const line of found) {
    const places = byText.get(line).slice(0, 50);
    for (const index of places) add(rows[index], 1 / found.length / places.length);
  }
  return shares;
}

function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lines of a log that are learned from besides those near its truth. */
const SAMPLED_LINES = 350;

/** Rows to learn from and how many each stands for: all near the truth, a sample of the rest. */
function sampleRows(store, shares, random) {
  const near = new Set();
  for (const row of shares.keys())
    for (let at = Math.max(0, row - 15); at <= Math.min(store.length - 1, row + 15); at++) near.add(at);
  const rest = [];
  for (let row = 0; row < store.length; row++) if (!near.has(row) && (store.flags[row] & 1) === 0) rest.push(row);
  const weight = Math.max(1, rest.length / SAMPLED_LINES);
  const sampled = rest.filter(() => random() < 1 / weight);
  return [
    ...[...near].filter((row) => (store.flags[row] & 1) === 0).map((row) => [row, 1]),
    ...sampled.map((row) => [row, weight]),
  ].sort((a, b) => a[0] - b[0]);
}

/** A log's lines by their own features. `logs` gets { group, weight, rows, shares }. */
export function lineData(raw, truth, seed) {
  const starts = [0];
  let features = new Uint16Array(1 << 16);
  let length = 0;
  const reader = readAll(raw, (scan) => {
    while (length + scan.count > features.length) {
      const larger = new Uint16Array(features.length * 2);
      larger.set(features);
      features = larger;
    }
    features.set(scan.features.subarray(0, scan.count), length);
    length += scan.count;
    starts.push(length);
  });
  reader.end();
  const shares = truthRows(reader.store, truth);
  const rows = sampleRows(reader.store, shares, seededRandom(seed));
  return {
    rows: rows.map(([row]) => row),
    ...pack(rows, shares, (row) => features.subarray(starts[row], starts[row + 1])),
    shares,
  };
}

/** The same lines by their surroundings, under the line weights that are set. */
export function contextData(raw, { rows, weights, targets }) {
  const wanted = new Set(rows);
  const lists = new Map();
  const reader = new code.SignalReader(ALL);
  const look = reader.context.look.bind(reader.context);
  reader.context.look = (store, row, last, seen) => {
    const score = look(store, row, last, seen);
    if (wanted.has(row)) lists.set(row, [...reader.context.features.subarray(0, reader.context.count)]);
    return score;
  };
  const fold = code.startFold((span) => reader.add(span));
  fold.add(raw, 0, 1);
  fold.end();
  const late = new code.LateContext(reader.end());
  for (let row = 0; row < reader.store.length; row++) {
    if (!wanted.has(row)) continue;
    late.look(reader.store, row);
    lists.get(row).push(...late.features.subarray(0, late.count));
  }
  const all = rows.map((row) => lists.get(row));
  const starts = new Int32Array(rows.length + 1);
  all.forEach((list, index) => {
    starts[index + 1] = starts[index] + list.length;
  });
  return { features: Uint16Array.from(all.flat()), starts, weights, targets };
}

function pack(rows, shares, featuresOf) {
  const starts = new Int32Array(rows.length + 1);
  rows.forEach(([row], index) => {
    starts[index + 1] = starts[index] + featuresOf(row).length;
  });
  const features = new Uint16Array(starts[rows.length]);
  rows.forEach(([row], index) => {
    features.set(featuresOf(row), starts[index]);
  });
  return {
    features,
    starts,
    weights: Float32Array.from(rows, ([, weight]) => weight),
    targets: Float32Array.from(rows, ([row]) => shares.get(row) ?? 0),
  };
}

/**
 * Weights under which e to the sum of a line's weights is nearest to the share of the truth that stands on it: for each
 * log a softmax over its lines. Uses full batches, Adam, and a pull towards zero (`pull`), without which it would overfit
 * the logs.
 */
export function fit(logs, size, { pull, smooth, ordered, steps = 80, rate = 0.1 }) {
  const sides = new Uint8Array(size);
  for (const [from, to] of ordered)
    for (let feature = from; feature < to; feature++)
      sides[feature] = (feature > from ? 1 : 0) | (feature + 1 < to ? 2 : 0);
  const weights = new Float64Array(size);
  const mean = new Float64Array(size);
  const square = new Float64Array(size);
  const total = logs.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 1; step <= steps; step++) {
    const gradient = new Float64Array(size);
    for (const { data, weight } of logs) {
      const { features, starts, weights: counts, targets } = data;
      const lines = starts.length - 1;
      const scores = new Float64Array(lines);
      let top = -Infinity;
      for (let line = 0; line < lines; line++) {
        let score = 0;
        for (let at = starts[line]; at < starts[line + 1]; at++) score += weights[features[at]];
        scores[line] = score;
        if (score > top) top = score;
      }
      let sum = 0;
      for (let line = 0; line < lines; line++) sum += counts[line] * Math.exp(scores[line] - top);
      for (let line = 0; line < lines; line++) {
        const slope = (weight / total) * ((counts[line] * Math.exp(scores[line] - top)) / sum - targets[line]);
        if (slope > -1e-9 && slope < 1e-9) continue;
        for (let at = starts[line]; at < starts[line + 1]; at++) gradient[features[at]] += slope;
      }
    }
    for (let feature = 0; feature < size; feature++) {
      let slope = gradient[feature] + pull * weights[feature];
      if (sides[feature] & 1) slope += smooth * (weights[feature] - weights[feature - 1]);
      if (sides[feature] & 2) slope += smooth * (weights[feature] - weights[feature + 1]);
      mean[feature] = 0.9 * mean[feature] + 0.1 * slope;
      square[feature] = 0.999 * square[feature] + 0.001 * slope * slope;
      const corrected = mean[feature] / (1 - 0.9 ** step);
      const spread = Math.sqrt(square[feature] / (1 - 0.999 ** step)) + 1e-9;
      weights[feature] -= (rate * Math.min(1, 2 - (2 * step) / (steps + 1)) * corrected) / spread;
    }
  }
  return weights;
}

/** Steps of the level: quantiles 1 - 2^(-0.42 k) of the line scores. */
export function levelsOf(logs, weights) {
  const scored = [];
  for (const { data } of logs) {
    const all = data.weights.reduce((sum, count) => sum + count, 0);
    for (let line = 0; line < data.starts.length - 1; line++) {
      let score = 0;
      for (let at = data.starts[line]; at < data.starts[line + 1]; at++) score += weights[data.features[at]];
      scored.push([score, data.weights[line] / all]);
    }
  }
  scored.sort((a, b) => a[0] - b[0]);
  const levels = [];
  let seen = 0;
  let at = 0;
  for (let level = 1; level <= 31; level++) {
    const share = (1 - 2 ** (-0.42 * level)) * logs.length;
    while (at < scored.length - 1 && seen < share) seen += scored[at++][1];
    levels.push(scored[at][0]);
  }
  return levels;
}
