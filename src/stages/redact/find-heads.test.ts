import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { compileWat } from "../../../scripts/compile-wat.mjs";
import { redactAll } from "../../../test/redact-chunks.ts";
import { compileRules } from "./compile-rules.ts";
import { defaultRules } from "./default-rules.ts";
import { findHeads, prefilterOf, useNativeHeads } from "./find-heads.ts";

const many = compileRules(
  Array.from({ length: 60 }, (_, index) => ({ name: `r-${index}`, pattern: `k${index}[a-f]{2,}` })),
);
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 60, maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        "pass",
        "token",
        "gh",
        "p_",
        "BEGIN ",
        "://",
        "k5",
        "k31ab",
        "AKIA",
        "eyJ",
        "é",
        "\n",
        "sk-",
        "x",
      ),
      {
        minLength: 30,
        maxLength: 150,
      },
    )
    .map((parts) => new TextEncoder().encode(parts.join(""))),
);

describe("findHeads", () => {
  afterEach(() => {
    useNativeHeads(true);
  });

  it("finds the same places in native code and in script, from any byte on", () => {
    expect(useNativeHeads(true)).toBe(true);
    fc.assert(
      fc.property(
        bytes,
        fc.nat({ max: 80 }),
        fc.constantFrom(defaultRules, many),
        fc.nat({ max: 9 }),
        (data, from, rules, base) => {
          const found = [true, false].map((isNative) => {
            useNativeHeads(isNative);
            const places: number[] = [];
            const end = findHeads(prefilterOf(rules), data, Math.min(from, data.length), (at) =>
              places.push(at + base),
            );
            return { places, end };
          });
          expect(found[0]).toEqual(found[1]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("redaction does not depend on it", () => {
    const data = new TextEncoder().encode(`k31abcdef password=abc12345 k59ff ${"x".repeat(100)} token: a1b2c3d4e5f6\n`);
    const rules = [...defaultRules, ...many];
    const native = redactAll(rules, data);
    useNativeHeads(false);
    expect(redactAll(rules, data)).toEqual(native);
    expect(native.count).toBe(4);
  });
});

it("find-heads.ts has heads.wat compiled", async () => {
  expect(readFileSync(new URL("./find-heads.ts", import.meta.url), "utf8")).toContain(
    `"${await compileWat("redact/heads")}"`,
  );
});
