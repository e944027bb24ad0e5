// Prints the count of a test run from vitest's JSON report: `N passed, M failed`.
// Usage: node scripts/count-tests.mjs <report.json> [failures outside the test run]
import { readFileSync } from "node:fs";

const [, , path, others = "0"] = process.argv;
const { passed, failed } = count(path);
console.log(`${passed} passed, ${failed + Number(others)} failed`);

/** A test file that could not be loaded has no tests: it counts as one failure. Without a report something must have failed. */
function count(file) {
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    const broken = report.testResults.filter((one) => one.status === "failed" && one.assertionResults.length === 0);
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
  } catch {
    return { passed: 0, failed: others === "0" ? 1 : 0 };
  }
}
