import { describe, expect, it } from "vitest";
import { hasTick } from "./noise.ts";

describe("hasTick", () => {
  it.each([
    ["10%"],
    ["[ 5 %] linking"],
    ["[3/10] x"],
    ["12 of 30 files"],
    ["took 300ms"],
    ["took 1m30s"],
    ["read 4.5 MiB/s"],
    ["12 kB"],
    ["2024-05-01T10:00:10Z started"],
    ["May 1 10:00:10 host sshd"],
    ["[10:05] worker tick 7"],
    ["commit 3fa9bc1"],
    ["at 0x7f12 in main"],
    ["job 8d4a4c1f-beef-4abc-9d0e-0123456789ab queue"],
    ["ok 17"],
    ["PASS case 4"],
    ["\u2714 case 4"],
    ["Downloading part 7"],
    ["package 7 is up to date"],
    ["layer 7 cached"],
  ])("sees one in %j", (line) => {
    expect(hasTick(line)).toBe(true);
  });

  it.each([
    ["line 17"],
    ["user 17 balance 20"],
    ["123456"],
    ["1,2.5,3"],
    ["name 12 34"],
    ["build 17"],
    ["token 17 passport 3"],
    ["2024-05-01,12.5,33"],
    ["12:00:01 3.5"],
    ["3fa9bc1"],
    ["10.0.0.0/24"],
    ["a.ts:12:50: x"],
    ["v1.2.3"],
    [""],
  ])("sees none in %j", (line) => {
    expect(hasTick(line)).toBe(false);
  });

  it("takes little time on long lines of any sort", () => {
    for (const part of ["1,", "1:", "a1", "1 ", "12:34:", "0a", "1/", "of 1 "]) {
      expect(hasTick(`${part.repeat(4096)}!`)).toBeTypeOf("boolean");
    }
  });
});
