// What others do with a text that is too long, and the best that can be done. Each takes (text, maxChars, case); a marker
// costs 40 characters where there is one.
import { plain } from "./corpus.mjs";

const MARKER_CHARS = 40;

function tail(text, maxChars) {
  return text.length <= maxChars ? text : text.slice(text.length - (maxChars - MARKER_CHARS));
}

function split(headShare, tailShare, reserve) {
  return (text, maxChars) => {
    if (text.length <= maxChars) return text;
    const room = maxChars - reserve;
    const head = Math.floor(room * headShare);
    return `${text.slice(0, head)}\n...\n${text.slice(text.length - Math.floor(room * tailShare))}`;
  };
}

/** Each line's last occurrence, in order. */
function withoutRepeats(text) {
  const seen = new Set();
  const lines = text.split("\n");
  return lines
    .reverse()
    .filter((line) => line.trim() === "" || (!seen.has(line) && seen.add(line)))
    .reverse()
    .join("\n");
}

function firstAndLastLines(text) {
  const lines = text.split("\n");
  const kept = lines.length <= 256 ? text : [...lines.slice(0, 128), "...", ...lines.slice(-128)].join("\n");
  return kept.length <= 10_240 ? kept : `${kept.slice(0, 5100)}\n...\n${kept.slice(-5100)}`;
}

/** As many truth lines as fit, the shortest first. */
function oracle(text, maxChars, { truth, match }) {
  if (text.length <= maxChars) return text;
  const there = match === "substring" ? null : new Set(text.split(/\r\n|\n|\r/).map(plain));
  const kept = [];
  let left = maxChars;
  // Equal truth lines need only one copy.
  const times = new Map();
  for (const line of truth) times.set(line, (times.get(line) ?? 0) + 1);
  for (const [line] of [...times].sort(([a, m], [b, n]) => (a.length + 1) / m - (b.length + 1) / n)) {
    if (there !== null ? !there.has(line) : !text.includes(line)) continue;
    if (line.length + 1 > left) continue;
    left -= line.length + 1;
    kept.push(line);
  }
  return kept.join("\n");
}

/** `fixed` ones have a size of their own and are shown beside the budget nearest to it. */
export const baselines = [
  {
    name: "head",
    cut: (text, maxChars) => text.slice(0, text.length <= maxChars ? maxChars : maxChars - MARKER_CHARS),
  },
  { name: "tail", cut: tail },
  { name: "tail, repeated lines removed", cut: (text, maxChars) => tail(withoutRepeats(text), maxChars) },
  { name: "30/70", cut: split(0.3, 0.7, MARKER_CHARS) },
  { name: "40/40", cut: split(0.4, 0.4, 0) },
  { name: "128+128 lines, 10 KB", fixed: 8000, cut: firstAndLastLines },
  { name: "first 32,768 characters", fixed: 20_000, cut: (text) => text.slice(0, 32_768) },
  { name: "oracle", cut: oracle },
];
