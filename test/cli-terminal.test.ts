import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STRATEGIES } from "../src/entrypoints/cli/flags.ts";
import { strategies } from "../src/stages/clamp/strategies/index.ts";
import { PROFILES } from "../src/stages/policy/profiles.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-terminal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plainEnv = {
  PATH: process.env["PATH"],
  HOME: folder,
  SPILLWAY_DIR: join(folder, "place"),
  TERM: "xterm-256color",
};
const LONG = "sh -c 'echo a long command with many words that takes more room than a screen has'";

/** Runs the command with pipes. */
const piped = (...args: string[]) =>
  spawnSync(process.execPath, [CLI, ...args], { cwd: folder, encoding: "utf8", env: plainEnv, timeout: 240_000 });

/** How `script` runs a shell's line on a real terminal; `$S` stands for the command. */
function scriptOf(line: string, { env = {}, rows = 24, columns = 80 } = {}) {
  const script = `stty rows ${rows} cols ${columns} -onlcr; ${line}`;
  return {
    args: process.platform === "linux" ? ["-qec", script, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", script],
    options: {
      cwd: folder,
      env: { ...plainEnv, SHELL: "/bin/sh", S: `${process.execPath} ${CLI}`, PAGER: "cat", ...env },
      timeout: 240_000,
    },
  };
}

const readable = (text: string) => text.replaceAll("\r\n", "\n").replaceAll("\x1b", "ESC");

/**
 * Runs a line and gives what the terminal got, with ESC for the escape character. What says that it goes on is taken away:
 * on a slow machine every command takes more than a second.
 */
function onTerminal(
  line: string,
  { input = "", ...how }: Parameters<typeof scriptOf>[1] & { input?: string } = {},
): string {
  const { args, options } = scriptOf(line, how);
  const { stdout, error } = spawnSync("script", args, { ...options, encoding: "utf8", input });
  if (error) throw error;
  return readable(stdout).replaceAll(/\rESC\[K(running \d+ s[^\r\n]*)?/g, "");
}

/** Runs a line, tells of all that the terminal got whenever there is more of it, and gives it in the end. */
async function watchTerminal(line: string, told: (text: string, type: (input: string) => void) => void, columns = 80) {
  const { args, options } = scriptOf(line, { columns });
  const child = spawn("script", args, options);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    told(readable(text), (input) => void child.stdin.write(input));
  });
  await once(child, "close");
  return readable(text);
}

beforeAll(() => {
  piped("run", "-q", "--session", "s1", "--max-lines", "20", "--", "seq", "1", "500");
  piped("run", "-q", "--raw", "--", "sh", "-c", LONG);
  piped("run", "-q", "--max-lines", "20", "--", "sh", "-c", "seq 1 600; exit 3");
});

describe("on a terminal", () => {
  it("paints matches and dims what is ours, and nothing else changes", () => {
    const search = onTerminal("$S search last '^59.' --max 2 -C 1");
    expect(search).toBe(
      "ESC[2m589-ESC[0m589\nESC[2m590:ESC[0mESC[1;31m590ESC[0m\nESC[2m591:ESC[0mESC[1;31m591ESC[0m\n" +
        "ESC[2m[10 matching lines; 2 shown; next: --from 592]ESC[0m\n",
    );
    expect(onTerminal("$S search last '(a+)+59(?=0)' --max 1 -C 0")).not.toContain("ESC[1;31m");
    expect(onTerminal("$S search last -F '5' --max 1 -C 0")).toContain("ESC[1;31m5ESC[0m");
    const run = onTerminal("seq 1 300 | $S clamp -q --max-lines 9");
    expect(run).toMatch(/^ESC\[2m\[First 1 line of 300\]ESC\[0m\n1\nESC\[2m\[\.\.\. lines/);
    expect(onTerminal("$S recall last --tail 1")).toBe("600\nESC[2m[line 600 of 600]ESC[0m\n");
  });

  it("shows control characters of an output that do more than set colours, and carries none out", () => {
    const file = join(folder, "hostile.txt");
    const HOSTILE = "\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07 \x1b[2J \x9b2J over\rwritten\n";
    writeFileSync(file, HOSTILE);
    const shown = "ESC[31mredESC[0m ^[]52;c;eA==^G ^[[2J \\x9b2J over^Mwritten\n";
    expect(onTerminal(`$S clamp -q ${file}`)).toBe(shown);
    const env = { SPILLWAY_DIR: join(folder, "hostile") };
    expect(onTerminal(`$S run -q -- cat ${file}`, { env })).toContain(shown);
    expect(piped("clamp", "-q", file).stdout).toBe(HOSTILE);
    onTerminal(`$S run -q --session hostile --max-lines 1 -- cat ${file} ${file} ${file}`, { env });
    expect(onTerminal("$S recall last --lines 1-1", { env })).toContain(shown);
    expect(onTerminal("$S search --session hostile over", { env })).toContain("ESC[31mredESC[0m ^[]52;c;eA==^G");
  });

  it("prints long output itself if there is no pager", () => {
    for (const PAGER of ["no-such-pager", "/nonexistent -R"]) {
      const text = onTerminal("$S recall last --lines 1-100 || echo failed", { rows: 10, env: { PAGER } });
      expect(text).toContain("1\n2\n");
      expect(text).toContain("\n100\n");
      expect(text).not.toContain("failed");
    }
  });

  it("breaks help between words, and a long one goes through the pager", () => {
    for (const what of ["--help", "run --help"]) {
      const help = onTerminal(`$S ${what}`, { columns: 60 });
      expect(help.split(/\s+/).join(" ")).toBe(
        onTerminal(`$S ${what}`, { columns: 60, env: { PAGER: "tr -s ' '" } })
          .split(/\s+/)
          .join(" "),
      );
      expect(help.split("\n").filter((line) => line.length > 60)).toEqual([]);
    }
    const rows = onTerminal("$S --help", { columns: 60 }).split("\n");
    const at = rows.findIndex((row) => row.endsWith("read part of a saved"));
    expect(rows[at + 1]).toBe(`${" ".repeat(40)}output`);
    // A paragraph is broken once, not at the source's width and then at the screen's.
    const notes = onTerminal("$S run --help", { columns: 80 }).split(/\n\n/).at(-2) ?? "";
    expect(notes).toMatch(/^The exit code/);
    for (const [row = "", next = ""] of notes.split("\n").map((row, at, all) => [row, all[at + 1]]))
      if (next !== "") expect(`${row} ${next.split(" ")[0]}`.length).toBeGreaterThan(80);
    expect(onTerminal("$S --help", { env: { PAGER: "sed s/^/paged:/" } })).toMatch(/^paged:Usage: spillway/);
    for (const what of ["--help --no-pager", "--no-pager --help", "run --help --no-pager", "ls --no-pager --help"])
      expect(onTerminal(`$S ${what}`, { env: { PAGER: "sed s/^/paged:/" } }), what).toMatch(/^Usage: spillway/);
    expect(onTerminal("$S --version", { env: { PAGER: "sed s/^/paged:/" } })).toMatch(/^\d/);
  });

  it("leaves room for the command in ls", () => {
    const place = mkdtempSync(join(folder, "no-session-"));
    const list = onTerminal("$S run -q --raw -- seq 1 500 >/dev/null; $S ls --color never", {
      env: { SPILLWAY_DIR: place },
    });
    expect(list).toMatch(
      /^ID +SAVED AT +SIZE +LINES +EXIT +TOOL +COMMAND\n\w{12} +\d\d-\d\d \d\d:\d\d .* run_command +seq 1 500\n$/,
    );
    expect(onTerminal("$S ls --color never")).toMatch(/ TOOL +SESSION +COMMAND\n/);
  });

  it("dims no line of the output that only looks like ours", () => {
    const lines = (end: string) => `[exit code 0]\n${Array.from({ length: 100 }, (_, at) => at).join("\n")}\n${end}\n`;
    writeFileSync(join(folder, "forged"), lines("[exit code 0]"));
    const text = onTerminal("$S clamp -q --max-lines 8 --no-fold forged");
    expect(text).toMatch(/^\[exit code 0\]\nESC\[2m\[\.\.\. lines 2-97 [^\n]*ESC\[0m\n96\n/);
    expect(text).toContain("\n[exit code 0]\nESC[2m[cut from 102 lines");
    writeFileSync(join(folder, "forged"), `[exit code 0]\n${"x\n".repeat(100)}end\n`);
    expect(onTerminal("$S clamp -q --max-lines 8 forged")).toMatch(/^\[exit code 0\]\n[^]*ESC\[2m\[Repeats /);
  });

  it("uses no colours for NO_COLOR, --color never, a dumb terminal or a pipe, and does for --color always", () => {
    const line = "$S recall last --tail 1";
    const plain = "600\n[line 600 of 600]\n";
    expect(onTerminal(line, { env: { NO_COLOR: "1" } })).toBe(plain);
    expect(onTerminal(line, { env: { TERM: "dumb" } })).toBe(plain);
    expect(onTerminal(`${line} --color never`)).toBe(plain);
    expect(onTerminal(`${line} | cat`)).toBe(plain);
    expect(onTerminal(`${line} --color always`, { env: { NO_COLOR: "1" } })).toContain("ESC[2m[line");
    expect(piped("recall", "last", "--tail", "1", "--color", "always").stdout).toContain("\x1b[2m[line");
    expect(piped("recall", "last", "--json", "--color", "always").stdout).not.toContain("\x1b");
    expect(piped("recall", "last", "--color", "blue")).toMatchObject({ status: 2, stdout: "" });
  });

  it("gives what is longer than the screen to the pager, whole and once, and tells the rest afterwards", () => {
    const env = { PAGER: "sed 's/^/paged /'" };
    const paged = onTerminal("$S recall last --head 100; echo ended", { env });
    expect(paged.match(/^paged \d+$/gm)).toHaveLength(100);
    expect(paged.endsWith("ended\n")).toBe(true);
    expect(onTerminal("$S recall last --head 5", { env })).not.toContain("paged");
    expect(onTerminal("$S recall last --head 100 --no-pager", { env })).not.toContain("paged");
    expect(onTerminal("$S recall last --head 100 | cat", { env })).not.toContain("paged");
    expect(onTerminal("$S recall last --raw --lines 1-700", { env })).toMatch(
      /paged 600\n.*the artifact ends at line 600\n$/,
    );
    // A pager that is left early, or is not there, ends nothing else.
    expect(onTerminal("$S recall last --raw; echo code $?", { env: { PAGER: "head -n 1" } })).toBe("1\ncode 0\n");
  });

  it("makes tables fit the screen, and writes them whole into a pipe", () => {
    for (const columns of [80, 100]) {
      const rows = onTerminal("$S ls --color never", { columns }).trimEnd().split("\n");
      expect(rows).toHaveLength(4);
      expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(columns);
      expect(rows[0]).toMatch(/^ID {12}SAVED AT/);
      expect(rows.join("\n")).toContain("…");
    }
    expect(piped("ls").stdout).toContain("a long command with many words");
    // Columns are left out before the others could no longer be read.
    for (const line of ["$S ls --color never", "$S stats --color never"]) {
      const rows = onTerminal(line, { columns: 60 }).trimEnd().split("\n");
      expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(60);
      expect(rows[0]).not.toContain("…");
      expect(rows[0]).toMatch(/^(ID .* EXIT  SESSION +COMMAND|TOOL .* CUT RATE +RECALLS)$/);
      expect(rows[1]).toMatch(/sh -c seq|run_command/);
    }
    expect(onTerminal("$S stats --color never").trimEnd()).toMatch(
      /\n! means cut too often\. TOKENS SAVED is net of .*\.$/,
    );
    const shown = onTerminal("$S config show --color never --no-pager", { columns: 70 }).trimEnd().split("\n");
    expect(Math.max(...shown.map((row) => row.length))).toBeLessThanOrEqual(70);
    expect(piped("config", "show").stdout).toContain("[Old tool result content cleared]");
    for (const flags of [[], ["--json"]]) expect(piped("stats", ...flags).stdout).not.toContain("too often");
    expect(onTerminal("$S ls")).toContain("ESC[1;31m3ESC[0m");
  });

  it("shows what goes on after a second, on one line of standard error that goes away", async () => {
    const script = "echo first; echo $(printf '\\033')[31mnewest; while [ ! -e seen ]; do sleep 0.05; done";
    const running = /^running \d+ s, 2 lines, 18 B: \\u001b\[31mnewest$/;
    const linesOf = (text: string) => text.split("\rESC[K");
    const see = (text: string) => {
      if (linesOf(text).some((line) => running.test(line))) writeFileSync(join(folder, "seen"), "");
    };
    const lines = linesOf(await watchTerminal(`$S run -- sh -c "${script}" > out; cat out`, see, 60));
    // After it is taken away, what is printed is as without it.
    expect(lines.at(-1)).toBe("first\nESC[31mnewest\n");
    expect(await watchTerminal("$S run -q -- sleep 1.3", () => {})).not.toContain("running");
    expect(piped("run", "--", "sleep", "1.2").stderr).not.toContain("running");
  });

  it("shows it too where output may go to a pager, and takes it away before the pager has the screen", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const line = `PAGER='sed s/^/paged:/' ANTHROPIC_BASE_URL=http://127.0.0.1:${port} $S doctor`;
    const all = await watchTerminal(`stty rows 4; ${line}`, () => {}).finally(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const rows = all.split("\rESC[K");
    expect(rows.at(-2)).toMatch(/^looking \.\.\. \d+ s$/);
    expect(rows.at(-1)).toMatch(/^paged:.*ok +/);
    expect(rows.at(-1)).not.toContain("looking");
  });

  it("makes the table of a replay fit", () => {
    const said = [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] },
      { role: "assistant", content: "It is done." },
    ];
    writeFileSync(join(folder, "messages.json"), JSON.stringify(said));
    const head = (columns: number) =>
      onTerminal("$S replay messages.json", { columns })
        .split("\n")
        .find((row) => row.startsWith("POLICY"));
    expect(piped("replay", "messages.json").stdout).toMatch(/^POLICY .* UNCHANGED$/m);
    for (const [columns, left] of [
      [80, /COST +OVER +MISSED$/],
      [60, /^POLICY +TOKENS .* COST .*MISSED$/],
    ] as const) {
      expect(head(columns)).toMatch(left);
      expect(head(columns)?.length).toBeLessThanOrEqual(columns);
    }
  });

  it("adds no summary to an output that passed as it came", () => {
    expect(onTerminal("$S run -- echo hello")).toBe("hello\n");
    expect(onTerminal("echo hello | $S clamp")).toBe("hello\n");
    expect(onTerminal("seq 1 90 | $S clamp --max-lines 9")).toContain("spillway: cut by lines: 90 lines");
    expect(onTerminal("$S run -- printf 'a\\377'")).toContain("not all of it is UTF-8: saved as");
    expect(piped("run", "--", "echo", "hello").stderr).toBe("spillway: within its limits: 1 line, 6 B\n");
  });

  it("lists the strategies once in the help", () => {
    const help = piped("run", "--help").stdout;
    expect(help.match(/\boutline\b/g)).toHaveLength(1);
    expect(help).not.toContain('choices: "balanced"');
  });

  it("ends the last line, on the terminal only", () => {
    expect(onTerminal("$S run -q -- printf abc; echo next")).toBe("abc\nnext\n");
    expect(onTerminal("$S run --raw -- printf abc")).toMatch(/^abc\nspillway: passed 1 line, 3 B/);
    expect(onTerminal("$S run -q -- printf abc | cat; echo next")).toBe("abcnext\n");
  });

  it("says what it waits for if nothing was given", () => {
    const text = onTerminal("$S clamp -q", { input: "hello\n\x04" });
    expect(text).toContain("reading what you type here until Ctrl-D; or name a file: spillway clamp FILE");
    expect(text).toMatch(/hello\n$/);
  });

  it("waits for what is typed", async () => {
    let isTyped = false;
    const text = await watchTerminal("$S clamp -q", (said, type) => {
      if (isTyped || !said.includes("until Ctrl-D")) return;
      isTyped = true;
      // By then it has tried to read, and there was nothing.
      setTimeout(() => type("hello\n\x04"), 500);
    });
    expect(text).not.toContain("EAGAIN");
    expect(text).toMatch(/hello\nhello\n$/);
  });
});

it("run says how to use a shell if a whole line was given as the command", () => {
  const { stdout, status } = piped("run", "-q", "--", "echo it's | wc -l");
  expect(status).toBe(127);
  const [, hint = ""] = /spillway (run -- sh -c '.*')$/m.exec(stdout) ?? [];
  expect(hint).not.toBe("");
  const again = spawnSync("sh", ["-c", `"$0" "$1" ${hint.replace("run", "run -q")}`, process.execPath, CLI], {
    env: plainEnv,
  });
  expect(again.status).toBe(2); // the shell was reached; it misses the end of the quotation
  expect(piped("run", "-q", "--", "no-such-command").stdout).not.toContain("sh -c");
});

it("explain says why a saved output is cut as it is, under the limits of now", () => {
  piped("run", "-q", "--max-lines", "20", "--", "sh", "-c", "seq 1 700; exit 3");
  const { stdout, status } = piped("explain", "last", "--max-lines", "30", "--strategy", "signal");
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^\w{12} of run_command: cut by lines with strategy signal, 700 lines, 2\.6 KiB -> \d+ lines, /,
  );
  expect(stdout).toMatch(/^omitted lines [\d,]+-[\d,]+: /m);
  expect(piped("explain", "last", "--max-lines", "30", "--strategy", "tail").stdout).toMatch(
    /^omitted lines 1-674: tail$/m,
  );
  expect(piped("explain", "last", "--max-lines", "900").stdout).toContain("all of it is shown, 700 lines");
  expect(JSON.parse(piped("explain", "last", "--max-lines", "30", "--json").stdout)).toMatchObject({
    cutBy: "lines",
    exitCode: 3,
  });
  expect(piped("explain", "aaaaaaa")).toMatchObject({ status: 2, stdout: "" });
});

it("explain breaks its first line between words, and writes lines as recall takes them", () => {
  const wide = onTerminal("$S explain last --color never --max-lines 20", { columns: 200 });
  const narrow = onTerminal("$S explain last --color never --max-lines 20", { columns: 40 });
  const [first = "", second = ""] = narrow.split("\n");
  expect(first.length).toBeLessThanOrEqual(40);
  expect(narrow.split("\n").filter((row) => row.length > 40)).toEqual([]);
  expect(narrow).toMatch(/^kept {4}lines \d+-\d+:[^]*\n {10}\S/m);
  expect(`${first} ${second}`).toBe(wide.split("\n")[0]?.slice(0, first.length + 1 + second.length));
  piped("run", "-q", "--session", "many", "--max-lines", "20", "--", "seq", "1", "6000");
  const explained = piped("explain", "last", "--max-lines", "20").stdout;
  expect(explained).toMatch(/^[a-z2-7]{12} of run_command: .*6,000 lines/);
  expect(explained).toMatch(/lines \d+-6000: it is the end/);
  expect(piped("recall", "last", "--lines", "4321-4323").stdout).toMatch(/\n\[lines 4321-4323 of 6,000\]\n$/);
  expect(JSON.parse(piped("recall", "last", "--lines", "4321-4323", "--json").stdout).note).toContain(" of 6000]");
  piped("rm", "last");
});

it.each(["show", "recall", "explain", "rm", "search"])("%s suggests last where it is mistyped", (command) => {
  const { status, stderr } = piped(command, "lats", ...(command === "search" ? ["x"] : []));
  expect(stderr).toMatch(/^spillway: "lats" is no artifact's id: .*\. Did you mean last\?\n$/);
  expect(status).toBe(2);
  expect(piped("show", "nothing").stderr).not.toContain("Did you mean");
});

it("last stands for an id in every command that takes one", () => {
  piped("run", "-q", "--raw", "--", "seq", "1", "70");
  for (const args of [
    ["recall", "last"],
    ["show", "last"],
    ["explain", "last"],
    ["search", "last", "7"],
  ])
    expect(piped(...args), args.join(" ")).toMatchObject({ status: 0 });
  const { stdout } = piped("last", "--json");
  expect(piped("rm", "last").status).toBe(0);
  expect(piped("show", JSON.parse(stdout).id).status).toBe(2);
});

describe("completions", () => {
  const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;
  /** Writes a shell's script to a file. */
  const script = (kind: string) => {
    const file = join(folder, `completion.${kind}`);
    writeFileSync(file, piped("completion", kind).stdout);
    return file;
  };
  // Names of files are completed too.
  const empty = mkdtempSync(join(folder, "empty-"));
  const expected = {
    "spillway se": ["search", "serve"],
    "spillway run --strateg": ["--strategy"],
    "spillway run --strategy head": ["head", "head-tail"],
    "spillway recall la": ["last"],
    "spillway stats --by s": ["session"],
    "spillway completion f": ["fish"],
    "spillway init c": ["claude-code", "codex", "copilot", "cursor"],
  };

  it("bash completes commands, flags, their values and ids", () => {
    const ask = `source '${script("bash")}'; read -ra COMP_WORDS <<< "$0"; COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); compopt() { :; }
      _spillway; printf '%s\\n' "\${COMPREPLY[@]}"`;
    for (const [line, words] of Object.entries(expected)) {
      const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", ask, line], { encoding: "utf8" });
      expect({ line, words: stdout.trim().split("\n"), stderr }).toEqual({ line, words, stderr: "" });
    }
  });

  it.skipIf(!has("fish"))("fish completes them too (skipped where fish is not installed)", () => {
    const file = script("fish");
    const completed = (line: string) =>
      spawnSync("fish", ["--no-config", "-c", `source ${file}; complete -C "${line}"`], {
        encoding: "utf8",
        env: plainEnv,
        cwd: empty,
      });
    expect(completed("spillway run -q -- printen").stdout).toMatch(/^printenv\b/m);
    for (const [line, words] of Object.entries(expected)) {
      const { stdout, stderr } = completed(line);
      const told = stdout
        .trim()
        .split("\n")
        .map((each) => each.split("\t")[0]);
      expect({ line, words: told, stderr }).toEqual({ line, words, stderr: "" });
    }
  });

  it.skipIf(!has("zsh"))("zsh completes them too (skipped where zsh is not installed)", () => {
    // A zsh on a terminal of its own, whose tab key lists what fits.
    const program = `zmodload zsh/zpty
      zpty z "TERM=dumb zsh -f -i"
      zpty -w z "stty cols 200 -echo; unsetopt prompt_sp; autoload -Uz compinit; compinit -u -D; source ${script("zsh")}; bindkey '^I' list-choices; PS1='rea''dy> '"
      zpty -r z part '*ready> '
      for line in "$@"; do
        zpty -w -n z "$line"$'\\t'; zpty -r z part '*ready> '; print -r -- "@@@$part"
        zpty -w z $'\\x15'; zpty -r z part '*ready> '
      done
      zpty -d z`;
    const { stdout } = spawnSync("zsh", ["-f", "-c", program, "zsh", ...Object.keys(expected)], {
      encoding: "utf8",
      env: plainEnv,
      cwd: empty,
      timeout: 240_000,
    });
    const lists = stdout.split("@@@").slice(1);
    const listed = (list: string) =>
      list
        .split(/\r?\n/)
        .slice(1, -2)
        .flatMap((line) =>
          line
            .replace(/ -- .*/, "")
            .trim()
            .split(/\s+/),
        )
        .filter((word) => word !== "");
    expect(lists.map(listed)).toEqual(Object.values(expected));
  });

  it("the man page has every command and flag, and man can read it", () => {
    const { stdout } = piped("completion", "man");
    for (const words of [
      ".SS spillway run",
      "\\-\\-max\\-lines <n>",
      "source <(spillway completion bash)",
      "SPILLWAY_DIR",
    ])
      expect(stdout).toContain(words);
    expect(stdout).not.toMatch(/^[.'](?!TH |SH |SS |B |BR |I |TP$|PP$|nf$|fi$)/m);
  });

  it("the suggested profiles are all that there are", () => {
    const [, line = ""] = /--profile <name> +(.*(?:\n {10,}.*)*)/.exec(piped("clamp", "--help").stdout) ?? [];
    for (const name of Object.keys(PROFILES)) expect(line).toContain(name);
    expect(piped("completion", "bash").stdout).toContain("uniform");
  });

  it("the suggested strategies are all that there are", () => {
    expect(STRATEGIES.toSorted()).toEqual(strategies.map(({ name }) => name).toSorted());
  });
});

it("diff paints what is new and what is gone, and tells a good run from the last", () => {
  const run = (script: string) =>
    piped("run", "-q", "--max-lines", "20", "--", "sh", "-c", `. ./state; ${script}; exit $CODE`);
  const script = "seq 1 100; echo $NEW; echo took $CODE.5 s; echo $CODE failed";
  for (const [code, word] of [
    [0, "fine"],
    [3, "worse"],
    [2, "broken"],
  ]) {
    writeFileSync(join(folder, "state"), `CODE=${code} NEW=${word}`);
    run(script);
  }
  const shown = onTerminal("$S diff");
  expect(shown).toContain("ESC[32m+101: brokenESC[0m\n");
  expect(shown).toContain("ESC[1;31m-101: fineESC[0m\n");
  expect(shown).toContain("0 failed -> 2 failed");
  expect(shown).toMatch(/^ESC\[2m\[[a-z2-7]{12} \(exit code 2\) against [a-z2-7]{12} \(exit code 0\)\. Lines: /);
  const last = piped("diff", "last", "--last", "--json");
  expect(last.status).toBe(1);
  const { before, added, gone, total } = JSON.parse(last.stdout);
  expect({ exit: before.exitCode, added: added[0].text, gone: gone[0].text, total }).toEqual({
    exit: 3,
    added: "broken",
    gone: "worse",
    total: { added: 1, gone: 1, moved: 1, same: 3 },
  });
  expect(piped("diff", before.id.slice(0, 6), before.id)).toMatchObject({ status: 0 });
  const alone = piped("diff", piped("ls", "--json").stdout.match(/"id":"(\w+)"[^}]*seq 1 500/)?.[1] ?? "last");
  expect(alone).toMatchObject({ status: 2, stderr: expect.stringMatching(/No earlier run of the command/) });
  for (const _ of [1, 2]) piped("run", "-q", "--", "seq", "1", "6000");
  expect(piped("diff")).toMatchObject({ status: 0, stdout: expect.stringContaining("so nothing changed]\n") });
  const same = piped("diff", "--json");
  expect({ ...same, total: JSON.parse(same.stdout).total }).toMatchObject({
    status: 0,
    total: { added: 0, gone: 0, moved: 0 },
  });
});
