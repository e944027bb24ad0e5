import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NUMBERS } from "../policy/defaults.ts";
import { errorForDisplay } from "./error-for-display.ts";

const MAX_CHARS = NUMBERS.displayErrorChars.default;

const unit = fc.constantFrom("a", "b", "c", " ", "\u65e5", "\u{1f600}", "\ud800", "\udc00");

describe("errorForDisplay", () => {
  it.each<[unknown, string]>([
    ["plain\nsecond", "plain"],
    ["\r\n  indented \r\nsecond", "indented"],
    [new Error("broken\n    at stack"), "broken"],
    [new TypeError(""), "TypeError"],
    [new Error(""), "unknown error"],
    [new Error("", { cause: new Error("the cause") }), "the cause"],
    [new AggregateError([new Error("first"), new Error("second")]), "first"],
    [{ message: "m", details: "d" }, "m"],
    [{ error: "e" }, "e"],
    [{ error: { code: -32000, message: "rpc" } }, "rpc"],
    [{ error: true, reason: "r" }, "r"],
    [{ error: 404, message: "not found" }, "not found"],
    [{ isError: true, content: [{ type: "image" }, { type: "text", text: "from text\nmore" }] }, "from text"],
    [{ isError: true, content: "from content" }, "from content"],
    [{ content: [{ type: "text", text: '{"error":{"message":"inside JSON"}}' }] }, "inside JSON"],
    [{ content: [{ type: "text", text: '{"half' }] }, '{"half'],
    [{ content: [{ type: "text", text: "t" }], details: { error: "from details" } }, "from details"],
    [{ details: { error: "without content" } }, "without content"],
    [{ isError: true, details: { status: "failed", error: { message: "nested" } } }, "nested"],
    [{ message: "m", details: { error: "d" } }, "m"],
    [{ content: [], message: "m", error: "e", details: { error: "d" } }, "d"],
    ["[First 3 lines of 40]\nENOENT: no such file\n[... 30 lines cut ...]", "ENOENT: no such file"],
    [
      "[... 12 lines cut; artifact mzxw6ytboi2a ...]\n\n  TypeError: x is not a function\n",
      "TypeError: x is not a function",
    ],
    [{ isError: true, content: [{ type: "text", text: "[Last 2 lines of 90]\nlate\n[exit code 1]" }] }, "late"],
    [new Error("[Start of line 1 of 1]\nlong message"), "long message"],
    ["[no output]\n[exit code 1]", "[no output]"],
    [
      { content: [{ type: "text", text: "ENOENT: no such file" }], details: { error: "[cut]" } },
      "ENOENT: no such file",
    ],
    [
      {
        content: [
          { type: "text", text: "[exit code 1]" },
          { type: "text", text: "late" },
        ],
      },
      "late",
    ],
    [{ content: [{ type: "text", text: "[exit code 1]" }], details: { error: "[cut]" } }, "[cut]"],
    [new Error("[cut]", { cause: new Error("the cause") }), "the cause"],
    ["[ERR_BAD_ARG] not ours\nmore", "[ERR_BAD_ARG] not ours"],
    [42, "42"],
    [7n, "7"],
    [Symbol("s"), "s"],
    [null, "unknown error"],
    [undefined, "unknown error"],
    ["  \n ", "unknown error"],
    [{}, "unknown error"],
    [{ content: [] }, "unknown error"],
  ])("%# tells %o", (error, shown) => {
    expect(errorForDisplay(error)).toBe(shown);
  });

  it("shows at most 400 characters and parts no pair", () => {
    expect(errorForDisplay("x".repeat(MAX_CHARS))).toBe("x".repeat(MAX_CHARS));
    expect(errorForDisplay("x".repeat(MAX_CHARS + 1))).toBe(`${"x".repeat(MAX_CHARS - 3)}...`);
    const pairs = errorForDisplay("\u{1f600}".repeat(1000));
    expect(pairs).toBe(`${"\u{1f600}".repeat(198)}...`);
    expect(errorForDisplay(`${" ".repeat(1_000_000)}late`)).toBe("late");
  });

  it("survives circles and values that throw when they are read", () => {
    const circle: Record<string, unknown> = {};
    circle.error = circle;
    circle.content = [circle];
    expect(errorForDisplay(circle)).toBe("unknown error");
    const thrower = {
      get message() {
        throw new Error("no");
      },
      error: "still told",
    };
    expect(errorForDisplay(thrower)).toBe("still told");
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(errorForDisplay(revoked.proxy)).toBe("unknown error");
  });

  it("is one well-formed line that is never empty, for anything", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withBigInt: true }), fc.string({ unit, minLength: 390, maxLength: 410 })),
        (error) => {
          const shown = errorForDisplay(error);
          expect(shown).toMatch(/^\S(?:.*\S)?$/u);
          expect(shown.length).toBeLessThanOrEqual(MAX_CHARS);
          expect(shown.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});
