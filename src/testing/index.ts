export { type Runner, type SuiteOptions, testStrategy } from "./test-strategy.ts";
