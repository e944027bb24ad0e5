import fc from "fast-check";
import { expect, it } from "vitest";
import { redactChunks } from "../../../test/redact-chunks.ts";
import { defaultRules } from "./default-rules.ts";

const TOKEN = `ghp_${"a1B2".repeat(9)}`;
const encode = (text: string) => new TextEncoder().encode(text);
const code = fc.constantFrom("\x1b[31m", "\x1b[0m", "\x1b[01;38;5;208m", "\x1b[K", "\x1b[m\x1b[K", "\x1b[");
const CODES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");
const ends = fc.array(fc.nat(400));

it("knows a secret wherever codes stand in it, in chunks of any size", () => {
  const places = fc.array(
    fc.tuple(
      fc.nat(TOKEN.length),
      code.filter((one) => one !== "\x1b["),
    ),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(places, ends, (codes, cuts) => {
      let coloured = TOKEN;
      for (const [at, one] of codes.toSorted(([a], [b]) => b - a))
        coloured = coloured.slice(0, at) + one + coloured.slice(at);
      const { text, count, bytes } = redactChunks(defaultRules, encode(`key ${coloured} end\n`), cuts);
      expect(text.replaceAll(CODES, "")).toBe("key [redacted:github-token] end\n");
      const inside = codes.filter(([at]) => at > 0 && at < TOKEN.length).map(([, one]) => one.length);
      expect({ count, bytes }).toEqual({ count: 1, bytes: inside.reduce((sum, each) => sum + each, TOKEN.length) });
    }),
  );
});

it("hands on every byte of an output without secrets, whatever codes it has and where chunks end", () => {
  const piece = fc.oneof(code, fc.string({ maxLength: 12 }), fc.constantFrom("\x1b", "\x1b]0;t\x07", "ghp_", "\n"));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), ends, (pieces, cuts) => {
      const source = pieces.join("").replaceAll(/\P{ASCII}/gu, "?");
      const { text, count } = redactChunks(defaultRules, encode(source), cuts);
      if (count === 0) expect(text).toBe(source);
    }),
  );
});

it("holds a bounded number of codes", () => {
  const source = `ghp_abc${"\x1b[31m".repeat(60_000)}def ${TOKEN}`;
  const { text, count } = redactChunks(defaultRules, encode(source), []);
  expect(count).toBe(1);
  expect(text).toBe(source.replace(TOKEN, "[redacted:github-token]"));
});
