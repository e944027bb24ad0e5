import { expect, it } from "vitest";
import { MAX_BODY_BYTES } from "../stages/recover/peek-response.ts";
import { Frames, UsageInStream } from "./answer.ts";

const encoder = new TextEncoder();

it("frames come out as they went in, whatever the chunks, also those that are too long to look into", () => {
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    const long = `data: ${"\u{1f600}x".repeat(MAX_BODY_BYTES / 3)}xx${end}`;
    const stream = `data: 1${end}${long}data: 2${end}data: 3`;
    const bytes = encoder.encode(stream);
    const last = encoder.encode(`data: 2${end}data: 3`).length;
    // The last chunks are single bytes: the end of the long frame is split.
    const cuts = [...Array(Math.ceil(bytes.length / 99_991)).keys()].map((at) => at * 99_991);
    const ends = [...new Set([...cuts, ...Array.from({ length: last + 9 }, (_, at) => bytes.length - at)])];
    ends.sort((one, other) => one - other);
    const frames = new Frames();
    const out = ends.flatMap((to, at) => frames.add(bytes.subarray(ends[at - 1] ?? 0, to)));
    out.push(...frames.end());
    // Each piece is written as bytes of its own.
    expect(Buffer.concat(out.map(({ text }) => encoder.encode(text))).equals(bytes)).toBe(true);
    const whole = out.filter(({ isWhole }) => isWhole).map(({ text }) => text);
    expect(whole).toEqual([`data: 1${end}`, `data: 2${end}`, "data: 3"]);
  }
});

it("usage is found behind a frame that is too long", () => {
  const usage = new UsageInStream();
  const long = "x".repeat(MAX_BODY_BYTES);
  for (const text of [`data: "${long}`, `"usage": ${long}"\n\n`, 'data: {"usage":{"prompt_tokens":7}}\n\n'])
    usage.add(encoder.encode(text));
  expect(usage.end().inputTokens).toBe(7);
});
