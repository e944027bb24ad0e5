import { describe, expect, it } from "vitest";
import { memoryStore } from "../dist/extend.js";
import { createSpillway } from "../dist/index.js";
import { clampText, strategies } from "../dist/stages.js";
import { checkBlocks } from "./promises/blocks.mjs";
import { STRATEGIES } from "./promises/cases.mjs";
import { DOORS, tryDoor } from "./promises/doors.mjs";
import { checkText, Findings } from "./promises/promises.mjs";

// A small share of `npm run check:promises`, and a check of the checker.

const SEED = Number(process.env["SPILLWAY_SEED"] ?? 19_000_000);

describe("the promises of every output", () => {
  it.each(Object.keys(DOORS))(`hold through %s (SPILLWAY_SEED=${SEED})`, async (door) => {
    const cases = door === "admit" || door === "clampText" ? 150 : 5;
    const broken = await tryDoor(door, { seed: SEED, cases });
    expect(broken.map(({ given, promise, why }) => `${given.seed}: ${promise}: ${why}`)).toEqual([]);
  });
});

it("every strategy is tried", () => {
  expect(STRATEGIES.toSorted()).toEqual(strategies.map(({ name }) => name).toSorted());
});

describe("the checker notices", () => {
  const lines = Array.from({ length: 90 }, (_, index) => `row ${index}: the ${index % 7} of ${index * 31}`);
  const output = `${lines.join("\n")}\n`;
  const limits = { maxBytes: 900 };
  const { text, receipt } = clampText(output, limits, { strategy: "head-tail", exitCode: 1 });
  const given = { bytes: Buffer.from(output), limits, strategy: "head-tail", fold: false, exitCode: 1 };
  const findings = (shown: { text: string; receipt: object }, of: object = given) => {
    const found = new Findings();
    checkText(of, shown, found, { saves: false, hasCeiling: false });
    return found.list;
  };
  // The sizes of what is shown follow the text, so that only what it says is wrong.
  const withText = (changed: string) => ({
    text: changed,
    receipt: {
      ...receipt,
      shown: {
        ...receipt.shown,
        bytes: changed.length,
        chars: changed.length,
        lines: changed.split("\n").length,
      },
    },
  });

  it("nothing where all is true", () => {
    expect(findings(withText(text))).toEqual([]);
    expect(receipt.omitted.bytes).toBeGreaterThan(0);
  });

  it.each<[string, (value: string) => string]>([
    ["a line that is not the output's", (value) => value.replace("row 1:", "row 7:")],
    ["a line that is left out without a word", (value) => value.replace(/^row 1:.*\n/m, "")],
    ["lines in another order", (value) => value.replace(/^(row 0:.*)\n(row 1:.*)$/m, "$2\n$1")],
    ["a gap that begins elsewhere", (value) => value.replace(/lines (\d)/, (_, n) => `lines ${Number(n) + 1}`)],
    ["a gap that ends elsewhere", (value) => value.replace(/-(\d+) omitted/, (_, n) => `-${Number(n) - 1} omitted`)],
    ["a gap of another size", (value) => value.replace(/([\d,]+) bytes, /, "1 bytes, ")],
    ["a gap of other characters", (value) => value.replace(/([\d,]+) characters/, "1 characters")],
    ["a marker that is missing", (value) => value.replace(/^\[\.\.\. .*\n/m, "")],
    ["a header that counts falsely", (value) => value.replace(/First \d+/, "First 77")],
    ["a second header that counts falsely", (value) => value.replace(/Last \d+/, "Last 77")],
    ["a header of the first lines over the last", (value) => value.replace("[Last ", "[First ")],
    ["a footer that counts falsely", (value) => value.replace(/fit: \d+/, "fit: 1")],
    ["an exit code that is another", (value) => value.replace("exit code 1", "exit code 2")],
    ["an exit code that is missing", (value) => value.replace(/\n\[exit code 1\]$/, "")],
    ["half a character", (value) => value.replace("row 1", "row \ufffd")],
    ["a lone surrogate", (value) => value.replace("row 1", "row \ud800")],
    ["more than the limit", (value) => value + "x".repeat(900)],
    ["nothing at all", () => ""],
  ])("%s", (_, change) => {
    expect(change(text)).not.toBe(text);
    expect(findings(withText(change(text)))).not.toEqual([]);
  });

  it.each([
    ["repeats", "tail", (n: number) => (n % 40 < 30 ? "waiting" : `step ${n}`)],
    ["a last line that shows nothing", "head-tail", (n: number) => (n === 399 ? "\r" : `step ${n}`)],
    ["lines alike", "auto", (n: number) => (n % 40 === 39 ? `GET /x ${n}9,999 ms timeout` : `GET /items/${n} 17 ms`)],
  ])("a header over folded lines that counts falsely: %s", (_, strategy, line) => {
    const folded = Array.from({ length: 400 }, (_, n) => line(n)).join("\n");
    const of = { bytes: Buffer.from(folded), limits: { maxLines: 20 }, strategy, fold: true, exitCode: null };
    const shown = clampText(folded, of.limits, { strategy, fold: true });
    expect(findings(shown, of)).toEqual([]);
    for (const number of [1, 2, 3, 4]) {
      const header = new RegExp(`^(\\[Lines ${"\\d+\\D+".repeat(number - 1)})(\\d+)`, "m");
      const changed = shown.text.replace(header, (_, before, value) => before + (Number(value) - 1));
      expect(changed).not.toBe(shown.text);
      expect(findings({ ...shown, text: changed }, of)).not.toEqual([]);
    }
  });

  it("a page in a block whose text is shown falsely, though a tool's call names the artifact of that text", async () => {
    const rows = Array.from({ length: 300 }, (_, n) => `<p>row ${n} of a page that is long.</p>`).join("\n");
    const blocks = [{ type: "text", text: `<!DOCTYPE html>\n<html><body>\n${rows}\n</body></html>\n` }];
    // So much room that the marker is a call of a tool and no short one.
    const limits = { maxBytes: 2900 };
    const store = memoryStore({ maxBytes: 1e6 });
    const reader = { by: "tool", recall: "recall", search: "search" } as const;
    const spillway = await createSpillway({ store, ledger: null, env: {}, redact: "off", reader });
    const find = async (change: (text: string) => string) => {
      const found = new Findings();
      const admit = async (output: object) => {
        const { text, receipt } = await spillway.admit({ tool: "give", limits, fold: true, output });
        const shown = change(text);
        const bytes = Buffer.byteLength(shown);
        const size = { bytes, chars: shown.length, lines: shown.split("\n").length };
        const content = [{ type: "text", text: shown }];
        return {
          output: { ...output, content },
          text: shown,
          receipt: { ...receipt, shown: { ...receipt.shown, ...size } },
        };
      };
      const read = (id: string) => store.read(id, "local", { from: 0, to: Number.MAX_SAFE_INTEGER }).then(Buffer.from);
      const about = { blocks, limits, strategy: "auto", fold: true, exitCode: null, seed: 0 };
      await checkBlocks(about, admit, read, found);
      return found.list;
    };
    expect(await find((text) => text)).toEqual([]);
    expect(await find((text) => text.replace(/^row 1 /m, "row 7 "))).not.toEqual([]);
    expect(await find((text) => text.replace(/lines (\d+)-/, (_, n) => `lines ${Number(n) + 1}-`))).not.toEqual([]);
  });

  it.each<[string, object]>([
    ["total", { total: { bytes: output.length + 1, lines: 90 } }],
    ["lines of the total", { total: { bytes: output.length, lines: 91 } }],
    ["kept", { kept: { ...receipt.kept, bytes: receipt.kept.bytes + 1 } }],
    ["what is moved from omitted to kept", moved("bytes")],
    ["lines that are moved from omitted to kept", moved("lines")],
    ["cuts", { cuts: receipt.cuts.map((cut) => ({ ...cut, bytes: cut.bytes - 1 })) }],
    ["lines of cuts", { cuts: receipt.cuts.map((cut) => ({ ...cut, toLine: cut.toLine + 1 })) }],
    ["the limit that bound", { cutBy: "lines" }],
    ["no limit that bound", { cutBy: null }],
    ["saved", { saved: "yes" }],
    ["an artifact", { artifact: "mzxw6ytboi2a" }],
    ["the exit code", { exitCode: 0 }],
    ["a fault", { faults: ["a plain clamp stood in"] }],
    ["what is shown", { shown: { ...receipt.shown, lines: 3 } }],
  ])("a false receipt: %s", (_, change) => {
    expect(findings({ text, receipt: { ...receipt, ...change } })).not.toEqual([]);
  });

  function moved(unit: "bytes" | "lines"): object {
    const { kept, omitted } = receipt;
    return { kept: { ...kept, [unit]: kept[unit] + 1 }, omitted: { ...omitted, [unit]: omitted[unit] - 1 } };
  }
});
