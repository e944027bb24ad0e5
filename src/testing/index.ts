export type {
  FakeCall,
  FakeMinute,
  FakeProvider,
  FakeProviderOptions,
  FakeRefusal,
  FakeReply,
  FakeRequest,
  FakeScript,
  FakeSizes,
  Speaks,
  SpeaksAs,
} from "./fake-provider/fake-provider.ts";
export { startFakeProvider } from "./fake-provider/start-fake-provider.ts";
export {
  type AdapterAbility,
  type AdapterOutcome,
  type AdapterReply,
  type AdapterRequest,
  type AdapterRun,
  type AdapterTool,
  type AdapterUnderTest,
  testAdapter,
} from "./test-adapter.ts";
export { type LedgerUnderTest, testLedger } from "./test-ledger.ts";
export { testStore } from "./test-store.ts";
export { type Runner, type SuiteOptions, testStrategy } from "./test-strategy.ts";
export { testWire } from "./test-wire.ts";
export type { ExpectedResult, Path, WireFixture } from "./wire-checks.ts";
