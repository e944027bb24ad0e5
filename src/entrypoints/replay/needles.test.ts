import { describe, expect, it } from "vitest";
import { identifiersIn, linesIn, saidIn } from "./sources.ts";

describe("identifiersIn", () => {
  it("takes names that join words or digits, of 8 characters or more", () => {
    expect([...identifiersIn("read_file parseJson2 sha256sum getElementById d703a1a9 a_b __init__x")]).toEqual([
      "read_file",
      "parseJson2",
      "sha256sum",
      "getElementById",
      "d703a1a9",
      "__init__x",
    ]);
  });

  it("takes no prose, no shouting and no numbers", () => {
    expect([...identifiersIn("Understanding IMPORTANT 1234567890 https _________ McDonald")]).toEqual(["McDonald"]);
  });
});

describe("linesIn", () => {
  it("takes lines of 16 characters or more without the space around them, once each", () => {
    expect([...linesIn("  0123456789abcdef  \r\nshort\n0123456789abcdef\n------------------\n")]).toEqual([
      "0123456789abcdef",
    ]);
  });
});

describe("saidIn", () => {
  it("reads JSON's strings", () => {
    expect(saidIn('{"path":"a","lines":["b\\nc",1]}')).toBe("a\nb\nc");
    expect(saidIn("{not json")).toBe("{not json");
  });
});
