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
  it("keep is the strategy, size is at most the policy's", async () => {
    const { text, receipt } = await spillway.admit({ tool: "bash", output, keep: "tail", size: { maxChars: 500 } });
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

  it.each([{ keep: "best" }, { focus: "/(/" }, { size: { maxChars: -1 } }])(
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
    expect(await wrapped.execute("1", { output: { keep: "tail", size: { maxChars: 400 } } })).toContain(
      "line 899 of it",
    );
    const plain = await wrapped.execute("2", {});
    expect(await wrapped.execute("3", { output: { keep: "best", focus: "/(/", size: { maxChars: "x" } } })).toBe(plain);
    expect(await wrapped.execute("4", null as never)).toBe(plain);
  });
});
