export { type LedgerUnderTest, testLedger } from "./test-ledger.ts";
export { testStore } from "./test-store.ts";
export { type Runner, type SuiteOptions, testStrategy } from "./test-strategy.ts";
