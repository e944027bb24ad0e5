import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../../stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "../../stages/policy/resolve-tool-policy.ts";
import { Command } from "./command.ts";
import { addPolicyFlags, optionsFromFlags } from "./flags.ts";

describe("flags of the policy", () => {
  const forTool = async (tool: string, flags: Parameters<typeof optionsFromFlags>[0]) =>
    resolveToolPolicy(resolvePolicy((await optionsFromFlags(flags)).policy), tool);

  it("win over rows in every command that takes them, --fold and --no-fold too", async () => {
    expect(await forTool("bash", {})).toMatchObject({ fold: true });
    expect(await forTool("bash", { fold: false, strategy: "tail" })).toMatchObject({ fold: false, strategy: "tail" });
    expect(await forTool("read_file", {})).toMatchObject({ fold: false });
    expect(await forTool("read_file", { fold: true })).toMatchObject({ fold: true });
  });

  it.each([
    ["0", 0],
    ["51200", 51_200],
    ["10KB", 10_240],
    ["10k", 10_240],
    ["1.5 MiB", 1_572_864],
    ["2g", 2 * 1024 ** 3],
  ])("--max-bytes %s is %i bytes", (written, bytes) => {
    const command = addPolicyFlags(new Command()).parse(["--max-bytes", written], { from: "user" });
    expect(command.opts()).toEqual({ maxBytes: bytes });
  });

  it.each(["", "KB", "-1", "10 lines", "10KKB", "10i", "10ib", "1e3", "9999999999T"])(
    "--max-bytes %o is a mistake",
    (written) => {
      const command = addPolicyFlags(new Command())
        .exitOverride()
        .configureOutput({ writeErr: () => {} });
      expect(() => command.parse(["--max-bytes", written], { from: "user" })).toThrow("such as 50KB or 10GiB");
    },
  );
});
