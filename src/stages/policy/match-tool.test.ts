import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lastSegment, matchesPattern, matchRules, rankMatch, TOOL_FAMILIES } from "./resolve-tool-policy.ts";

describe("matchesPattern", () => {
  it("agrees with the plain meaning of *", () => {
    // Brute force: a pattern matches if its rest matches some rest of the name.
    const means = (pattern: string, name: string): boolean => {
      if (pattern === "") return name === "";
      if (pattern[0] === "*")
        return Array.from({ length: name.length + 1 }).some((_, at) => means(pattern.slice(1), name.slice(at)));
      return name !== "" && pattern[0] === name[0] && means(pattern.slice(1), name.slice(1));
    };
    const word = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 7 });
    const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    fc.assert(
      fc.property(word, name, (pattern, text) => matchesPattern(pattern, text) === means(pattern, text)),
      { numRuns: 3000 },
    );
  });

  it("is case-insensitive and takes every other sign as it is", () => {
    expect(matchesPattern("*IMAGE*", "view_image_file")).toBe(true);
    expect(matchesPattern("a.c*", "abcd")).toBe(false);
    expect(matchesPattern("*ab*b", "ab")).toBe(false);
    expect(matchesPattern("(a+)+$*", "aaaa")).toBe(false);
  });

  it("ends on hostile names and patterns", () => {
    expect(matchesPattern(`${"*a".repeat(120)}*b`, "a".repeat(200_000))).toBe(false);
    expect(matchesPattern(`${"*a*".repeat(80)}`, "a".repeat(79))).toBe(false);
    expect(rankMatch("read_file", `${"__".repeat(100_000)}read_file`)).toBeGreaterThan(0);
  });
});

describe("rankMatch", () => {
  it("exact beats wildcard beats last segment beats family beats *", () => {
    const ranks = ["mcp__fs__bash", "mcp__fs__*", "mcp__*", "bash", "run_command", "*"].map((pattern) =>
      rankMatch(pattern, "mcp__fs__Bash"),
    );
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(new Set(ranks).size).toBe(ranks.length);
    expect(Math.min(...ranks)).toBeGreaterThan(0);
    expect(rankMatch("read_file", "mcp__fs__bash")).toBe(0);
  });

  it("knows the families under their many names and prefixes", () => {
    for (const tool of ["exec", "bash", "Bash", "shell", "run_terminal_cmd", "PowerShell", "functions.exec"]) {
      expect(rankMatch("run_command", tool), tool).toBeGreaterThan(0);
    }
    for (const tool of [
      "read",
      "Read",
      "view",
      "cat",
      "mcp__server__read_file",
      "server.read_file",
      "server/ReadFile",
    ]) {
      expect(rankMatch("read_file", tool), tool).toBeGreaterThan(0);
    }
    for (const tool of ["ls", "LS", "list_dir", "Glob"])
      expect(rankMatch("list_directory", tool), tool).toBeGreaterThan(0);
    for (const tool of ["Grep", "grep_search", "ripgrep", "find_in_files", "search_files"]) {
      expect(rankMatch("search_files", tool), tool).toBeGreaterThan(0);
      expect(rankMatch("grep_search", tool), tool).toBeGreaterThan(0);
    }
    // Only a family's own keys stand for all of it.
    expect(rankMatch("bash", "powershell")).toBe(0);
  });

  it("no name is in two families, and none of them is an inherited property", () => {
    const members = TOOL_FAMILIES.flatMap((family) => family.members);
    expect(members.filter((name, index) => members.indexOf(name) !== index)).toEqual([]);
    expect(members.filter((name) => name !== name.toLowerCase())).toEqual([]);
    for (const odd of ["__proto__", "constructor", "toString", ""]) expect(rankMatch("read_file", odd)).toBe(0);
  });

  it("lastSegment never loses the name", () => {
    expect(lastSegment("mcp__a__b__c")).toBe("c");
    expect(lastSegment("a.b:c/d")).toBe("d");
    expect(lastSegment("bash")).toBe("bash");
    expect(lastSegment("____")).toBe("____");
  });
});

describe("matchRules", () => {
  it("sorts weakest first; of equals the later is stronger", () => {
    const rules = ["bash", "*sh", "ba*", "run_command", "*", "B*sh", "BASH"].map((tool) => ({ tool, row: {} }));
    expect(matchRules(rules, "bash").map(({ tool }) => tool)).toEqual([
      "*",
      "run_command",
      "*sh",
      "ba*",
      "B*sh",
      "bash",
      "BASH",
    ]);
  });
});
