// Compilers, linkers, linters and builders: a project of many files, most of them with the warnings that old code has.
import { capital, planParts } from "./plan.mjs";
import { modules } from "./tests.mjs";

/**
 * A tool that reads many files. `good(name, index)` is a file's text, and each fault has a function that gives the text with the
 * fault and, after it, what must be told of it.
 */
function fileTool({ name, probe, command, quietly, shown, count = 40, file, good, more = () => ({}), faults }) {
  return {
    name,
    probe,
    command,
    quietly,
    shown,
    faults: Object.keys(faults),
    project(pick, fault) {
      const { names, isWrong } = planParts(pick, fault, count);
      const truth = [];
      const files = {};
      for (const [index, part] of names.entries()) {
        const [text, ...told] = isWrong(index) ? faults[fault](part, index) : [good(part, index)];
        truth.push(...told);
        files[file(part)] = text;
      }
      return { files: { ...files, ...more(names) }, truth };
    },
  };
}

const c = (part, index) =>
  `#include <stdio.h>\nint ${part}_sum(int a) { ${index % 4 === 0 ? "int left_over = 0;" : ""} ${index % 6 === 0 ? 'printf("%d\\n", (long)a);' : ""} return a + ${index}; }\n`;
const cMain = (names) =>
  `${names.map((name) => `int ${name}_sum(int);`).join("\n")}\nint main(void) { int s = 0; ${names.map((name) => `s += ${name}_sum(1);`).join(" ")} return s == 0; }\n`;
const C_FAULTS = {
  "missing-symbol": (part) => [
    `extern int lost_${part}(int);\nint ${part}_sum(int a) { return lost_${part}(a); }\n`,
    [`undefined reference to \`lost_${part}'`, `undefined symbol: lost_${part}`],
  ],
  "type-error": (part, index) => [
    `struct p_${part} { int x; };\nint twice_${part}(struct p_${part} p) { return p * 2; }\n${c(part, index)}`,
    [`src/${part}.c:2:`],
    ["invalid operands to binary"],
  ],
  "missing-header": (part, index) => [
    `#include "lost_${part}.h"\n${c(part, index)}`,
    [`lost_${part}.h: No such file or directory`, `'lost_${part}.h' file not found`],
  ],
};
const cTool = (name, probe, command, more) =>
  fileTool({ name, probe, command, file: (part) => `src/${part}.c`, good: c, faults: C_FAULTS, more });
const makefile = (compiler) =>
  `OBJ := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))\napp: $(OBJ)\n\t${compiler} -o $@ $^\nbuild/%.o: src/%.c\n\t@mkdir -p build\n\t${compiler} -Wall -Wextra -O1 -c -o $@ $<\n`;

const java = (part, index, body = "return 1;") =>
  `package app;\npublic class ${capital(part)} {\n  int sum() { ${index % 3 === 0 ? "java.util.List raw = new java.util.ArrayList(); raw.add(1);" : ""} ${body} }\n}\n`;
const ts = (part, index) => `export const ${part} = ${index};\n`;
const go = (part, index) => `package main\n\nfunc ${part}Sum(a int) int { return a + ${index} }\n`;
const python = (part, index) =>
  `"""The ${part}."""\nimport os\nimport sys\n\n\ndef ${part}_sum(first, second):\n    unused = ${index}\n    if first == None:\n        return 0\n    return first+second\n`;
const shell = (part, index) => `#!/bin/sh\nname=$1\necho ${part} $name ${index}\ncd /tmp\nls *.txt\n`;
const cpp = (part, index) =>
  `#include <vector>\n#include <string>\nint ${part}_size(std::vector<std::string> names) { int unused${index} = 0; return (int)names.size(); }\n`;

export const buildTools = [
  cTool("make-gcc", "gcc --version && make --version", "make -k", (names) => ({
    "src/main.c": cMain(names),
    Makefile: makefile("gcc"),
  })),
  cTool("make-clang", "clang --version && make --version", "make -k", (names) => ({
    "src/main.c": cMain(names),
    Makefile: makefile("clang"),
  })),
  cTool(
    "cmake-ninja",
    "cmake --version && ninja --version",
    "cmake -G Ninja -S . -B build -DCMAKE_C_FLAGS=-Wall && ninja -C build -v -k 0",
    (names) => ({
      "src/main.c": cMain(names),
      "CMakeLists.txt":
        "cmake_minimum_required(VERSION 3.10)\nproject(app C)\nfile(GLOB SOURCES src/*.c)\nadd_executable(app ${SOURCES})\n",
    }),
  ),
  cTool("meson", "meson --version", "meson setup build && meson compile -C build -v --ninja-args=-k,0", (names) => ({
    "src/main.c": cMain(names),
    "meson.build": `project('app', 'c', default_options: ['warning_level=2'])\nexecutable('app', ${[...names, "main"].map((name) => `'src/${name}.c'`).join(", ")})\n`,
  })),
  fileTool({
    name: "g++",
    probe: "g++ --version",
    command: 'for f in src/*.cc; do echo "  CXX  $f"; g++ -Wall -Wextra -fsyntax-only $f; done',
    count: 14,
    file: (part) => `src/${part}.cc`,
    good: cpp,
    faults: {
      "type-error": (part, index) => [
        `${cpp(part, index)}std::vector<std::string> make_${part}() { std::vector<int> v; return v; }\n`,
        [`src/${part}.cc:4`],
        ["could not convert"],
      ],
      "missing-symbol": (part, index) => [
        `${cpp(part, index)}int call_${part}() { return lost_${part}(1); }\n`,
        [`'lost_${part}' was not declared in this scope`, `‘lost_${part}’ was not declared in this scope`],
      ],
    },
  }),
  fileTool({
    name: "javac",
    probe: "javac -version",
    command: "javac -Xlint:all -verbose -d out $(find src -name '*.java')",
    quietly: "javac -d out $(find src -name '*.java')",
    file: (part) => `src/app/${capital(part)}.java`,
    good: java,
    faults: {
      "missing-symbol": (part, index) => [
        java(part, index, `return lost_${part}(1);`),
        [`symbol:   method lost_${part}(int)`],
        [`src/app/${capital(part)}.java:3: error: cannot find symbol`],
      ],
      "type-error": (part, index) => [
        java(part, index, `int n = "text"; return n;`),
        [`src/app/${capital(part)}.java:3: error: incompatible types`],
      ],
    },
  }),
  fileTool({
    name: "tsc",
    probe: `test -x ${modules}/.bin/tsc`,
    shown: "npx tsc --noEmit",
    command: `${modules}/.bin/tsc --noEmit --listFiles --extendedDiagnostics`,
    count: 300,
    file: (part) => `src/${part}.ts`,
    good: ts,
    more: () => ({
      "tsconfig.json": '{"compilerOptions":{"strict":true,"target":"es2022","types":[]},"include":["src"]}',
    }),
    faults: {
      "missing-symbol": (part) => [`export const ${part} = lost_${part};\n`, [`Cannot find name 'lost_${part}'`]],
      "type-error": (part) => [`export const ${part}: number = "text";\n`, [`src/${part}.ts(1,14): error TS2322`]],
    },
  }),
  fileTool({
    name: "go-build",
    probe: "go version",
    command: "GOFLAGS=-mod=mod GOPROXY=off go build -x -gcflags=-e . && go vet -x .",
    file: (part) => `${part}.go`,
    good: go,
    more: (names) => ({
      "go.mod": "module shop\n\ngo 1.19\n",
      "main.go": `package main\n\nfunc main() { println(${names.map((name) => `${name}Sum(1)`).join("+")}) }\n`,
    }),
    faults: {
      "missing-symbol": (part) => [
        `package main\n\nfunc ${part}Sum(a int) int { return lost${part}(a) }\n`,
        [`undefined: lost${part}`],
      ],
      "type-error": (part) => [`package main\n\nfunc ${part}Sum(a int) int { return "text" }\n`, [`${part}.go:3:`]],
    },
  }),
  fileTool({
    name: "cargo-build",
    probe: "cargo --version",
    command: "cargo build --offline --verbose",
    quietly: "cargo build --offline --quiet",
    file: (part) => `src/${part}.rs`,
    good: (part, index) =>
      `pub fn ${part}_sum(a: u32) -> u32 { ${index % 3 === 0 ? "let unused = 1;" : ""} a + ${index} }\nfn never_called_${index}() {}\n`,
    more: (names) => ({
      "Cargo.toml": '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": names.map((name) => `pub mod ${name};`).join("\n"),
    }),
    faults: {
      "type-error": (part) => [
        `pub fn ${part}_sum(_a: u32) -> u32 { "text" }\n`,
        [`--> src/${part}.rs:1:38`],
        ["mismatched types"],
      ],
      "missing-symbol": (part) => [
        `pub fn ${part}_sum(a: u32) -> u32 { lost_${part}(a) }\n`,
        [`cannot find function \`lost_${part}\` in this scope`],
      ],
    },
  }),
  fileTool({
    name: "gfortran",
    probe: "gfortran --version",
    command: 'for f in src/*.f90; do echo "  FC  $f"; gfortran -Wall -Wextra -c -o /dev/null $f; done',
    count: 30,
    file: (part) => `src/${part}.f90`,
    good: (part, index) =>
      `subroutine ${part}(a)\n  implicit none\n  integer :: a\n  integer :: unused${index}\n  a = a + ${index}\nend subroutine\n`,
    faults: {
      "missing-symbol": (part) => [
        `subroutine ${part}(a)\n  implicit none\n  integer :: a\n  a = lost_${part} + 1\nend subroutine\n`,
        [`Symbol 'lost_${part}' at (1) has no IMPLICIT type`, `Symbol ‘lost_${part}’ at (1) has no IMPLICIT type`],
      ],
    },
  }),
  fileTool({
    name: "ocamlc",
    probe: "ocamlc -version",
    command: 'for f in src/*.ml; do echo "ocamlc -c $f"; ocamlc -w +a-70 -c $f; done',
    file: (part) => `src/${part}.ml`,
    good: (part, index) => `let ${part}_sum a = let unused = ${index} in a + ${index}\n`,
    faults: {
      "type-error": (part) => [
        `let ${part}_sum a = a + "text_${part}"\n`,
        [`File "src/${part}.ml", line 1`],
        ["This expression has type string but an expression was expected of type"],
      ],
    },
  }),
  fileTool({
    name: "eslint",
    probe: `test -x ${modules}/.bin/eslint`,
    shown: "npx eslint src",
    command: `${modules}/.bin/eslint src`,
    count: 60,
    file: (part) => `src/${part}.js`,
    good: (part, index) => `var ${part} = 1;\nlet left_${index} = 2;\n`,
    more: () => ({
      "eslint.config.mjs":
        'export default [{ rules: { "no-unused-vars": "warn", "no-undef": "error", "no-var": "warn" } }];\n',
      "package.json": '{"type":"module"}',
    }),
    faults: {
      "missing-symbol": (part, index) => [
        `var ${part} = 1;\nlet left_${index} = 2;\nexport default lost_${part};\n`,
        [`'lost_${part}' is not defined`],
      ],
    },
  }),
  fileTool({
    name: "pylint",
    probe: "pylint --version",
    command: "pylint src",
    count: 24,
    file: (part) => `src/${part}.py`,
    good: python,
    more: () => ({ "src/__init__.py": "" }),
    faults: {
      "missing-symbol": (part, index) => [
        `${python(part, index)}\n\nprint(lost_${part})\n`,
        [`E0602: Undefined variable 'lost_${part}'`],
      ],
    },
  }),
  fileTool({
    name: "flake8",
    probe: "flake8 --version",
    command: "flake8 --show-source src",
    file: (part) => `src/${part}.py`,
    good: python,
    faults: {
      "missing-symbol": (part, index) => [
        `${python(part, index)}\n\nprint(lost_${part})\n`,
        [`F821 undefined name 'lost_${part}'`],
      ],
      syntax: (part, index) => [`${python(part, index)}\n\ndef broken_${part}(:\n    pass\n`, [`src/${part}.py:13:`]],
    },
  }),
  fileTool({
    name: "mypy",
    probe: "mypy --version",
    command: "mypy --verbose --strict --cache-dir=/dev/null src",
    quietly: "mypy --strict --cache-dir=/dev/null src",
    count: 30,
    file: (part) => `src/${part}.py`,
    good: (part, index) => `def ${part}_sum(first: int) -> int:\n    return first + ${index}\n`,
    more: () => ({ "src/__init__.py": "" }),
    faults: {
      "type-error": (part) => [
        `def ${part}_sum(first: int) -> int:\n    return "text"\n`,
        [`src/${part}.py:2: error: Incompatible return value type`],
      ],
    },
  }),
  fileTool({
    name: "shellcheck",
    probe: "shellcheck --version",
    command: "shellcheck src/*.sh",
    count: 30,
    file: (part) => `src/${part}.sh`,
    good: shell,
    faults: {
      syntax: (part, index) => [
        `${shell(part, index)}if [ -f x ]; then\n  echo ${part}\n`,
        [`In src/${part}.sh line 6:`],
        ["Couldn't parse this if expression"],
      ],
    },
  }),
  fileTool({
    name: "cppcheck",
    probe: "cppcheck --version",
    command: "cppcheck --enable=style,warning --verbose src",
    quietly: "cppcheck --enable=all --quiet src",
    file: (part) => `src/${part}.c`,
    good: c,
    faults: {
      crash: (part, index) => [
        `${c(part, index)}int deref_${part}(void) { int *p = 0; return *p; }\n`,
        [`src/${part}.c:3:`],
        ["error: Null pointer dereference"],
      ],
    },
  }),
  fileTool({
    name: "clang-tidy",
    probe: "clang-tidy --version",
    command: "clang-tidy --quiet --checks='clang-analyzer-*,bugprone-*,readability-*' src/*.c -- ",
    count: 16,
    file: (part) => `src/${part}.c`,
    good: c,
    faults: {
      crash: (part, index) => [
        `${c(part, index)}int deref_${part}(int a) { int *p = 0; if (a) { return *p; } return 1; }\n`,
        [`src/${part}.c:3:`],
        ["Dereference of null pointer"],
      ],
    },
  }),
  fileTool({
    name: "rubocop",
    probe: "rubocop --version",
    command: "rubocop --cache false src",
    count: 24,
    file: (part) => `src/${part}.rb`,
    good: (part, index) => `def ${part}_sum(a,b)\n  unused = ${index}\n  return a+b\nend\n`,
    faults: {
      syntax: (part) => [
        `def ${part}_sum(a,b)\n  (a + b\nend\n`,
        [`src/${part}.rb:3:1: E: Lint/Syntax`, `src/${part}.rb:3:1: F: Lint/Syntax`],
      ],
    },
  }),
  fileTool({
    name: "yamllint",
    probe: "yamllint --version",
    command: "yamllint src",
    file: (part) => `src/${part}.yaml`,
    good: (part, index) => `name: ${part}\nvalues: [1,2,${index}]\nflag: yes   \nnested:\n    deep: true\n  # end\n`,
    faults: {
      syntax: (part) => [`name: ${part}\n  broken: [1,2\nflag: yes\n`, [`src/${part}.yaml`], ["syntax error"]],
    },
  }),
  fileTool({
    name: "php-lint",
    probe: "php --version",
    command: "for f in src/*.php; do php -l $f; done",
    count: 80,
    file: (part) => `src/${part}.php`,
    good: (part, index) => `<?php\nfunction ${part}_sum($a) { return $a + ${index}; }\n`,
    faults: {
      syntax: (part) => [
        `<?php\nfunction ${part}_sum($a { return $a; }\n`,
        [`in src/${part}.php on line 2`],
        ["syntax error, unexpected"],
      ],
    },
  }),
  fileTool({
    name: "xmllint",
    probe: "xmllint --version",
    command: "xmllint --noout --timing src/*.xml",
    count: 80,
    file: (part) => `src/${part}.xml`,
    good: (part) => `<?xml version="1.0"?>\n<root><${part}>1</${part}></root>\n`,
    faults: {
      syntax: (part) => [`<?xml version="1.0"?>\n<root><${part}>1</root>\n`, [`src/${part}.xml:2: parser error`]],
    },
  }),
  fileTool({
    name: "stylelint",
    probe: `test -x ${modules}/.bin/stylelint`,
    shown: "npx stylelint",
    command: `${modules}/.bin/stylelint 'src/*.css'`,
    count: 50,
    file: (part) => `src/${part}.css`,
    good: (part, index) => `.${part} { color: #ffffff; color: red; margin: ${index}px 0 }\n`,
    more: () => ({
      ".stylelintrc.json":
        '{"rules":{"color-named":["never",{"severity":"warning"}],"declaration-block-no-duplicate-properties":[true,{"severity":"warning"}],"unit-no-unknown":true}}',
    }),
    faults: {
      syntax: (part) => [
        `.${part} { width: 4lost; }\n`,
        [`src/${part}.css`],
        ['Unexpected unknown unit "lost"', "Unknown unit"],
      ],
    },
  }),
  ...[
    ["webpack", "npx webpack --mode production --stats verbose", (part) => [`Can't resolve './lost-${part}.js'`]],
    ["rollup", "npx rollup src/index.js -o out.js", (part) => [`./lost-${part}.js`]],
    ["vite", "npx vite build --debug", (part) => [`lost-${part}.js`]],
    [
      "esbuild",
      "npx esbuild src/index.js --bundle --outdir=out --log-level=verbose --log-limit=0",
      (part) => [`Could not resolve "./lost-${part}.js"`],
    ],
  ].map(([name, command, told]) =>
    fileTool({
      name,
      probe: `test -x ${modules}/.bin/${name}`,
      shown: command,
      command: `ln -s ${modules} node_modules; ${command}`,
      count: 60,
      file: (part) => `src/${part}.js`,
      good: (part, index) => `export const ${part} = ${index};\nexport default {};\n`,
      more: (names) => ({
        "package.json": "{}",
        "index.html": '<script type="module" src="/src/index.js"></script>',
        "src/index.js": `${names.map((part) => `import { ${part} } from "./${part}.js";`).join("\n")}\nconsole.log(${names.join(",")});\n`,
      }),
      faults: {
        "missing-module": (part, index) => [
          `import lost from "./lost-${part}.js";\nexport const ${part} = ${index};\nconsole.log(lost);\n`,
          told(part),
        ],
        syntax: (part) => [
          `export const ${part} = 1;\nexport function ${part}Sum( {\n`,
          [`src/${part}.js`, `${part}.js:`],
        ],
      },
    }),
  ),
  {
    name: "rpmbuild",
    faults: ["missing-file", "missing-symbol", "unpackaged", "patch"],
    probe: "rpmbuild --version && gcc --version",
    command: 'rpmbuild -bb --define "_topdir $PWD/rpm" --define "_builddir $PWD" app.spec',
    project(pick, fault) {
      const { names, wrong } = planParts(pick, fault, 40);
      const files = {};
      for (const [index, part] of names.entries()) files[`src/${part}.c`] = c(part, index);
      if (fault === "missing-symbol")
        for (const part of wrong) files[`src/${part}.c`] = C_FAULTS["missing-symbol"](part)[0];
      files["src/main.c"] = cMain(names);
      files.Makefile = makefile("gcc");
      const installed = names.map((part) => `install -D -m644 src/${part}.c %{buildroot}/usr/share/app/${part}.c`);
      const listed = names.map((part) => `/usr/share/app/${part}.c`);
      const [first] = wrong;
      if (fault === "missing-file") listed.push(`/usr/share/app/lost_${first}.conf`);
      if (fault === "unpackaged")
        installed.push(`install -D -m644 src/main.c %{buildroot}/usr/share/app/extra_${first}.c`);
      files["app.spec"] =
        `Name: app\nVersion: 1\nRelease: 1\nSummary: The app\nLicense: MIT\n%global debug_package %{nil}\n%description\nThe app.\n%prep\n${fault === "patch" ? `patch -p1 < lost_${first}.patch\n` : ""}%build\nmake -k\n%check\nfor i in $(seq 1 60); do echo "check $i of 60: ok, 0 errors"; done\n%install\n${installed.join("\n")}\n%files\n${listed.join("\n")}\n`;
      const told = {
        "missing-file": () => [
          [
            `File not found: /builds/project/rpm/BUILDROOT/app-1-1.x86_64/usr/share/app/lost_${first}.conf`,
            `lost_${first}.conf`,
          ],
        ],
        "missing-symbol": () => [
          ...wrong.map((part) => [`undefined reference to \`lost_${part}'`]),
          ["Bad exit status from"],
        ],
        unpackaged: () => [["Installed (but unpackaged) file(s) found:"], [`/usr/share/app/extra_${first}.c`]],
        patch: () => [[`lost_${first}.patch`], ["(%prep)"]],
      };
      return { files, truth: fault === null ? [] : told[fault]() };
    },
  },
];
