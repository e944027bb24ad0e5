// The texts that are measured: the same bytes on every machine and in every run.
import { once } from "node:events";
import { createWriteStream } from "node:fs";

const BLOCK_BYTES = 8_000_000;
const NEWLINE = 10;

/** A small seeded generator (xorshift32): `next(n)` is a whole number from 0 to n - 1. */
function numbers(seed) {
  let state = seed;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

const LEVELS = ["DEBUG", "INFO ", "INFO ", "INFO ", "WARN ", "ERROR"];
const COLOURS = ["\x1b[2m", "\x1b[32m", "\x1b[32m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"];
const VERBS = ["opened", "closed", "compiled", "fetched", "skipped", "retried", "wrote", "checked"];
const THINGS = ["module", "connection", "chunk", "package", "record", "asset", "migration", "test file"];

function clock(next) {
  const two = (n) => String(n).padStart(2, "0");
  return `2026-03-${two(1 + next(28))}T${two(next(24))}:${two(next(60))}:${two(next(60))}.${String(next(1000)).padStart(3, "0")}Z`;
}

function message(next) {
  const words = `${VERBS[next(VERBS.length)]} ${THINGS[next(THINGS.length)]} ${next(1e9).toString(36)}`;
  const path = `src/${THINGS[next(4)]}/${next(1e6).toString(36)}.ts:${1 + next(900)}`;
  return next(3) === 0 ? `${words} in ${next(5000)} ms` : `${words} at ${path} in ${next(5000)} ms, ${next(1e6)} bytes`;
}

const CJK = "日本語のログ出力を確認する処理が完了しました错误信息已经写入文件系统连接数据库失败한국어기록완료";
const EMOJI = ["🚀", "✅", "👩‍💻", "⚠️", "🇯🇵", "🔥"];

/** One line of each kind of text, break included. */
const LINES = {
  log: (next) => `${clock(next)} ${LEVELS[next(6)]} [worker-${next(64)}] ${message(next)}\n`,
  dense: (next) => `${String.fromCharCode(97 + next(26))}\n`,
  cjk: (next) => {
    const from = next(CJK.length - 24);
    return `${next(1e6)} ${CJK.slice(from, from + 8 + next(16))} ${EMOJI[next(EMOJI.length)]} ${message(next)}\n`;
  },
  coloured: (next) => {
    const level = next(6);
    const bar = next(12) === 0 ? `building ${next(100)}%\rbuilding ${next(100)}%\r\x1b[2K` : "";
    const line = `${bar}\x1b[90m${clock(next)}\x1b[0m ${COLOURS[level]}${LEVELS[level]}\x1b[39;49m ${message(next)}\n`;
    return next(40) === 0 ? line.repeat(2 + next(20)) : line;
  },
  "one line": (next) => `{"id":${next(1e9)},"name":"${next(1e9).toString(36)}","ok":${next(2) === 0}},`,
};

/** A stretch of lines of one kind, at most `maxBytes` long and ending with a whole line. */
export function makeText(kind, maxBytes) {
  const next = numbers(20_260_301);
  const lines = [];
  let bytes = 0;
  for (;;) {
    const line = LINES[kind](next);
    bytes += Buffer.byteLength(line);
    if (bytes > maxBytes) {
      return lines.join("");
    }
    lines.push(line);
  }
}

function countBreaks(block) {
  let breaks = 0;
  for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, at + 1)) {
    breaks++;
  }
  return breaks;
}

/** The start of a block that fits, ending with a whole line where it has lines. */
function startOf(block, maxBytes) {
  const start = block.subarray(0, maxBytes);
  return block.includes(NEWLINE) ? start.subarray(0, start.lastIndexOf(NEWLINE) + 1) : start;
}

/** Writes at most `maxBytes` of a kind of text (one block of lines, over and over) and says exactly how much it was. */
export async function writeInput(kind, maxBytes, path) {
  const block = Buffer.from(makeText(kind, Math.min(BLOCK_BYTES, maxBytes)));
  const blocks = Math.floor(maxBytes / block.length);
  const rest = startOf(block, maxBytes - blocks * block.length);
  const file = createWriteStream(path);
  for (let i = 0; i < blocks; i++) {
    if (!file.write(block)) {
      await once(file, "drain");
    }
  }
  file.end(rest);
  await once(file, "finish");
  const breaks = blocks * countBreaks(block) + countBreaks(rest);
  return { kind, path, bytes: blocks * block.length + rest.length, lines: Math.max(1, breaks) };
}
