import { describe, expect, it } from "vitest";
import { type Access, accessText, binaryKeptText, keptText, recallLine, type SavedCopy } from "./access.ts";

const READERS: Access[] = [
  { by: "operator" },
  { by: "tool", recall: "recall", search: "search" },
  { by: "shell" },
  { by: "file", path: "/runs/s1/bash-k3v7q2m4x5ya.txt" },
];

function copy(saved: SavedCopy["saved"], access: Access): SavedCopy {
  return { saved, savedBytes: 40_960, id: "k3v7q2m4x5ya", access };
}

describe.each(READERS)("where the rest is, for a reader by $by", (access) => {
  it("is the whole when the whole was saved", () => {
    for (const write of [accessText, keptText]) {
      const text = write(copy("yes", access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text).not.toContain("Only the first");
    }
  });

  it("is only what was saved when that is a part", () => {
    for (const write of [accessText, keptText, recallLine]) {
      const text = write(copy("partial", access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text).toMatch(/only .*first 40,960 bytes/i);
      expect(text).not.toMatch(/the whole/i);
      if (write !== recallLine) expect(text).not.toContain("Read it with");
    }
  });

  it("asks for no lines of what has none", () => {
    for (const saved of ["yes", "partial"] as const) {
      const text = binaryKeptText(copy(saved, access));
      expect(text).toContain("k3v7q2m4x5ya");
      expect(text.startsWith("Only the first 40,960 bytes were saved, ")).toBe(saved === "partial");
      expect(text).not.toMatch(/lines|PATTERN|pattern|search/);
    }
    expect(binaryKeptText(copy("yes", access)).includes("--raw > FILE")).toBe(access.by === "shell");
    expect(binaryKeptText(copy("no", access))).toBe("");
  });

  it("is not what the same call gives", () => {
    for (const saved of ["yes", "partial", "no"] as const)
      expect(accessText(copy(saved, access))).toMatch(/the same call gives the same cut/i);
  });

  it("is nowhere when nothing was saved", () => {
    expect(keptText(copy("no", access))).toBe("");
    expect(accessText(copy("no", access))).toContain("not saved");
  });
});
