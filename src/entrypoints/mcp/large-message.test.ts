import fc from "fast-check";
import { expect, test } from "vitest";
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
      const read = (value: unknown) => JSON.parse(outlineOf(Buffer.from(` ${JSON.stringify(value, null, indent)}`)));
      // JSON has no -0.
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
      expect(read(one)).toEqual(plain(fields(one)));
      expect(read(several)).toEqual(plain(several.map(fields)));
    }),
  );
  const cutOff = Buffer.from('{"id":1,"result":{"a":"cut off');
  expect(() => JSON.parse(outlineOf(cutOff))).toThrow(SyntaxError);
});
