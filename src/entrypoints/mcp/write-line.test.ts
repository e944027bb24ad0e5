import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { writeLine } from "./line-frames.ts";

test("waits for a slow reader, and for nobody who is gone", async () => {
  const slow = new PassThrough({ highWaterMark: 4 });
  let isDone = false;
  const written = writeLine(slow, "a long message").then(() => {
    isDone = true;
  });
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  slow.resume();
  await written;

  const closed = new Writable({ highWaterMark: 4, write() {} });
  closed.on("error", () => {});
  const waiting = writeLine(closed, "a long message");
  closed.destroy();
  await waiting;
  await writeLine(closed, "another message");
});
