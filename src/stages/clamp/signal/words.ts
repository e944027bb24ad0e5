/** Words by concept: a line is judged by concepts, since single words would be too many to learn weights for. */
export const CONCEPTS: Readonly<Record<string, string>> = {
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

/** Their names in the order of their numbers. */
export const CONCEPT_NAMES: readonly string[] = Object.keys(CONCEPTS);
