// Programs and servers at work: what they log is quiet, and the fault is in the middle of it.
import { chatter, planParts, range } from "./plan.mjs";

/** A script of steps in a language, most of which only talk; the wrong ones have the fault. */
function stepTool({ name, probe, command, faults, count = 60, talk = 8, write, step, print }) {
  return {
    name,
    probe,
    command,
    faults: Object.keys(faults),
    project(pick, fault) {
      const { names, isWrong } = planParts(pick, fault, count);
      const truth = [];
      const steps = names.map((part, index) => {
        const lines = chatter(pick, 1 + pick(talk)).map(print);
        if (isWrong(index)) {
          const [line, ...told] = faults[fault](part, index);
          truth.push(...told);
          lines.push(line);
        }
        return step(part, lines, index);
      });
      return { files: write(steps, names), truth };
    },
  };
}

const quoted = (text) => JSON.stringify(text);
const C_MAIN = (steps, names) => ({
  "app.c": `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n${steps.join("\n")}\nint main(void) { setvbuf(stdout, 0, _IOLBF, 0);\n${names.map((name) => `  ${name}_step();`).join("\n")}\n  return 0; }\n`,
});
const cStep = (part, lines) => `__attribute__((noinline)) void ${part}_step(void) {\n  ${lines.join("\n  ")}\n}`;
const cPrint = (text) => `puts(${quoted(text)});`;
const LEAK = (part, index) => `{ char *volatile p = malloc(${4000 + index}); p[0] = 1; p = 0; }`;

const bashFile = (header) => (steps) => ({ "run.sh": `${header}\n${steps.join("\n")}\n` });
const echo = (text) => `echo ${quoted(text).replaceAll("$", "\\$")}`;

const task = (part, fault, index) => {
  const broken = {
    "not-found": `      ansible.builtin.command: lost_${part} --apply`,
    refused: `      ansible.builtin.uri:\n        url: http://127.0.0.1:${2 + (index % 7)}/${part}`,
    assertion: `      ansible.builtin.assert:\n        that: 1 == 2\n        fail_msg: ${part} has ${index} shards and not ${index + 3}`,
  };
  return fault === null
    ? `    - name: set up ${part}\n      ansible.builtin.debug:\n        msg: "${part} is ready, 0 errors, changed ${index} of 900 rows"`
    : `    - name: set up ${part}\n      ignore_errors: true\n${broken[fault]}`;
};

const SQL = (part, index) =>
  `CREATE TABLE ${part} (id int primary key, note text not null);\nINSERT INTO ${part} SELECT i, 'note ' || i FROM generate_series(1, ${20 + index}) i;\nSELECT count(*) FROM ${part} WHERE note LIKE '%error%';\n`;

export const runTools = [
  stepTool({
    name: "valgrind",
    probe: "valgrind --version && gcc --version",
    command: "gcc -g -O0 -w -o app app.c && valgrind --leak-check=full --error-exitcode=1 ./app",
    write: C_MAIN,
    step: cStep,
    print: cPrint,
    faults: {
      leak: (part, index) => [
        LEAK(part, index),
        [`${part}_step (app.c:`],
        [`${(4000 + index).toLocaleString("en")} bytes in 1 blocks are definitely lost`],
      ],
      crash: (part, index) => [
        `{ int *volatile p = malloc(${40 + index}); p[${20 + index}] = 1; free((void*)p); }`,
        [`${part}_step (app.c:`],
        ["Invalid write of size 4"],
      ],
    },
  }),
  stepTool({
    name: "asan",
    probe: "gcc --version",
    command: "gcc -g -O0 -w -fsanitize=address,undefined -o app app.c && ./app",
    write: C_MAIN,
    step: cStep,
    print: cPrint,
    faults: {
      leak: (part, index) => [
        LEAK(part, index),
        [`in ${part}_step `],
        [`Direct leak of ${4000 + index} byte(s) in 1 object(s)`],
      ],
      overflow: () => [`{ volatile int n = 2147483647; n = n + 1; }`, ["runtime error: signed integer overflow"]],
      crash: (part) => [
        `{ int *volatile p = malloc(40); p[20] = 1; }`,
        ["ERROR: AddressSanitizer: heap-buffer-overflow"],
        [`in ${part}_step `],
      ],
    },
  }),
  stepTool({
    name: "gdb",
    probe: "gdb --version && gcc --version",
    command: "gcc -g -O0 -w -o app app.c && gdb -batch -ex run -ex bt -ex 'info registers' ./app",
    write: C_MAIN,
    step: cStep,
    print: cPrint,
    faults: {
      crash: (part) => [
        `{ int *volatile p = 0; *p = 1; }`,
        [`${part}_step () at app.c`],
        ["Program received signal SIGSEGV"],
      ],
      abort: (part) => ["abort();", [`in ${part}_step () at app.c`], ["Program received signal SIGABRT"]],
    },
  }),
  stepTool({
    name: "bash",
    probe: "bash --version",
    command: "bash run.sh",
    write: bashFile("set -u"),
    print: echo,
    step: (part, lines) => `echo "== ${part}"\n${lines.join("\n")}`,
    faults: {
      "not-found": (part) => [`lost_${part} --now`, [`lost_${part}: command not found`]],
      disk: () => [
        `dd if=/dev/zero of=/dev/full bs=1k count=4`,
        ["dd: error writing '/dev/full': No space left on device"],
      ],
      killed: () => [`bash -c 'kill -9 $$'`, ["Killed"]],
      refused: (part, index) => [
        `curl -sS http://127.0.0.1:${2 + (index % 7)}/${part}`,
        [`Failed to connect to 127.0.0.1 port ${2 + (index % 7)}`],
      ],
      missing: (part) => [`cat conf/${part}.toml`, [`cat: conf/${part}.toml: No such file or directory`]],
    },
  }),
  stepTool({
    name: "bash-x",
    probe: "bash --version",
    command: "bash -x run.sh",
    write: bashFile("set -eu"),
    print: echo,
    step: (part, lines) => `cd .\n${lines.join("\n")}\ntest -n ${part}`,
    faults: {
      "no-word": (part) => [`false ${part}`, [`+ false ${part}`]],
      unbound: (part) => [`echo "$lost_${part}"`, [`lost_${part}: unbound variable`]],
      missing: (part) => [
        `cp build/${part}.so /tmp/`,
        [`cp: cannot stat 'build/${part}.so': No such file or directory`],
      ],
    },
  }),
  stepTool({
    name: "python",
    probe: "python3 --version",
    command: "ulimit -v 400000; python3 -u app.py",
    write: (steps) => ({
      "app.py": `import logging, time, warnings, os\nlogging.basicConfig(level=logging.DEBUG, format="%(asctime)s,%(msecs)03d %(levelname)-5s [%(threadName)s] %(name)s: %(message)s")\n${steps.join("\n")}\n`,
    }),
    print: (text) => `logging.getLogger("app.worker").info(${quoted(text)})`,
    step: (part, lines) =>
      `def ${part}_step():\n    ${lines.join("\n    ")}\ntry:\n    ${part}_step()\nexcept Exception:\n    logging.getLogger("app.${part}").exception("step ended early")`,
    faults: {
      memory: (part) => [`big_${part} = "x" * (1 << 30)`, ["MemoryError"], [`big_${part}`]],
      disk: (part) => [
        `open("/dev/full", "w").write("${part}" * 9000)`,
        ["OSError: [Errno 28] No space left on device"],
      ],
      refused: (part, index) => [
        `__import__("urllib.request").request.urlopen("http://127.0.0.1:${2 + (index % 7)}/${part}")`,
        ["ConnectionRefusedError: [Errno 111] Connection refused"],
        [`urlopen("http://127.0.0.1:${2 + (index % 7)}/${part}")`],
      ],
      key: (part) => [`{}["${part}_total"]`, [`KeyError: '${part}_total'`]],
      // Nothing in the line says that it is a failure.
      quiet: (part, index) => [
        `logging.getLogger("app.${part}").info("replica lag ${index + 700} s, taking shard ${part} out of rotation")`,
        [`taking shard ${part} out of rotation`],
      ],
    },
    talk: 20,
  }),
  stepTool({
    name: "node",
    probe: "node --version",
    command: "node app.mjs",
    write: (steps) => ({
      "app.mjs": `import fs from "node:fs"; import net from "node:net";\nconst log = (level, text) => console.log(JSON.stringify({ time: new Date().toISOString(), level, name: "shop", msg: text }));\n${steps.join("\n")}\n`,
    }),
    print: (text) => `log("info", ${quoted(text)});`,
    step: (part, lines) =>
      `{ const step = async () => { ${lines.join(" ")} }; await step().catch((error) => log("info", "${part}: " + error.message)); }`,
    faults: {
      disk: (part) => [`fs.writeFileSync("/dev/full", "${part}");`, [`${"ENOSPC: no space left on device"}`]],
      missing: (part) => [`fs.readFileSync("conf/${part}.toml");`, [`open 'conf/${part}.toml'`]],
      refused: (part, index) => [
        `await new Promise((_, no) => net.connect(${2 + (index % 7)}, "127.0.0.1").on("error", no));`,
        [`ECONNREFUSED 127.0.0.1:${2 + (index % 7)}`],
      ],
    },
    talk: 20,
  }),
  {
    name: "ansible",
    faults: ["not-found", "refused", "assertion"],
    probe: "ansible-playbook --version",
    command: "ANSIBLE_NOCOLOR=1 ansible-playbook -v -i localhost, -c local play.yml",
    quietly: "ANSIBLE_NOCOLOR=1 ansible-playbook -i localhost, -c local play.yml",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 40);
      const tasks = names.map((part, index) => task(part, isWrong(index) ? fault : null, index));
      const told = {
        "not-found": (part) => [[`lost_${part}`]],
        refused: (part) => [[`/${part}`]],
        assertion: (part) => [[`${part} has`]],
      };
      return {
        files: { "play.yml": `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.join("\n")}\n` },
        truth: wrong.flatMap((part) => told[fault](part)),
      };
    },
  },
  {
    name: "postgres",
    faults: ["missing-table", "constraint", "timeout"],
    probe: "runuser -u postgres true && ls /usr/lib/postgresql/*/bin/postgres",
    command:
      "B=$(ls -d /usr/lib/postgresql/*/bin); D=$(mktemp -d); chmod 777 . $D; runuser -u postgres -- $B/initdb -D $D/d >/dev/null 2>&1; (runuser -u postgres -- $B/postgres -D $D/d -c listen_addresses= -c unix_socket_directories=$D -c log_statement=all -c log_min_duration_statement=0 -c log_checkpoints=on 2>&1 & echo $! >$D/pid; wait) & for i in 1 2 3 4 5 6 7 8 9 10 11 12; do runuser -u postgres -- psql -h $D -l >/dev/null 2>&1 && break; sleep 0.5; done; runuser -u postgres -- psql -q -h $D postgres -f $PWD/run.sql >/dev/null 2>&1; runuser -u postgres -- $B/pg_ctl -D $D/d stop -m fast >/dev/null 2>&1; wait; rm -rf $D",
    shown: "journalctl -u postgresql",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 30);
      const broken = {
        "missing-table": (part) => `SELECT sum(total) FROM lost_${part};\n`,
        constraint: (part) => `INSERT INTO ${part} VALUES (7, 'again');\n`,
        timeout: (part) => `SET statement_timeout = 40; SELECT pg_sleep(2), '${part}'; SET statement_timeout = 0;\n`,
      };
      const told = {
        "missing-table": (part) => [[`relation "lost_${part}" does not exist`]],
        constraint: (part) => [[`duplicate key value violates unique constraint "${part}_pkey"`]],
        timeout: () => [["canceling statement due to statement timeout"]],
      };
      const sql = names.map((part, index) => SQL(part, index) + (isWrong(index) ? broken[fault](part) : ""));
      return { files: { "run.sql": sql.join("") }, truth: wrong.flatMap((part) => told[fault](part)) };
    },
  },
  {
    name: "sqlite3",
    faults: ["missing-table", "constraint"],
    probe: "sqlite3 --version",
    command: "sqlite3 -echo app.db < run.sql",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 50);
      const sql = names.map((part, index) => {
        const rows = range(6).map((row) => `INSERT INTO ${part} VALUES (${row}, 'no error in row ${row}');`);
        const broken =
          fault === "constraint" ? `INSERT INTO ${part} VALUES (3, 'again');` : `SELECT count(*) FROM lost_${part};`;
        return `CREATE TABLE ${part} (id int primary key, note text);\n${rows.join("\n")}\n${isWrong(index) ? `${broken}\n` : ""}`;
      });
      const told = (part) =>
        fault === "constraint" ? [`UNIQUE constraint failed: ${part}.id`] : [`no such table: lost_${part}`];
      return { files: { "run.sql": sql.join("") }, truth: wrong.map(told) };
    },
  },
  {
    name: "nginx",
    faults: ["refused", "missing", "denied"],
    probe: "nginx -v && curl --version",
    command: "sh serve.sh 2>&1 | cat",
    shown: "docker logs web",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 60);
      const files = {
        "nginx.conf":
          "daemon off; master_process off; pid nginx.pid; error_log stderr info; events {} http { access_log /dev/stdout; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5; server { listen unix:web.sock; root html; location /gone/ { proxy_pass http://127.0.0.1:3; } location /private/ { deny all; } } }\n",
      };
      const gets = names.map((part, index) => {
        files[`html/${part}.html`] = `<p>${part}</p>`;
        const ask = (path) => `curl -s -o /dev/null --unix-socket web.sock http://shop/${path}`;
        const wrongPath = { refused: `gone/${part}`, missing: `lost/${part}.png`, denied: `private/${part}` }[fault];
        return [
          ...range(1 + pick(6)).map(() => ask(`${part}.html?error=none`)),
          ...(isWrong(index) ? [ask(wrongPath)] : []),
        ].join("\n");
      });
      files["serve.sh"] = `nginx -p $PWD -c nginx.conf -e stderr 2>&1 &\nsleep 1\n${gets.join("\n")}\nkill $!\nwait\n`;
      const told = {
        refused: (part) => [[`connect() failed (111: Connection refused)`], [`"GET /gone/${part} HTTP`]],
        missing: (part) => [[`html/lost/${part}.png" failed (2: No such file or directory)`]],
        denied: (part) => [[`access forbidden by rule`], [`"GET /private/${part} HTTP`]],
      };
      return { files, truth: wrong.flatMap((part) => told[fault](part)) };
    },
  },
  {
    name: "git",
    faults: ["conflict"],
    probe: "git --version",
    command: "sh work.sh",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 80);
      const files = {};
      for (const name of names)
        files[`src/${name}.txt`] = `${range(20)
          .map((row) => `${name} row ${row}`)
          .join("\n")}\n`;
      const edits = names.map(
        (name, index) =>
          `sed -i 's/row 2$/row two/' src/${name}.txt${isWrong(index) ? `; sed -i 's/row 9$/row nine/' src/${name}.txt` : ""}`,
      );
      const others = names.map(
        (name, index) =>
          `sed -i 's/row 16$/row sixteen/' src/${name}.txt${isWrong(index) ? `; sed -i 's/row 9$/row IX/' src/${name}.txt` : ""}`,
      );
      files["work.sh"] =
        `git init -q -b main . ; git config user.email a@example.com; git config user.name A\ngit add . ; git commit -m one\ngit checkout -q -b side\n${edits.join("\n")}\ngit commit -am side\ngit checkout main\n${others.join("\n")}\ngit commit -am main\ngit merge --stat side\n`;
      return { files, truth: wrong.map((part) => [`CONFLICT (content): Merge conflict in src/${part}.txt`]) };
    },
  },
  {
    name: "tar",
    faults: ["missing", "denied"],
    probe: "tar --version",
    command: "sh work.sh",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 400);
      const files = {};
      for (const name of names) files[`data/${name}/error-${name}.log`] = "x";
      const list = names.flatMap((name, index) => [
        `data/${name}/error-${name}.log`,
        ...(isWrong(index) && fault === "missing" ? [`data/${name}/index.bin`] : []),
      ]);
      files["list.txt"] = list.join("\n");
      files["work.sh"] =
        `${fault === "denied" ? wrong.map((part) => `rm data/${part}/*; mkfifo data/${part}/error-${part}.log; ln -s /proc/1/mem data/${part}/mem`).join("\n") : ""}\ntar -cvf out.tar -h -T list.txt ${fault === "denied" ? wrong.map((part) => `data/${part}/mem`).join(" ") : ""}\n`;
      const told = {
        missing: (part) => [[`data/${part}/index.bin: Cannot stat`]],
        denied: (part) => [[`data/${part}/mem:`]],
      };
      return { files, truth: wrong.flatMap((part) => told[fault](part)) };
    },
  },
  {
    name: "npm",
    faults: ["missing-module", "missing-script", "lock"],
    probe: "npm --version",
    command: "npm run all --loglevel=verbose --offline",
    quietly: "npm run all --offline",
    project(pick, fault) {
      const { names, isWrong, wrong } = planParts(pick, fault, 12);
      const scripts = {};
      const files = {};
      for (const [index, name] of names.entries()) {
        files[`src/${name}.cjs`] = `${chatter(pick, 12)
          .map((text) => `console.log(${quoted(text)});`)
          .join("\n")}\n${isWrong(index) && fault === "missing-module" ? `require("lost-${name}");` : ""}\n`;
        scripts[name] = `node src/${name}.cjs`;
      }
      const order = names.map((name, index) => (isWrong(index) && fault === "missing-script" ? `lost-${name}` : name));
      scripts.all = `${order.map((name) => `npm run ${name}`).join("; ")}${fault === "lock" ? "; npm ci" : ""}`;
      files["package.json"] = JSON.stringify({ name: "shop", version: "1.0.0", scripts });
      const told = {
        "missing-module": () => wrong.map((part) => [`Cannot find module 'lost-${part}'`]),
        "missing-script": () => wrong.map((part) => [`Missing script: "lost-${part}"`]),
        lock: () => [["can only install with an existing package-lock.json", "npm ci"]],
      };
      return { files, truth: fault === null ? [] : told[fault]() };
    },
  },
];
