import { expect, test } from "vitest";
import { mediaBytes } from "./media-bytes.ts";

const BASE64 = Buffer.from("some bytes").toString("base64");
const holder = (field: string | null, texts: Record<string, string> = {}) => ({
  field,
  text: (name: string) => texts[name],
});

test.each([
  ["bytes", "source", {}, true],
  ["bytes", "other", {}, false],
  ["bytes", null, {}, false],
  ["blob", null, {}, true],
  ["data", "inlineData", {}, true],
  ["data", null, { type: "image" }, true],
  ["data", null, { type: "text", mimeType: "image/png" }, false],
  ["data", null, { mimeType: "image/png" }, true],
  ["data", null, { mimeType: "application/json" }, false],
  ["data", null, {}, false],
  ["image", null, { type: "image" }, true],
  ["image", null, { type: "text" }, false],
  ["text", "source", {}, false],
])("base64 in the field %s of %s with %o is media: %s", (name, field, texts: Record<string, string>, isMedia) => {
  expect(mediaBytes(name, BASE64, holder(field, texts))).toBe(isMedia ? 10 : null);
});

test("an address of an image is no media, and bytes are counted as they are", () => {
  expect(mediaBytes("image", "https://host/a.png", holder(null, { type: "image" }))).toBeNull();
  expect(mediaBytes("data", new Uint8Array(7), holder(null))).toBe(7);
  expect(mediaBytes("url", `data:image/png;base64,${BASE64}`, holder(null))).toBe(10);
});
