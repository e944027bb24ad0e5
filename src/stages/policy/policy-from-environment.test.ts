import { describe, expect, it } from "vitest";
import { policyFromEnvironment } from "./policy-from-environment.ts";

describe("policyFromEnvironment", () => {
  it("says nothing when nothing is set, or set to blank", () => {
    expect(policyFromEnvironment({})).toEqual({});
    expect(policyFromEnvironment({ SPILLWAY_MAX_LINES: "", SPILLWAY_OFF: " ", PATH: "/bin" })).toEqual({});
  });

  it("reads every variable", () => {
    expect(
      policyFromEnvironment({
        SPILLWAY_MAX_BYTES: "1KB",
        SPILLWAY_MAX_CHARS: "0",
        SPILLWAY_MAX_LINES: " 3 ",
        SPILLWAY_MAX_TOKENS: "Infinity",
        SPILLWAY_STRATEGY: "head_only",
        SPILLWAY_HEAD_SHARE: "0.5",
        SPILLWAY_PROFILE: "Frugal",
        PI_BASH_MAX_OUTPUT_CHARS: "100000",
        OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: "30000",
      }),
    ).toEqual({
      profile: "frugal",
      force: {
        limits: { maxBytes: 1024, maxChars: 0, maxLines: 3, maxTokens: Infinity },
        strategy: "head",
        headShare: 0.5,
      },
      commands: { maxChars: 100_000, maxPendingChars: 30_000 },
    });
  });

  it("off wins over a profile; 0 is not off", () => {
    expect(policyFromEnvironment({ SPILLWAY_OFF: "1", SPILLWAY_PROFILE: "frugal" })).toEqual({ profile: "off" });
    expect(policyFromEnvironment({ SPILLWAY_OFF: "0" })).toEqual({});
  });

  it("brings another program's number into our range", () => {
    expect(policyFromEnvironment({ PI_BASH_MAX_OUTPUT_CHARS: "5" })).toEqual({ commands: { maxChars: 1000 } });
  });

  it("takes summarize as a summary, and head_tail as both ends in equal parts", () => {
    expect(policyFromEnvironment({ SPILLWAY_STRATEGY: "summarize" }).force).toEqual({ summarize: true });
    const even = { strategy: "head-tail", headShare: 0.5 };
    expect(policyFromEnvironment({ SPILLWAY_STRATEGY: "head_tail" }).force).toEqual(even);
    const own = policyFromEnvironment({ SPILLWAY_STRATEGY: "head_tail", SPILLWAY_HEAD_SHARE: "0.9" }).force;
    expect(own).toEqual({ ...even, headShare: 0.9 });
  });

  it("leaves out a variable that is wrong, if somebody is told of it", () => {
    const told: unknown[] = [];
    const env = { SPILLWAY_MAX_LINES: "many", SPILLWAY_MAX_CHARS: "900", SPILLWAY_PROFILE: "cheap" };
    expect(policyFromEnvironment(env, (error) => told.push(String(error)))).toEqual({
      force: { limits: { maxChars: 900 } },
    });
    expect(told).toEqual([expect.stringContaining("SPILLWAY_MAX_LINES"), expect.stringContaining("SPILLWAY_PROFILE")]);
  });

  it.each([
    ["SPILLWAY_MAX_LINES", "50k", 'SPILLWAY_MAX_LINES must be a whole number of 0 or more, or none; got "50k"'],
    [
      "SPILLWAY_MAX_BYTES",
      "50 lines",
      'SPILLWAY_MAX_BYTES must be a whole number of 0 or more, a size such as 50KB, or none; got "50 lines"',
    ],
    ["SPILLWAY_MAX_LINES", "-1", "SPILLWAY_MAX_LINES must be"],
    ["SPILLWAY_MAX_CHARS", "1e3", "SPILLWAY_MAX_CHARS must be"],
    ["SPILLWAY_MAX_TOKENS", "NaN", "SPILLWAY_MAX_TOKENS must be"],
    ["SPILLWAY_HEAD_SHARE", "30", 'SPILLWAY_HEAD_SHARE must be a number from 0 to 1; got "30"'],
    ["SPILLWAY_HEAD_SHARE", "0.1.2", "SPILLWAY_HEAD_SHARE must be"],
    ["SPILLWAY_STRATEGY", "../x", "SPILLWAY_STRATEGY must be a strategy's name"],
    ["SPILLWAY_PROFILE", "toString", "SPILLWAY_PROFILE must be balanced, frugal, uniform or off"],
    ["SPILLWAY_OFF", "maybe", "SPILLWAY_OFF must be 1 or 0"],
    ["PI_BASH_MAX_OUTPUT_CHARS", "many", "PI_BASH_MAX_OUTPUT_CHARS must be a whole number"],
  ])("%s=%s is refused by name", (variable, value, message) => {
    expect(() => policyFromEnvironment({ [variable]: value })).toThrow(message);
  });
});
