import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Limits } from "../../contract/limits.ts";
import { createSpillway, type Spillway } from "../../index.ts";
import { measureText } from "../../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { type BoundedTool, boundedTools, openRoots } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-hostile-"));
const root = join(folder, "root");
const NAMES = [
  "code.ts",
  "long.txt",
  "one-line.json",
  "run.log",
  "bytes.bin",
  "utf16.txt",
  "empty",
  "odd\nname.txt",
  "pipe.ts",
  "out",
  "device",
  "many",
  "many/deep",
  "none",
  "..",
  "/etc/passwd",
  "",
  ".",
];

const TOOLS = ["read_file", "list_directory", "find_files", "search_files", "get_repo_structure", "repo_map"];

beforeAll(() => {
  mkdirSync(join(root, "many", "deep", "er"), { recursive: true });
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(root, name), content);
  write("code.ts", Array.from({ length: 700 }, (_, i) => `export function f${i}(a: string) { g${i}(a); }\n`).join(""));
  write("long.txt", "\u00e4 needle \u{1f600} and more\n".repeat(3000));
  write("one-line.json", JSON.stringify({ rows: Array.from({ length: 9000 }, (_, id) => ({ id, name: "needle" })) }));
  write("run.log", "ok\n".repeat(2000) + "ERROR needle\n" + "ok\n".repeat(2000));
  write(
    "bytes.bin",
    Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256),
  );
  write("utf16.txt", Buffer.from(`\ufeff${"needle \u00e4\r\n".repeat(900)}`, "utf16le"));
  write("empty", "");
  write("odd\nname.txt", "needle\n");
  for (let i = 0; i < 400; i++) write(join("many", `${"n".repeat(i % 90)}${i}.ts`), `export const c${i} = "needle";\n`);
  write(join("many", "deep", "er", "x.py"), "def needle():\n    pass\n");
  writeFileSync(join(folder, "secret.txt"), "the secret of outside\n");
  symlinkSync(join(folder, "secret.txt"), join(root, "out"));
  symlinkSync("/dev/zero", join(root, "device"));
  execFileSync("mkfifo", [join(root, "pipe.ts")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const POLICIES: Limits[] = [
  {},
  { maxLines: 7 },
  { maxChars: 300 },
  { maxBytes: 250 },
  { maxTokens: 60 },
  { maxChars: 2000, maxLines: 40, maxTokens: 300 },
  { maxLines: 1 },
  { maxChars: 5 },
];

const anyNumber = fc.oneof(
  fc.integer({ min: -5, max: 600 }),
  fc.constantFrom(1e9, -1e9, "12", 2 ** 53, 0.5, null, "x"),
);
const anyPath = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom(...NAMES).map((name) => join(root, name)),
  fc.string(),
);
const anyPattern = fc.oneof(fc.constantFrom(".", "needle", "", "(", "\\b", "x*", "**/*", "*.ts", "n"), fc.string());
const anyArguments = fc.record(
  {
    path: anyPath,
    pattern: anyPattern,
    glob: fc.oneof(fc.constantFrom("*.ts", "!*.ts", "["), fc.string()),
    literal: fc.boolean(),
    ignore_case: fc.boolean(),
    include_ignored: fc.boolean(),
    show_context: anyNumber,
    max_results: anyNumber,
    start_line: anyNumber,
    end_line: anyNumber,
    start_column: anyNumber,
    limit: anyNumber,
    max_depth: anyNumber,
    max_files: anyNumber,
    max_tokens: anyNumber,
  },
  { requiredKeys: [] },
);

/** The most that a refusal may have: it is written by us, and quotes little of what a model sent. */
const MAX_REFUSAL_CHARS = 1000;

test("whatever a model asks for, an answer is within the limits, well-formed, and says nothing of what is outside", {
  timeout: 240_000,
}, async () => {
  const roots = await openRoots([root]);
  const served: { spillway: Spillway; tools: BoundedTool[] }[] = [];
  for (const limits of POLICIES) {
    const policy = { tools: TOOLS.map((tool) => ({ tool, row: { limits } })) };
    const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, policy });
    served.push({ spillway, tools: boundedTools({ spillway, roots, only: TOOLS }) });
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), anyArguments, async (which, policy, args) => {
      const { spillway, tools } = served[policy % served.length] as (typeof served)[number];
      const tool = tools[which % tools.length] as BoundedTool;
      const own = Object.keys(tool.inputSchema.properties);
      const asked = Object.fromEntries(Object.entries(args).filter(([name]) => own.includes(name)));
      const { text, isError } = await tool.call(asked);
      const size = measureText(text);
      const { limits } = spillway.resolve(tool.name);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain("secret of outside");
      if (isError) return void expect(text.length).toBeLessThanOrEqual(MAX_REFUSAL_CHARS);
      expect(size.bytes).toBeLessThanOrEqual(limits.maxBytes ?? Infinity);
      expect(size.chars).toBeLessThanOrEqual(limits.maxChars ?? Infinity);
      // Limits that nobody has set do not cut a short output for its lines.
      const isShort = size.chars <= NUMBERS.shortOutputChars.default && policy % served.length === 0;
      if (!isShort) expect(size.lines).toBeLessThanOrEqual(limits.maxLines ?? Infinity);
      expect(size.tokens).toBeLessThanOrEqual(Math.min(limits.maxTokens ?? Infinity, tokensOf(tool.name, asked)));
    }),
    { numRuns: 250 },
  );
});

function tokensOf(tool: string, { max_tokens }: Record<string, unknown>): number {
  return tool === "repo_map" ? Number(max_tokens ?? 2000) : Infinity;
}
