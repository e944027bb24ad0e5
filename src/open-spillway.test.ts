import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSpillway, type SpillwayOptions } from "./index.ts";
import { memoryLedger } from "./storage/ledgers/memory.ts";
import { memoryStore } from "./storage/stores/memory.ts";

const base = await mkdtemp(join(tmpdir(), "spillway-open-"));
afterAll(() => rm(base, { recursive: true }));
const blocked = join(base, "blocked");
await writeFile(blocked, "not a folder");
const damaged = join(base, "damaged");
await mkdir(damaged, { mode: 0o700 });
await writeFile(join(damaged, "spillway.db"), "this is no database ".repeat(500), { mode: 0o600 });

const output = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join("");

async function opened(options: SpillwayOptions) {
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (message: string) => warnings.push(message) };
  return { warnings, spillway: await createSpillway({ logger, ...options }) };
}

describe.each([
  ["cannot be made", blocked, "blocked"],
  ["has a damaged database", damaged, "is damaged"],
])("a folder that %s", (_what, folder, reason) => {
  const env = { SPILLWAY_DIR: folder };

  it.each([undefined, { by: "shell" }] as const)(
    "holds no agent up, and nothing is called saved (reader %o)",
    async (reader) => {
      const { spillway, warnings } = await opened({ env, reader });
      const { text, receipt } = await spillway.admit({ tool: "bash", session: "s1", output });
      expect(receipt).toMatchObject({ saved: "no", artifact: null });
      expect(receipt.faults?.join()).toContain(reason);
      expect(text).toContain("The rest was not saved");
      expect(text).not.toContain("spillway recall");
      expect(warnings[0]).toMatch(/^outputs cannot be saved: /);
      expect(warnings[0]).toContain(reason);
      expect(warnings[0]).not.toContain("--");
    },
  );

  it("leaves a reader with our tools what this process holds in memory, and says so", async () => {
    const reader = { by: "tool", recall: "recall", search: "search" } as const;
    const { spillway, warnings } = await opened({ env, reader });
    const { text, receipt } = await spillway.admit({ tool: "bash", output });
    expect(text).toContain(`recall({"id":"${receipt.artifact}"`);
    expect((await spillway.recall(receipt.artifact ?? "", { lines: [777, 777] })).text).toBe("line 777\n");
    expect(receipt.faults?.[0]).toMatch(/in this process's memory only/);
    expect(warnings[0]).toContain(reason);
  });

  it("leaves it readBack's tools as well, from when they are made", async () => {
    const { spillway, warnings } = await opened({ env });
    expect((await spillway.admit({ tool: "bash", output })).receipt.saved).toBe("no");
    const { answer } = spillway.readBack("openai");
    const { text, receipt } = await spillway.admit({ tool: "bash", output });
    expect(receipt.faults).toEqual([expect.stringMatching(/in this process's memory only/)]);
    expect(text).toContain(`recall({"id":"${receipt.artifact}"`);
    const args = JSON.stringify({ id: receipt.artifact, lines: [777, 777] });
    const call = { id: "c1", type: "function", function: { name: "recall", arguments: args } } as const;
    expect((await answer(call))?.content).toContain("line 777\n");
    expect(await spillway.ledger?.stats({ by: "all" })).toMatchObject([{ calls: 1 }]);
    expect(warnings[0]).toMatch(/^outputs cannot be saved: /);
    expect(warnings.at(-1)).toMatch(/in this process's memory only/);
  });

  it("is told to whoever named it in code", async () => {
    await expect(createSpillway({ dir: folder, env: {} })).rejects.toThrow(reason);
    await expect(createSpillway({ dir: folder, env: {} })).rejects.not.toThrow(/--dir/);
  });
});

it("a folder that can be used again is used", async () => {
  const folder = join(base, "repaired");
  await writeFile(folder, "");
  const { spillway } = await opened({ env: { SPILLWAY_DIR: folder } });
  expect((await spillway.admit({ tool: "bash", output })).receipt.saved).toBe("no");
  await rm(folder);
  const { receipt } = await spillway.admit({ tool: "bash", output });
  expect(receipt.saved).toBe("yes");
  expect((await spillway.recall(receipt.artifact ?? "", { head: 1 })).text).toBe("line 1\n");
  expect(await spillway.ledger?.stats({ by: "all" })).toMatchObject([{ calls: 1 }]);
});

describe("a reader with a shell", () => {
  it("is told of a folder that was named in code", async () => {
    const dir = join(base, "with a name");
    const { spillway } = await opened({ dir, env: {}, reader: { by: "shell" } });
    const { text, receipt } = await spillway.admit({ tool: "bash", output });
    expect(text).toContain(`spillway recall ${receipt.artifact} --dir '${dir}'`);
  });

  it("is not where it finds the folder by itself", async () => {
    const { spillway } = await opened({ store: memoryStore(), env: {}, reader: { by: "shell" } });
    expect((await spillway.admit({ tool: "bash", output })).text).not.toContain("--dir");
  });
});

it("says what could not be recorded: once to the logger, and on each receipt", async () => {
  const kept = { store: memoryStore(), ledger: memoryLedger(), env: {} };
  const { spillway, warnings } = await opened({ ...kept, events: join(blocked, "x"), runs: join(blocked, "runs") });
  for (let call = 0; call < 2; call++) {
    const { receipt } = await spillway.admit({ tool: "bash", output: "short" });
    expect(receipt.faults).toHaveLength(2);
    expect(receipt.faults?.join()).toMatch(/not recorded: .*blocked/);
  }
  expect(warnings).toHaveLength(2);
});

describe("options that are wrong", () => {
  it.each([
    [{ dir: 5 }, /dir must be a folder's path; got 5/],
    [{ dir: "a\nb" }, /dir must be a path without line breaks/],
    [{ scope: "" }, /scope must be a text that is not empty/],
    [{ scope: 5 }, /scope must be a text that is not empty; got 5/],
    [{ reader: "shell" }, /reader.by must be one of "operator", "tool", "shell", "file"/],
    [{ reader: { by: "phone" } }, /reader.by .*got "phone"/],
    [{ reader: { by: "tool" } }, /needs recall and search/],
    [{ logger: {} }, /logger must have the methods info and warn/],
    [{ logger: null }, /logger must have/],
    [{ colour: "red" }, /no option "colour"/],
  ])("%o", async (options, message) => {
    await expect(createSpillway({ env: {}, store: null, ...options } as never)).rejects.toThrow(message);
  });

  it("a reader of one output", async () => {
    const { spillway } = await opened({ env: {}, store: null });
    await expect(spillway.admit({ output: "x", reader: { by: "phone" } as never })).rejects.toThrow(/reader.by/);
  });
});
