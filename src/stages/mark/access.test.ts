import { describe, expect, it } from "vitest";
import { type Access, accessText, binaryKeptText, type Keeping, keptText, recallLine } from "./access.ts";

const READERS: Access[] = [
  { by: "operator" },
  { by: "tool", recall: "recall", search: "search" },
  { by: "shell" },
  { by: "file", path: "/runs/s1/bash-k3v7q2m4x5ya.txt" },
];

function keeping(saved: Keeping["saved"], access: Access): Keeping {
  return { saved, savedBytes: 40_960, id: "k3v7q2m4x5ya", access, redactions: { count: 0, bytes: 0 } };
}

describe.each(READERS)("where the rest is, for a reader by $by", (access) => {
  it("is the whole when the whole was saved", () => {
    for (const write of [accessText, keptText]) {
      const text = write(keeping("yes", access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text).not.toContain("Only the first");
    }
  });

  it("is only what was saved when that is a part", () => {
    for (const write of [accessText, keptText, recallLine]) {
      const text = write(keeping("partial", access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text).toMatch(/only .*first 40,960 bytes/i);
      expect(text).not.toMatch(/the whole/i);
      if (write !== recallLine) expect(text).not.toContain("Read it with");
    }
  });

  it("asks for no lines of what has none", () => {
    for (const saved of ["yes", "partial"] as const) {
      const text = binaryKeptText(keeping(saved, access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text.startsWith("Only the first 40,960 bytes were saved, ")).toBe(saved === "partial");
      expect(text).not.toMatch(/lines|PATTERN|pattern|search/);
    }
    expect(binaryKeptText(keeping("yes", access)).includes("--raw > FILE")).toBe(access.by === "shell");
    expect(binaryKeptText(keeping("no", access))).toBe("");
  });

  it("is nowhere when nothing was saved", () => {
    expect(keptText(keeping("no", access))).toBe("");
    expect(accessText(keeping("no", access))).toContain("not saved");
  });
});
