// Logs of runs in which nothing failed: what should survive of them is how it went (the last lines that say something) and
// the warnings, one of each sort; and nothing may be told that did not happen.
import { cleanText, plainLines, readCases } from "./corpus.mjs";

/** The last lines of a log that are not blank: its summary. */
const SUMMARY_LINES = 8;
const WARNING = /\bwarn(?:ing)?s?\b|\bdeprecat/i;

/** One warning of each shape: those that differ only in numbers tell the same. */
function warningsOf(lines) {
  const shapes = new Map();
  for (const line of lines) {
    if (!WARNING.test(line)) continue;
    const shape = line.replace(/\d+/g, "0");
    if (!shapes.has(shape)) shapes.set(shape, new Set());
    shapes.get(shape).add(line);
  }
  return [...shapes.values()];
}

const share = (kept, all) => (all === 0 ? 1 : kept / all);
const mean = (values) => (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;

/** Scores ways ({ name, cut(text, maxChars, case) }) at each budget: { way, budget, warnings, summary, invented }. */
export async function scorePassing(ways, budgets) {
  const scores = new Map();
  for (const one of readCases("cidiff-pass")) {
    one.bytes = one.raw();
    const raw = one.bytes.toString();
    const text = cleanText(raw);
    const lines = plainLines(text).filter((line) => line !== "");
    const source = new Set([...lines, ...plainLines(raw)]);
    const warnings = warningsOf(lines);
    const summary = lines.slice(-SUMMARY_LINES);
    for (const { name, cut } of ways) {
      for (const budget of budgets) {
        const shown = plainLines(await cut(text, budget, one));
        const kept = new Set(shown);
        const key = `${name}|${budget}`;
        if (!scores.has(key)) scores.set(key, []);
        scores.get(key).push({
          warnings: share(warnings.filter((same) => [...same].some((line) => kept.has(line))).length, warnings.length),
          summary: share(summary.filter((line) => kept.has(line)).length, summary.length),
          // Markers stand in brackets; a plain cut may leave a part of a line at either end.
          invented: shown
            .slice(1, -1)
            .filter((line) => !line.startsWith("[") && line !== "" && line !== "..." && !source.has(line)).length,
        });
      }
    }
    one.bytes = null;
  }
  return [...scores].map(([key, all]) => {
    const [way, budget] = key.split("|");
    return {
      set: "cidiff-pass",
      way,
      budget,
      cases: all.length,
      warnings: mean(all.map((one) => one.warnings)),
      summary: mean(all.map((one) => one.summary)),
      invented: all.reduce((sum, one) => sum + one.invented, 0),
    };
  });
}
