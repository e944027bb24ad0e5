import { describe, expect, it } from "vitest";
import { featureName } from "./line-features.ts";
import { LineScan } from "./scan-line.ts";

const scan = new LineScan();
scan.record();
const scanned = (line: string) => {
  const bytes = new TextEncoder().encode(line);
  scan.scan(bytes, 0, bytes.length);
  const features = [...scan.features.subarray(0, scan.count)].map(featureName);
  return { shape: scan.shape, template: scan.isStamped ? scan.template : 0, indent: scan.indent, features };
};

describe("what stands before a line", () => {
  const text = "TEST-UNEXPECTED-FAIL | dom/test.html | got 3";
  it.each([
    "2024-05-01T10:00:00.123Z ",
    "2024-05-01 10:00:00,123 ",
    "[10:00:00] ",
    "[task 2024-05-01T10:00:00.123Z] ",
    "[task 2024-05-01T10:00:00.123Z] 10:00:00 ",
    "[task 2024-05-01T10:00:00.123Z] 10:00:00     INFO - ",
    "2024-05-01 10:00:00 ERROR: ",
    "10:00:00 WARNING | ",
    "10:00:00 | ",
    "[2024-05-01 10:00:00] [info] ",
    "Jun  3 15:42:50 ",
    "Jun 13 15:42:50 ",
    "1120972565 ",
    "1286536308.779 ",
    "1286536308779 ",
    "1120972565 2005-07-09 22:16:05 INFO ",
  ])("is not part of it: %s", (prefix) => {
    expect(scanned(prefix + text).shape).toBe(scanned(text).shape);
  });

  it.each([
    "INFO - ",
    "Jon  3 15:42:50 ",
    "[task x] ",
    "ABC - ",
    "12:30 ",
    "[a::b:3:c] ",
    "112097256 ",
    "2120972565 ",
    "1120972565: ",
  ])("is part of it: %s", (prefix) => {
    expect(scanned(prefix + text).shape).not.toBe(scanned(text).shape);
  });

  it("a number that is all of a line is its text", () => {
    expect(scanned("1120972565 ").shape).toBe(scanned("1120972566").shape);
    expect(scanned("1120972565 ").shape).not.toBe(0);
  });

  it("leaves the blanks that indent the text", () => {
    expect(scanned("10:00:00    at run").indent).toBe(4);
    expect(scanned("10:00:00 INFO -    at run").indent).toBe(4);
  });
});

it("a level counts only where no word tells of a failure", () => {
  for (const line of ["10:00:00 INFO ready", "INFO ready", "[info] ready"])
    expect(scanned(line).features).toContain("info (first)");
  for (const line of ["10:00:00 INFO it failed", "INFO SomeError here", "[info] fatal", "10:00:00 INFO my_failure"])
    expect(scanned(line).features.filter((name) => name.startsWith("info"))).toEqual([]);
});

it("words in joined names count as parts, those in paths as paths", () => {
  expect(scanned("run my_failure_count").features).toContain("fail (part)");
  expect(scanned("run onFailure").features).toContain("fail (part)");
  expect(scanned("run tests/failure/a").features).toContain("fail (path)");
  expect(scanned("TEST-UNEXPECTED-FAIL x").features).toContain("fail (caps)");
});

it.each([
  "TestUnexpectedFail :: a/b.html",
  "CASE_FAILED a/b.html",
  "TEST-UNEXPECTED-FAIL | x",
  "10:00:00 | caseFailed x",
])("a failure word in the first name of a line is a verdict: %s", (line) => {
  scanned(line);
  expect(scan.isVerdict).toBe(true);
});

it.each(["ran TestUnexpectedFail", "src/fail/a.ts ran", "TestPass :: a/fail.html"])("is no verdict: %s", (line) => {
  scanned(line);
  expect(scan.isVerdict).toBe(false);
});

it("lines that begin with the same word and then a path are of one sort", () => {
  const sort = (line: string) => {
    scanned(line);
    return scan.sort;
  };
  expect(sort("TestPass dom/tests/a.html one two")).toBe(sort("TestPass net/b_7.js three"));
  expect(sort("TestPass dom/tests/a.html one")).not.toBe(sort("TestFail dom/tests/a.html one"));
});

it("lines with a time that differ in numbers and paths have one template", () => {
  const one = scanned("10:00:00 FATAL Error loading /a/b/c: invalid image 17").template;
  expect(scanned("11:30:00 FATAL Error loading /x/y: invalid image 4").template).toBe(one);
  expect(scanned("11:30:00 FATAL Error reading /x/y: invalid image 4").template).not.toBe(one);
  expect(scanned("1120972565 FATAL Error loading /x: invalid image 4").template).toBe(one);
  expect(scanned("Error loading /a/b/c").template).toBe(0);
});
