// What tells progress and status noise from data: the lines tick. Rows whose numbers are bare (counters, tables, CSV) are
// data and stay.

/** `12%`, `3/10`, `3 of 10`, `1.5s`, `300 ms`, `4 MiB/s`: how far, how long, how much. */
const MEASURE =
  /\d ?%|(?<![\w./:-])\d+ ?\/ ?\d+(?![\d/]|\.\d)|\d of \d|\d ?(?:[mnuµμ]?s|secs?|seconds?|mins?|minutes?|hours?|bytes|[kmgt]i?b)(?:\/s|ps)?(?!\w)/i;

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

/** True if the text shows a percentage, ratio, duration, size, rate, time stamp, hex id, or a word of status or progress. */
export function hasTick(text: string): boolean {
  if (DIGIT_OR_JOINT_ONLY.test(text)) return false;
  if (MEASURE.test(text) || STATUS.test(text)) return true;
  return (STAMP.test(text) || (HEX_ID.test(text) && !PLACE.test(text))) && WORD.test(text);
}
