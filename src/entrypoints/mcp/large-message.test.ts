import fc from "fast-check";
import { expect, test } from "vitest";
import { boundValue } from "../../stages/clamp/bound-value.ts";
import { jsonChunks } from "../../stages/clamp/json-chunks.ts";
import { LargeJson } from "../../values.ts";
import { filled, outlineOf, readLarge } from "./large-message.ts";

/** A message in parts of the given sizes, over and over. */
function inParts(text: string, sizes: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number;
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}

function whole(parts: Uint8Array[]): unknown {
  const large = readLarge(parts);
  if (large === null) return null;
  const read = [...large.texts].map(([name, chunks]) => [name, Buffer.concat([...chunks()]).toString()] as const);
  return filled(large.message, new Map(read));
}

const odd = fc
  .array(fc.constantFrom("a", "u", "d", '"', "\\", "/", "\n", "\u0001", "é", "€", "😀", "\ud83d", "\ude00"), {
    minLength: 1,
  })
  .map((chars) => chars.join(""));

test("long texts are read as JSON reads them, wherever the message is broken", () => {
  fc.assert(
    fc.property(
      odd,
      fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (unit, sizes, isAscii) => {
        const text = unit.repeat(Math.ceil(300_000 / unit.length));
        const message = { id: 1, result: { content: [{ type: "text", text }, { text: unit }], other: { text } } };
        const plain = JSON.stringify(message);
        const json = isAscii
          ? plain.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
          : plain;
        const small = sizes.map((size) => size + 100);
        const read = JSON.parse(JSON.stringify(whole(inParts(json, small)))) as typeof message;
        expect(read.result.content[0]?.text === text.toWellFormed()).toBe(true);
        expect(read.result.content[1]?.text).toBe(unit);
        expect(read.result.other.text === read.result.content[0]?.text).toBe(true);
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
});

test("parts of one byte, and an escape at every edge", () => {
  const text = `${"a".repeat(300_000)}\\"\n\u00e9\ud83d\ude00\ud83d\ud83d\ude00\ud83dn`;
  const json = JSON.stringify({ id: 1, result: { text } });
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  for (const each of [json, ascii]) {
    const bytes = Buffer.from(each);
    const edge = bytes.length - 60;
    const parts = [
      bytes.subarray(0, edge),
      ...Array.from({ length: 60 }, (_, i) => bytes.subarray(edge + i, edge + i + 1)),
    ];
    expect(whole(parts)).toEqual({ id: 1, result: { text: text.toWellFormed() } });
  }
});

test("what must pass whole, asks something, has no long text or is no JSON is left to be read at once", () => {
  const long = "A".repeat(300_000);
  for (const json of [
    JSON.stringify({ id: 1, result: { content: [{ type: "image", data: long }] } }),
    JSON.stringify({ id: 1, method: "x", params: { long } }),
    JSON.stringify({ id: 1, result: { texts: Array.from({ length: 1000 }, () => "A".repeat(1000)) } }),
    `{"id":1,"result":"${long}"`,
    `[{"id":1,"result":"${long}"}]`,
    `{"id":1,"result":{"structuredContent":[${"1, ".repeat(3_000_000)}]}}`,
  ]) {
    expect(readLarge(inParts(json, [65_536]))).toBeNull();
  }
});

test("an outline has the fields of a message, or of each in an array, and nothing that they hold", () => {
  const held = fc.oneof(odd, fc.integer(), fc.constant(null), fc.jsonValue());
  const outline = (value: unknown) => (Array.isArray(value) ? [] : typeof value === "object" && value ? {} : value);
  const fields = (message: object) =>
    Object.fromEntries(Object.entries(message).map(([key, value]) => [key, outline(value)]));
  const message = fc
    .uniqueArray(fc.tuple(fc.constantFrom("id", "method", "params", "result", 'a"]}', "\\"), held), {
      selector: ([key]) => key,
    })
    .map((entries) => Object.fromEntries(entries));
  fc.assert(
    fc.property(message, fc.array(message), fc.constantFrom(undefined, 2), (one, several, indent) => {
      const read = (value: unknown) =>
        JSON.parse(outlineOf(inParts(` ${JSON.stringify(value, null, indent)}`, [7, 1])));
      // JSON has no -0.
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
      expect(read(one)).toEqual(plain(fields(one)));
      expect(read(several)).toEqual(plain(several.map(fields)));
    }),
  );
  const cutOff = Buffer.from('{"id":1,"result":{"a":"cut off');
  expect(() => JSON.parse(outlineOf([cutOff]))).toThrow(SyntaxError);
});

test("content of many blocks is one text, each block from a line of its own, and other blocks stay", () => {
  fc.assert(
    fc.property(odd, fc.array(fc.integer({ min: 200, max: 70_000 }), { minLength: 1, maxLength: 3 }), (unit, sizes) => {
      const texts = Array.from({ length: 70 }, (_, at) =>
        at === 3 ? "" : `${at} ${unit.repeat(80_000 / unit.length)}`,
      );
      const image = { type: "image", data: "AAAA", mimeType: "image/png" };
      const content: object[] = texts.map((text) => ({ text, annotations: { audience: ["user"] }, type: "text" }));
      content.splice(10, 0, image);
      const json = JSON.stringify(
        { jsonrpc: "2.0", id: 1, result: { isError: true, content, _meta: { a: [1] } } },
        null,
        1,
      );
      const read = whole(inParts(json, sizes)) as { result: { content: { text?: string }[] } };
      const [joined, ...others] = read.result.content;
      expect(others).toEqual([image]);
      const said = texts.filter((text) => text !== "").map((text) => text.toWellFormed());
      expect(joined?.text === said.reduce((all, text) => `${all}${all.endsWith("\n") ? "" : "\n"}${text}`)).toBe(true);
      expect(read).toMatchObject({ id: 1, result: { isError: true, _meta: { a: [1] } } });
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

function structured(json: string, sizes = [65_536]): { seen: LargeJson | undefined; texts: number } {
  const large = readLarge(inParts(json, sizes));
  const content = large?.message.result?.structuredContent;
  return { seen: content instanceof LargeJson ? content : undefined, texts: large?.texts.size ?? 0 };
}

function rowsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : (value as { rows: unknown[] }).rows;
}

test("large structured content keeps its ends, its length and its JSON in lines", () => {
  const rows = Array.from({ length: 150_000 }, (_, id) => ({
    id,
    name: `row "${id}" \\ é`,
    list: [],
    more: { a: [id] },
  }));
  for (const [indent, value] of [
    [undefined, { rows, total: 7, [`a"]}`]: {} }],
    [1, rows],
  ] as const) {
    const json = JSON.stringify({ id: 1, result: { content: [], structuredContent: value } }, null, indent);
    const { seen } = structured(json, [65_536, 7, 1000]);
    expect(Buffer.concat([...(seen?.lines() ?? [])]).toString() === [...jsonChunks(value)].join("")).toBe(true);
    const list = rowsOf(seen?.seen);
    expect(list.length).toBe(rows.length);
    expect([list[0], list[999], list.at(-999), list.at(-1)]).toEqual([rows[0], rows[999], rows.at(-999), rows.at(-1)]);
    expect(Object.keys(list).length).toBeLessThan(rows.length);
    expect(list.every((row, at) => JSON.stringify(row) === JSON.stringify(rows[at]))).toBe(true);
    expect(boundValue(seen?.seen, 50_000)).toEqual(boundValue(value, 50_000));
  }
});

test("lists inside lists are read in part too, and numbers are not read at all", () => {
  const inner = `[${Array.from({ length: 1_500_000 }, (_, at) => `12345678901234567${at % 10}`).join(",")}]`;
  const { seen } = structured(`{"id":1,"result":{"structuredContent":{"a":[1,${inner},2]}}}`);
  const { a } = (seen as LargeJson).seen as { a: [number, number[], number] };
  expect([a[0], a[1].length, Object.keys(a[1]).length < 1_000_000, a[2]]).toEqual([1, 1_500_000, true, 2]);
  expect(
    Buffer.concat([...(seen?.lines() ?? [])])
      .toString()
      .includes("\n   123456789012345679,\n"),
  ).toBe(true);
});

test("a long list that is left out of a longer one goes as a whole", () => {
  const inner = `[${Array.from({ length: 500_000 }, (_, at) => `12345678901234567${at % 10}`).join(",")}]`;
  const { seen } = structured(`{"id":1,"result":{"structuredContent":{"a":[${inner},${inner},${inner}]}}}`);
  const { a } = (seen as LargeJson).seen as { a: number[][] };
  expect([a.length, Object.keys(a), a[0]?.length, a[2]?.length]).toEqual([3, ["0", "2"], 500_000, 500_000]);
});

test("structured content that a text says already goes, with other white space too", () => {
  const rows = Array.from({ length: 150_000 }, (_, id) => ({ id, name: `row ${id}` }));
  const result = (text: string) => ({ content: [{ type: "text", text }], structuredContent: { rows } });
  const said = (text: string) => structured(JSON.stringify({ id: 1, result: result(text) }));
  expect(said(JSON.stringify({ rows }))).toEqual({ seen: undefined, texts: 1 });
  expect(said(JSON.stringify({ rows }, null, 2))).toEqual({ seen: undefined, texts: 1 });
  expect(said(JSON.stringify({ rows: rows.toReversed() })).seen).toBeInstanceOf(LargeJson);
});
