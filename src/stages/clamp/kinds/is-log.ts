import type { KindSample } from "./kind.ts";

const TIME =
  /^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d)/;
const LEVEL = /^(?:\S+ ){0,4}\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|SEVERE)\b/;
const STEP =
  /^(?:\$ |\+ |> \S|>>> |travis_|\[\d+\/\d+\]|npm (?:WARN|ERR!|notice)|yarn |make(?:\[\d+\])?: |g?cc |CC |CXX |Get:|Hit:|Setting up|Unpacking|Collecting |Downloading|Downloaded|Installing |Compiling |Checking |Building |Running |ok \d|not ok \d|=== RUN|--- (?:PASS|FAIL)|PASS|FAIL|Test |Tests? run:|\s*[✓✔✗✖●] )/;
/** A line of a web server's access log. */
const ACCESS = /^\S+ \S+ \S+ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d /;
/** A call that was traced, and what it gave. */
const CALL = /^(?:\[?(?:pid +)?\d+\]? +)?(?:[\d:.]+ )?[a-z_]\w*\(.*\) += (?:-?\d|0x|\?)/;
/** One is enough: nothing but a program that ran writes these. */
const SURE =
  /^(?:Traceback \(most recent call last\)|\s+at [\w$.<>]+\(.*\)$|\s+at .+:\d+:\d+\)?$|Exception in thread |panic: |Caused by: |\s*File "[^"]+", line \d+|=+ (?:test session starts|FAILURES|ERRORS) =+|npm ERR!|##\[(?:group|error)|travis_fold:|Started by (?:timer|user |an SCM change|upstream )|The command ".*" exited with)/;
const SHARE = 0.25;

/** What a program says while it works. */
export function isLog({ lines }: KindSample): boolean {
  if (lines.some((line) => SURE.test(line))) return true;
  const share = (is: (line: string) => boolean) => lines.filter(is).length / lines.length;
  return share((line) => [TIME, LEVEL, STEP, ACCESS, CALL].some((sign) => sign.test(line))) >= SHARE;
}
