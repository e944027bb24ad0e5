import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, newLineFrames } from "./line-frames.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (line: Line) => new TextDecoder().decode(Array.isArray(line) ? Buffer.concat(line) : line);

test("gives every line whole, however the stream was cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z{}":é ]{1,30}$/)),
      fc.array(fc.nat(20), { minLength: 1 }),
      (lines, cuts) => {
        const bytes = encode(lines.map((line) => `${line}\r\n`).join(""));
        const frames = newLineFrames(1000, () => expect.unreachable());
        const got: string[] = [];
        for (let from = 0, i = 0; from < bytes.length; i++) {
          const to = from + 1 + (cuts[i % cuts.length] as number);
          got.push(...frames.add(bytes.slice(from, to)).map(decode));
          from = to;
        }
        expect(got.map((line) => line.trimEnd())).toEqual(
          lines.map((line) => line.trimEnd()).filter((line) => line !== ""),
        );
      },
    ),
  );
});

test("leaves out a line that is too long, says how long it was, and goes on", () => {
  const told: [string, number][] = [];
  const frames = newLineFrames(10, (start, bytes) => told.push([decode(start), bytes]));
  const lines = [...frames.add(encode("0123")), ...frames.add(encode("456789ab")), ...frames.add(encode("cd\nnext\n"))];
  expect(lines.map(decode)).toEqual(["next"]);
  expect(told).toEqual([["0123", 14]]);
});

test("gives a large line in the parts in which it came", () => {
  const frames = newLineFrames(1e9, () => expect.unreachable());
  const part = new Uint8Array(5_000_000).fill(97);
  expect([...frames.add(part), ...frames.add(part)]).toEqual([]);
  const [line, ...others] = frames.add(encode("\nnext\n"));
  expect(line).toHaveLength(2);
  expect((line as Uint8Array[])[0]?.buffer === part.buffer).toBe(true);
  expect(others.map(decode)).toEqual(["next"]);
});
