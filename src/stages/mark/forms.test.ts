import { describe, expect, it } from "vitest";
import type { Cut } from "../../contract/cut.ts";
import { estimateCounter, measureText } from "../measure/estimate-tokens.ts";
import { type MarkRequest, markForms } from "./forms.ts";

const measure = (text: string) => measureText(text, estimateCounter);
const request: MarkRequest = {
  limits: { maxLines: 9 },
  style: "indicators",
  exitCode: 1,
  closing: ["[exit code 1]"],
  savedCopy: {
    saved: "yes",
    savedBytes: 60,
    id: "k3v7q2m4x5ya",
    access: { by: "tool", recall: "recall", search: "search" },
  },
};
const total = { bytes: 60, lines: 10, chars: 60, breaks: 10 };
const piece = (from: number, to: number, text: string) => ({
  text,
  source: [from * 6, to * 6] as [number, number],
  lines: [from + 1, to] as [number, number],
  startsInside: false,
  endsInside: false,
});
const gap = (fromLine: number, toLine: number) => {
  const lines = toLine - fromLine + 1;
  return { fromLine, toLine, lines, bytes: lines * 6, chars: lines * 6 };
};
const cutOf = (parts: Cut["parts"], omittedLines: number): Cut => ({
  parts,
  total,
  kept: { bytes: 60 - omittedLines * 6, lines: 10 - omittedLines },
  folded: { bytes: 0, lines: 0 },
  omitted: { bytes: omittedLines * 6, lines: omittedLines },
  cutBy: "lines",
});
const ends = cutOf([piece(0, 1, "first\n"), gap(2, 9), piece(9, 10, "last.\n")], 8);
const middle = cutOf([gap(1, 4), piece(4, 6, "fifth\nsixth\n"), gap(7, 10)], 8);
const start = cutOf([piece(0, 1, "first\n"), gap(2, 10)], 9);

describe("forms of a marked text, the one that says most first", () => {
  const write = (cut: Cut, more: Partial<MarkRequest> = {}) =>
    markForms({ ...request, ...more }, measure, "").map((form) => form.write(cut));

  it("with one gap: how large it is, what is shown, and where the rest is", () => {
    expect(write(ends)).toMatchInlineSnapshot(`
      [
        "[First 1 line of 10]
      first
      [... lines 2-9 omitted (8 lines, 48 bytes, 48 characters) ...]
      [Last 1 line of 10]
      last.
      [Output cut to fit: 12 of 60 bytes shown. Do not guess the rest; the same call gives the same cut. Read it with recall({"id":"k3v7q2m4x5ya","lines":[from,to]}) or find in it with search({"id":"k3v7q2m4x5ya","pattern":"..."}).]
      [exit code 1]",
        "first
      [... lines 2-9 omitted (8 lines, 48 bytes, 48 characters) ...]
      last.
      [cut from 10 lines, 60 bytes; artifact k3v7q2m4x5ya]
      [exit code 1]",
        "first
      [... 8 lines cut; artifact k3v7q2m4x5ya ...]
      last.
      [exit code 1]",
        "first
      [... 8 lines cut ...]
      last.
      [exit code 1]",
      ]
    `);
  });

  it("a header says which lines it stands over where some among them were folded", () => {
    const folded = { ...piece(0, 6, "first\n[previous line repeated 5 more times]\n"), foldedLines: 5 };
    const [full] = write(cutOf([folded, gap(7, 9), piece(9, 10, "last.\n")], 3));
    expect(full?.split("\n")[0]).toBe("[Lines 1-6 of 10, 5 of them folded]");
  });

  it("with several: where each is; only the first of them says where the rest is", () => {
    expect(write(middle)).toMatchInlineSnapshot(`
      [
        "[... lines 1-4 omitted ...]
      fifth
      sixth
      [... lines 7-10 omitted ...]
      [Output cut to fit: 12 of 60 bytes shown. Do not guess the rest; the same call gives the same cut. Read it with recall({"id":"k3v7q2m4x5ya","lines":[from,to]}) or find in it with search({"id":"k3v7q2m4x5ya","pattern":"..."}).]
      [exit code 1]",
        "[... lines 1-4 omitted ...]
      fifth
      sixth
      [... lines 7-10 omitted ...]
      [cut from 10 lines, 60 bytes; artifact k3v7q2m4x5ya]
      [exit code 1]",
        "[... 4 lines cut; artifact k3v7q2m4x5ya ...]
      fifth
      sixth
      [... 4 lines cut ...]
      [exit code 1]",
        "[... 4 lines cut ...]
      fifth
      sixth
      [... 4 lines cut ...]
      [exit code 1]",
      ]
    `);
  });

  it("a gap that the text itself notes has no line: the form that says least still says where the rest is", () => {
    const noted = cutOf([piece(0, 10, "first and last\n"), { ...gap(2, 9), noted: true }], 8);
    expect(write(noted)[2]).toBe("first and last\n[cut from 10 lines, 60 bytes; artifact k3v7q2m4x5ya]\n[exit code 1]");
    const folded = { ...noted, folded: noted.omitted, omitted: { bytes: 0, lines: 0 } };
    expect(write(folded)[2]).toBe("first and last\n[exit code 1]");
  });

  it("one note behind a kept start, whether or not that ends with its line", () => {
    const open = cutOf([piece(0, 1, "first"), gap(2, 10)], 9);
    const unsaved = { ...request.savedCopy, saved: "no" as const, id: null };
    expect(write(start, { style: "suffix" })[0]).toMatchInlineSnapshot(`
      "first

      [tool output truncated: exceeded 9 lines; request smaller chunks (offset/limit) or specific sections]
      [First 1 line of 10. Do not guess the rest; the same call gives the same cut. Read it with recall({"id":"k3v7q2m4x5ya","lines":[from,to]}) or find in it with search({"id":"k3v7q2m4x5ya","pattern":"..."}).]
      [exit code 1]"
    `);
    expect(write(open, { style: "suffix" })[0]).toBe(write(start, { style: "suffix" })[0]);
    expect(write(open, { style: "suffix", savedCopy: unsaved })[0]).toMatchInlineSnapshot(`
      "[First 1 line of 10]
      first

      [tool output truncated: exceeded 9 lines; request smaller chunks (offset/limit) or specific sections]
      [exit code 1]"
    `);
  });

  it("says of an output that was only folded what was folded, and not that it was cut", () => {
    const folded = { ...cutOf([piece(0, 10, "all the same\n")], 0), folded: { bytes: 40, lines: 8 }, cutBy: null };
    for (const style of ["indicators", "suffix"] as const) {
      const [text] = write(folded, { style });
      expect(text).toMatch(/^all the same\n\[(?!tool output truncated).*\]\n\[exit code 1\]$/);
    }
  });

  it("a marker of one's own, and ours where it fails", () => {
    expect(write(start, { marker: "(cut)" })[0]).toMatchInlineSnapshot(`
      "first
      (cut)
      [exit code 1]"
    `);
    const fails = () => {
      throw new Error("no");
    };
    expect(write(start, { marker: fails })[0]).toMatchInlineSnapshot(`
      "first
      [... lines 2-10 omitted (9 lines, 54 bytes, 54 characters) ...]
      [exit code 1]"
    `);
  });

  it("none adds more than it foresees", () => {
    for (const style of ["indicators", "suffix"] as const) {
      for (const cut of [ends, middle, start]) {
        for (const form of markForms({ ...request, style }, measure, " #1")) {
          const { fixed, gap: each } = form.room(total);
          const shown = cut.parts.map((part) => ("text" in part ? part.text : "")).join("");
          const gaps = cut.parts.filter((part) => !("text" in part)).length;
          for (const unit of ["bytes", "chars", "lines"] as const) {
            const added = measure(form.write(cut))[unit] - measure(shown)[unit];
            expect(added).toBeLessThanOrEqual(fixed[unit] + gaps * each[unit]);
          }
        }
      }
    }
  });
});
