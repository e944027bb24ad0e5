import { expect, test } from "vitest";
import type { Receipt } from "../../contract/receipt.ts";
import { eventMayHoldSecret, receiptEvents } from "./events.ts";

const none = { bytes: 0, lines: 0 };
const some = { bytes: 9, lines: 1 };
const receipt: Receipt = {
  tool: "run",
  session: null,
  call: null,
  strategy: "head-tail",
  total: some,
  kept: some,
  folded: none,
  redacted: none,
  omitted: none,
  shown: { bytes: 9, chars: 9, lines: 1, tokens: 3 },
  estimated: [],
  limits: {},
  cutBy: null,
  cuts: [],
  moreCuts: 0,
  artifact: null,
  sha256: null,
  saved: null,
  savedBytes: 0,
  exitCode: null,
};

test.each([
  ["nothing is missing", {}, "output-passed"],
  ["something was omitted", { omitted: some }, "output-clamped"],
  ["something was folded", { folded: some }, "output-clamped"],
])("where %s, one event says so", (_name, change, kind) => {
  expect(receiptEvents({ ...receipt, ...change }, 5).map((event) => event.kind)).toEqual([kind]);
});

test("an output that was saved has an event for its artifact too", () => {
  const events = receiptEvents({ ...receipt, omitted: some, artifact: "abc", saved: "yes", savedBytes: 9 }, 5);
  expect(events.map(({ kind, artifact, atMs, more }) => ({ kind, artifact, atMs, more }))).toEqual([
    { kind: "output-clamped", artifact: "abc", atMs: 5, more: null },
    { kind: "artifact-spilled", artifact: "abc", atMs: 5, more: { saved: "yes", savedBytes: 9 } },
  ]);
});

test("an event that is too deep to be looked through may hold a secret, whatever is found in it", () => {
  const event = (depth: number) => {
    let deep: unknown = "x";
    for (let level = 0; level < depth; level++) deep = { deep };
    return {
      atMs: 5,
      kind: "request-pruned" as const,
      session: null,
      tool: null,
      call: null,
      artifact: null,
      receipt: null,
      more: { deep },
    };
  };
  expect(eventMayHoldSecret(event(9), () => false)).toBe(false);
  expect(eventMayHoldSecret(event(99), () => false)).toBe(true);
});
