import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryDocument, checkExcerpt, records } from "../../../../test/json-excerpt.ts";
import { chunked, lent } from "../../../testing/arbitrary.ts";
import { JsonBuilder } from "./build-json.ts";
import { heldBytes, isMember, type JsonGroup, type JsonMember, type JsonNode } from "./json-node.ts";
import { JsonLexer } from "./lex-json.ts";
import { planJson } from "./plan-json.ts";
import { writeJson } from "./write-json.ts";

const encoder = new TextEncoder();

/** A document read in chunks with little memory and little looked at, written in about `budget` bytes. */
function excerpt(source: string, cuts: number[], mostBytes: number, scanBytes: number, budget: number): string | null {
  const builder = new JsonBuilder(mostBytes, scanBytes, undefined);
  const lexer = new JsonLexer(builder, mostBytes >> 3);
  for (const chunk of lent(chunked(encoder.encode(source), cuts))) lexer.add(chunk);
  if (!lexer.end()) return null;
  const [entry] = builder.root.entries;
  const root: JsonNode = builder.root.count === 1 && entry !== undefined && isMember(entry) ? entry.node : builder.root;
  const written = writeJson(planJson(root, budget), { isMultiline: false, tag: " #tag" });
  const omitted = written.gaps.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(written.keptBytes + omitted).toBeLessThanOrEqual(encoder.encode(source).length);
  return written.text;
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });

describe("a document held in little memory", () => {
  it("stays true to the source, whatever was given up or passed over, and however it was chunked", () => {
    fc.assert(
      fc.property(
        fc.oneof(arbitraryDocument, records),
        fc.constantFrom(undefined, 2),
        cuts,
        fc.integer({ min: 200, max: 4000 }),
        fc.integer({ min: 50, max: 4000 }),
        (value, indent, at, mostBytes, scanBytes) => {
          const source = JSON.stringify(value, null, indent);
          const text = excerpt(source, at, mostBytes, scanBytes, 2000);
          expect(text).not.toBeNull();
          checkExcerpt(JSON.parse(text as string), JSON.parse(source), "$", " #tag");
          expect(excerpt(source, [], mostBytes, scanBytes, 2000)).toBe(text);
        },
      ),
      { numRuns: 100, endOnFailure: true },
    );
  });

  it("passes over the middle of a long list and counts what it passed", () => {
    const list = Array.from({ length: 20_000 }, (_, id) => ({
      id,
      name: `user ${id}`,
      state: id === 99 ? "failed" : "ok",
    }));
    const source = JSON.stringify({ list, total: list.length });
    const shown = JSON.parse(excerpt(source, [], 8000, 20_000, 1500) as string) as { list: unknown[]; total: number };
    expect(shown.total).toBe(20_000);
    expect(shown.list[0]).toEqual(list[0]);
    expect(shown.list.at(-1)).toEqual(list.at(-1));
    expect(shown.list).toContainEqual(list[99]);
    checkExcerpt(shown, JSON.parse(source), "$", " #tag");
  });

  it.each([
    ["members with short values", "", '"v"'],
    ["members with long keys", "a-name-that-is-much-longer-than-its-value-", "1"],
    ["a first member that takes all the room", "", "1", `"first":[${"1,".repeat(100)}1],`],
  ])("gives up the middle of a long object seldom: %s", (_, prefix, value, first = "") => {
    const mostBytes = 8000;
    const builder = new JsonBuilder(mostBytes, Number.POSITIVE_INFINITY, undefined);
    const lexer = new JsonLexer(builder, mostBytes >> 3);
    lexer.add(encoder.encode(`{${first}"key":0`));
    const group = (builder.root.entries[0] as JsonMember).node as JsonGroup;
    let { entries } = group;
    let trims = 0;
    Object.defineProperty(group, "entries", {
      get: () => entries,
      set(kept: JsonGroup["entries"]) {
        entries = kept;
        trims++;
      },
    });
    let held = 0;
    for (let id = 0; id < 5000; id++) {
      const key = `"${prefix}${id}"`;
      lexer.add(encoder.encode(`,${key}:${value}`));
      held += key.length + 40;
    }
    expect(lexer.failed).toBe(false);
    expect(trims).toBeGreaterThan(0);
    expect(trims).toBeLessThanOrEqual(held / (mostBytes / 8));
  });

  it("reads JSON lines, and holds no more of them than it may", () => {
    const builder = new JsonBuilder(8000, 20_000, undefined);
    const lexer = new JsonLexer(builder, 1000);
    for (let id = 0; id < 20_000; id++) lexer.add(encoder.encode(`{"id":${id},"text":"line ${id}"}\n`));
    expect([lexer.end(), builder.root.count]).toEqual([true, 20_000]);
    expect(heldBytes(builder.root)).toBeLessThan(24_000);
  });

  it.each([
    '{"a":1',
    "[1,]",
    "{1:2}",
    '{"a" 1}',
    "[01]",
    "[1e]",
    '["\\x"]',
    '["\n"]',
    "[tru]",
    "[1]x",
    "1",
    '"a"',
    "",
    "[1}}",
  ])("refuses %s", (source) => {
    expect(excerpt(source, [], 1000, 1000, 1000)).toBeNull();
  });
});
