import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryDocument, checkExcerpt } from "../../../../test/json-excerpt.ts";
import { clampText } from "../../../admit/clamp-text.ts";
import type { Limits } from "../../../contract/limits.ts";

const LIMIT = fc.oneof(fc.integer({ min: 150, max: 900 }), fc.integer({ min: 300, max: 6000 }));
const LIMITS = fc.oneof(
  fc.record({ maxBytes: LIMIT }),
  fc.record({ maxChars: LIMIT, maxLines: fc.integer({ min: 4, max: 60 }) }),
  fc.record({ maxTokens: fc.integer({ min: 80, max: 900 }) }),
) as fc.Arbitrary<Limits>;

/** What of a clamped text is the excerpt: our markers stand below it. */
function excerptOf(text: string): string {
  const lines = text.split("\n");
  while (/^(?:\[(?:Output cut|White space|cut|\.\.\. |[\d,]+ lines?, ).*\]|cut)$/.test(lines.at(-1) ?? "")) lines.pop();
  return lines.join("\n");
}

/** What our notes carry: every form of marker has it before its end. */
const tagOf = (text: string) => / #[0-9a-z]{5}(?=[;\]])/.exec(text)?.[0] ?? "";

describe("json", () => {
  it.each<[string, number | undefined]>([
    ["one line", undefined],
    ["many lines", 2],
  ])("uses the bytes that it has where lines are few, and says where the rest is, of a document of %s", (_, indent) => {
    const rows = Array.from({ length: 200 }, (_, id) => ({ id, name: `name ${id} of it`, state: "ok" }));
    for (let maxLines = 2; maxLines < 8; maxLines++) {
      const limits = { maxLines, maxBytes: 2000 };
      const { text, receipt } = clampText(JSON.stringify(rows, null, indent), limits, { strategy: "json" });
      expect(receipt.shown.bytes, `${maxLines} lines`).toBeGreaterThan(1500);
      expect(text, `${maxLines} lines`).toMatch(/\n\[cut from [\d,]+ lines?, [\d,]+ bytes; rest not saved\]$/);
      checkExcerpt(JSON.parse(excerptOf(text)), rows, "$", "");
    }
  });

  it("shows valid JSON within its limits in which every value is the original's at its path", () => {
    let excerpts = 0;
    fc.assert(
      fc.property(arbitraryDocument, fc.constantFrom(undefined, 2, "\t"), LIMITS, (value, indent, limits) => {
        const source = JSON.stringify(value, null, indent);
        const { text, receipt } = clampText(source, limits, { strategy: "json" });
        expect(receipt.faults).toBeUndefined();
        expect(receipt.kept.bytes + receipt.folded.bytes + receipt.omitted.bytes).toBe(receipt.total.bytes);
        expect(receipt.folded.bytes).toBeGreaterThanOrEqual(0);
        expect(receipt.shown.bytes).toBeLessThanOrEqual(limits.maxBytes ?? Infinity);
        expect(receipt.shown.chars).toBeLessThanOrEqual(limits.maxChars ?? Infinity);
        expect(receipt.shown.lines).toBeLessThanOrEqual(limits.maxLines ?? Infinity);
        expect(receipt.shown.tokens).toBeLessThanOrEqual(limits.maxTokens ?? Infinity);
        const excerpt = excerptOf(text);
        if (excerpt === "") return;
        excerpts++;
        checkExcerpt(JSON.parse(excerpt), JSON.parse(source), "$", tagOf(text));
      }),
      { numRuns: 150 },
    );
    expect(excerpts).toBeGreaterThan(60);
  });

  const shown = (source: string, maxChars: number, focus?: string) =>
    clampText(source, { maxChars }, { strategy: "json", ...(focus !== undefined && { focus }) }).text;
  const list = <T>(count: number, element: (id: number) => T) => Array.from({ length: count }, (_, id) => element(id));
  const joined = (elements: unknown[]) => elements.map((element) => JSON.stringify(element)).join("\n");

  it("shows like objects as rows of values, and nothing is left out, if that fits and the objects do not", () => {
    const elements = list(200, (id) => ({ id, customer: `c${id % 7}`, state: "paid", total: 3 * id }));
    for (const value of [elements, { count: 200, orders: elements }, [{ id: "x" }, ...elements, "last"]]) {
      for (const indent of [undefined, 2]) {
        const source = JSON.stringify(value, null, indent);
        const { text, receipt } = clampText(source, { maxChars: 5200 }, { strategy: "json" });
        expect(receipt.omitted.bytes).toBe(0);
        expect(text).toContain(`["id","customer","state","total"]`);
        expect(text).toContain("[White space and repeated keys left out:");
        const shown = JSON.parse(excerptOf(text));
        checkExcerpt(shown, value, "$", tagOf(text));
        expect(JSON.stringify(shown)).toContain('[100,"c2","paid",300]');
      }
    }
    const lines = clampText(joined(elements), { maxChars: 5200 }, { strategy: "json" });
    expect(lines.receipt.omitted.bytes).toBe(0);
    const shownLines = excerptOf(lines.text)
      .split("\n")
      .map((line) => JSON.parse(line));
    checkExcerpt(shownLines, elements, "$", tagOf(lines.text));
  });

  it("writes an object that differs with its keys, between the rows of the others", () => {
    const elements: object[] = list(200, (id) => ({ id, customer: "c", state: "paid" }));
    elements[77] = { id: 77, customer: "c", state: "failed", error: "card" };
    const { text, receipt } = clampText(JSON.stringify(elements), { maxChars: 4000 }, { strategy: "json" });
    expect(receipt.omitted.bytes).toBe(0);
    expect(text).toContain('[76,"c","paid"],{"id":77,"customer":"c","state":"failed","error":"card"},[78,"c","paid"]');
    checkExcerpt(JSON.parse(excerptOf(text)), elements, "$", "");
    const forged = [...elements, { id: 1, customer: "... [objects as rows of values: mine]", state: "" }];
    expect(tagOf(shown(JSON.stringify(forged), 4200))).not.toBe("");
  });

  it.each([
    ["all of them fit", list(40, (id) => ({ id, state: "paid" })), 1200],
    ["they would not fit as rows either", list(400, (id) => ({ id, state: "paid" })), 1200],
    ["they are few", list(3, (id) => ({ [`a${"b".repeat(199)}`]: id, text: "x".repeat(300) })), 1580],
    ["their keys differ", list(60, (id) => ({ [`key${id}`]: id, [`other${id}`]: id })), 1200],
    ["a list stands among them", [...list(200, (id) => ({ id, state: "paid" })), [1, "paid"]], 3200],
  ])("writes objects with their keys where %s", (_, elements, maxChars) => {
    const indented = JSON.stringify(elements, null, 2);
    expect(indented.length).toBeGreaterThan(maxChars);
    expect(shown(indented, maxChars)).not.toContain("rows of values");
  });

  it("shows an unusual element whole, before ordinary ones", () => {
    const odd = { id: 5123, name: "odd", status: "FAILED", ms: 99_999, error: "disk full" };
    const elements = list(10_000, (id) => (id === 5123 ? odd : { id, name: `n${id}`, status: "ok", ms: id % 50 }));
    for (const source of [JSON.stringify(elements), JSON.stringify(elements, null, 2), joined(elements)]) {
      const text = shown(source, 2000);
      expect(text).toContain(JSON.stringify(odd));
      expect(text).not.toContain("object omitted");
    }
  });

  it("shows all elements of an unusual sort where they are few", () => {
    const few = list(5000, (id) => ({ id, status: id >= 2000 && id < 2010 ? "FAILED" : "ok" }));
    expect(shown(JSON.stringify(few), 2000).match(/FAILED/g)).toHaveLength(10);
    const stack = "x".repeat(5000);
    const apart = list(3000, (id) =>
      [700, 900, 1100].includes(id)
        ? { id, level: "ERROR", msg: `boom ${id}`, stack }
        : { id, level: "INFO", msg: "fine", stack: "" },
    );
    expect(shown(joined(apart), 1000)).toContain("boom 700");
    expect(shown(joined(apart), 2000).match(/boom \d+/g)).toEqual(["boom 700", "boom 900", "boom 1100"]);
  });

  it("does not take a sort with many elements for an unusual one", () => {
    const half = list(2000, (id) => ({ id, status: id < 1000 ? "ok" : "done" }));
    const text = shown(JSON.stringify(half), 2000);
    expect(text).toContain('{"id":1000,');
    expect(text).not.toContain('{"id":1001,');
  });

  it("finds an unusual state deep in an element, behind many fields, or among the first", () => {
    const deep = list(800, (id) => ({
      name: `p${id}`,
      status: { phase: [{ is: id === 300 ? "Failed" : "Running" }] },
    }));
    expect(shown(JSON.stringify({ items: deep }), 2000)).toContain(JSON.stringify(deep[300]));
    const fields = Object.fromEntries(list(60, (id) => [`f${id}`, 1]));
    const wide = list(800, (id) => ({ ...fields, status: id === 300 ? "Failed" : "ok", id }));
    expect(shown(JSON.stringify(wide), 8000)).toContain('"status":"Failed","id":300');
    const early = list(800, (id) => ({ id, name: `name ${id}`.repeat(9), status: id === 25 ? "Failed" : "ok" }));
    expect(shown(JSON.stringify(early), 2000)).toContain('"status":"Failed"');
  });

  it("treats the members of a map as elements", () => {
    const map = Object.fromEntries(list(500, (id) => [`pkg-${id}`, { severity: id === 200 ? "critical" : "low" }]));
    const text = shown(JSON.stringify({ vulnerabilities: map, total: 500 }), 2000);
    expect(text).toContain('"pkg-200":{"severity":"critical"}');
    expect(text).toContain('"pkg-0":{"severity":"low"}');
    expect(text).toContain('"pkg-499":{"severity":"low"}');
    expect(text).toContain('"total":500');
  });

  it("shows what findings are about, however deep that stands, before settings and links", () => {
    const settings = Object.fromEntries(
      list(40, (id) => [`option-${id}`, { enabled: id % 2 === 0, value: "x".repeat(60) }]),
    );
    const matches = list(8, (id) => ({
      artifact: { locations: list(4, (at) => `/usr/share/java/a${id}/${at}.jar`), purl: `pkg:maven/a${id}@1.${id}` },
      vulnerability: {
        uuid: `${id}b1c2d3e-0000-4000-8000-${"0".repeat(12)}`,
        urls: list(6, (at) => `https://example.org/${id}/${at}`),
        title: `Session fixation number ${id}`,
        fix: { versions: [], wanted: "unknown", candidates: list(10, (at) => `1.${at}.${id}-rc`) },
      },
    }));
    const text = shown(JSON.stringify({ settings, matches, more: settings }), 3000);
    for (const { vulnerability } of matches) expect(text).toContain(vulnerability.title);
  });

  it("shares the room of records that report nothing by size, so that every sort of value is seen", () => {
    const packages = list(6, (id) => ({
      about: { name: `package-${id}`, description: `does number ${id} ${"and more of it ".repeat(60)}` },
      engines: { node: `>=${id + 10}.1`, npm: `>=${id + 3}.2`, notes: "n".repeat(150) },
    }));
    const text = shown(JSON.stringify({ packages }), 2500);
    for (const { engines } of packages) expect(text).toContain(engines.node);
  });

  it("gives members that somebody is after their room first", () => {
    const map = Object.fromEntries(
      list(400, (id) => [
        `pkg-${id}`,
        { via: list(6, (at) => `advisory ${id} of ${at}, more`), of: id % 100 === 50 ? "a needle" : `hay ${id}` },
      ]),
    );
    const text = shown(JSON.stringify(map), 2500, "needle");
    for (const id of [50, 150, 250, 350]) expect(text).toContain(`"pkg-${id}":${JSON.stringify(map[`pkg-${id}`])}`);
  });
});
