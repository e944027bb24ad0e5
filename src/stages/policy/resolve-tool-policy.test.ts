import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Limits } from "../../contract/limits.ts";
import type { PolicyInput, PruningInput } from "../../contract/policy.ts";
import { policyFromEnvironment } from "./policy-from-environment.ts";
import { resolvePolicy } from "./resolve-policy.ts";
import { resolveToolPolicy } from "./resolve-tool-policy.ts";

const limitsOf = (input: PolicyInput | undefined, tool: string, ...overrides: Limits[]) =>
  resolveToolPolicy(resolvePolicy(input), tool, ...overrides.map((limits) => ({ limits }))).limits;

describe("profiles", () => {
  it("balanced: the ceiling, and the table of tools", () => {
    const policy = resolvePolicy();
    expect(resolveToolPolicy(policy, "anything")).toEqual({
      limits: { maxBytes: 51_200, maxLines: 2000 },
      strategy: "auto",
      headShare: 0.3,
      shortChars: 2000,
      fold: true,
      since: true,
      lines: { focus: [], keep: [], drop: [] },
      off: false,
      summarize: false,
      triggerChars: 20_000,
      options: {},
    });
    const under = (tool: string) => resolveToolPolicy(policy, tool).limits;
    expect(under("Read")).toEqual({ maxBytes: 51_200, maxChars: 50_000, maxLines: 500 });
    expect(under("exec")).toEqual({ maxBytes: 51_200, maxChars: 20_000, maxLines: 200 });
    expect(under("mcp__files__list_dir")).toEqual({ maxBytes: 51_200, maxChars: 10_000, maxLines: 100 });
    expect(under("Grep")).toEqual({ maxBytes: 51_200, maxChars: 30_000, maxLines: 300 });
  });

  it("frugal: its own numbers, both ends alike", () => {
    const policy = resolvePolicy("frugal");
    const about = (tool: string) => resolveToolPolicy(policy, tool);
    expect(about("anything")).toMatchObject({ limits: { maxChars: 8000, maxLines: 500 }, headShare: 0.5 });
    expect(about("repo_map").limits).toMatchObject({ maxChars: 10_000, maxLines: 1000 });
    expect(about("read_file").limits).toMatchObject({ maxChars: 5000, maxLines: 200 });
    expect(about("grep_search").options).toEqual({ maxMatches: 100, showContext: 2 });
    expect(about("get_repo_structure").options).toEqual({ maxDepth: 3, maxFiles: 500 });
  });

  it("off: nothing is clamped, whatever else is said", () => {
    const policy = resolvePolicy({ profile: "off", tools: { bash: { limits: { maxLines: 1 }, off: false } } });
    expect(resolveToolPolicy(policy, "bash", { limits: { maxLines: 2 }, off: false })).toMatchObject({
      off: true,
      limits: {},
    });
    expect(policy.pruning.mode).toBe("off");
  });

  it("exact content is not folded", () => {
    for (const profile of ["balanced", "frugal"] as const) {
      const folds = (tool: string) => resolveToolPolicy(resolvePolicy(profile), tool).fold;
      for (const tool of ["read_file", "Read", "git_diff", "apply_patch", "jq"]) expect(folds(tool), tool).toBe(false);
      for (const tool of ["bash", "grep", "other"]) expect(folds(tool), tool).toBe(true);
    }
  });
});

describe("order", () => {
  it("a default row covers every tool that no row names, the table's too", () => {
    const input = { default: { limits: { maxChars: 8000 } }, tools: { grep_search: { limits: { maxLines: 100 } } } };
    expect(limitsOf(input, "run_command")).toEqual({ maxBytes: 51_200, maxChars: 8000, maxLines: 200 });
    expect(limitsOf(input, "Grep")).toEqual({ maxBytes: 51_200, maxChars: 8000, maxLines: 100 });
  });

  it("profile < default < what the tool declares < rows < forced < session < call", () => {
    const lines = (maxLines: number) => ({ limits: { maxLines } });
    const steps: [PolicyInput, ...Parameters<typeof resolveToolPolicy>[2][]][] = [
      [{}],
      [{ default: lines(11) }],
      [{ default: lines(11) }, { ...lines(12), declared: true }],
      [
        { default: lines(11), tools: { run_command: lines(13) } },
        { ...lines(12), declared: true },
      ],
      [{ tools: { run_command: lines(13), "ba*": lines(14) } }, { ...lines(12), declared: true }],
      [{ tools: { bash: lines(15), "ba*": lines(14) } }, { ...lines(12), declared: true }],
      [
        { tools: { bash: lines(15) }, force: lines(1600) },
        { ...lines(12), declared: true },
      ],
      [{ tools: { bash: lines(15) }, force: lines(1600) }, lines(17)],
      [{ tools: { bash: lines(15) }, force: lines(1600) }, lines(17), lines(18)],
    ];
    const got = steps.map(
      ([input, ...overrides]) => resolveToolPolicy(resolvePolicy(input), "bash", ...overrides).limits.maxLines,
    );
    expect(got).toEqual([200, 11, 12, 13, 14, 15, 1600, 17, 18]);
  });

  it("a later input wins over an earlier one for the same row, field by field", () => {
    const policy = resolvePolicy(
      {
        tools: { bash: { limits: { maxLines: 10, maxChars: 99 }, strategy: "tail" } },
        pruning: { softTrimRatio: 0.2 },
      },
      { tools: { bash: { limits: { maxLines: 20 } } }, pruning: { softTrim: { maxChars: 9 } } },
      undefined,
    );
    expect(resolveToolPolicy(policy, "Bash")).toMatchObject({
      limits: { maxLines: 20, maxChars: 99 },
      strategy: "tail",
    });
    expect(policy.pruning).toMatchObject({ softTrimRatio: 0.2, softTrim: { maxChars: 9, headChars: 1500 } });
  });
});

describe("the ceiling", () => {
  it("holds for rows, defaults, declared limits and overrides", () => {
    const most = { maxBytes: 99_999_999, maxLines: Infinity };
    const input = { default: { limits: most }, tools: { bash: { limits: most } } };
    expect(limitsOf(input, "bash", most)).toMatchObject({ maxBytes: 51_200, maxLines: 2000 });
    expect(limitsOf(input, "other", most)).toMatchObject({ maxBytes: 51_200, maxLines: 2000 });
  });

  it("yields to a row that raises it by name, in the units that row sets", () => {
    const input = { tools: { bash: { limits: { maxBytes: 100_000 }, raisesCeiling: true } } };
    expect(limitsOf(input, "bash")).toEqual({ maxBytes: 100_000, maxChars: 20_000, maxLines: 200 });
    expect(limitsOf(input, "bash", { maxBytes: 400_000, maxLines: 9000 })).toMatchObject({
      maxBytes: 100_000,
      maxLines: 2000,
    });
    // A stronger row that does not raise it is under the ceiling again.
    const both = { tools: { "b*": input.tools.bash, bash: { limits: { maxBytes: 90_000 } } } };
    expect(limitsOf(both, "bash").maxBytes).toBe(51_200);
  });

  it("an override cannot raise it, nor can a default row", () => {
    const raising = { limits: { maxBytes: 100_000 }, raisesCeiling: true };
    expect(resolveToolPolicy(resolvePolicy(), "bash", raising).limits.maxBytes).toBe(51_200);
    expect(() => resolvePolicy({ default: raising })).toThrow("default cannot raise the ceiling");
  });

  it("lets sessions_history have its own 80 KiB, also under frugal and a default row", () => {
    expect(limitsOf(undefined, "sessions_history")).toEqual({ maxBytes: 81_920 });
    expect(limitsOf({ profile: "frugal", default: { limits: { maxChars: 10 } } }, "sessions_history")).toEqual({
      maxBytes: 81_920,
    });
    expect(limitsOf({ tools: { sessions_history: { limits: { maxBytes: 9000 } } } }, "sessions_history")).toEqual({
      maxBytes: 9000,
    });
  });

  it("can be set, and bytes always have one", () => {
    expect(limitsOf({ ceiling: { maxLines: 10, maxTokens: 500 } }, "bash")).toMatchObject({
      maxLines: 10,
      maxTokens: 500,
    });
    expect(limitsOf({ ceiling: { maxBytes: Infinity, maxLines: Infinity } }, "x")).toEqual({
      maxBytes: 64 * 1024 * 1024,
    });
    const row = { limits: { maxBytes: Infinity }, raisesCeiling: true };
    expect(limitsOf({ tools: { x: row } }, "x").maxBytes).toBe(64 * 1024 * 1024);
  });

  it("nothing passes it: any rows, any overrides", () => {
    const limit = fc.oneof(fc.nat(100_000), fc.constant(Infinity));
    const limits = fc.record(
      { maxBytes: limit, maxChars: limit, maxLines: limit, maxTokens: limit },
      { requiredKeys: [] },
    );
    const row = fc.record({ limits, fold: fc.boolean() }, { requiredKeys: [] });
    const tools = fc.dictionary(fc.constantFrom("bash", "run_command", "*", "ba*", "read"), row);
    fc.assert(
      fc.property(limits, row, tools, fc.array(row, { maxLength: 4 }), (ceiling, every, rows, overrides) => {
        const policy = resolvePolicy({ ceiling, default: every, tools: rows });
        const got = resolveToolPolicy(policy, "bash", ...overrides).limits;
        for (const [name, most] of Object.entries(policy.ceiling)) {
          expect(got[name as keyof Limits]).toBeLessThanOrEqual(most);
        }
        expect(got.maxBytes).toBeDefined();
        expect(Object.values(got).every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });
});

describe("commands.maxChars", () => {
  const charsOf = (tool: string, input: object) => resolveToolPolicy(resolvePolicy(input), tool).limits.maxChars;

  it("lowers what tools that run commands show, and raises nothing", () => {
    for (const tool of ["bash", "mcp__shell__exec", "run_command"]) {
      expect(charsOf(tool, { commands: { maxChars: 5000 } })).toBe(5000);
      expect(charsOf(tool, {})).toBe(20_000);
      expect(charsOf(tool, { commands: { maxChars: 900_000 } })).toBe(20_000);
      expect(charsOf(tool, { commands: { maxChars: 5000 }, tools: { [tool]: { limits: { maxChars: 9000 } } } })).toBe(
        5000,
      );
    }
    expect(charsOf("read_file", { commands: { maxChars: 5000 } })).toBe(50_000);
  });
});

describe("names of strategies", () => {
  it("are those of other programs too, wherever a strategy is named", () => {
    const policy = resolvePolicy({ default: { strategy: "head_tail" }, tools: { a: { strategy: "HEAD_ONLY" } } });
    expect(resolveToolPolicy(policy, "b")).toMatchObject({ strategy: "head-tail", headShare: 0.5 });
    expect(resolveToolPolicy(policy, "a")).toMatchObject({ strategy: "head" });
    expect(resolveToolPolicy(policy, "b", { strategy: "tail_only" })).toMatchObject({ strategy: "tail" });
    expect(resolveToolPolicy(policy, "b", { strategy: "my_own" })).toMatchObject({ strategy: "my_own" });
    expect(resolveToolPolicy(policy, "b", { strategy: "head_tail", headShare: 0.9 }).headShare).toBe(0.9);
    expect(resolveToolPolicy(policy, "b", { strategy: "head-tail" }).headShare).toBe(0.5);
  });
});

describe("forced limits", () => {
  const under = (env: Record<string, string>, tool: string) =>
    resolveToolPolicy(resolvePolicy(policyFromEnvironment(env)), tool).limits;

  it("hold for every tool in their unit, lower and higher, raised rows included", () => {
    expect(under({ SPILLWAY_MAX_LINES: "100" }, "read_file")).toEqual({
      maxBytes: 51_200,
      maxChars: 50_000,
      maxLines: 100,
    });
    expect(under({ SPILLWAY_MAX_LINES: "100" }, "sessions_history").maxLines).toBe(100);
    expect(under({ SPILLWAY_MAX_BYTES: "1000" }, "sessions_history").maxBytes).toBe(1000);
    expect(under({ SPILLWAY_MAX_BYTES: "200000" }, "anything").maxBytes).toBe(200_000);
    expect(under({ SPILLWAY_MAX_LINES: "3000" }, "bash").maxLines).toBe(3000);
    expect(under({ SPILLWAY_MAX_LINES: "none" }, "bash").maxLines).toBeUndefined();
  });

  it("are a ceiling for overrides", () => {
    const policy = resolvePolicy({ force: { limits: { maxLines: 100 } } });
    expect(resolveToolPolicy(policy, "bash", { limits: { maxLines: 5000 } }).limits.maxLines).toBe(100);
    expect(resolveToolPolicy(policy, "bash", { limits: { maxLines: 50 } }).limits.maxLines).toBe(50);
    const bytes = resolvePolicy({ force: { limits: { maxBytes: 1000 } } });
    expect(resolveToolPolicy(bytes, "sessions_history", { limits: { maxBytes: 5000 } }).limits.maxBytes).toBe(1000);
  });
});

describe("bad input", () => {
  it.each([
    [{ profile: "cheap" }, 'profile must be balanced, frugal, uniform or off; got "cheap"'],
    [{ tools: { bash: { limits: { maxLines: -1 } } } }, "tools.bash: maxLines must be"],
    [{ tools: { bash: { maxLines: 1 } } }, 'tools.bash has an unknown key "maxLines"'],
    [{ tools: { bash: { headShare: 2 } } }, "tools.bash: headShare must be a number from 0 to 1; got 2"],
    [{ tools: { bash: { fold: "no" } } }, "tools.bash: fold must be true or false"],
    [{ tools: { bash: { strategy: "" } } }, "tools.bash: strategy must be a strategy's name"],
    [{ tools: { bash: { options: { maxDepth: -1 } } } }, "maxDepth must be a whole number"],
    [{ tools: { ["x".repeat(257)]: {} } }, "a tool's name must have 1 to 256 characters"],
    [{ tools: { bash: null } }, "tools.bash must be an object"],
    [{ pruning: { mode: "soft" } }, "pruning.mode must be adaptive, aggressive, cache-ttl or off"],
    [{ pruning: { softTrimRatio: 3 } }, "pruning.softTrimRatio must be a number from 0 to 1; got 3"],
    [{ pruning: { hardClear: { placeholder: " " } } }, "placeholder must be a text that is not blank"],
    [{ contextTokens: 0 }, "contextTokens must be a whole number from 1"],
    [{ commands: { maxChars: 1 } }, "commands.maxChars must be a whole number from 1,000"],
    [{ models: [{ provider: "p", model: "m", contextTokens: -1 }] }, "the window of p/m must be"],
  ])("%j", (input, message) => {
    expect(() => resolvePolicy(input as PolicyInput)).toThrow(message);
  });

  it("does not touch what it is given", () => {
    const input = Object.freeze({
      tools: Object.freeze({ bash: Object.freeze({ limits: Object.freeze({ maxLines: 1 }) }) }),
    });
    expect(limitsOf(input, "bash").maxLines).toBe(1);
  });
});

describe("uniform", () => {
  it.each(["exec", "bash", "read_file", "grep", "ls", "sessions_history", "anything"])(
    "gives %s 50 KB and 2,000 lines, and nothing else",
    (tool) => {
      expect(resolveToolPolicy(resolvePolicy("uniform"), tool)).toMatchObject({
        limits: { maxBytes: 51_200, maxLines: 2000 },
        fold: false,
        off: false,
        options: {},
      });
      expect(Object.keys(resolveToolPolicy(resolvePolicy("uniform"), tool).limits).toSorted()).toEqual([
        "maxBytes",
        "maxLines",
      ]);
    },
  );

  it("yields to a row of one's own", () => {
    const policy = resolvePolicy("uniform", { tools: { exec: { limits: { maxChars: 9 } } } });
    expect(resolveToolPolicy(policy, "exec").limits).toEqual({ maxBytes: 51_200, maxLines: 2000, maxChars: 9 });
  });
});

it("a policy that is a text and no profile's name is told so in the words of the glossary", () => {
  expect(() => resolvePolicy("frugle" as never)).toThrow(
    'a policy that is a text names a profile, which must be balanced, frugal, uniform or off; got "frugle"',
  );
});

it("sections of pruning are merged field by field, and what no input says is as usual", () => {
  const { softTrim, hardClear, tools, batch } = resolvePolicy(
    {
      pruning: {
        softTrim: { maxChars: 9 },
        hardClear: { enabled: false },
        tools: { deny: ["a"] },
        batch: { maxChars: 5000 },
      },
    },
    { pruning: { softTrim: { headChars: 4 }, hardClear: { placeholder: "gone" }, tools: { allow: ["b"] }, batch: {} } },
  ).pruning;
  expect(softTrim).toEqual({ maxChars: 9, headChars: 4, tailChars: 1500 });
  expect(hardClear).toEqual({ enabled: false, placeholder: "gone" });
  expect(tools).toEqual({ allow: ["b"], deny: ["a"] });
  expect(batch).toEqual({ ...resolvePolicy().pruning.batch, maxChars: 5000 });
});

describe("a preset of pruning", () => {
  it("begins anew where it is named, and what is said beside it or after it counts", () => {
    const of = (...given: PruningInput[]) => resolvePolicy(...given.map((pruning) => ({ pruning }))).pruning;
    const literal = { preset: "openclaw", sticky: false, estimate: "chars/4", namesSaved: false };
    expect(of({ preset: "openclaw" })).toMatchObject(literal);
    expect(of({ sticky: true, estimate: "tokens" }, { preset: "openclaw" })).toMatchObject(literal);
    expect(of({ preset: "openclaw" }, { sticky: true })).toMatchObject({ ...literal, sticky: true });
    expect(of({ preset: "openclaw", estimate: "tokens" })).toMatchObject({ ...literal, estimate: "tokens" });
    expect(of({})).toMatchObject({ preset: "spillway", sticky: true, estimate: "tokens", namesSaved: true });
    expect(() => of({ preset: "other" as never })).toThrow("pruning.preset must be spillway or openclaw");
  });
});
