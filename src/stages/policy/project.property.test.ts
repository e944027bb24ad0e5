import fc from "fast-check";
import { expect, it } from "vitest";
import type { Limits } from "../../contract/limits.ts";
import type { PolicyInput, PolicyRow, PruningInput, ToolOptions } from "../../contract/policy.ts";
import { NUMBERS } from "./defaults.ts";
import { resolvePolicy } from "./resolve-policy.ts";
import { resolveToolPolicy } from "./resolve-tool-policy.ts";

const TOOLS = ["bash", "mcp__files__read_file", "Grep", "ls", "sessions_history", "repo_map", "other"];
const PATTERNS = ["*", "b*", "mcp__*", "run_command", "read_file", "search_files", "exact_content", ...TOOLS];

const limit = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constant(Infinity));
const some = <T>(arbitrary: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(arbitrary, { requiredKeys: [] }) as fc.Arbitrary<T>;
const limits = some<Limits>({ maxBytes: limit, maxChars: limit, maxLines: limit, maxTokens: limit });
const options = some<ToolOptions>({
  showContext: fc.nat(9),
  maxDepth: fc.nat(9),
  maxFiles: fc.nat(),
  maxMatches: fc.nat(),
});
const defaultRow = some<PolicyRow>({
  limits,
  options,
  strategy: fc.constantFrom("head", "tail"),
  fold: fc.boolean(),
  off: fc.boolean(),
  headShare: fc.constantFrom(0, 0.5, 1),
});
const toolRow = fc
  .tuple(defaultRow, some<PolicyRow>({ raisesCeiling: fc.boolean() }))
  .map(([row, raising]) => ({ ...row, ...raising }));
const pruning = some<PruningInput>({
  mode: fc.constantFrom("adaptive", "aggressive", "off"),
  softTrimRatio: fc.double({ min: 0, max: 1, noNaN: true }),
  keepLastAssistants: fc.nat(NUMBERS.pruneKeepLastAssistants.ceiling),
  softTrim: some({ maxChars: fc.integer({ min: 1000, max: 100_000 }) }),
  hardClear: some({ enabled: fc.boolean() }),
  batch: some({ maxChars: fc.integer({ min: 10_000, max: 1_000_000 }) }),
  tools: some({ deny: fc.constant(["*"]) }),
  insure: fc.boolean(),
});
const input = some<Omit<PolicyInput, "project" | "force">>({
  profile: fc.constantFrom("balanced", "frugal", "off"),
  ceiling: limits,
  default: defaultRow,
  tools: fc.array(fc.record({ tool: fc.constantFrom(...PATTERNS), row: toolRow }), { maxLength: 4 }),
  pruning,
  contextTokens: fc.integer({ min: 10_000, max: 1_000_000 }),
  commands: some({ maxChars: fc.integer({ min: 1000, max: 1_000_000 }) }),
});
const forced = some<PolicyInput>({ force: some({ limits }), profile: fc.constantFrom("balanced", "frugal") });

/** Every number of `tight` is at most that of `loose`, and none that `loose` has is missing. */
function isTighter(tight: object, loose: object): boolean {
  return Object.entries(loose).every(([key, most]) => {
    const value: unknown = Reflect.get(tight, key);
    return typeof most === "object"
      ? isTighter(value as object, most)
      : typeof most !== "number" || Number(value) <= most;
  });
}

it("a project's file lifts no limit, whatever it says and whatever the user says", () => {
  fc.assert(
    fc.property(input, input, forced, fc.constantFrom(...TOOLS), (user, project, environment, tool) => {
      const alone = resolvePolicy(user, environment);
      const both = resolvePolicy({ project }, user, environment);
      const own = resolveToolPolicy(alone, tool);
      const tightened = resolveToolPolicy(both, tool);
      expect(tightened.off).toBe(own.off);
      expect(isTighter(tightened.limits, own.limits), JSON.stringify([tightened.limits, own.limits])).toBe(true);
      expect(isTighter(tightened.options, own.options)).toBe(true);
      for (const part of ["ceiling", "commands"] as const) expect(isTighter(both[part], alone[part])).toBe(true);
      expect(both.contextTokens).toBeLessThanOrEqual(alone.contextTokens);
      const { ageTurns: _age, ...pruned } = alone.pruning;
      expect(isTighter(both.pruning, pruned)).toBe(true);
      expect(both.pruning.mode === "off").toBe(alone.pruning.mode === "off");
      expect(both.pruning).toMatchObject({ insure: pruned.insure, hardClear: pruned.hardClear, tools: pruned.tools });
      expect(both.profile).toBe(alone.profile);
    }),
    { numRuns: 2000 },
  );
});

const LEAST = { maxBytes: 2000, maxChars: 2000, maxLines: 20, maxTokens: 500 };

it("a project's file tightens: of each limit the smaller counts, however well either row matches", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PATTERNS.filter((pattern) => pattern !== "sessions_history")),
      fc.constantFrom(...PATTERNS),
      limits,
      limits,
      (pattern, other, theirs, mine) => {
        const project = { tools: { [pattern]: { limits: theirs } } };
        const user = { tools: { [other]: { limits: mine } } };
        for (const tool of TOOLS) {
          const { limits: both } = resolveToolPolicy(resolvePolicy({ project }, user), tool);
          const { limits: own } = resolveToolPolicy(resolvePolicy(user), tool);
          const isAbout = resolveToolPolicy(
            resolvePolicy({ tools: { [pattern]: { fold: !isFolded(tool) } } }),
            tool,
          ).fold;
          for (const name of ["maxBytes", "maxChars", "maxLines", "maxTokens"] as const) {
            const asked = isAbout === isFolded(tool) ? Infinity : (theirs[name] ?? Infinity);
            const said = pattern === "*" && tool === "sessions_history" ? Infinity : Math.max(asked, LEAST[name]);
            expect(both[name] ?? Infinity).toBe(Math.min(own[name] ?? Infinity, said));
          }
        }
      },
    ),
  );
});

function isFolded(tool: string): boolean {
  return resolveToolPolicy(resolvePolicy(), tool).fold;
}

it("what else a project says counts where the user says nothing, and a run's own word beats it", () => {
  const project: PolicyInput["project"] = {
    profile: "frugal",
    tools: { bash: { strategy: "tail", headShare: 0.9, limits: { maxLines: 25 } } },
    pruning: { mode: "aggressive", ageTurns: 4 },
  };
  const bash = (...inputs: PolicyInput[]) => resolveToolPolicy(resolvePolicy({ project }, ...inputs), "bash");
  expect(bash()).toMatchObject({ strategy: "tail", headShare: 0.9, limits: { maxLines: 25, maxChars: 8000 } });
  expect(bash({ default: { strategy: "head" } })).toMatchObject({ strategy: "head", headShare: 0.9 });
  expect(bash({ profile: "balanced" }).limits).toMatchObject({ maxLines: 25, maxChars: 20_000 });
  expect(bash({ force: { limits: { maxLines: 700 } } }).limits.maxLines).toBe(700);
  expect(resolvePolicy({ project }).pruning).toMatchObject({ mode: "aggressive", ageTurns: 4 });
  expect(resolvePolicy({ project }, { pruning: { mode: "adaptive", ageTurns: 2 } }).pruning).toMatchObject({
    mode: "adaptive",
    ageTurns: 2,
  });
});

it("a default row of a project's leaves tools alone that have caps of their own", () => {
  const project = { default: { limits: { maxBytes: 10, maxLines: 1 } } };
  const limitsOf = (...inputs: PolicyInput[]) => resolveToolPolicy(resolvePolicy(...inputs), "sessions_history").limits;
  expect(limitsOf({ project })).toEqual(limitsOf());
  expect(limitsOf({ project: { tools: { sessions_history: { limits: { maxBytes: 9000 } } } } }).maxBytes).toBe(9000);
});

it("a row of a project's that would loosen a limit has no effect, also not on short outputs", () => {
  const bash = (project?: PolicyInput["project"]) => resolveToolPolicy(resolvePolicy({ project }), "bash");
  const row = (maxLines: number) => ({ tools: { bash: { limits: { maxLines } } } });
  expect(bash(row(400))).toEqual(bash());
  expect(bash({ default: { limits: { maxLines: 50 } }, ...row(400) })).toEqual(bash());
  for (const maxLines of [200, 50]) expect(bash(row(maxLines))).toMatchObject({ limits: { maxLines }, shortChars: 0 });
  const other = (maxLines: number) =>
    resolveToolPolicy(resolvePolicy({ project: { default: { limits: { maxLines } } } }), "a_tool");
  expect(other(2500)).toEqual(resolveToolPolicy(resolvePolicy(), "a_tool"));
  expect(other(1500).shortChars).toBe(0);
});
