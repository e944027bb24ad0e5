// Plants small bugs in a copy of the sources, a random few in each room, and says how many the room's own tests notice:
// see USAGE. CI does not run it, since a random sample cannot judge a change.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";

const USAGE = `npm run mutate -- [options]
  --room NAME      only rooms with this in their path, such as redact or storage; may be repeated
  --per-room N     so many bugs in each room (3)
  --minutes N      no bug is planted after this (25)
  --seed N         the same seed plants the same bugs
  --related        also try what a room's own tests missed on every test that reaches the file`;

/** What a person could write by mistake instead. */
const OPERATORS = new Map([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
  [ts.SyntaxKind.MinusEqualsToken, "+="],
]);
const LEAST_MS = 20_000;
/** Rooms of which tests in test/ start the built command: it is built again for each bug. */
const TESTS_OF_BUILT = new Map([["src/entrypoints/cli", "test/cli"]]);

const options = readOptions();
const endMs = Date.now() + options.minutes * 60_000;
const random = randomFrom(options.seed);
const scratch = mkdtempSync(join(tmpdir(), "mutate-"));
const copy = join(scratch, "copy");
let running = null;
process.on("exit", () => {
  if (running !== null) stop(running);
  rmSync(scratch, { recursive: true, force: true });
});

const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
}).split("\0");
copyProject();
const rooms = roomsOf(files).filter(
  ({ path }) => options.room.length === 0 || options.room.some((one) => path.includes(one)),
);
if (rooms.length === 0) refuse(`no room has ${options.room.join(" or ")} in its path`);
console.log(
  `seed ${options.seed}; ${rooms.length} rooms, ${options.perRoom} bugs in each, ${options.minutes} minutes at most`,
);

for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    report();
    process.exit(130);
  });
// Each room gets one bug, then each the next, so that every room has had its turn if time runs out.
for (let round = 0; round < options.perRoom; round++) for (const room of rooms) await plant(room, room.bugs[round]);
report();

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        room: { type: "string", multiple: true, default: [] },
        "per-room": { type: "string", default: "3" },
        minutes: { type: "string", default: "25" },
        seed: { type: "string", default: String(Date.now() % 1_000_000) },
        related: { type: "boolean", default: false },
      },
    });
    const [perRoom, minutes, seed] = ["per-room", "minutes", "seed"].map((name) => {
      const value = Number(values[name]);
      if (!Number.isInteger(value) || value < 0)
        throw new Error(`--${name} must be a whole number; got ${values[name]}`);
      return value;
    });
    return { room: values.room, perRoom, minutes, seed, related: values.related };
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(why) {
  console.error(`${why}\n\n${USAGE}`);
  process.exit(2);
}

/** Numbers in [0, 1) that depend on the seed alone. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function copyProject() {
  for (const file of files) {
    if (file === "" || !existsSync(file)) continue;
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(file, join(copy, file));
  }
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  if (existsSync("dist")) cpSync("dist", join(copy, "dist"), { recursive: true });
}

/** Folders of src/ that have tests; of stages, storage and entrypoints each folder is one. */
function roomsOf(paths) {
  const roomOf = (path) => /^src\/(?:(?:stages|storage|entrypoints)\/)?[^/]+(?=\/)/.exec(path)?.[0];
  const tested = new Set(paths.filter((path) => path.endsWith(".test.ts")).map(roomOf));
  tested.delete(undefined);
  const isSource = (path) => path.endsWith(".ts") && !/\.test\.ts$|-binary\.ts$/.test(path);
  return [...tested].sort().map((path) => {
    const bugs = paths.filter((file) => roomOf(file) === path && isSource(file)).flatMap(bugsIn);
    for (let at = bugs.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [bugs[at], bugs[other]] = [bugs[other], bugs[at]];
    }
    return { path, bugs, planted: 0, caught: 0, late: 0, elsewhere: 0, mostMs: null };
  });
}

/** Every bug that could be planted in a file: another operator, a condition the other way round, a call left out. */
function bugsIn(file) {
  const text = readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const bugs = [];
  const add = (node, put) => {
    const [from, to] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(from).line + 1;
    bugs.push({ file, line, from, to, put, was: text.slice(from, to), text });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return;
    if (ts.isBinaryExpression(node)) {
      const put = OPERATORS.get(node.operatorToken.kind);
      if (put !== undefined) add(node.operatorToken, put);
    } else if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText(source)})`);
    else if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText(source)})`);
    else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
    else if (ts.isExpressionStatement(node) && !ts.isStringLiteral(node.expression)) add(node, ";");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return bugs;
}

async function plant(room, bug) {
  if (bug === undefined || Date.now() > endMs) return;
  if (room.mostMs === null) {
    const startMs = Date.now();
    if ((await testRoom(room)) !== "passed") {
      room.bugs = [];
      return console.log(`no bug is planted in ${room.path}: its tests fail as they are`);
    }
    // A bug may slow a test down or make it loop, and the machine may be busier.
    room.mostMs = Math.max(LEAST_MS, 4 * (Date.now() - startMs));
  }
  room.planted += 1;
  const change = `${bug.file}:${bug.line}: ${bug.was} -> ${bug.put}`.replaceAll(/\s+/g, " ").slice(0, 200);
  const end = await withBug(bug, () => testRoom(room, room.mostMs));
  if (end === "failed") room.caught += 1;
  else if (end === "late") {
    // The machine may be to blame, so somebody must look.
    room.late += 1;
    console.log(`timed out: ${change}`);
  } else if (options.related && (await withBug(bug, () => test(["related", "--run", bug.file]))) === "failed")
    room.elsewhere += 1;
  else console.log(`missed: ${change}`);
}

async function withBug({ file, from, to, put, text }, act) {
  writeFileSync(join(copy, file), text.slice(0, from) + put + text.slice(to));
  const end = await act();
  writeFileSync(join(copy, file), text);
  return end;
}

/** Runs the tests of a room, and with them those of the command if the room is part of it. */
async function testRoom({ path }, mostMs) {
  const ofBuilt = TESTS_OF_BUILT.get(path);
  if (ofBuilt === undefined) return test(["run", `${path}/`], mostMs);
  const built = await run("tsdown/dist/run.mjs", ["--filter", "cli", "--no-clean"], mostMs);
  return built === "passed" ? test(["run", `${path}/`, ofBuilt], mostMs) : built;
}

function test(args, mostMs) {
  return run("vitest/vitest.mjs", [...args, "--bail=1", "--maxWorkers=1", "--reporter=dot"], mostMs);
}

/** Runs a program of node_modules in the copy. Returns "passed", "failed" or "late". */
function run(program, args, mostMs) {
  return new Promise((done) => {
    running = spawn(process.execPath, [join(copy, "node_modules", program), ...args], {
      cwd: copy,
      env: { ...process.env, TMPDIR: scratch, CI: "1" },
      stdio: "ignore",
      detached: true,
    });
    const child = running;
    let isLate = false;
    const end = () => {
      isLate = true;
      stop(child);
    };
    const timer = mostMs === undefined ? undefined : setTimeout(end, mostMs);
    child.on("close", (code) => {
      clearTimeout(timer);
      running = null;
      done(isLate ? "late" : code === 0 ? "passed" : "failed");
    });
  });
}

/** Ends a program and the workers that it started. */
function stop({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function report() {
  const share = (count, of) => (of === 0 ? "-" : `${Math.round((100 * count) / of)} %`);
  const rows = rooms.map(({ path, bugs, planted, caught, late, elsewhere }) => [
    path,
    bugs.length,
    planted,
    share(caught, planted),
    late,
    ...(options.related ? [share(caught + elsewhere, planted)] : []),
  ]);
  const names = ["room", "possible", "planted", "caught", "timed out", ...(options.related ? ["by any test"] : [])];
  for (const [first, ...cells] of [names, ...rows])
    console.log(first.padEnd(28) + cells.map((cell) => String(cell).padStart(12)).join(""));
}
