import { describe, expect, it } from "vitest";
import { assembleSpillway } from "../spillway.ts";

const spillway = assembleSpillway({
  store: null,
  ledger: null,
  redaction: null,
  searcher: () => Promise.reject(new Error("none")),
  openModel: () => Promise.reject(new Error("none")),
});
const output = Array.from({ length: 900 }, (_, n) => `line ${n} of it`).join("\n");

describe("what one call asks for", () => {
  it.each(["strategy", "keep"])("%s is the strategy, size is at most the policy's", async (name) => {
    const asked = { [name]: "tail", size: { maxChars: 500 } };
    const { text, receipt } = await spillway.admit({ tool: "bash", output, ...asked });
    expect(receipt).toMatchObject({ strategy: "tail", limits: { maxChars: 500, maxLines: 200 } });
    expect(text).toContain("line 899 of it");
    const { receipt: more } = await spillway.admit({ tool: "bash", output, size: { maxChars: 5_000_000 } });
    expect(more.limits).toEqual(spillway.resolve("bash").limits);
  });

  it("focus is kept before the rest", async () => {
    const table = `id,name,state\n${output.replaceAll(" ", ",")}`;
    const { text } = await spillway.admit({ tool: "query", output: table, focus: "line,456", size: { maxChars: 900 } });
    expect(text).toContain("line,456,of,it");
  });

  it.each([{ strategy: "best" }, { keep: "best" }, { focus: "/(/" }, { size: { maxChars: -1 } }])(
    "a caller's mistake is told: %o",
    async (asked) => {
      await expect(spillway.admit({ output: "x", ...asked })).rejects.toThrow(/strategy|focus|maxChars/);
    },
  );

  it("a name that nobody knows is told, to the caller and to who wraps a tool", async () => {
    const mistaken: object = { limit: { maxChars: 5 } };
    await expect(spillway.admit({ output: "x", ...mistaken })).rejects.toThrow(/no option "limit".*limits/);
    const tool = { name: "bash", execute: async () => output };
    expect(() => spillway.wrapTool(tool, mistaken)).toThrow(/no option "limit".*limits/);
    expect(() => spillway.wrapTools([tool], mistaken)).toThrow(/no option "limit"/);
  });

  it("a wrapped tool's call may ask by its arguments; a model's mistake stops nothing", async () => {
    const tool = { name: "bash", execute: async (_id: string, _args: { output?: unknown }) => output };
    const wrapped = spillway.wrapTool(tool, { ask: (args) => (args[1] as { output?: object }).output });
    for (const name of ["strategy", "keep"]) {
      const asked = { [name]: "tail", size: { maxChars: 400 } };
      expect(await wrapped.execute("1", { output: asked })).toContain("line 899 of it");
    }
    const plain = await wrapped.execute("2", {});
    expect(await wrapped.execute("3", { output: { keep: "best", focus: "/(/", size: { maxChars: "x" } } })).toBe(plain);
    expect(await wrapped.execute("4", null as never)).toBe(plain);
  });

  it.each(["strategy", "keep"])(
    "what is said when a tool is wrapped holds for calls that ask nothing: %s",
    async (name) => {
      const tool = { name: "bash", execute: async (_id: string, _args: { output?: unknown }) => output };
      const ask = (args: readonly unknown[]) => (args[1] as { output?: object }).output;
      const wrapped = spillway.wrapTool(tool, { ask, [name]: "tail", size: { maxChars: 400 } });
      const plain = await wrapped.execute("1", {});
      expect(plain).toContain("line 899 of it");
      expect(plain).not.toContain("line 0 of it");
      expect(plain.length).toBeLessThanOrEqual(400);
      const asked = await wrapped.execute("2", { output: { strategy: "head" } });
      expect(asked).toContain("line 0 of it");
      expect(asked).not.toContain("line 899 of it");
      expect(asked.length).toBeLessThanOrEqual(400);
    },
  );
});
