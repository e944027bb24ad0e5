import { describe, expect, it } from "vitest";
import { optionsFromFlags } from "./flags.ts";

describe("flags of the policy", () => {
  const forced = async (flags: Parameters<typeof optionsFromFlags>[0]) => (await optionsFromFlags(flags)).policy.force;

  it("win over rows in every command that takes them, --no-fold too", async () => {
    expect(await forced({ fold: false, strategy: "tail" })).toMatchObject({ fold: false, strategy: "tail" });
    expect(await forced({ fold: true })).toMatchObject({ fold: true });
    expect(await forced({ maxLines: 3 })).not.toHaveProperty("fold");
  });
});
