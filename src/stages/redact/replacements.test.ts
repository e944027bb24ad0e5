import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Replacements } from "./replacements.ts";

type Step = { passed: string } | { mark: number; secret: number };
const steps = fc.array(
  fc.oneof(
    fc.record({ passed: fc.string({ unit: fc.constantFrom("a", "\n", "\r"), minLength: 1, maxLength: 4 }) }),
    fc.record({ mark: fc.integer({ min: 1, max: 9 }), secret: fc.integer({ min: 1, max: 20 }) }),
  ),
  { maxLength: 40 },
);

function take(seen: Replacements, list: Step[]): void {
  for (const step of list) {
    if ("passed" in step) seen.passed(Buffer.from(step.passed));
    else {
      seen.mark(new Uint8Array(step.mark));
      seen.covered(1);
      seen.covered(step.secret - 1);
    }
  }
  seen.end();
}

describe("where secrets were replaced", () => {
  it("is known for every place of the redacted stream", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const seen = new Replacements();
        take(seen, list);
        // The plain way: what each byte stands for, a mark's first byte for all of its secret.
        const bytes = list.flatMap((step) =>
          "passed" in step
            ? Array.from({ length: step.passed.length }, () => ({ mark: 0, secret: 0 }))
            : Array.from({ length: step.mark }, (_, at) => ({ mark: 1, secret: at === 0 ? step.secret : 0 })),
        );
        for (let at = 0; at <= bytes.length; at++) {
          const before = bytes.slice(0, at);
          expect(seen.before(at)).toMatchObject({
            markBytes: before.reduce((sum, { mark }) => sum + mark, 0),
            secretBytes: before.reduce((sum, { secret }) => sum + secret, 0),
          });
        }
      }),
    );
  });

  it("counts lines of which nothing but marks is left, whatever ends them", () => {
    const linesOf = (...list: Step[]) => {
      const seen = new Replacements();
      take(seen, list);
      return seen.before(Number.POSITIVE_INFINITY).lines;
    };
    const mark = { mark: 5, secret: 9 };
    expect(linesOf(mark)).toBe(1);
    expect(linesOf({ passed: "a\n" }, mark, mark, { passed: "\n" }, mark, { passed: "\r" }, { passed: "\na" })).toBe(2);
    expect(linesOf({ passed: "a" }, mark, { passed: "\n" }, mark, { passed: "a\n" })).toBe(0);
  });

  it("stays bounded, exact at both ends, and never goes back in between", () => {
    const seen = new Replacements();
    const count = 100_000;
    for (let index = 0; index < count; index++) {
      seen.passed(Buffer.from("ab\n"));
      seen.mark(new Uint8Array(7));
      seen.covered(11);
    }
    seen.end();
    const end = count * 10;
    expect(seen.before(25)).toEqual({ markBytes: 16, secretBytes: 33, lines: 0 });
    expect(seen.before(end)).toMatchObject({ markBytes: count * 7, secretBytes: count * 11 });
    expect(seen.before(end - 100)).toMatchObject({ markBytes: count * 7 - 70, secretBytes: count * 11 - 110 });
    let last = seen.before(0);
    for (let at = 0; at <= end; at += 999) {
      const here = seen.before(at);
      expect(here.markBytes).toBeGreaterThanOrEqual(last.markBytes);
      expect(here.secretBytes).toBeGreaterThanOrEqual(last.secretBytes);
      expect(here.markBytes - last.markBytes).toBeLessThanOrEqual(999);
      last = here;
    }
  });
});
