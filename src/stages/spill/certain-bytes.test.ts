import { expect, it } from "vitest";
import { CertainBytes } from "./spill.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

it("hands on a chunk that is let go whole as itself, and all else as a copy", () => {
  const certain = new CertainBytes();
  const whole = bytes("whole");
  certain.begin(whole);
  certain.add(whole);
  expect(certain.take()).toBe(whole);
  const chunk = bytes("secret and more");
  const lent = bytes("[redacted] and ");
  certain.begin(chunk);
  certain.add(lent);
  lent.fill(0);
  certain.add(bytes("more"));
  expect(certain.take()).toEqual(bytes("[redacted] and more"));
  expect(certain.take()).toHaveLength(0);
  certain.begin(whole);
  certain.add(whole);
  certain.add(bytes("!"));
  expect(certain.take()).toEqual(bytes("whole!"));
});
