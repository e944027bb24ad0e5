import { describe, expect, it } from "vitest";
import { trimmedChars, trimText } from "./trim-text.ts";

const how = { maxChars: 400, headChars: 30, tailChars: 20 };

describe("trimText", () => {
  it("leaves a text of exactly the most characters, and trims one that is longer", () => {
    expect(trimText("x".repeat(400), how)).toBeNull();
    expect(trimText("x".repeat(401), how)).toBe(
      `${"x".repeat(30)}\n...\n${"x".repeat(20)}\n\n[Tool result trimmed: kept first 30 chars and last 20 chars of 401 chars.]`,
    );
  });

  it("leaves a text of which nothing would be missing", () => {
    const small = { ...how, maxChars: 9 };
    expect(trimText("x".repeat(50), small)).toBeNull();
    expect(trimText("x".repeat(51), small)).not.toBeNull();
  });

  it.each([9, 50, 51, 400, 401, 9000])("is as long as foreseen: %d characters", (length) => {
    for (const each of [how, { ...how, maxChars: 9 }])
      expect(trimmedChars(length, each)).toBe(trimText("x".repeat(length), each)?.length ?? null);
  });
});
