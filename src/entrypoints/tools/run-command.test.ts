import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import type { Spillway } from "../../spillway.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { runForTools } from "../cli/run/start-command.ts";
import { boundedTools, type Commands, openCommands, openRoots } from "./index.ts";

let folder = "";
let spillway: Spillway;
let commands: Commands;
let call: (name: string, args: object, signal?: AbortSignal) => Promise<{ text: string; isError: boolean }>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "spillway-commands-"));
  await open({});
});
afterEach(async () => {
  await commands.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function open(env: Record<string, string>): Promise<void> {
  spillway = await createSpillway({
    store: memoryStore(),
    ledger: null,
    env,
    reader: { by: "tool", recall: "recall", search: "search" },
  });
  commands = openCommands(spillway, runForTools);
  const tools = boundedTools({ spillway, roots: await openRoots([folder]), commands });
  call = (name, args, signal) => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.call(args, signal);
  };
}

const run = (command: string, more: object = {}) => call("run_command", { command, ...more });
const idIn = (text: string) => /command_output\(\{"id":"([^"]+)"/.exec(text)?.[1] ?? "";

/** Waits until a command has written the number of a process into a file. */
async function written(file: string): Promise<number> {
  const path = join(folder, file);
  while (!existsSync(path) || !readFileSync(path, "utf8").endsWith("\n")) await sleep(20);
  return Number(readFileSync(path, "utf8"));
}

/** Waits until such a process has ended. If it never does, the test fails by its time. */
async function endOf(file: string): Promise<void> {
  const pid = await written(file);
  // Where nobody takes its exit code it stays a while as a name only.
  const stateOf = () => spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  while (/^[^Z]/.test(stateOf())) await sleep(20);
}

test("without commands the tools only read", async () => {
  const tools = boundedTools({ spillway, roots: await openRoots([folder]) });
  expect(tools.map(({ name }) => name)).not.toContain("run_command");
  expect(tools.every(({ annotations }) => annotations === undefined)).toBe(true);
});

describe("run_command", () => {
  test("shows both streams, and the exit code where it says something", async () => {
    expect(await run("echo one; echo two >&2")).toEqual({ text: "one\ntwo\n", isError: false });
    expect((await run("echo no; exit 3")).text).toBe("no\n[exit code 3]");
    expect((await run("true")).text).toContain("[exit code 0]");
    expect((await run("no-such-command-here")).text).toMatch(/not found[\s\S]*\[exit code 127\]/);
  });

  test("has no input, and starts in a folder within the roots", async () => {
    expect((await run("cat; pwd", { cwd: "." })).text.trim().endsWith(folder.split("/").at(-1) ?? "?")).toBe(true);
    for (const cwd of ["..", "/", "../../etc", "none", "a\0b"]) {
      const { isError, text } = await run("touch made", { cwd });
      expect(isError, cwd).toBe(true);
      expect(text).toMatch(/outside the folders|there is no/);
    }
    expect(existsSync(join(folder, "made"))).toBe(false);
    expect(await run("a\0b")).toMatchObject({ isError: true });
    expect(await call("run_command", {})).toMatchObject({ isError: true, text: "command is missing" });
  });

  test("bounds a long output at its source, and the rest can be read back", async () => {
    const { text } = await run("seq 1 100000");
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text.split("\n").length).toBeLessThanOrEqual(200);
    const asked = JSON.parse(/recall\((\{.*?\})\)/.exec(text)?.[1]?.replace("[from,to]", "[50000,50001]") ?? "");
    expect((await call("recall", asked)).text).toContain("50000\n50001\n");
  });

  test("ends a command that ignores SIGTERM, its children too, when its time is up", async () => {
    const command =
      "trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 0.1; done) & " +
      "while [ ! -s child ]; do sleep 0.02; done; echo begun; while :; do sleep 0.1; done";
    const timeUp = async (seconds: number): Promise<string> => {
      const { text } = await run(command, { timeout_seconds: seconds });
      // On a slow machine the command may not have begun when a short time is up.
      return text.startsWith("begun") || seconds > 50 ? text : timeUp(seconds * 10);
    };
    expect(await timeUp(1)).toMatch(
      /^begun\n\[exit code 124\]\n\[the time of 10* s was up: the command and its children were ended\]$/,
    );
    await endOf("child");
  });

  test("ends what a command leaves behind", async () => {
    const command = "(echo $BASHPID > child; exec sleep 500) & while [ ! -s child ]; do sleep 0.02; done; echo done";
    expect((await run(command)).text).toBe("done\n");
    await endOf("child");
  });

  test("a command that closes its output and runs on is waited for, and ended in time", async () => {
    const { text } = await run("exec >&- 2>&-; sleep 500", { timeout_seconds: 1 });
    expect(text).toContain("[exit code 124]");
  });

  test("a command that prints for ever is ended within its limits", async () => {
    const { text } = await run("yes", { timeout_seconds: 1 });
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text).toContain("[the time of 1 s was up");
  });

  test("ends the command when the caller gives up", async () => {
    const abort = new AbortController();
    const answer = call("run_command", { command: "echo $$ > child; exec sleep 500" }, abort.signal);
    await written("child");
    abort.abort();
    expect((await answer).text).toContain("[exit code 143]");
    await endOf("child");
  });
});

describe("in the background", () => {
  test("is read piece by piece, nothing twice, and its end is told once", async () => {
    const first = await run("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 5", { background: true });
    const id = idIn(first.text);
    const told = [first.text];
    // On a slow machine the command has not begun at the first look.
    while (!told.at(-1)?.startsWith("one\n")) told.push((await call("command_output", { id, wait_seconds: 0 })).text);
    expect(told.at(-1)).toMatch(/^one\n\[still running: command_output/);
    expect((await call("command_output", { id, wait_seconds: 0 })).text).toMatch(/^\[still running/);
    await run("touch go");
    const last = await call("command_output", { id, wait_seconds: 60 });
    expect(last.text).toBe("two\n[ended: exit code 5]");
    expect(await call("command_output", { id })).toMatchObject({ isError: true });
  });

  test("one that ends at once says so at once", async () => {
    const { startInBackground } = commands;
    // However slow the machine is, the first look is long enough.
    commands.startInBackground = (...args) => {
      const started = startInBackground(...args);
      const { wait } = started;
      return Object.assign(started, { wait: () => wait(500_000) });
    };
    expect((await run("echo bad; exit 2", { background: true })).text).toBe("bad\n[ended: exit code 2]");
  });

  test("stop ends it and its children, though they ignore SIGTERM", async () => {
    const first = await run("trap '' TERM; echo $$ > child; while :; do sleep 0.1; done", { background: true });
    await written("child");
    const { text } = await call("command_output", { id: idIn(first.text), stop: true });
    expect(text).toMatch(/\[ended: exit code 137\]$/);
    await endOf("child");
  });

  test("keeps the newest unread characters up to the limit of the policy, and all of it in the store", async () => {
    await open({ OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: "1000" });
    expect(spillway.policy.commands.maxPendingChars).toBe(1000);
    const first = await run("seq 1 20000; sleep 500", { background: true });
    const id = idIn(first.text);
    const told = [first.text];
    while (!told.at(-1)?.includes("20000\n")) told.push((await call("command_output", { id, wait_seconds: 0 })).text);
    expect(told.join("\n")).toMatch(/still running; \d+ characters before this/);
    const last = await call("command_output", { id, stop: true });
    const artifact = /all it printed: recall\(\{"id":"(\w+)"/.exec(last.text)?.[1] ?? "";
    expect((await call("recall", { id: artifact, lines: [777, 778] })).text).toContain("777\n778\n");
  });

  test("there are at most 16, and all end with their tools", async () => {
    for (let i = 0; i < 16; i++) commands.startInBackground(`echo $$ > child-${i}; exec sleep 500`, folder, 500_000);
    expect(await run("sleep 500", { background: true })).toMatchObject({
      isError: true,
      text: expect.stringContaining("16 commands run in the background"),
    });
    for (let i = 0; i < 16; i++) await written(`child-${i}`);
    await commands.stop();
    for (let i = 0; i < 16; i++) await endOf(`child-${i}`);
  });

  test("its time is bounded too", async () => {
    const command = commands.startInBackground("yes", folder, 200);
    await command.wait(500_000);
    expect(command.end).toMatchObject({ exitCode: 124, isTimedOut: true });
    expect(command.unread.take().text.length).toBeLessThanOrEqual(200_000);
  });

  test("an id that is not there is told, with those that are", async () => {
    expect(await call("command_output", { id: "x".repeat(5000) })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^no command has the id "x{98,100}"?.*there are: none$/),
    });
  });
});
