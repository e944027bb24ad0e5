import fc from "fast-check";
import { expect, it } from "vitest";
import { strategies } from "../stages/clamp/strategies/index.ts";
import { estimateCounter } from "../stages/measure/estimate-tokens.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { arbitraryLimits, arbitraryOutput } from "../testing/arbitrary.ts";
import { type AdmitPlan, admitWhole, NOT_SAVED, startAdmission, writeEnded } from "./admission.ts";

it("gives what the long way gives, or nothing", () => {
  let taken = 0;
  fc.assert(
    fc.property(
      arbitraryOutput,
      fc.oneof(arbitraryLimits, fc.record({ maxBytes: fc.integer({ min: 1000, max: 9000 }) })),
      fc.constantFrom(null, 0, 1),
      (bytes, limits, exitCode) => {
        const [strategy] = strategies as [never];
        const request: AdmitPlan = {
          scope: "local",
          tool: "t",
          session: null,
          call: null,
          limits,
          strategy,
          headShare: 0.3,
          fold: true,
          counter: estimateCounter,
          exitCode,
        };
        const text = new TextDecoder().decode(bytes);
        const whole = admitWhole(text, request);
        const admission = startAdmission(request);
        for (const chunk of encodeText(text)) admission.add(chunk);
        const long = writeEnded(admission.end(), NOT_SAVED, text.toWellFormed());
        if (whole === null) return;
        taken++;
        expect(JSON.parse(JSON.stringify(whole))).toEqual(JSON.parse(JSON.stringify(long)));
      },
    ),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(100);
});
