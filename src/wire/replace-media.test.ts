import { expect, it } from "vitest";
import { replaceMedia } from "./blocks.ts";

const TEXT = "[left out]";

it.each([
  [
    "anthropic",
    {
      role: "user",
      content: [
        { type: "image", source: {}, cache_control: { type: "ephemeral" } },
        { type: "text", text: "a" },
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: TEXT, cache_control: { type: "ephemeral" } },
        { type: "text", text: "a" },
      ],
    },
  ],
  [
    "openai-chat",
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "data:" } },
        { type: "input_audio", input_audio: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: TEXT },
        { type: "text", text: TEXT },
      ],
    },
  ],
  [
    "openai-responses",
    {
      role: "user",
      content: [
        { type: "input_image", image_url: "data:" },
        { type: "input_file", file_data: "x" },
      ],
    },
    {
      role: "user",
      content: [
        { type: "input_text", text: TEXT },
        { type: "input_text", text: TEXT },
      ],
    },
  ],
  [
    "gemini",
    { role: "user", parts: [{ inlineData: { data: "x" } }, { text: "a" }] },
    { role: "user", parts: [{ text: TEXT }, { text: "a" }] },
  ],
  [
    "bedrock",
    { role: "user", content: [{ image: { format: "png" } }, { text: "a" }] },
    { role: "user", content: [{ text: TEXT }, { text: "a" }] },
  ],
  [
    "ai-sdk",
    { role: "user", content: [{ type: "file", data: "x", mediaType: "image/png" }] },
    { role: "user", content: [{ type: "text", text: TEXT }] },
  ],
])("%s: a text in place of media, and a copy", (_name, message, said) => {
  const before = structuredClone(message);
  expect(replaceMedia(message, TEXT)).toEqual(said);
  expect(message).toEqual(before);
});

it("what has no media is the same object, whatever it is", () => {
  for (const message of [
    { role: "user", content: "a" },
    {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "tool_result", content: [{ type: "image" }] },
      ],
    },
    null,
    7,
    [],
    {},
  ]) {
    expect(replaceMedia(message, TEXT)).toBe(message);
  }
});
