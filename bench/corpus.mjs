// Real outputs with ground truth, read from SPILLWAY_CORPUS (default ../shared/corpus beside the project), and how a
// text made from one is scored. The corpus is data and not part of the package.
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The folder of the corpus, which need not exist. */
export const corpusFolder = process.env.SPILLWAY_CORPUS ?? `${root}../shared/corpus`;

/** Where `corpus-factory/make.mjs` puts the cases that it makes. */
export const factoryFolder = process.env.SPILLWAY_FACTORY ?? join(tmpdir(), "spillway-corpus-factory");

/** True if the corpus is there. */
export const hasCorpus = existsSync(corpusFolder);

/** The cases of a set: { id, group, match, truth, raw(), exitCode, tool, command, question, previous() } as far as known. */
export function readCases(set, folder = corpusFolder) {
  const lines = readFileSync(`${folder}/${set}/cases.jsonl`, "utf8").trim().split("\n");
  return lines.map((line) => {
    const { id, group, file, match, truth, exitCode, tool, command, focus, previous } = JSON.parse(line);
    const read = (name) => gunzipSync(readFileSync(`${folder}/${set}/${name}`));
    const raw = () => read(file);
    const known = { exitCode: exitCode ?? null, tool, command, question: focus };
    if (previous !== undefined) known.previous = () => read(previous);
    return { id, group, match, truth: match === "line" ? mended(truth.map(plain), raw) : truth, raw, ...known };
  });
}

/**
 * Cases as another system would have logged them: two times, a task and a level before each line, and behind them a third of
 * a megabyte of a run in which nothing failed. `seed` makes the times differ.
 */
export function readPrefixed(set) {
  const housekeeping = readCases("cidiff-pass")[0].raw().toString().slice(0, 350_000).split("\n");
  return readCases(set).map((one, seed) => ({
    ...one,
    match: "substring",
    truth: one.truth.filter((line) => line !== ""),
    raw: () =>
      Buffer.from(
        [...cleanText(one.raw().toString()).split("\n"), ...housekeeping]
          .map((line, n) => prefixOf(n + seed) + line)
          .join("\n"),
      ),
  }));
}

/** What `readPrefixed` puts before lines. */
export const PREFIX = /^\[task \S+\] \S+ +INFO - */;

function prefixOf(n) {
  const two = (value) => String(value % 60).padStart(2, "0");
  const time = `${two((n / 3600) | 0)}:${two((n / 60) | 0)}:${two(n)}`;
  return `[task 2024-05-01T${time}.${String(n % 1000).padStart(3, "0")}Z] ${time}     INFO - `;
}

/**
 * Eight logs have the keypad codes ESC = and ESC > before truth lines. The truth was made by removing only the ESC, so such
 * a line is compared with the line of the log without its ESC.
 */
function mended(truth, raw) {
  if (!truth.some((line) => /^[=>]/.test(line))) return truth;
  const lines = raw()
    .toString()
    .split(BREAK)
    .filter((line) => line.includes(`${ESCAPE}=`) || line.includes(`${ESCAPE}>`));
  const meant = new Map(
    lines.map((line) => [line.replace(CODES_BUT_KEYPAD, "").replaceAll(ESCAPE, "").trim(), plain(line)]),
  );
  return truth.map((line) => meant.get(line) ?? line);
}

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
const codes = [
  String.raw`\[[0-?]*[ -/]*[@-~]`,
  String.raw`\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\)?`,
  String.raw`[@-Z\\^_]`,
  "[()][0-9A-B]",
];
const pattern = (each) => new RegExp(each.map((code) => ESCAPE + code).join("|"), "g");
const CODES_BUT_KEYPAD = pattern(codes);
const CODES = pattern([...codes, "[=>]"]);
const BREAK = /\r\n|\n|\r/;

/** A line without terminal codes and outer blanks, as it is compared with the truth. */
export function plain(line) {
  return line.replace(CODES, "").trim();
}

/** A text's lines as truth is compared with them. */
export function plainLines(text) {
  return text.split(BREAK).map(plain);
}

/** About what a terminal would show: no codes, no text that a carriage return took back. */
export function cleanText(text) {
  return text
    .replace(CODES, "")
    .split("\n")
    .map((line) => {
      const pieces = line.replace(/\r+$/, "").split("\r");
      // The end of a text stays visible if it is longer than everything written over it.
      const seen = [];
      let covered = 0;
      for (const piece of pieces.reverse()) {
        if (piece.length <= covered) continue;
        covered = piece.length;
        seen.unshift(piece);
      }
      return seen.join("\n");
    })
    .join("\n");
}

/** Share of the truth that the text still has. */
export function shareKept({ match, truth }, text) {
  if (truth.length === 0) return 1;
  if (match === "substring") return truth.filter((name) => text.includes(name)).length / truth.length;
  const lines = new Set(plainLines(text));
  return truth.filter((line) => lines.has(line)).length / truth.length;
}

/** Means over scored cases: the share kept, and the share of cases with all of it. */
export function summarize(shares) {
  const mean = (values) => (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;
  return { mean: mean(shares), all: mean(shares.map((share) => (share === 1 ? 1 : 0))) };
}
