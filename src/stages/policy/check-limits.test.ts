import { describe, expect, it } from "vitest";
import { SpillwayError } from "../../errors.ts";
import { checkLimits, checkNumber, describeValue } from "./check-limits.ts";
import { NUMBERS } from "./defaults.ts";

describe("checkLimits", () => {
  it("takes whole numbers of 0 or more, and Infinity", () => {
    expect(checkLimits({ maxBytes: 0, maxChars: Infinity, maxLines: 7, maxTokens: undefined })).toEqual({
      maxBytes: 0,
      maxChars: Infinity,
      maxLines: 7,
    });
    expect(checkLimits(undefined)).toEqual({});
  });

  it("gives a copy", () => {
    const given = { maxBytes: 1 };
    expect(checkLimits(given)).not.toBe(given);
  });

  it.each([
    [Number.NaN, "NaN"],
    [-1, "-1"],
    [1.5, "1.5"],
    ["100", '"100"'],
    [null, "null"],
    [10n, "10n"],
    [{}, "an object"],
    [[1], "a list"],
    [-Infinity, "-Infinity"],
    [2 ** 53, "9007199254740992"],
  ])("refuses %s", (value, told) => {
    expect(() => checkLimits({ maxBytes: value })).toThrow(
      new SpillwayError(
        "bad-limit",
        `maxBytes must be a whole number of 0 or more, or Infinity for no limit; got ${told}`,
      ),
    );
  });

  it("says where, and names limits that do not exist", () => {
    expect(() => checkLimits({ maxLines: -1 }, "limits for bash")).toThrow(/^limits for bash: maxLines must be/);
    expect(() => checkLimits({ max_lines: 1 })).toThrow('unknown limit "max_lines"; known are maxBytes');
    expect(() => checkLimits(200)).toThrow("limits must be an object such as { maxLines: 200 }; got 200");
    expect(() => checkLimits(null)).toThrow("got null");
  });
});

describe("checkNumber", () => {
  it("holds a row's range, and whole numbers where the row's are whole", () => {
    expect(checkNumber(0.5, NUMBERS.headShare, "headShare")).toBe(0.5);
    expect(() => checkNumber(1.01, NUMBERS.headShare, "headShare")).toThrow(
      "headShare must be a number from 0 to 1; got 1.01",
    );
    expect(() => checkNumber(1500.5, NUMBERS.commandChars, "commands.maxChars")).toThrow(/a whole number from 1,000/);
  });
});

it.each([
  ["https://u:S3cr3t@host/v1", '"https://...@host/v1"'],
  ["https://S3cr3t@host/v1", '"https://...@host/v1"'],
  ["https://u:S3/cr@3t@host/v1", '"https://...@host/v1"'],
  ["u:S3cr3t@host/v1", '"...@host/v1"'],
  [`https://u:${"S3cr3t".repeat(20)}@host/v1`, '"https://...@host/v1"'],
  ["https://host:8080/v1", '"https://host:8080/v1"'],
  ["mail me@host at 12:30", '"mail me@host at 12:30"'],
])("describeValue leaves out the user and the password of %s", (value, shown) => {
  expect(describeValue(value)).toBe(shown);
});

it("describeValue stays short", () => {
  expect(describeValue("x".repeat(1000)).length).toBeLessThan(60);
  expect(describeValue(10n ** 1000n).length).toBeLessThan(60);
});
