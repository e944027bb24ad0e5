import type { WireCall } from "../../contract/wire.ts";

/** What a call was given, as text; empty where it has none. */
export function inputText({ input }: WireCall): string {
  if (typeof input === "string") return input;
  try {
    return JSON.stringify(input) ?? "";
  } catch {
    return ""; // circles and the like: no request can hold them either
  }
}
