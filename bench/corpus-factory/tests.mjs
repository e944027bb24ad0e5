// Test runners. A tool has `faults`, and `project(pick, fault)` gives files and truth: a list of things that must be told, each
// with the forms in which the tool may tell it (the first that stands only in the run with the fault counts).
import { fileURLToPath } from "node:url";
import { capital, planTests, snake } from "./plan.mjs";

/** Tools of npm: `npm install --prefix bench/corpus-factory` puts them there. */
export const modules = fileURLToPath(new URL("./node_modules", import.meta.url));
const linked = (command) => `ln -s ${modules} node_modules; npx ${command}`;

/** What each language writes for a body. `said` are texts that the output must then have. */
const LANGUAGES = {
  js: {
    print: (text) => `console.log(${JSON.stringify(text)});`,
    good: () => "equal(1, 1);",
    assertion: (test) => [`equal(${test.actual}, ${test.expected});`, [String(test.actual)], [String(test.expected)]],
    crash: (test) => [`lost_helper_${test.number}.run();`, [`lost_helper_${test.number} is not defined`]],
    timeout: () => ["await new Promise((go) => setTimeout(go, 60000));"],
    refused: (test) => [
      `await new Promise((go, no) => import("node:net").then((net) => net.connect(${test.port}, "127.0.0.1").on("error", no)));`,
      [`ECONNREFUSED 127.0.0.1:${test.port}`],
    ],
    disk: () => [`(await import("node:fs")).writeFileSync("/dev/full", "x");`, ["ENOSPC: no space left on device"]],
    thrown: (test) => [
      `throw new RangeError("ledger ${test.number} closed at ${test.actual}");`,
      [`ledger ${test.number} closed at ${test.actual}`],
    ],
  },
  python: {
    print: (text) => `print(${JSON.stringify(text)})`,
    good: () => "self.assertEqual(1, 1)",
    assertion: (test) => [
      `self.assertEqual(${test.actual}, ${test.expected})`,
      [`AssertionError: ${test.actual} != ${test.expected}`],
    ],
    crash: (test) => [
      `lost_helper_${test.number}.run()`,
      [`NameError: name 'lost_helper_${test.number}' is not defined`],
    ],
    refused: (test) => [
      `__import__("socket").create_connection(("127.0.0.1", ${test.port}), 1)`,
      ["ConnectionRefusedError: [Errno 111] Connection refused"],
    ],
    disk: () => [`open("/dev/full", "w").write("x" * 100000)`, ["OSError: [Errno 28] No space left on device"]],
    thrown: (test) => [
      `raise LookupError("ledger ${test.number} closed at ${test.actual}")`,
      [`LookupError: ledger ${test.number} closed at ${test.actual}`],
    ],
  },
  ruby: {
    print: (text) => `puts ${JSON.stringify(text).replaceAll("#", "\\#")}`,
    crash: (test) => [`lost_helper_${test.number}.run`, [`lost_helper_${test.number}`]],
    refused: (test) => [
      `require "socket"; TCPSocket.new("127.0.0.1", ${test.port})`,
      [`Connection refused - connect(2) for "127.0.0.1" port ${test.port}`],
    ],
    disk: () => [`File.write("/dev/full", "x")`, ["No space left on device"]],
    thrown: (test) => [
      `raise ArgumentError, "ledger ${test.number} closed at ${test.actual}"`,
      [`ledger ${test.number} closed at ${test.actual}`],
    ],
  },
};

/** Writes a test's body: what it logs and what it checks. Notes what the output must tell if it is wrong. */
function bodyOf(language, test, truth, separator = " ") {
  const [line, ...said] = test.fault === null ? [language.good(test)] : language[test.fault](test);
  if (test.fault !== null) truth.push(...said);
  return [...test.said.map(language.print), line].join(separator);
}

/** A project in which each suite is a file. `names(test)` are the forms in which a failing test may be named. */
function suiteFiles({ language, file, suite, test, names, more = {}, separator, size }) {
  return (pick, fault) => {
    const { suites, wrong } = planTests(pick, fault, size);
    const truth = wrong.map(names);
    const files = { ...more };
    for (const one of suites)
      files[file(one)] = suite(
        one,
        one.tests.map((each) => test(each, bodyOf(language, each, truth, separator))).join("\n"),
      );
    return { files, truth };
  };
}

const jsSuite =
  (header) =>
  ({ title }, tests) =>
    `${header}\ndescribe("${title}", () => {\n${tests}\n});\n`;
const jsTest = (each, body) => `  it("${each.suite} ${each.deed}", async () => { ${body} });`;
const packageFile = { "package.json": '{"name":"project","version":"1.0.0","type":"module"}' };
const full = ({ suite, deed }) => `${suite} ${deed}`;

const JS_FAULTS = ["assertion", "crash", "thrown", "refused"];
function jsTool(name, command, header, { file, names, faults = JS_FAULTS, quietly, ...rest }) {
  return {
    name,
    faults,
    probe: name.startsWith("node") ? "node --version" : `test -x ${modules}/.bin/${name}`,
    shown: `npx ${name}`,
    command,
    quietly,
    project: suiteFiles({
      language: LANGUAGES.js,
      file: file ?? (({ name: part }) => `test/${part}.test.js`),
      suite: jsSuite(header),
      test: jsTest,
      names,
      more: packageFile,
      ...rest,
    }),
  };
}

const NODE = 'import { describe, it } from "node:test";\nimport { equal } from "node:assert/strict";';
const ASSERT = 'import { equal } from "node:assert/strict";';
const EXPECT = "const equal = (a, b) => expect(a).toBe(b);";

/** Tests of Ruby: the three frameworks differ in their words only. */
function rubyTool(name, { probe, command, suite, test, equal, names, file }) {
  const language = { ...LANGUAGES.ruby, ...equal };
  return {
    name,
    faults: ["assertion", "crash", "refused", "thrown"],
    probe,
    command,
    project: suiteFiles({ language, separator: "\n    ", file, suite, test, names }),
  };
}

const unitNames = ({ deed, suite }) => [
  `FAIL: test_${snake(deed)} (test_${suite}.`,
  `ERROR: test_${snake(deed)} (test_${suite}.`,
];
const pythonSuite = ({ title }, tests) => `import unittest\n\nclass ${title}Test(unittest.TestCase):\n${tests}\n`;
const pythonTest = (each, body) => `    def test_${snake(each.deed)}(self):\n        ${body}\n`;

const GO = {
  print: (text) => `fmt.Println(${JSON.stringify(text)})`,
  good: () => "if 1 != 1 { t.Fatal() }",
  assertion: (test) => [
    `t.Errorf("sum = %d, want %d", ${test.actual}, ${test.expected})`,
    [`sum = ${test.actual}, want ${test.expected}`],
  ],
  crash: (test) => [
    `var list []int; fmt.Println(list[${test.number}])`,
    [`index out of range [${test.number}] with length 0`],
  ],
  thrown: (test) => [
    `panic("ledger ${test.number} closed at ${test.actual}")`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
  refused: (test) => [
    `_, err := net.Dial("tcp", "127.0.0.1:${test.port}"); if err != nil { t.Fatal(err) }`,
    [`dial tcp 127.0.0.1:${test.port}: connect: connection refused`],
  ],
};

const RUST = {
  print: (text) => `println!("{}", ${JSON.stringify(text)});`,
  good: () => "assert_eq!(1, 1);",
  assertion: (test) => [
    `assert_eq!(${test.actual}, ${test.expected});`,
    [`left: ${test.actual}`],
    [`right: ${test.expected}`],
  ],
  thrown: (test) => [
    `panic!("ledger ${test.number} closed at ${test.actual}");`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
  crash: (test) => [
    `let list: Vec<i32> = Vec::new(); println!("{}", list[std::hint::black_box(${test.number})]);`,
    [`the len is 0 but the index is ${test.number}`],
  ],
};

const JAVA = {
  print: (text) => `System.out.println(${JSON.stringify(text)});`,
  good: () => "assertEquals(1, 1);",
  assertion: (test) => [
    `assertEquals(${test.expected}, ${test.actual});`,
    [`expected: <${test.expected}> but was: <${test.actual}>`, `expected:<${test.expected}> but was:<${test.actual}>`],
  ],
  crash: (test) => [
    `int[] list = new int[0]; System.out.println(list[${test.number}]);`,
    [`Index ${test.number} out of bounds for length 0`],
  ],
  thrown: (test) => [
    `throw new IllegalStateException("ledger ${test.number} closed at ${test.actual}");`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
};
const camel = (text) => capital(snake(text)).replaceAll("_", "");

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>app</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins>${Object.entries({ resources: "3.3.1", compiler: "3.13.0", surefire: "3.2.5" })
  .map(
    ([name, version]) => `<plugin><artifactId>maven-${name}-plugin</artifactId><version>${version}</version></plugin>`,
  )
  .join("")}</plugins></build></project>`;

const PHP = {
  print: (text) => `fwrite(STDOUT, ${JSON.stringify(`${text}\n`).replaceAll("$", "\\$")});`,
  good: () => "$this->assertSame(1, 1);",
  assertion: (test) => [
    `$this->assertSame(${test.expected}, ${test.actual});`,
    [`Failed asserting that ${test.actual} is identical to ${test.expected}.`],
  ],
  crash: (test) => [`lost_helper_${test.number}();`, [`undefined function lost_helper_${test.number}()`]],
  thrown: (test) => [
    `throw new RuntimeException("ledger ${test.number} closed at ${test.actual}");`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
};

const LUA = {
  print: (text) => `print(${JSON.stringify(text)})`,
  good: () => "assert.are.equal(1, 1)",
  assertion: (test) => [
    `assert.are.equal(${test.expected}, ${test.actual})`,
    [String(test.actual)],
    [String(test.expected)],
  ],
  crash: (test) => [`lost_helper_${test.number}.run()`, [`lost_helper_${test.number}`]],
  thrown: (test) => [
    `error("ledger ${test.number} closed at ${test.actual}")`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
};

const BASH = {
  print: (text) => `echo ${JSON.stringify(text)}`,
  good: () => "[ 1 -eq 1 ]",
  assertion: (test) => [`[ ${test.actual} -eq ${test.expected} ]`, [`[ ${test.actual} -eq ${test.expected} ]' failed`]],
  crash: (test) => [`lost_helper_${test.number}`, [`lost_helper_${test.number}: command not found`]],
  refused: (test) => [`curl -sS http://127.0.0.1:${test.port}/`, [`Failed to connect to 127.0.0.1 port ${test.port}`]],
  disk: (test) => [`echo ${test.actual} > /dev/full`, ["No space left on device"]],
};

const PERL = {
  print: (text) => `diag(${JSON.stringify(text).replaceAll("@", "\\@")});`,
  good: (test) => `is(1, 1, "${full(test)}");`,
  assertion: (test) => [
    `is(${test.actual}, ${test.expected}, "${full(test)}");`,
    [`got: '${test.actual}'`],
    [`expected: '${test.expected}'`],
  ],
  crash: (test) => [`lost_helper_${test.number}();`, [`Undefined subroutine &main::lost_helper_${test.number} called`]],
  thrown: (test) => [
    `die "ledger ${test.number} closed at ${test.actual}";`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
};

const GTEST = {
  print: (text) => `std::puts(${JSON.stringify(text)});`,
  good: () => "EXPECT_EQ(1, 1);",
  assertion: (test) => [`EXPECT_EQ(${test.actual}, ${test.expected});`, [String(test.actual)], [String(test.expected)]],
  thrown: (test) => [
    `throw std::runtime_error("ledger ${test.number} closed at ${test.actual}");`,
    [`ledger ${test.number} closed at ${test.actual}`],
  ],
};

export const testTools = [
  jsTool("node-test", "node --test --test-reporter=spec", NODE, {
    names: (test) => [`✖ ${full(test)}`],
    faults: ["assertion", "crash", "thrown", "disk"],
  }),
  jsTool("node-tap", "node --test --test-reporter=tap", NODE, {
    names: ({ number, ...test }) => [`not ok ${(number % 10) + 1} - ${full(test)}`],
    faults: ["assertion", "crash", "refused"],
  }),
  jsTool(
    "vitest",
    linked("vitest run --reporter=verbose --test-timeout=400"),
    `import { describe, it, expect } from "vitest";\n${EXPECT}`,
    {
      names: (test) => [`FAIL  test/${test.suite}.test.js > ${capital(test.suite)} > ${full(test)}`],
      faults: ["assertion", "crash", "timeout", "thrown"],
      quietly: linked("vitest run --test-timeout=400"),
    },
  ),
  jsTool("mocha", linked("mocha --timeout 400 'test/*.js'"), ASSERT, {
    names: ({ suite, deed }) => [`${suite} ${deed}:`],
    faults: ["assertion", "timeout", "refused", "thrown"],
    quietly: linked("mocha --timeout 400 --reporter dot 'test/*.js'"),
  }),
  jsTool(
    "jest",
    `ln -s ${modules} node_modules; NODE_OPTIONS=--experimental-vm-modules npx jest --verbose --maxWorkers=2 --testTimeout=400`,
    EXPECT,
    { names: (test) => [`● ${capital(test.suite)} › ${full(test)}`], faults: ["assertion", "crash", "timeout"] },
  ),
  jsTool("jasmine", linked("jasmine 'test/*.js'"), EXPECT, {
    names: (test) => [`${capital(test.suite)} ${full(test)}`],
    faults: ["assertion", "crash", "thrown"],
  }),
  jsTool("ava", linked("ava --timeout=20s"), 'import test from "ava";', {
    suite: (_, tests) => `import test from "ava";\n${tests}`,
    test: (each, body) => `test("${full(each)}", async (t) => { const equal = (a, b) => t.is(a, b); ${body} });`,
    names: (test) => [`✘ [fail]: ${test.suite} › ${full(test)}`, `${test.suite} › ${full(test)}\n`],
    faults: ["assertion", "crash", "refused"],
  }),
  jsTool("tape", linked("tape 'test/*.js'"), "", {
    suite: (_, tests) => `import test from "tape";\n${tests}`,
    test: (each, body) =>
      `test("${full(each)}", async (t) => { const equal = (a, b) => t.equal(a, b, "${full(each)} is so"); ${body} });`,
    names: (test) => [` ${full(test)} is so\n  ---`],
    faults: ["assertion", "thrown"],
  }),
  {
    name: "unittest",
    faults: ["assertion", "crash", "refused", "disk", "thrown"],
    probe: "python3 --version",
    command: "python3 -m unittest discover -v -s tests",
    quietly: "python3 -m unittest discover -b -s tests",
    project: suiteFiles({
      language: LANGUAGES.python,
      separator: "\n        ",
      file: ({ name }) => `tests/test_${name}.py`,
      suite: pythonSuite,
      test: pythonTest,
      names: unitNames,
    }),
  },
  {
    name: "pytest",
    faults: ["assertion", "crash", "refused", "disk", "thrown"],
    probe: "pytest --version",
    command: "pytest -v -rA -p no:cacheprovider tests",
    quietly: "pytest -q --tb=short -p no:cacheprovider tests",
    project: suiteFiles({
      language: LANGUAGES.python,
      separator: "\n        ",
      file: ({ name }) => `tests/test_${name}.py`,
      suite: pythonSuite,
      test: pythonTest,
      names: ({ suite, deed }) => [`FAILED tests/test_${suite}.py::${capital(suite)}Test::test_${snake(deed)}`],
    }),
  },
  {
    name: "go-test",
    faults: ["assertion", "crash", "refused", "thrown"],
    probe: "go version",
    command: "GOFLAGS=-mod=mod GOPROXY=off go test -v ./...",
    quietly: "GOFLAGS=-mod=mod GOPROXY=off go test ./...",
    project: suiteFiles({
      language: GO,
      separator: "\n\t",
      size: { suites: 6, tests: 28 },
      more: { "go.mod": "module shop\n\ngo 1.19\n" },
      file: ({ name }) => `${name}/${name}_test.go`,
      suite: ({ name }, tests) =>
        `package ${name}\n\nimport ("fmt"; "net"; "testing")\n\nvar _ = fmt.Sprint\nvar _ = net.IPv4len\n${tests}\n`,
      test: (each, body) => `func Test${camel(each.deed)}${each.number}(t *testing.T) {\n\t${body}\n}\n`,
      names: (test) => [`--- FAIL: Test${camel(test.deed)}${test.number}`],
    }),
  },
  {
    name: "cargo-test",
    faults: ["assertion", "crash", "thrown"],
    probe: "cargo --version",
    command: "cargo test --offline -- --show-output",
    project(pick, fault) {
      const { suites, wrong } = planTests(pick, fault, { suites: 14, tests: 12 });
      const truth = wrong.map((test) => [`test ${test.suite}::tests::${snake(test.deed)} ... FAILED`]);
      const files = {
        "Cargo.toml": '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": suites.map(({ name }) => `mod ${name};`).join("\n"),
      };
      for (const { name, tests } of suites)
        files[`src/${name}.rs`] =
          `pub fn sum_${name}() -> u32 { 1 }\n#[cfg(test)]\nmod tests {\n${tests.map((each) => `    #[test]\n    fn ${snake(each.deed)}() { ${bodyOf(RUST, each, truth)} }\n`).join("")}}\n`;
      return { files, truth };
    },
  },
  {
    name: "maven-junit",
    faults: ["assertion", "crash", "thrown"],
    probe: "mvn --version && test -d ~/.m2/repository/org/junit/jupiter/junit-jupiter/5.10.2",
    command: "mvn -o -B test",
    project: suiteFiles({
      language: JAVA,
      size: { suites: 16, tests: 8 },
      more: { "pom.xml": POM },
      file: ({ title }) => `src/test/java/shop/${title}Test.java`,
      suite: ({ title }, tests) =>
        `package shop;\nimport static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.Test;\nclass ${title}Test {\n${tests}\n}\n`,
      test: (each, body) => `  @Test void ${snake(each.deed)}() { ${body} }`,
      names: ({ suite, deed }) => [`${capital(suite)}Test.${snake(deed)}:`, `${capital(suite)}Test.${snake(deed)} `],
    }),
  },
  rubyTool("rspec", {
    probe: "rspec --version",
    command: "rspec --format documentation spec",
    file: ({ name }) => `spec/${name}_spec.rb`,
    suite: ({ title }, tests) => `describe "${title}" do\n${tests}\nend\n`,
    test: (each, body) => `  it "${full(each)}" do\n    ${body}\n  end`,
    equal: {
      good: () => "expect(1).to eq(1)",
      assertion: (test) => [
        `expect(${test.actual}).to eq(${test.expected})`,
        [`got: ${test.actual}`],
        [`expected: ${test.expected}`],
      ],
    },
    names: (test) => [`) ${capital(test.suite)} ${full(test)}`],
  }),
  rubyTool("minitest", {
    probe: "ruby -e 'require \"minitest\"'",
    command: "ruby -e 'Dir[\"./test/*.rb\"].sort.each { |f| require f }' -- --verbose",
    file: ({ name }) => `test/${name}_test.rb`,
    suite: ({ title }, tests) => `require "minitest/autorun"\nclass ${title}Test < Minitest::Test\n${tests}\nend\n`,
    test: (each, body) => `  def test_${snake(each.deed)}\n    ${body}\n  end`,
    equal: {
      good: () => "assert_equal 1, 1",
      assertion: (test) => [
        `assert_equal ${test.expected}, ${test.actual}`,
        [`Actual: ${test.actual}`],
        [`Expected: ${test.expected}`],
      ],
    },
    names: ({ suite, deed }) => [
      `${capital(suite)}Test#test_${snake(deed)} [`,
      `${capital(suite)}Test#test_${snake(deed)}:\n`,
    ],
  }),
  rubyTool("test-unit", {
    probe: "ruby -e 'require \"test/unit\"'",
    command: "ruby -e 'Dir[\"./test/*.rb\"].sort.each { |f| require f }' -- --verbose=verbose",
    file: ({ name }) => `test/${name}_test.rb`,
    suite: ({ title }, tests) => `require "test/unit"\nclass ${title}Test < Test::Unit::TestCase\n${tests}\nend\n`,
    test: (each, body) => `  def test_${snake(each.deed)}\n    ${body}\n  end`,
    equal: {
      good: () => "assert_equal 1, 1",
      assertion: (test) => [
        `assert_equal ${test.expected}, ${test.actual}`,
        [`<${test.actual}>`],
        [`<${test.expected}> expected`],
      ],
    },
    names: ({ suite, deed }) => [`test_${snake(deed)}(${capital(suite)}Test)`],
  }),
  {
    name: "phpunit",
    faults: ["assertion", "crash", "thrown"],
    probe: "phpunit --version",
    command: "phpunit --testdox --debug tests || phpunit --verbose tests",
    project: suiteFiles({
      language: PHP,
      file: ({ title }) => `tests/${title}Test.php`,
      suite: ({ title }, tests) =>
        `<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class ${title}Test extends TestCase {\n${tests}\n}\n`,
      test: (each, body) => `  public function test_${snake(each.deed)}(): void { ${body} }`,
      names: ({ suite, deed }) => [`) ${capital(suite)}Test::test_${snake(deed)}`],
    }),
  },
  {
    name: "busted",
    faults: ["assertion", "crash", "thrown"],
    probe: "busted --version",
    command: "busted -v -o gtest spec",
    quietly: "busted spec",
    project: suiteFiles({
      language: LUA,
      file: ({ name }) => `spec/${name}_spec.lua`,
      suite: ({ title }, tests) => `describe("${title}", function()\n${tests}\nend)\n`,
      test: (each, body) => `  it("${full(each)}", function() ${body} end)`,
      names: (test) => [
        `[  FAILED  ] spec/${test.suite}_spec.lua`,
        `[  ERROR   ] spec/${test.suite}_spec.lua`,
        `: ${capital(test.suite)} ${full(test)}`,
      ],
    }),
  },
  {
    name: "bats",
    faults: ["assertion", "crash", "refused", "disk"],
    probe: "bats --version",
    command: "bats --tap test",
    project: suiteFiles({
      language: BASH,
      separator: "\n  ",
      size: { suites: 12, tests: 8 },
      file: ({ name }) => `test/${name}.bats`,
      suite: (_, tests) => `${tests}\n`,
      test: (each, body) => `@test "${full(each)}" {\n  ${body}\n}`,
      names: (test) => [`not ok ${test.number + 1} ${full(test)}`, ` ${full(test)}\n# (`],
    }),
  },
  {
    name: "prove",
    faults: ["assertion", "crash", "thrown"],
    probe: "prove --version",
    command: "prove -v t",
    quietly: "prove t",
    project: suiteFiles({
      language: PERL,
      separator: "\n",
      file: ({ name }) => `t/${name}.t`,
      suite: (_, tests) => `use strict; use warnings; use Test::More;\n${tests}\ndone_testing();\n`,
      test: (_, body) => body,
      names: (test) => [`Failed test '${full(test)}'`, `t/${test.suite}.t `],
    }),
  },
  {
    name: "gtest",
    faults: ["assertion", "thrown"],
    probe: "g++ --version && test -f /usr/include/gtest/gtest.h",
    command: "g++ -O0 -w -o check check.cc -lgtest -lgtest_main && ./check",
    project(pick, fault) {
      const { suites, wrong } = planTests(pick, fault, { suites: 12, tests: 8 });
      const truth = wrong.map((test) => [`[  FAILED  ] ${capital(test.suite)}.${camel(test.deed)}`]);
      const tests = suites.flatMap((suite) =>
        suite.tests.map((each) => `TEST(${suite.title}, ${camel(each.deed)}) { ${bodyOf(GTEST, each, truth)} }`),
      );
      return {
        files: {
          "check.cc": `#include <gtest/gtest.h>\n#include <cstdio>\n#include <stdexcept>\n${tests.join("\n")}\n`,
        },
        truth,
      };
    },
  },
  {
    name: "ctest",
    faults: ["assertion", "crash", "timeout"],
    probe: "ctest --version && gcc --version",
    command:
      "cmake -S . -B build >/dev/null && cmake --build build >/dev/null && ctest --test-dir build -V --timeout 1",
    project(pick, fault) {
      const { suites, wrong } = planTests(pick, fault, { suites: 8, tests: 8 });
      const tests = suites.flatMap((suite) => suite.tests);
      const id = (test) => `${test.suite}_${snake(test.deed)}`;
      const said = {
        assertion: (test) => `printf("expected ${test.expected}, got ${test.actual}\\n"); return 1;`,
        crash: (test) =>
          `fprintf(stderr, "check.c:9: ${id(test)}: Assertion 'total == ${test.expected}' failed.\\n"); fflush(0); abort();`,
        timeout: () => "fflush(0); sleep(3);",
      };
      const told = {
        assertion: (test) => [[`expected ${test.expected}, got ${test.actual}`]],
        crash: (test) => [[`Assertion 'total == ${test.expected}' failed`]],
        timeout: () => [],
      };
      const cases = tests.map(
        (test) =>
          `if (!strcmp(v[1], "${id(test)}")) { ${test.said.map((text) => `puts(${JSON.stringify(text)});`).join(" ")} ${test.fault === null ? "" : said[test.fault](test)} }`,
      );
      return {
        files: {
          "CMakeLists.txt": `cmake_minimum_required(VERSION 3.20)\nproject(app C)\nenable_testing()\nadd_executable(check check.c)\n${tests.map((test) => `add_test(NAME ${id(test)} COMMAND check ${id(test)})`).join("\n")}\n`,
          "check.c": `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint main(int c, char **v) { (void)c; ${cases.join("\n")} return 0; }\n`,
        },
        truth: wrong.flatMap((test) => [
          [`- ${id(test)} (Failed)`, `- ${id(test)} (Subprocess aborted)`, `- ${id(test)} (Timeout)`],
          ...told[test.fault](test),
        ]),
      };
    },
  },
];
