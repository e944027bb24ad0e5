import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import builds from "../tsdown.config.ts";
import { readExports } from "./exports/read-exports.ts";

// Any name here is public API: adding one is a decision, removing one is a breaking change.
const ENTRIES: Record<string, string> = Object.assign({}, ...builds.map((build) => build.entry));

describe("exports", () => {
  it("the library exports these names", async () => {
    expect(await namesOf("index")).toMatchInlineSnapshot(`
      "OverflowError
      SpillwayError
      createSpillway
      loadConfig
      loadExactCounter
      statRates
      type Admission
      type AdmitOptions
      type AdmitRequest
      type CallOptions
      type CapOptions
      type CappedHistory
      type CompactOptions
      type CompactedConversation
      type GuardOptions
      type GuardSessionOptions
      type Limits
      type LoadConfigOptions
      type LoadedConfig
      type Logger
      type ModelSource
      type Output
      type OverflowFacts
      type Policy
      type PolicyInput
      type PrepareOptions
      type Prepared
      type ProfileName
      type PruneReport
      type Rates
      type ReadBackKinds
      type ReadBackOptions
      type Reader
      type RecallOptions
      type RecallPage
      type RecallWant
      type Receipt
      type Redact
      type Retention
      type SearchOptions
      type SearchPage
      type SearchQuery
      type Send
      type SendContext
      type Spillway
      type SpillwayErrorCode
      type SpillwayEvent
      type SpillwayOptions
      type StatRow
      type StrategyName
      type Tool
      type ToolPolicy
      type WholeArtifact
      type WrapOptions"
    `);
  });

  it("spillway/extend exports these names", async () => {
    expect(await namesOf("extend")).toMatchInlineSnapshot(`
      "estimateCounter
      memoryLedger
      memoryStore
      openLocalFolder
      type Artifact
      type ArtifactAbout
      type ArtifactQuery
      type ArtifactWriter
      type ByteRange
      type Choice
      type CompactInput
      type Compacted
      type Compactor
      type CustomMarker
      type Cut
      type CutFields
      type Cutter
      type EventKind
      type EventQuery
      type ExchangeContext
      type ExchangeOptions
      type ExchangeRequest
      type ExchangeResponse
      type ExchangeSend
      type Exchanged
      type Extent
      type FaultFields
      type Focus
      type Gap
      type GuardedSession
      type HeldArtifact
      type HtmlReader
      type Ladder
      type Ledger
      type Limits
      type LocalFolder
      type MemoryLedgerOptions
      type MemoryStoreOptions
      type MessageSource
      type ModelCaps
      type ModelEndpoint
      type ModelFunction
      type ModelPrompt
      type ModelSource
      type ModelSpeech
      type PersistAbout
      type PersistHook
      type Piece
      type Projection
      type Receipt
      type ReceiptCut
      type RecordedEvent
      type Retention
      type RewritableHistory
      type Room
      type RuleInput
      type Rung
      type RungCut
      type RungItem
      type RungMedia
      type RungName
      type RungPlan
      type RungRequest
      type Saved
      type SessionManager
      type SessionQuery
      type SessionRow
      type Sieve
      type Size
      type Span
      type SpillwayEvent
      type StatQuery
      type StatRow
      type Store
      type Strategy
      type StrategyRequest
      type TokenCounter
      type Total
      type Totals
      type Unit"
    `);
  });

  it("spillway/stages exports these names", async () => {
    expect(await namesOf("stages")).toMatchInlineSnapshot(`
      "boundValue
      clampBlocks
      clampText
      compileRules
      defaultRules
      errorForDisplay
      estimateCounter
      forDisplay
      measureText
      resolvePolicy
      resolveToolPolicy
      startMeasure
      startRedact
      strategies
      type Admitted
      type Choice
      type ClampOptions
      type Cut
      type Cutter
      type Extent
      type Focus
      type Gap
      type Limits
      type Measuring
      type Piece
      type Receipt
      type RedactionRule
      type Room
      type RuleInput
      type RunningRedact
      type Sieve
      type Size
      type Span
      type Strategy
      type StrategyRequest
      type TokenCounter
      type Total
      type Unit"
    `);
  });

  it("spillway/overflow exports these names", async () => {
    expect(await namesOf("overflow")).toMatchInlineSnapshot(`
      "classify
      classifyResponse
      compileSignatures
      type ClassifyOptions
      type Rule
      type Signature
      type SignatureInput
      type Verdict
      type VerdictContext
      type VerdictKind"
    `);
  });

  it("spillway/fetch exports these names", async () => {
    expect(await namesOf("fetch")).toMatchInlineSnapshot(`
      "createFetch
      type FetchOptions"
    `);
  });

  it("spillway/tools exports these names", async () => {
    expect(await namesOf("tools")).toMatchInlineSnapshot(`
      "boundedTools
      openCommands
      openRoots
      toAiSdkTools
      toLangChainTools
      type AiSdkTool
      type BackgroundCommand
      type BoundedTool
      type CommandEnd
      type CommandRunner
      type Commands
      type HistoryWant
      type MakeLangChainTool
      type Roots
      type RunningCommand
      type SessionHistories
      type SessionHistory
      type ToolAnswer
      type ToolPlace"
    `);
  });

  it("spillway/testing exports these names", async () => {
    expect(await namesOf("testing")).toMatchInlineSnapshot(`
      "startFakeProvider
      testAdapter
      testLedger
      testStore
      testStrategy
      testWire
      type AdapterAbility
      type AdapterOutcome
      type AdapterReply
      type AdapterRequest
      type AdapterRun
      type AdapterTool
      type AdapterUnderTest
      type ExpectedResult
      type FakeCall
      type FakeMinute
      type FakeProvider
      type FakeProviderOptions
      type FakeRefusal
      type FakeReply
      type FakeRequest
      type FakeScript
      type FakeSizes
      type LedgerUnderTest
      type Path
      type Runner
      type Speaks
      type SpeaksAs
      type SuiteOptions
      type WireFixture"
    `);
  });

  it("spillway/wire exports these names", async () => {
    expect(await namesOf("wire")).toMatchInlineSnapshot(`
      "detectWire
      missingMessages
      pairResults
      readRequest
      type PairedResult
      type RequestMessages
      type Wire
      type WireCall
      type WireEdit
      type WireMessage
      type WireResult
      type WireRole
      wireNamed
      wires"
    `);
  });

  it("the adapters export these names", async () => {
    const adapters = Object.keys(ENTRIES).filter((entry) => entry.startsWith("adapters/"));
    const names = await Promise.all(
      adapters.map(async (entry) => `${entry}: ${(await namesOf(entry)).split("\n").join(", ")}`),
    );
    expect(names.toSorted().join("\n")).toMatchInlineSnapshot(`
      "adapters/ai: spillwayMiddleware, type AiMiddleware, type AiMiddlewareOptions
      adapters/anthropic: contextManagement, spillwayMiddleware, type AnthropicMiddleware, type AnthropicMiddlewareOptions, type ContextManagement
      adapters/claude-agent-sdk: spillwayHooks, type ClaudeHooks, type ClaudeHooksOptions
      adapters/langchain: spillwayMiddleware, type LangChainMiddleware, type LangChainMiddlewareOptions
      adapters/mastra: spillwayProcessor, type MastraProcessor, type MastraProcessorOptions
      adapters/openai-agents: type AgentsModelOptions, wrapModel
      adapters/pi: recoverStream, spillwayHooks, type PiHooks, type PiOptions"
    `);
  });

  it("every adapter is tried with its framework, and the guide has a recipe of it", () => {
    const tests = readdirSync("test/frameworks", { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
      .map((path) => readFileSync(`test/frameworks/${path}`, "utf8"))
      .filter((text) => text.includes("testAdapter("));
    const guide = readFileSync("docs/guide/frameworks.md", "utf8");
    for (const [entry, path] of Object.entries(ENTRIES).filter(([name]) => name.startsWith("adapters/"))) {
      expect(tests.filter((text) => text.includes(`/${path}"`)).length, `a test of ${path}`).toBeGreaterThan(0);
      expect(guide).toContain(`from "spillway${entry.slice("adapters".length)}"`);
    }
  });

  it("every subpath and command of package.json is built from an entry, and every entry has one", () => {
    const promised = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
      .map((target) => (typeof target === "string" ? target : target.default))
      .map((path) => /^(?:\.\/)?dist\/(.+)\.c?js$/.exec(path)?.[1])
      .filter((name) => name !== undefined);
    expect(promised.sort()).toEqual(Object.keys(ENTRIES).sort());
    expect(Object.values(ENTRIES).filter((path) => !existsSync(path))).toEqual([]);
  });

  it("every subpath names its types before its code", () => {
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") continue;
      expect(Object.keys(target), subpath).toEqual(["types", "default"]);
      expect(target.types, subpath).toBe(target.default.replace(/\.js$/, ".d.ts"));
    }
  });
});

async function namesOf(entry: string): Promise<string> {
  const path = ENTRIES[entry] ?? "";
  return readExports(path, await readFile(path, "utf8")).join("\n");
}

describe("readExports", () => {
  it("reads every way to export a name, types told apart", () => {
    const text = `
      export { a, type B, c as d } from "./x.ts";
      export type { E } from "./y.ts";
      export const f = 1, g = 2;
      export function h() {}
      export class I {}
      export interface J {}
      export type K = 1;
      const hidden = 3;
    `;
    const values = ["I", "a", "d", "f", "g", "h"];
    const types = ["type B", "type E", "type J", "type K"];
    expect(readExports("x.ts", text)).toEqual([...values, ...types]);
  });

  it.each(['export * from "./x.ts";', "export default 1;", "export const { a } = b;"])("refuses %s", (text) => {
    expect(() => readExports("x.ts", text)).toThrow("x.ts:1: export names one by one");
  });
});
