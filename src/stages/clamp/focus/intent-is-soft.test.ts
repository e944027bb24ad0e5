import { expect, test } from "vitest";
import { memoryStore } from "../../../extend.ts";
import { createSpillway } from "../../../index.ts";

const FAILURES = [
  "npm ERR! code ELIFECYCLE",
  "npm ERR! code ERESOLVE",
  "npm error code E404",
  "Killed",
  "Aborted (core dumped)",
  "Bus error",
  "Terminated",
  "  ✗ charges twice",
  "not ok 12 - charges",
  "1) charge once:",
  "--- FAIL: TestCharge (0.01s)",
  "thread 'main' panicked at src/main.rs:4:5:",
  "Caused by: java.lang.NullPointerException",
  "OOMKilled",
  "CrashLoopBackOff",
  "exit status 1",
  "Process completed with exit code 1.",
  "ERR_PNPM_OUTDATED_LOCKFILE  Cannot install",
  "undefined reference to `foo'",
  "ld returned 1 exit status",
  "No such file or directory",
  "Permission denied (publickey).",
  "Unhandled rejection",
  "Test Suites: 1 failed, 20 passed",
  "WARNING: password auth is off",
  "rollback",
  "Timeout waiting for lock",
  "refused",
  "E   assert 3 == 4",
  ">       assert x == 1",
  "Error response from daemon: conflict",
  'FATAL: role "x" does not exist',
  "Deadlock found when trying to get lock",
  "denied: requested access",
  "404 Not Found",
  "HTTP 500",
  "ENOSPC: no space left on device",
  "The command failed",
  "x509: certificate has expired",
  "cannot find module 'foo'",
];
const LINES = 800;

test("no failure that is shown without the user's words is lost with them", {
  timeout: 240_000,
}, async () => {
  const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
  const lost: string[] = [];
  let shown = 0;
  for (const failure of FAILURES)
    for (const at of [150, 400, 650])
      for (const limits of [{ maxChars: 4000 }, { maxLines: 60 }, { maxChars: 1500 }]) {
        const lines = Array.from(
          { length: LINES },
          (_, i) =>
            `2026-11-18T06:00:${i % 60} INFO ${["payment", "cursor", "deploy", "invoice", "router", "cache"][i % 6]} handled request ${(i * 37) % 1001} in ${(i * 7) % 97}ms`,
        );
        for (let hit = 0; hit < 40; hit++)
          lines[(hit * 19 + 7) % LINES] =
            `2026-11-18T06:00:01 INFO zebra kumquat halyard seen ${hit} ${"x".repeat(hit * 3)}`;
        lines[at] = failure;
        const output = lines.join("\n");
        const user = "check the zebra and kumquat and halyard flows";
        const without = await spillway.admit({ tool: "bash", output, limits });
        if (!without.text.includes(failure)) continue;
        shown++;
        const { text } = await spillway.admit({ tool: "bash", output, limits, intent: { user } });
        if (!text.includes(failure)) lost.push(`${failure} at ${at} in ${JSON.stringify(limits)}`);
        expect(text).toContain("zebra");
      }
  expect(lost).toEqual([]);
  expect(shown).toBeGreaterThan(150);
});
