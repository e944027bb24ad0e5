// Tools of many ecosystems, each with a project of many parts and faults to put into it. `project(pick, fault)` gives the
// files and what names the fault; with no fault the same files without it.
import { fileURLToPath } from "node:url";

/** Tools of npm: `npm install --prefix bench/corpus-factory` puts them there. */
const modules = fileURLToPath(new URL("./node_modules", import.meta.url));
const NOUNS =
  "invoice customer order basket voucher refund parcel address ledger payment session profile catalog shipment discount account".split(
    " ",
  );
const DEEDS = [
  "adds up",
  "rejects empty input",
  "handles a network error",
  "fails gracefully without a name",
  "retries after a timeout",
  "keeps its order",
  "throws on a bad value",
  "parses a date",
  "warns about old data",
  "is not confused by failures",
  "survives an exception in a listener",
  "writes what it read",
  "reports missing fields",
  "logs errors once",
];
const title = (text) => text.replace(/(?:^| )(\w)/g, (_, letter) => letter.toUpperCase());
const range = (count) => Array.from({ length: count }, (_, index) => index);

/** Names of parts, and which of them is the one with the fault. */
function parts(pick, count) {
  const names = range(count).map((index) => `${NOUNS[(index + pick(3)) % NOUNS.length]}${index}`);
  const at = 1 + pick(count - 2);
  return { names, at, wrong: names[at], expected: 1000 + pick(9000), actual: 20_000 + pick(9000) };
}

/** A project of JavaScript tests in the style of describe and it, or of test. */
function jsTests({ header, file, noise = true }) {
  return (pick, fault) => {
    const { names, at, expected, actual } = parts(pick, 30);
    const files = { "package.json": '{"name":"project","version":"1.0.0","type":"module"}' };
    const deed = pick(DEEDS.length);
    for (const [index, name] of names.entries()) {
      const tests = DEEDS.map((text, number) => {
        const isWrong = fault !== null && index === at && number === deed;
        const body = !isWrong
          ? `equal(${index * 10 + number}, ${index * 10 + number});`
          : fault === "assertion"
            ? `equal(total(), ${expected});`
            : fault === "crash"
              ? `undefined_${name}_helper.run();`
              : `await new Promise((go) => setTimeout(go, 60000));`;
        return `  it("${name} ${text}", async () => { ${noise && pick(5) === 0 ? `console.log("worker ${pick(100)} ready, 0 errors");` : ""} ${body} }${fault === "timeout" && isWrong ? ", 300" : ""});`;
      });
      files[file(name)] =
        `${header}\nconst total = () => ${actual};\ndescribe("${title(name)}", () => {\n${tests.join("\n")}\n});\n`;
    }
    const name = `${names[at]} ${DEEDS[deed]}`;
    const said = {
      assertion: [String(actual), String(expected)],
      crash: [`undefined_${names[at]}_helper is not defined`],
      timeout: [name],
    };
    return { files, truth: fault === null ? [] : [name, ...said[fault]] };
  };
}

function cSources(pick, fault, { main = true } = {}) {
  const { names, at, wrong } = parts(pick, 60);
  const files = {};
  for (const [index, name] of names.entries()) {
    const isWrong = fault !== null && index === at;
    const call =
      isWrong && fault === "missing-symbol"
        ? `extern int lost_${name}(int);\nint ${name}_sum(int a) { return lost_${name}(a); }`
        : `int ${name}_sum(int a) { int unused_${index % 7 === 0 ? "value" : ""} = 0; ${index % 7 === 0 ? "" : `(void)unused_;`} return a + ${index}; }`;
    const broken =
      isWrong && fault === "type-error"
        ? `struct point_${name} { int x; };\nint ${name}_twice(struct point_${name} p) { return p * 2; }\n`
        : "";
    files[`src/${name}.c`] = `#include <stdio.h>\n${call}\n${broken}`;
  }
  if (main)
    files["src/main.c"] =
      `${names.map((name) => `int ${name}_sum(int);`).join("\n")}\nint main(void) { int s = 0; ${names.map((name) => `s += ${name}_sum(1);`).join(" ")} return s == 0; }\n`;
  const truth = {
    "missing-symbol": [`lost_${wrong}`],
    "type-error": [`src/${wrong}.c`, "invalid operands to binary *"],
  };
  return { files, names, truth: fault === null ? [] : truth[fault] };
}

const js = (name, more) => ({ name, faults: ["assertion", "crash"], ...more });

export const tools = [
  js("node-test", {
    probe: "node --version",
    command: "node --test --test-reporter=spec",
    project: jsTests({
      header: 'import { describe, it } from "node:test";\nimport { equal } from "node:assert/strict";',
      file: (name) => `test/${name}.test.js`,
    }),
  }),
  js("node-tap", {
    probe: "node --version",
    command: "node --test --test-reporter=tap",
    project: jsTests({
      header: 'import { describe, it } from "node:test";\nimport { equal } from "node:assert/strict";',
      file: (name) => `test/${name}.test.js`,
    }),
  }),
  ...["vitest", "mocha", "jest"].map((name) =>
    js(name, {
      faults: ["assertion", "crash", "timeout"],
      probe: `test -x ${modules}/.bin/${name}`,
      shown: `npx ${name}`,
      command: {
        vitest: `ln -s ${modules} node_modules; npx vitest run --reporter=verbose`,
        mocha: `ln -s ${modules} node_modules; npx mocha --timeout 300 'test/*.js'`,
        jest: `ln -s ${modules} node_modules; NODE_OPTIONS=--experimental-vm-modules npx jest --verbose --maxWorkers=2`,
      }[name],
      project: jsTests({
        header: {
          vitest: 'import { describe, it, expect } from "vitest";\nconst equal = (a, b) => expect(a).toBe(b);',
          mocha: 'import { equal } from "node:assert/strict";',
          jest: "const equal = (a, b) => expect(a).toBe(b);",
        }[name],
        file: (part) => (name === "mocha" ? `test/${part}.js` : `test/${part}.test.js`),
      }),
    }),
  ),
  {
    name: "unittest",
    faults: ["assertion", "crash"],
    probe: "python3 --version",
    command: "python3 -m unittest discover -v -s tests",
    project(pick, fault) {
      const { names, at, expected, actual, wrong } = parts(pick, 40);
      const deed = pick(DEEDS.length);
      const files = { "tests/__init__.py": "" };
      for (const [index, name] of names.entries()) {
        const tests = DEEDS.map((text, number) => {
          const isWrong = fault !== null && index === at && number === deed;
          const body = !isWrong
            ? "self.assertEqual(1, 1)"
            : fault === "assertion"
              ? `self.assertEqual(${actual}, ${expected})`
              : `{}["lost_${name}"]`;
          return `    def test_${text.replaceAll(" ", "_")}(self):\n        ${body}\n`;
        });
        files[`tests/test_${name}.py`] =
          `import unittest\n\nclass ${title(name)}Test(unittest.TestCase):\n${tests.join("\n")}`;
      }
      const said = { assertion: [`${actual} != ${expected}`], crash: [`KeyError: 'lost_${wrong}'`] };
      return {
        files,
        truth:
          fault === null
            ? []
            : [
                `FAIL: test_${DEEDS[deed].replaceAll(" ", "_")}`,
                `ERROR: test_${DEEDS[deed].replaceAll(" ", "_")}`,
                ...said[fault],
              ],
      };
    },
  },
  {
    name: "prove",
    faults: ["assertion", "crash"],
    probe: "prove --version",
    command: "prove -v t",
    project(pick, fault) {
      const { names, at, expected, actual, wrong } = parts(pick, 40);
      const deed = pick(DEEDS.length);
      const files = {};
      for (const [index, name] of names.entries()) {
        const tests = DEEDS.map((text, number) => {
          const isWrong = fault !== null && index === at && number === deed;
          return !isWrong
            ? `is(1, 1, "${name} ${text}");`
            : fault === "assertion"
              ? `is(${actual}, ${expected}, "${name} ${text}");`
              : `lost_${name}();`;
        });
        files[`t/${name}.t`] = `use strict; use warnings; use Test::More;\n${tests.join("\n")}\ndone_testing();\n`;
      }
      const said = {
        assertion: [`got: '${actual}'`, `expected: '${expected}'`, `Failed test '${names[at]} ${DEEDS[deed]}'`],
        crash: [`Undefined subroutine &main::lost_${wrong} called`],
      };
      return { files, truth: fault === null ? [] : said[fault] };
    },
  },
  {
    name: "make-gcc",
    faults: ["missing-symbol", "type-error"],
    probe: "gcc --version && make --version",
    command: "make -k",
    project(pick, fault) {
      const { files, truth } = cSources(pick, fault);
      files.Makefile =
        "OBJ := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))\napp: $(OBJ)\n\tgcc -o $@ $^\nbuild/%.o: src/%.c\n\t@mkdir -p build\n\tgcc -Wall -Wextra -O1 -c -o $@ $<\n";
      return { files, truth };
    },
  },
  {
    name: "cmake-ninja",
    faults: ["missing-symbol", "type-error"],
    probe: "cmake --version && ninja --version",
    command: "cmake -G Ninja -S . -B build -DCMAKE_C_FLAGS=-Wall && ninja -C build -v -k 0",
    project(pick, fault) {
      const { files, truth } = cSources(pick, fault);
      files["CMakeLists.txt"] =
        "cmake_minimum_required(VERSION 3.10)\nproject(app C)\nfile(GLOB SOURCES src/*.c)\nadd_executable(app ${SOURCES})\n";
      return { files, truth };
    },
  },
  {
    name: "ctest",
    faults: ["assertion", "crash"],
    probe: "ctest --version && gcc --version",
    command: "cmake -S . -B build >/dev/null && cmake --build build >/dev/null && ctest --test-dir build -V",
    project(pick, fault) {
      const { names, at, wrong, expected, actual } = parts(pick, 30);
      const files = {
        "CMakeLists.txt": `cmake_minimum_required(VERSION 3.20)\nproject(app C)\nenable_testing()\nadd_executable(check check.c)\n${names.map((name) => `add_test(NAME ${name} COMMAND check ${name})`).join("\n")}\n`,
      };
      const body =
        fault === "assertion"
          ? `printf("${wrong}: expected ${expected}, got ${actual}\\n"); return 1;`
          : fault === "crash"
            ? `fprintf(stderr, "check.c:9: ${wrong}: Assertion 'total == ${expected}' failed.\\n"); fflush(0); abort();`
            : "";
      files["check.c"] =
        `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int c, char **v) { (void)c; for (int i = 0; i < 20; i++) printf("step %d of %s: ok, 0 failed\\n", i, v[1]); if (!strcmp(v[1], "${names[at]}")) { ${body} } return 0; }\n`;
      return {
        files,
        truth:
          fault === null
            ? []
            : fault === "assertion"
              ? [`expected ${expected}, got ${actual}`, `${wrong} (Failed)`]
              : [`Assertion 'total == ${expected}' failed`],
      };
    },
  },
  {
    name: "cargo-test",
    faults: ["assertion", "type-error"],
    probe: "cargo --version",
    command: "cargo test --offline",
    project(pick, fault) {
      const { names, at, wrong, expected, actual } = parts(pick, 30);
      const deed = pick(DEEDS.length);
      const files = {
        "Cargo.toml": '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": names.map((name) => `mod ${name};`).join("\n"),
      };
      for (const [index, name] of names.entries()) {
        const tests = DEEDS.map((text, number) => {
          const isWrong = fault === "assertion" && index === at && number === deed;
          return `    #[test]\n    fn ${text.replaceAll(" ", "_")}() { ${isWrong ? `assert_eq!(${actual}, ${expected});` : "assert_eq!(1, 1);"} }\n`;
        });
        const broken = fault === "type-error" && index === at ? `pub fn broken_${name}() -> u32 { "text" }\n` : "";
        files[`src/${name}.rs`] =
          `#[allow(dead_code)]\npub fn sum() -> u32 { 1 }\n${broken}#[cfg(test)]\nmod tests {\n${tests.join("")}}\n`;
      }
      const truth = {
        assertion: [
          `${wrong}::tests::${DEEDS[deed].replaceAll(" ", "_")} ... FAILED`,
          `left: ${actual}`,
          `right: ${expected}`,
        ],
        "type-error": ["mismatched types", `src/${wrong}.rs`],
      };
      return { files, truth: fault === null ? [] : truth[fault] };
    },
  },
  {
    name: "javac",
    faults: ["missing-symbol", "type-error"],
    probe: "javac -version",
    command: "javac -Xlint:all -verbose -d out $(find src -name '*.java')",
    project(pick, fault) {
      const { names, at, wrong } = parts(pick, 40);
      const files = {};
      for (const [index, name] of names.entries()) {
        const body =
          fault === null || index !== at
            ? "return 1;"
            : fault === "missing-symbol"
              ? `return lost_${name}(1);`
              : `int n = "text_${name}"; return n;`;
        const old = index % 5 === 0 ? "java.util.List raw = new java.util.ArrayList(); raw.add(1);" : "";
        files[`src/app/${title(name)}.java`] =
          `package app;\npublic class ${title(name)} {\n  int sum() { ${old} ${body} }\n}\n`;
      }
      const truth = {
        "missing-symbol": [`lost_${wrong}`, "cannot find symbol"],
        "type-error": ["incompatible types: String cannot be converted to int", `text_${wrong}`],
      };
      return { files, truth: fault === null ? [] : truth[fault] };
    },
  },
  {
    name: "tsc",
    faults: ["missing-symbol", "type-error"],
    probe: `test -x ${modules}/.bin/tsc`,
    shown: "npx tsc --noEmit",
    command: `${modules}/.bin/tsc --noEmit --listFiles`,
    project(pick, fault) {
      const { names, at, wrong } = parts(pick, 120);
      const files = {
        "tsconfig.json": '{"compilerOptions":{"strict":true,"target":"es2022","types":[]},"include":["src"]}',
      };
      for (const [index, name] of names.entries()) {
        const body =
          fault === null || index !== at
            ? `export const ${name} = 1;`
            : fault === "missing-symbol"
              ? `export const ${name} = lost_${name};`
              : `export const ${name}: number = "text_${name}";`;
        files[`src/${name}.ts`] = `${body}\n`;
      }
      const truth = {
        "missing-symbol": [`Cannot find name 'lost_${wrong}'`],
        "type-error": [`src/${wrong}.ts(1,14): error TS2322`],
      };
      return { files, truth: fault === null ? [] : truth[fault] };
    },
  },
  {
    name: "eslint",
    faults: ["type-error"],
    probe: `test -x ${modules}/.bin/eslint`,
    shown: "npx eslint src",
    command: `${modules}/.bin/eslint src`,
    project(pick, fault) {
      const { names, at, wrong } = parts(pick, 60);
      const files = {
        "eslint.config.mjs":
          'export default [{ rules: { "no-unused-vars": "warn", "no-undef": "error", "no-var": "warn" } }];\n',
        "package.json": '{"type":"module"}',
      };
      for (const [index, name] of names.entries())
        files[`src/${name}.js`] =
          `var ${name} = 1;\nlet left_${index} = 2;\n${fault !== null && index === at ? `export default lost_${name};\n` : ""}`;
      return { files, truth: fault === null ? [] : [`'lost_${wrong}' is not defined`] };
    },
  },
  {
    name: "webpack",
    faults: ["missing-module"],
    probe: `test -x ${modules}/.bin/webpack`,
    shown: "npx webpack",
    command: `ln -s ${modules} node_modules; npx webpack --mode production --stats verbose`,
    project(pick, fault) {
      const { names, at, wrong } = parts(pick, 60);
      const files = {
        "package.json": "{}",
        "src/index.js": `${names.map((name) => `import { ${name} } from "./${name}.js";`).join("\n")}\nconsole.log(${names.join(",")});\n`,
      };
      for (const [index, name] of names.entries())
        files[`src/${name}.js`] =
          `${fault !== null && index === at ? `import lost from "./lost-${name}.js";\n` : ""}export const ${name} = ${index};\n`;
      return { files, truth: fault === null ? [] : [`Can't resolve './lost-${wrong}.js'`] };
    },
  },
];
