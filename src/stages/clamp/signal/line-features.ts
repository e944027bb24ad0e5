/** Words by concept: a line is judged by concepts, since single words would be too many to learn weights for. */
const CONCEPTS = {
  error: "error errors err errored erroring",
  fail: "fail fails failed failing failure failures unsuccessful unsuccessfully",
  fatal: "fatal critical severe emergency emerg",
  panic:
    "panic panicked abort aborted aborting sigabrt sigsegv segfault segmentation sigkill sigterm sigill sigbus dumped core killed oom crash crashed crashes terminated terminating interrupted disconnected disconnect unexpectedly stopped cancelled canceled deadlock race",
  exception:
    "exception exceptions ioexception throwable throw thrown throws raise raised traceback caught uncaught unhandled rethrown",
  cause: "caused because reason cause due root causes",
  assert:
    "assert assertion assertions asserted asserting asserterror assertionerror verify verification should must expectation expectations",
  expected: "expected expecting expect wanted want wants",
  actual: "actual actually got received found returned gotten but was were instead",
  cannot: "cannot can couldn could unable doesn didn isn won wouldn hasn shouldn wasn don t",
  not: "not no never neither nor non without nothing none",
  missing:
    "missing notfound unknown undefined undeclared unresolved unrecognized unrecognised unexpected nonexistent absent nil null nan none empty lost",
  invalid:
    "invalid illegal bad malformed incorrect wrong broken corrupt corrupted incompatible mismatch mismatched mismatches unsupported improper ambiguous conflict conflicts conflicting duplicate duplicated redundant unused violation violations violates violated unmet unsatisfied outdated stale dirty untracked unstable regression regressions unreachable discouraged forgot",
  denied: "denied refused forbidden unauthorized permission rejected reject disallowed prohibited blocked",
  timeout: "timeout timeouts timed deadline exceeded exceeds overflow exhausted stalled hang hung unreachable",
  syntax:
    "syntax parse parser parsing token lint linter style indentation whitespace semicolon eslint tslint checkstyle rubocop shellcheck prettier format formatting trailing",
  type: "type types typed argument arguments parameter parameters variable variables function method methods class module modules symbol symbols identifier import imports member property attribute reference references scope instance",
  warn: "warn warning warnings warned deprecated deprecation deprecations deprecate",
  info: "info notice note debug trace verbose hint log",
  pass: "pass passed passes passing ok okay success succeeded successful successfully succeeds",
  done: "done finished finish finishes complete completed completes completing ended",
  skip: "skip skipped skipping skips pending ignored ignore ignoring disabled omitted todo inconclusive xfail",
  test: "test tests testing tested testcase testsuite spec specs suite suites it describe scenario scenarios example examples check checks checking checked",
  summary: "summary total totals results result report statistics overall conclusion",
  build: "build builds building built job task tasks step steps stage target phase goal rule recipe",
  compile:
    "compile compiles compiled compiling compilation compiler linking link linker linked ld cc cxx gcc clang javac rustc scalac ghc tsc",
  fetch:
    "fetch fetching fetched download downloading downloaded downloads get getting cloning clone cloned receiving resolving resolve resolved pulling pull hit retrieving",
  install:
    "install installing installed installs installation unpacking unpack setting setup preparing prepare selecting selected package packages dependency dependencies requirement requirements upgrade upgrading updated updating update added adding using extracting extract processing configure configuring",
  start:
    "start started starting starts run running runs ran begin beginning executing execute executed exec launching loading loaded load generating generated creating created create writing copying copy",
  exit: "exit exited exits exiting exitcode status code codes returncode errno rc",
  command: "command commands script bash sh shell cmd executable binary process program",
  line: "line lines ln col column row",
  at: "at",
  in: "in on from",
  file: "file files path paths directory folder filename",
  stack: "stack stacktrace backtrace frame frames goroutine thread threads main",
  diff: "diff difference differences differ differs differing diverged changed modified deleted removed changes",
  make: "make gmake ninja cmake bazel rake gradle gradlew mvn maven sbt cargo npm yarn pnpm pip gem bundle bundler composer tox pytest jest mocha karma grunt gulp webpack lerna nx go rebar stack cabal mix lein ant",
  see: "see run re rerun try help more information details documentation docs http https www please visit",
  retry: "retry retrying retried attempt attempts again",
  git: "git commit branch checkout merge head origin remote repository repo detached",
  time: "ms sec secs second seconds min minute minutes elapsed duration took time hour hours",
  travis: "travis fold worker cache caching archive secure env export setup sudo apt ppa",
  network:
    "connection connect connected host socket server ssl tls certificate dns proxy port url redirect broken dead unreachable status",
  memory:
    "memory heap leak leaked leaks sanitizer addresssanitizer undefinedbehavior valgrind uninitialised uninitialized invalid",
  value: "value values equal equals equality same match matches matched matching contain contains contained true false",
  left: "left right lhs rhs before after",
  finding:
    "issue issues problem problems offense offenses offence offences defect defects bug bugs inspection inspected detected",
};

type Concept = keyof typeof CONCEPTS;
/** Their names in the order of their numbers. */
const CONCEPT_NAMES = Object.keys(CONCEPTS) as Concept[];
export const CONCEPT: Record<Concept, number> = numbered(CONCEPT_NAMES);

/** The number of each name of a list, counted from `first` on. */
function numbered<Name extends string>(names: readonly Name[], first = 0): Record<Name, number> {
  return Object.fromEntries(names.map((name, index) => [name, first + index])) as Record<Name, number>;
}

const SLOTS = 4096;

/** The words of all concepts by their hashes, made on first use: most starts of the command judge no line. */
let table: { hashes: Int32Array; concepts: Int8Array } | undefined;

/** A word's hash is built letter by letter, lower case, from this. */
export const WORD_SEED = 0x1505;

/** The hash with one more lower-case letter. */
export function addLetter(hash: number, letter: number): number {
  return (Math.imul(hash, 33) ^ letter) | 0;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 13)) & (SLOTS - 1);
}

/** The hash of bytes[start, end), which are letters. */
export function wordHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = WORD_SEED;
  for (let at = start; at < end; at++) hash = addLetter(hash, (bytes[at] as number) | 32);
  return hash;
}

/** The hashes of words, given with a blank between. */
export function hashesOf(words: string): Set<number> {
  return new Set(
    words
      .split(" ")
      .map((word) => [...word].reduce((hash, letter) => addLetter(hash, letter.charCodeAt(0)), WORD_SEED)),
  );
}

function makeTable(): { hashes: Int32Array; concepts: Int8Array } {
  const hashes = new Int32Array(SLOTS);
  const concepts = new Int8Array(SLOTS).fill(-1);
  for (const [number, name] of CONCEPT_NAMES.entries()) {
    for (const hash of hashesOf(CONCEPTS[name])) {
      let slot = slotOf(hash);
      while (concepts[slot] !== -1 && hashes[slot] !== hash) slot = (slot + 1) & (SLOTS - 1);
      // A word of two concepts counts for the first.
      if (concepts[slot] !== -1) continue;
      hashes[slot] = hash;
      concepts[slot] = number;
    }
  }
  return { hashes, concepts };
}

/** The number of the concept that a word stands for, or -1. */
export function conceptOf(hash: number): number {
  table ??= makeTable();
  const { hashes, concepts } = table;
  let slot = slotOf(hash);
  while (concepts[slot] !== -1) {
    if (hashes[slot] === hash) return concepts[slot] as number;
    slot = (slot + 1) & (SLOTS - 1);
  }
  return -1;
}

/** In which way a concept stands on a line. */
const WAYS = [
  "plain",
  "caps",
  "called",
  "first",
  "some",
  "zero",
  "negated",
  "then zero",
  "then some",
  "part",
  "path",
] as const;

/** What a line has or has not. */
const FLAGS = [
  "file:line",
  "frame",
  "numbered )",
  "numbered .",
  "rule",
  "cross",
  "tick",
  "caret",
  "plus",
  "minus",
  "percent",
  "url",
  "stars",
  "quote",
  "gutter E",
  "gutter >",
  "gutter |",
  "exit non-zero",
  "exit zero",
  "prompt",
  "arrow",
  "::",
  "call",
  "=",
  "camel",
  "path",
  "dotted",
  "backtick",
  "colon end",
  "failure header",
  "tag",
  "more error",
] as const;

/** How many features each group has, in the order of the weights. */
const SIZES = {
  concept: CONCEPT_NAMES.length * WAYS.length,
  flag: FLAGS.length,
  indent: 6,
  length: 10,
  digits: 5,
  capitals: 5,
  marks: 5,
  words: 7,
  first: 32,
  last: 32,
  seen: 7,
  startSeen: 8,
};
type Group = keyof typeof SIZES;
const GROUPS = Object.keys(SIZES) as Group[];
let total = 0;
/** The first feature of each group. */
export const BASE: Record<Group, number> = numbered(GROUPS);
for (const group of GROUPS) {
  BASE[group] = total;
  total += SIZES[group];
}
export const WAY: Record<(typeof WAYS)[number], number> = numbered(WAYS);
export const FLAG: Record<(typeof FLAGS)[number], number> = numbered(FLAGS, BASE.flag);
/** How many features a line may have. */
export const LINE_FEATURES = total;

/** Groups of features that have an order: neighbours should not differ much. @public for the script that learns the weights */
export const ORDERED_LINE: readonly [from: number, to: number][] = GROUPS.filter(
  (group) => !["concept", "flag", "first", "last"].includes(group),
).map((group) => [BASE[group], BASE[group] + SIZES[group]]);

/** The feature that a concept is there in a way. */
export function conceptFeature(concept: number, way: number): number {
  return concept * WAYS.length + way;
}

/** A feature in words, for people who ask why. */
export function featureName(feature: number): string {
  const group = GROUPS.findLast((name) => BASE[name] <= feature) as Group;
  const index = feature - BASE[group];
  if (group === "flag") return FLAGS[index] as string;
  if (group !== "concept") return `${group === "startSeen" ? "start seen" : group} ${index}/${SIZES[group]}`;
  const way = WAYS[index % WAYS.length] as string;
  const concept = CONCEPT_NAMES[Math.floor(index / WAYS.length)] as string;
  return way === "plain" ? concept : `${concept} (${way})`;
}
