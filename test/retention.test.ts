import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { clampText } from "../src/admit/clamp-text.ts";

const folder = new URL("retention/", import.meta.url);

/** Logs made up for this test, and in each the lines that say why the command failed. */
const TRUTH: Record<string, readonly string[]> = {
  "actions-tsc": [
    "error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.",
    "error TS2741: Property 'currency' is missing",
    "Process completed with exit code 2.",
  ],
  cargo: [
    "error[E0502]: cannot borrow `self.jobs` as mutable because it is also borrowed as immutable",
    "--> crates/queue/src/worker.rs:143:17",
    "^^^^^^^^^^^^^^^^^^^^^^^^^^ mutable borrow occurs here",
    "error: could not compile `queue` (lib) due to 1 previous error",
  ],
  "docker-build": [
    "ERROR: Could not find a version that satisfies the requirement ledger-client==7.2.0",
    "ERROR: No matching distribution found for ledger-client==7.2.0",
    "ERROR: failed to solve: process",
  ],
  "go-test": [
    "ledger_test.go:212: balance after 200 concurrent posts: got 19950, want 20000",
    "ledger_test.go:215: lost 1 of 200 posts",
    "--- FAIL: TestLedgerConcurrentPost (1.82s)",
    "FAIL\texample.org/bank/ledger\t4.512s",
  ],
  "make-gcc": [
    "net/frame.c:219:23: error: 'struct frame' has no member named 'payload_len'",
    "net/frame.c:224:9: error: too few arguments to function 'ring_push'",
    "make[1]: *** [Makefile:71: build/net_frame.o] Error 1",
    "make: *** [Makefile:12: all] Error 2",
  ],
  maven: [
    "java.lang.IllegalStateException: reservation 4711 is closed already",
    "at org.example.stock.Reservation.release(Reservation.java:88)",
    "Caused by: java.sql.SQLException: ORA-00001: unique constraint (STOCK.RES_PK) violated",
    "ReservationTest.releasesExpired:63 » IllegalState reservation 4711 is closed already",
    "[ERROR] Failed to execute goal",
  ],
  "order-server": [
    "connection pool exhausted: 50 of 50 in use, 212 waiting",
    "java.sql.SQLTransientConnectionException: primary - Connection is not available",
    "POST /api/order 503 30011ms",
  ],
  pytest: [
    '>       assert total_of(invoice) == Decimal("119.00")',
    "E       AssertionError: assert Decimal('121.00') == Decimal('119.00')",
    "tests/invoice/test_tax.py:57: AssertionError",
    "FAILED tests/invoice/test_tax.py::test_tax_is_kept_for_past_invoices",
    "1 failed, 1341 passed",
  ],
  terraform: [
    "Error: creating S3 Bucket (acme-audit-export): BucketAlreadyExists",
    "on storage.tf line 88",
    "Operation failed: failed running terraform apply (exit 1)",
  ],
  vitest: [
    "FAIL  src/price/discount.test.ts > discount > rounds half a cent to even",
    "AssertionError: expected 10.12 to be 10.13 // Object.is equality",
    "src/price/discount.test.ts:48:31",
    "FAIL  src/price/discount.test.ts > discount > refuses a negative rate",
    "2 failed | 1874 passed (1876)",
  ],
};

/** The share of a log's truth that a model reads, as `spillway run` would show it. */
function shareKept(name: string, maxChars: number): number {
  const log = readFileSync(new URL(`${name}.txt`, folder), "utf8");
  const truth = TRUTH[name] ?? [];
  expect(truth.filter((line) => !log.includes(line))).toEqual([]);
  const { text } = clampText(log, { maxChars }, { tool: "run_command", exitCode: 1, fold: true });
  expect(text.length).toBeLessThanOrEqual(maxChars);
  return truth.filter((line) => text.includes(line)).length / truth.length;
}

describe("lines that say why a command failed", () => {
  it("are known for every log", () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(TRUTH).map((name) => `${name}.txt`));
  });

  it.each([
    [1000, 0.78, 0.4],
    [2000, 0.92, 0.4],
    [4000, 0.95, 0.8],
  ])(
    "are kept in %d characters: a share of %d of all logs' on average, of %d of any log's",
    (maxChars, mean, least) => {
      const shares = Object.keys(TRUTH).map((name) => ({ name, share: shareKept(name, maxChars) }));
      expect(shares.filter(({ share }) => share < least)).toEqual([]);
      expect(shares.reduce((sum, { share }) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(mean);
    },
  );
});
