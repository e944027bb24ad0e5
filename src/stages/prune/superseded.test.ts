import { expect, it } from "vitest";
import { fileReadBy, supersedes } from "./superseded.ts";

const read = (input: unknown, tool = "read_file") => fileReadBy(tool, { id: "c", tool, input });

it("knows reads of files by the tool's family, with input as an object or as JSON", () => {
  expect(read({ path: "a.ts" })).toMatchObject({ path: "a.ts", isWhole: true });
  expect(read('{"file_path":"a.ts","offset":10}', "mcp__files__Read")).toMatchObject({ path: "a.ts", isWhole: false });
  for (const tool of ["bash", "a_tool_of_no_family"]) expect(read({ path: "a.ts" }, tool)).toBeNull();
  for (const input of [null, "no json", [], {}, { path: 1 }, 7, `{"path":"${"a".repeat(5000)}"}`]) {
    expect(read(input)).toBeNull();
  }
  const circle: Record<string, unknown> = { path: "a.ts" };
  circle.self = circle;
  expect(read(circle)).toBeNull();
  expect(fileReadBy("read_file", null)).toBeNull();
});

it("a later read shows all of an earlier one if it is whole or asks for the same", () => {
  const made = (input: object) => read(input) as NonNullable<ReturnType<typeof read>>;
  expect(supersedes(made({ path: "a" }), made({ path: "a", offset: 3 }))).toBe(true);
  expect(supersedes(made({ path: "a", offset: 3 }), made({ path: "a" }))).toBe(false);
  expect(supersedes(made({ path: "a", offset: 3 }), made({ offset: 3, path: "a" }))).toBe(true);
  expect(supersedes(made({ path: "a", offset: 4 }), made({ path: "a", offset: 3 }))).toBe(false);
  expect(supersedes(made({ path: "b" }), made({ path: "a" }))).toBe(false);
});
