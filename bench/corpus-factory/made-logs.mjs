// Logs of kinds that no tool here writes: large test runs of a browser's or a phone's CI, with thousands of lines that sound like
// failures in passing tests too, and quiet logs of servers in which a few sorts of lines are rare. Each log has words
// and forms of its own, drawn by its seed, so that nothing can be learned by heart from one of them.
import { range } from "./plan.mjs";

const TEXT =
  "dom layout media canvas webgl audio input widget toolkit storage network crypto font editor devtools history sync".split(
    " ",
  );
const WORDS =
  "resize focus scroll drag paste reload cancel decode encode split merge attach detach suspend resume clone".split(
    " ",
  );

/** How a harness joins the words of a verdict, and what stands between the parts of a line. */
const JOINS = [
  (words) => words.map((word) => word.toUpperCase()).join("-"),
  (words) => words.map((word) => word.toUpperCase()).join("_"),
  (words) => words.map((word) => word[0].toUpperCase() + word.slice(1)).join(""),
  (words) => words.join("_"),
  (words) => `[${words.map((word) => word.toUpperCase()).join(" ")}]`,
];
const BETWEEN = [" | ", " :: ", " - ", ": ", " "];
const BAD = [
  ["test", "unexpected", "fail"],
  ["case", "failed"],
  ["subtest", "not", "ok"],
  ["check", "failure"],
  ["process", "crash"],
  ["run", "timed", "out"],
  ["leak", "detected"],
  ["result", "error"],
];
const GOOD = [
  ["test", "pass"],
  ["case", "ok"],
  ["subtest", "done"],
  ["check", "success"],
  ["test", "end"],
];
const PREFIXES = [
  ({ time, part }) => `[task 2024-05-01T${time}.${part}Z] ${time}     INFO -  `,
  ({ time, part }) => `2024-05-01T${time}.${part}0000Z `,
  ({ time, part }) => `[${time}.${part}] I/harness(${1200 + (Number(part) % 7)}): `,
  ({ time }) => `${time} | `,
  () => "",
];
/** Lines of passing tests that sound bad: each form comes hundreds of times. */
const DISTRACTORS = [
  (pick) =>
    `PROC(${pick(9000)}) | [Parent ${pick(9000)}, Main Thread] WARNING: ensureSuccess(rv, rv) failed with result 0x8000${pick(9999)}: file /builds/src/net/Channel.cpp:${pick(900)}`,
  (pick) => `console.error: "Could not load preferences of add-on ${pick(99)}, using the built-in ones"`,
  (pick) =>
    `JavaScript error: resource://app/modules/Part${pick(40)}.mjs, line ${pick(900)}: TypeError: win.document is null`,
  (pick) =>
    `### !!! [Child][Channel] Error: (msgtype=0x${pick(9999)},name=P::Msg_Update) Channel closing: too late to send, messages will be lost`,
  (pick) => `[${pick(9000)}] assertion (recursion depth below ${pick(20)}) not reached, ignored by filter`,
  (pick) => `libfoo: cannot open shared display, falling back to software (attempt ${pick(3)})`,
];

function clockOf(line) {
  const seconds = Math.floor(line / 40);
  const two = (value) => String(value % 60).padStart(2, "0");
  return {
    time: `${String(8 + Math.floor(seconds / 3600)).padStart(2, "0")}:${two(Math.floor(seconds / 60))}:${two(seconds)}`,
    part: String((line * 37) % 1000).padStart(3, "0"),
  };
}

/** One large log of a test run, `megabytes` long, with `failures` failures in it and much housekeeping behind them. */
function largeRun(pick, megabytes, failures) {
  const [join, between, prefix] = [JOINS, BETWEEN, PREFIXES].map((forms) => forms[pick(forms.length)]);
  const good = join(GOOD[pick(GOOD.length)]);
  const kinds = range(1 + pick(2)).map(() => join(BAD[pick(BAD.length)]));
  const path = () =>
    `${TEXT[pick(TEXT.length)]}/tests/${TEXT[pick(TEXT.length)]}/test_${WORDS[pick(WORDS.length)]}_${pick(900)}.${["html", "js", "xhtml"][pick(3)]}`;
  const deed = () =>
    `${WORDS[pick(WORDS.length)]} then ${WORDS[pick(WORDS.length)]} keeps ${TEXT[pick(TEXT.length)]} ${pick(90)}`;
  const lines = [];
  const truth = [];
  let bytes = 0;
  const say = (text) => {
    const line = prefix(clockOf(lines.length)) + text;
    lines.push(line);
    bytes += line.length + 1;
  };
  const target = megabytes * 1e6;
  const isShorter = (share) => bytes < share * target;
  for (let index = 0; index < 300; index++)
    say(`setup: copying /builds/fetches/package-${index}.tar.zst (${pick(90_000)} bytes)`);
  const places = range(failures)
    .map(() => 0.1 + 0.5 * (pick(1000) / 1000))
    .sort();
  while (isShorter(0.7)) {
    const test = path();
    say(`${join(["test", "start"])}${between}${test}`);
    for (let each = pick(4); each > 0; each--) say(`${good}${between}${test}${between}${deed()}`);
    for (let each = pick(3); each > 0; each--) say(DISTRACTORS[pick(DISTRACTORS.length)](pick));
    if (places.length > 0 && bytes > places[0] * target) {
      places.shift();
      const said = `${kinds[pick(kinds.length)]}${between}${test}${between}${deed()} ${["- got 3, expected 4", "- false == true", "- application gave up after 370 seconds", "- the stream ended early"][pick(4)]}`;
      say(said);
      truth.push(said);
      for (let each = pick(6); each > 0; each--)
        say(`    run@chrome://harness/content/${test}:${pick(300)}:${pick(40)}`);
    }
    say(`${join(["test", "end"])}${between}${test}${between}took ${pick(900)}ms`);
  }
  say(`Passed: ${lines.length}`);
  say(`Failed: ${failures}`);
  say("Todo: 12");
  while (isShorter(1)) {
    say(`uploading public/logs/part-${pick(99_999)}.json (${pick(90_000)} bytes), 0 errors`);
    if (pick(9) === 0) say(`cleanup: removed /builds/worker/artifacts/crash-${pick(9999)}.extra`);
  }
  return { output: Buffer.from(`${lines.join("\n")}\n`), truth };
}

const ROUTINE = [
  (pick) => `generating core.${pick(9000)}`,
  (pick) => `${pick(90)} ddr errors(s) detected and corrected on rank 0, symbol ${pick(30)}, bit ${pick(8)}`,
  () => "instruction cache parity error corrected",
  (pick) => `CE sym ${pick(30)}, at 0x0${pick(9999)}c0, mask 0x0${pick(9)}`,
  (pick) => `lease of ${pick(255)} renewed for ${pick(9000)} s`,
  (pick) => `session ${pick(90_000)} of user u${pick(300)} opened`,
  (pick) => `session ${pick(90_000)} of user u${pick(300)} closed`,
  (pick) => `job ${pick(90_000)} handed to node ${pick(64)}, queue depth ${pick(40)}`,
];
const ALERTS = [
  (pick) => `rts: kernel terminated for reason ${1000 + pick(9)}`,
  (pick) => `link card power module U${pick(90)} is not accessible`,
  (pick) => `data TLB interrupt, ear 0x${pick(9999)}`,
  (pick) => `fan speeds ( ${pick(4000)} ${pick(4000)} ) out of band on tray ${pick(9)}`,
  (pick) => `ciod: LOGIN chdir(/home/u${pick(90)}) gave no such directory`,
  (pick) => `machine check: i-fetch, tag ${pick(64)}`,
  (pick) => `torus receiver ${pick(6)} input pipe stalled ${pick(90)} s`,
  (pick) => `filesystem /scratch${pick(9)} went read-only`,
  (pick) => `clock of node ${pick(64)} drifted ${pick(900)} ms, taken out of the pool`,
  (pick) => `replica ${pick(9)} of shard ${pick(40)} lags ${pick(900)} s behind its leader`,
];
const LEVELS = ["INFO", "WARNING", "FATAL", "NOTICE", "ERROR"];

/** A quiet log of a server: a few sorts of lines come all the time, and some come once or twice. */
function serverLog(pick, count) {
  const isUnix = pick(2) === 0;
  const hasLevel = pick(3) > 0;
  const routine = range(4).map(() => ROUTINE[pick(ROUTINE.length)]);
  const rare = [...new Set(range(3 + pick(5)).map(() => ALERTS[pick(ALERTS.length)]))];
  const truth = [];
  const at = new Map(rare.map((make) => [10 + pick(count - 20), make]));
  const lines = range(count).map((line) => {
    const { time } = clockOf(line * 20);
    const host = `R${pick(8)}${pick(8)}-M${pick(2)}-N${pick(9)}`;
    const stamp = isUnix ? `${1_117_838_570 + line} 2005.06.03 ${host}` : `Jun  3 ${time} ${host} kernel:`;
    const make = at.get(line);
    const said = (make ?? routine[pick(routine.length)])(pick);
    if (make !== undefined) truth.push(said);
    return `${stamp} ${hasLevel ? `RAS KERNEL ${make === undefined ? LEVELS[pick(2)] : LEVELS[pick(5)]} ` : ""}${said}`;
  });
  return { output: Buffer.from(`${lines.join("\n")}\n`), truth };
}

/** All of them, each kind a group: a log of one kind tells something of the next. */
export async function madeLogs(seeded) {
  const sizes = [0.4, 0.6, 1, 1.5, 2, 3, 5, 0.5, 0.8, 1.2, 4, 36];
  const large = sizes.map((megabytes, index) => ({
    id: `large-run-${index}`,
    group: "large-run",
    exitCode: 1,
    tool: "run_command",
    ...largeRun(seeded(100 + index), megabytes, [1, 3, 12, 2, 25, 5, 1, 8][index % 8]),
  }));
  const servers = range(12).map((index) => ({
    id: `server-${index}`,
    group: "server",
    exitCode: null,
    ...serverLog(seeded(200 + index), [400, 800, 3000, 400][index % 4]),
  }));
  return [...large, ...servers];
}
