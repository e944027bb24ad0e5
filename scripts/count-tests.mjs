// Prints the count of test runs from vitest's JSON reports: `N passed, M failed`.
// Usage: node scripts/count-tests.mjs <failures outside the test runs> <report.json>...
import { readFileSync } from "node:fs";

const [, , others, ...paths] = process.argv;
const counts = paths.map(count);
const sum = (key) => counts.reduce((all, each) => all + each[key], 0);
console.log(`${sum("passed")} passed, ${sum("failed") + Number(others)} failed`);

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
