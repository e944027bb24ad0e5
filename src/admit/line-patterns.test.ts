import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import type { PolicyInput, PolicyRow } from "../contract/policy.ts";
import { paintsFor } from "../entrypoints/cli/screen.ts";
import { explainText } from "../entrypoints/cli/summarize.ts";
import { createSpillway } from "../index.ts";

const word = (n: number) => `${"abcdefgh"[n % 8]}${"ijklmnop"[(n >> 3) % 8]}${"qrstuvwx"[(n >> 6) % 8]}`;
const quiet = Array.from({ length: 900 }, (_, n) => `10:00:${(n % 50) + 10} INFO item ${word(n)} was handled`);
const wanted = "10:00:11 INFO quorum of shard seven is at two";
const failing = "10:00:12 ERROR cannot connect to database";
const log = quiet.with(300, wanted).with(600, failing).join("\n");
const cut = async (
  row: PolicyRow,
  more: { output?: string; policy?: PolicyInput; intent?: string; focus?: string; exitCode?: number } = {},
) => {
  const { output = log, policy = { tools: { run_command: row } }, ...rest } = more;
  const spillway = await createSpillway({ store: null, ledger: null, env: {}, policy });
  const { text, receipt } = await spillway.admit({
    tool: "run_command",
    output,
    limits: { maxChars: 2000 },
    exitCode: 1,
    ...rest,
  });
  expect(text.length).toBeLessThanOrEqual(2000);
  expect(receipt.faults).toBeUndefined();
  const { kept, folded, omitted, total } = receipt;
  expect(kept.bytes + folded.bytes + omitted.bytes).toBe(total.bytes);
  return text;
};

describe("lines that a row names", () => {
  it.each([
    ["keep", "shard seven"],
    ["keep", "SHARD Seven"],
    ["keep", "/quorum of shard [a-z]+ is at (one|two)$/"],
    ["focus", "quorum"],
    ["focus", "/quorum.*two/"],
  ] as const)("are shown for %s %j, and what tells of a failure stays", async (list, pattern) => {
    expect(await cut({})).not.toContain(wanted);
    const text = await cut({ [list]: [pattern] });
    expect(text).toContain(wanted);
    expect(text).toContain(failing);
  });

  it("are shown up to half of the room, whatever they are", async () => {
    const text = await cut({ keep: ["handled"] });
    expect(text).toContain(failing);
    const none = await cut({ keep: ["/nothing like it/"] });
    expect(none).toBe(await cut({}));
  });

  it("are called by the list that names them where a cut is explained", async () => {
    const kindWith = async (policy: object, focus?: string) => {
      const spillway = await createSpillway({ store: null, ledger: null, env: {}, policy });
      const call = { tool: "run_command", output: [...quiet, "a quorum is missing", ...quiet].join("\n"), focus };
      const { receipt } = await spillway.admit({ ...call, limits: { maxChars: 2000 }, explain: true });
      return receipt.explained?.find(({ line }) => line.includes("quorum"));
    };
    const kept = await kindWith({ tools: { run_command: { keep: ["quorum"] } } });
    expect(kept).toMatchObject({ shown: true, kind: "keep" });
    expect(explainText(kept === undefined ? [] : [kept], paintsFor({ color: "never" }))).toContain(
      ": the policy's keep names it\n",
    );
    expect(await kindWith({}, "quorum")).toMatchObject({ shown: true, kind: "focus" });
  });

  it("are worth nothing for drop, unless keep names them", async () => {
    const noisy = quiet.with(200, "10:00:13 ERROR probe failed, as it always does").with(600, failing).join("\n");
    expect(await cut({}, { output: noisy })).toContain("probe failed");
    const text = await cut({ drop: ["as it always does"] }, { output: noisy });
    expect(text).not.toContain("probe failed");
    expect(text).toContain(failing);
    expect(await cut({ drop: ["as it always does"], keep: ["/probe/"] }, { output: noisy })).toContain("probe failed");
  });

  it.each([
    ["next to a failure", failing, (n: number) => n % 2 === 0],
    ["at both ends", failing, (n: number) => n < 20 || n > 880],
    ["in a table", "id  state", (n: number) => n % 2 === 0],
  ])("are not shown for drop, though they stand %s", async (_, line, isNoise) => {
    const isTable = line !== failing;
    const rows = isTable ? quiet.map((_each, n) => `row-${n},${n},up`) : quiet;
    const noisy = rows.map((each, n) =>
      isNoise(n) ? (isTable ? `noise-${n},${n},up` : `10:00:13 INFO noise ${n}`) : each,
    );
    const output = isTable ? ["name,number,state", ...noisy].join("\n") : noisy.with(601, failing).join("\n");
    const text = await cut({ drop: ["noise"] }, { output, ...(isTable && { exitCode: 0 }) });
    expect(text).not.toContain("noise");
    expect(text).toContain(isTable ? "row-1,1,up" : failing);
  });

  it("are worth as much with keep, beyond what is shown for certain, if drop names them too", async () => {
    const probes = quiet.map((line, n) =>
      n % 10 === 0 ? `10:00:13 INFO probe ${word(n)} answered as it always does` : line,
    );
    const count = async (row: PolicyRow) => (await cut(row, { output: probes.join("\n") })).match(/probe/g)?.length;
    expect(await count({ keep: ["probe"], drop: ["always does"] })).toBe(await count({ keep: ["probe"] }));
  });

  it("count together with what a call seems to be for, and a call's own focus counts instead", async () => {
    const both = await cut({ keep: ["shard seven"] }, { intent: `what happened to item ${word(450)}?` });
    expect(both).toContain(wanted);
    expect(both).toContain(word(450));
    expect(await cut({ keep: ["shard seven"] }, { focus: word(450) })).toContain(word(450));
  });

  it("add up over rows, those of a project too, which cannot drop", async () => {
    const project: PolicyInput = { tools: { run_command: { keep: ["shard seven"], drop: ["/cannot connect/"] } } };
    const text = await cut({}, { policy: { tools: { run_command: { focus: [word(450)] } }, project } });
    for (const each of [wanted, failing, word(450)]) expect(text).toContain(each);
    const spillway = await createSpillway({
      store: null,
      ledger: null,
      env: {},
      policy: { default: { keep: ["a"] }, tools: { bash: { keep: ["b", "a"], drop: ["c"] } }, project },
    });
    expect(spillway.resolve("bash").lines).toEqual({ focus: [], keep: ["shard seven", "a", "b"], drop: ["c"] });
  });

  it.each([
    [["/(a/"], /"\/\(a\/": focus pattern/],
    [["a\nb"], /a list of at most 8 texts or patterns of one line/],
    [[""], /a list of at most 8/],
    [Array.from({ length: 9 }, String), /at most 8/],
    [7, /at most 8/],
  ])("are refused where they are written: %j", async (keep, message) => {
    await expect(cut({ keep: keep as string[] })).rejects.toThrow(message);
  });

  it("come from files: a pattern that cannot be used is said with its place, and costs a project's file, not a command", async () => {
    const home = await mkdtemp(join(tmpdir(), "spillway-lines-"));
    const file = join(home, "own.yaml");
    const load = async (text: string) => {
      await writeFile(file, text);
      return loadConfig({ file, env: {}, home });
    };
    const { policy } = await load('tools:\n  bash:\n    keep: ["/^FAIL /"]\n    focus: [quorum]\n    drop: [noise]\n');
    expect(policy.tools).toEqual([{ tool: "bash", row: { keep: ["/^FAIL /"], focus: ["quorum"], drop: ["noise"] } }]);
    await expect(load('tools:\n  bash:\n    keep: ["/(a/"]\n')).rejects.toThrow(/own\.yaml:3.*tools\.bash\.keep/s);
    await expect(load("tools:\n  bash:\n    drop: noise\n")).rejects.toThrow(
      /a list of at most 8 texts and \/patterns\//,
    );
    await writeFile(join(home, "spillway.yaml"), 'tools:\n  bash:\n    keep: ["x"]\n    drop: ["y"]\n');
    const inside = await loadConfig({ cwd: home, env: {}, home: tmpdir() });
    expect(inside.policy.project?.tools).toEqual([{ tool: "bash", row: { keep: ["x"] } }]);
    expect(inside.warnings.join()).toMatch(/drop is ignored in a project's file/);
    await rm(home, { recursive: true });
  });
});
