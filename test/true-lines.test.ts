import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Receipt } from "../src/contract/receipt.ts";
import { runCommand } from "../src/entrypoints/cli/run/run-command.ts";
import { openSpillway } from "../src/open-spillway.ts";
import { openLocal } from "../src/storage/local/open-local.ts";
import { type KnownOutput, numbersFrom, OUTPUTS } from "./true-lines/outputs.ts";

// What is shown of an output is of that output, however it came.

const ROUNDS = Number(process.env["SPILLWAY_ROUNDS"] ?? 60);
const SEED = Number(process.env["SPILLWAY_SEED"] ?? 1);
const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-true-lines-"));
const dir = join(folder, "place");
const file = join(folder, "output");
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

interface Shown {
  text: string;
  receipt: Receipt;
}

/** What `run --json` would print: it is run here many times, since starting the command takes longest. */
const { printed } = vi.hoisted(() => ({ printed: [] as Shown[] }));
vi.mock("../src/entrypoints/cli/write-out.ts", async (original) => ({
  ...(await original<object>()),
  writeJson: async (shown: Shown) => void printed.push(shown),
}));

/** Its lines that are neither markers nor lines of the source after those before them. */
function strangers(text: string, { lines }: KnownOutput): string[] {
  let next = 0;
  return text.split("\n").filter((line) => {
    const at = lines.indexOf(line, next);
    if (at === -1) return !/^(\[.*\]|"\.\.\. \[[\d,]+ elements? omitted: .*\]",?)$/.test(line);
    next = at + 1;
    return false;
  });
}

function check(shown: Shown, output: KnownOutput): void {
  const { text, receipt } = shown;
  expect(receipt.faults).toBeUndefined();
  expect(receipt.binary === undefined ? receipt.kind : "binary").toBe(output.kind);
  expect(receipt.omitted.bytes).toBeGreaterThan(0);
  expect(strangers(text, output)).toEqual([]);
}

/** A command that shows a file, where the kind is told by that, or one that says nothing of what it prints. */
const wordsFor = ({ kind }: KnownOutput) =>
  kind === "source" || kind === "prose" ? ["cat", file] : ["dd", `if=${file}`, "status=none"];

describe("what is shown of an output", () => {
  const env = { PATH: process.env["PATH"], HOME: folder };
  const command = (...args: string[]): Shown => {
    const { stdout } = spawnSync(process.execPath, [CLI, ...args], {
      cwd: folder,
      env,
      encoding: "utf8",
      maxBuffer: 1e9,
    });
    const { text, receipt } = JSON.parse(stdout) as Shown;
    return { text, receipt };
  };

  it.each(Object.entries(OUTPUTS))("is the same by run, by clamp and by admit: %s", async (_, write) => {
    const output = write(30_000, numbersFrom(7));
    // More than all that a pipe's reader has room for: its memory is used again.
    expect(output.bytes.length).toBeGreaterThan(700_000);
    writeFileSync(file, output.bytes);
    const words = wordsFor(output);
    const run = command("run", "--dir", dir, "--json", "--", ...words);
    check(run, output);
    expect(
      command("clamp", "--dir", dir, "--save", "--json", "--command", words.join(" "), "--exit-code", "0", file),
    ).toEqual(run);
    const place = await openLocal(dir);
    const spillway = await openSpillway({
      store: place.store,
      ledger: place.ledger,
      env: {},
      reader: { by: "shell", dir },
    });
    const { text, receipt } = await spillway.admit({
      tool: "run_command",
      command: words.join(" "),
      output: output.bytes,
      exitCode: 0,
    });
    expect({ text, receipt }).toEqual(run);
    // A page's text is an artifact of its own; the page is kept beside it.
    const { artifact, original = artifact } = receipt;
    const saved = await place.store.read(original ?? "", "local", { from: 0, to: output.bytes.length + 1 });
    expect(sha256(saved ?? new Uint8Array())).toBe(sha256(output.bytes));
    if (original !== artifact) {
      const page = await place.store.read(artifact ?? "", "local", { from: 0, to: output.bytes.length });
      expect(
        Buffer.from(page ?? [])
          .toString()
          .trimEnd()
          .split("\n"),
      ).toEqual(output.lines.slice(0, -1));
    }
    await place.close();
  });

  it(
    `is of that output, by run, whatever it is (SPILLWAY_SEED=${SEED} SPILLWAY_ROUNDS=${ROUNDS})`,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...Object.keys(OUTPUTS)),
          fc.integer({ min: 1000, max: 24_000 }),
          fc.nat(1_000_000),
          async (kind, count, seed) => {
            const output = (OUTPUTS[kind] as (typeof OUTPUTS)[string])(count, numbersFrom(seed));
            writeFileSync(file, output.bytes);
            expect(await runCommand(wordsFor(output), { dir, json: true, redact: true })).toBe(0);
            check(printed.pop() as Shown, output);
          },
        ),
        { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
      );
      expect(printed).toEqual([]);
    },
    600_000 + ROUNDS * 60_000,
  );
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
