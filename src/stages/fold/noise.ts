// Tells noise (progress and status), which may be left out, from data and failures, which stay.
import { type Line, NUMBERED_NAME, UNIT_WORD } from "./line.ts";

// What may happen to lines of a shape, once judged.
/** Lines of this shape are data or tell of failures: none is left out. */
export const STAYS = 1;
/** Lines of this shape are progress or status noise. */
const COLLAPSES = 2;
/** Lines of this shape are noise too, unless their HTTP status is a failing one. */
const HAS_STATUS = 3;

/** What may happen to lines of one shape. All of them have the same failure words; ticks are taken from any two. */
export function judgeShape(first: Line, second: Line): number {
  const text = second.text;
  if (!hasTick(text) && !hasTick(first.text)) return STAYS;
  if (hasFailureWord(text)) return STAYS;
  return hasStatus(text) ? HAS_STATUS : COLLAPSES;
}

/** Returns true if a line of a shape with HTTP statuses has a failing one, given all of its numbers. */
export function hasFailingStatus(line: Line, numbers: readonly number[]): boolean {
  return line.verdict === HAS_STATUS && numbers.some((it) => it >= 400 && it < 600) && failingStatus(line.text) !== 0;
}

// Words that may tell why something failed: a line with one of them is never left out. Deliberately wide, matched anywhere
// in a word and in any case ("NullPointerException", "errors.py"): a line too many costs little.
const FAILURE =
  /abort|assert|broken|can't|cannot|caused by|conflict|core dumped|corrupt|could not|couldn't|crash|critical|deadlock|denied|did not|disconnect|error|exception|exceeded|exhausted|expected|fail|fatal|forbidden|illegal|incompatible|incorrect|invalid|kill|leak|mismatch|missing|no such|not allowed|not defined|not found|not ok|not permitted|not supported|out of memory|overflow|panic|refused|reject|segfault|segmentation|severe|sigabrt|sigbus|sigkill|sigsegv|sigterm|stack trace|time out|timed out|timeout|traceback|unable|unauthorized|undefined|unexpected|unhandled|unknown|unreachable|unrecognized|unresolved|unsupported|violation|warn|wrong|✗|✘|✖|❌|💥|(?<![a-z])(?:bad|err|errno|ko|nok|oom)(?![a-z])/gi;

/** Matches a plain 0 before a failure word, but not the end of a longer number, `worker 0 failed` or `retries=0 errors=5`. */
const ZERO_BEFORE = new RegExp(String.raw`(?<=(?<![\da-z.%=\u0080-\uffff]|\d[,:]|${NUMBERED_NAME})0 +)`, "iy");
/** Matches, after a failure word, the rest of its letters and a plain 0 without decimals, unit or percent sign. */
const ZERO_AFTER = new RegExp(String.raw`[a-z]*[ \t:=]+0(?![\d%]|[.,:]\d| ?%| ?${UNIT_WORD}|[hdbkm](?![a-z]))`, "iy");

/**
 * Returns true if the text holds a failure word that no zero takes back ("0 errors", "failures: 0" do). For two texts of one
 * shape the answer is the same: zero and other numbers are different shapes.
 */
export function hasFailureWord(text: string): boolean {
  FAILURE.lastIndex = 0;
  for (let found = FAILURE.exec(text); found !== null; found = FAILURE.exec(text)) {
    ZERO_BEFORE.lastIndex = found.index;
    ZERO_AFTER.lastIndex = FAILURE.lastIndex;
    if (ZERO_AFTER.test(text)) FAILURE.lastIndex = ZERO_AFTER.lastIndex;
    else if (!ZERO_BEFORE.test(text)) return true;
  }
  return false;
}

/** `12%`, `3/10`, `3 of 10`, `1.5s`, `300 ms`, `4 MiB/s`: how far, how long, how much. */
const MEASURE = new RegExp(String.raw`\d ?%|(?<![\w./:-])\d+ ?\/ ?\d+(?![\d/]|\.\d)|\d of \d|\d ?${UNIT_WORD}`, "i");

/** Clock times, date stamps. */
const STAMP = /(?<!\d)\d\d?:\d\d:\d\d(?![\d:])|(?<![\w:.])\d\d:\d\d(?![\w:])|(?<!\d)\d{4}([-/])\d\d\1\d\d(?!\d)/i;

const HEX_ID = /(?<!\w)(?:0x[\da-f]+|(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{6,})(?!\w)/i;

/** A place in a file, or a frame of a stack trace: its hex id is an address, and every line of them tells another place. */
const PLACE = /[a-z]\.[a-z]\w{0,4}[:(]\d|(?<!\w)#\d+ +0x[\da-f]/i;

/** A stamp counts only beside a word: rows of nothing but stamps and numbers are data. */
const WORD = /(?<!\w)[a-z]{2,}(?!\w)|[\u0080-\uffff]/i;

/** What a step says of itself, as a whole word. Words that are as often nouns (`build 7`, `process 12`) are not here. */
const STATUS =
  /[✓✔✅☑√]|(?<![a-z])(?:ok|okay|pass(?:ed|ing)?|done|skip(?:ped|ping)?|cached|completed?|finished|success(?:ful)?|succeeded|up[ -]to[ -]date|fetch(?:ed|ing)?|(?:download|upload|install|extract|unpack|process|load|compil|receiv|resolv|check|scann?|push|pull|prepar|sync|transferr?|transform|bundl|copy|pars|verify|generat|link|index|render|writ|updat|creat|remov|clean|start|runn|wait|retry|retri|queu|build|connect|search|poll|analyz|optimiz|tick)ing|downloaded|uploaded|installed|extracted|unpacked|processed|loaded|compiled|received|resolved|copied|built|pushed|pulled|verified|queued|pending|progress|heartbeat)(?![a-z])/i;

const DIGIT_OR_JOINT_ONLY = /^[\d\s.,;:|+-]*$/;

/** Returns true if the text shows a percentage, ratio, duration, size, rate, time stamp, hex id, or a word of status or progress. */
export function hasTick(text: string): boolean {
  if (DIGIT_OR_JOINT_ONLY.test(text)) return false;
  // A stamp is found soonest, since it stands at the start of most lines that have one.
  if ((STAMP.test(text) && WORD.test(text)) || MEASURE.test(text) || STATUS.test(text)) return true;
  return HEX_ID.test(text) && !PLACE.test(text) && WORD.test(text);
}

/** Where HTTP statuses stand: after `" `, `status` or `HTTP/1.1`, or after a method and a path. */
const METHOD = String.raw`\b(?:get|head|post|put|patch|delete|options) \S+ (?:[-=]?> )?`;
const HTTP_PLACE = String.raw`(?:(?:"|status|/.\.\d)[ \t=:]{1,8}|${METHOD})`;
const HTTP_STATUS = new RegExp(String.raw`${HTTP_PLACE}\d`, "i");
const FAILING = new RegExp(String.raw`${HTTP_PLACE}([45]\d\d)(?![\da-z.])`, "i");

/** Returns true if a number stands where HTTP statuses do. Texts of one shape agree on this. */
export function hasStatus(text: string): boolean {
  return HTTP_STATUS.test(text);
}

/** Returns the first such number from 400 to 599, or 0 if there is none. */
export function failingStatus(text: string): number {
  return Number(FAILING.exec(text)?.[1] ?? 0);
}
