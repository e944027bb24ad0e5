import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI } from "./mcp-clients.ts";
import { type Script, type Sdk, talk, withoutOurs } from "./mcp-compare.ts";

// Public servers, each asked the same by the official clients, with and without the proxy. Whatever differs is a fault, but
// for our two tools, the schemas of outputs and the stated size.

const at = (path: string) => new URL(`node_modules/${path}`, import.meta.url).pathname;
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** What the servers read, and where they and the proxy keep things. */
let folder = "";
let state = "";

interface Case {
  args: () => string[];
  env?: (run: string) => Record<string, string>;
  script: () => Script;
}

const CASES: Record<string, Case> = {
  everything: {
    args: () => [at("@modelcontextprotocol/server-everything/dist/index.js")],
    script: () => ({
      calls: [
        ["echo", { message: "hello" }],
        ["echo", { wrong: 1 }],
        ["get-sum", { a: 1, b: 2 }],
        ["get-tiny-image"],
        ["get-structured-content", { location: "New York" }],
        ["get-annotated-message", { messageType: "error", includeImage: true }],
        ["get-resource-links", { count: 3 }],
        ["get-resource-reference", { resourceType: "Text", resourceId: 1 }],
        ["trigger-long-running-operation", { duration: 0.2, steps: 2 }],
        ["no-such-tool"],
      ],
      prompts: [["simple-prompt"], ["args-prompt", { city: "Oslo" }], ["no-such-prompt"]],
      resources: ["demo://resource/dynamic/text/1", "demo://resource/dynamic/blob/1", "demo://no/such"],
      volatile: [
        [/\d{1,2}:\d{2}:\d{2}(?: [AP]M)?/g, "TIME"],
        // The same in base64.
        [/(?<="blob":"UmVzb3VyY2Ug)[^"]*/g, "TIME"],
      ],
    }),
  },
  filesystem: {
    args: () => [at("@modelcontextprotocol/server-filesystem/dist/index.js"), folder],
    script: () => ({
      calls: [
        ["list_allowed_directories"],
        ["list_directory", { path: folder }],
        ["directory_tree", { path: folder }],
        ["read_text_file", { path: join(folder, "a.txt") }],
        ["read_multiple_files", { paths: [join(folder, "a.txt"), join(folder, "none")] }],
        ["read_media_file", { path: join(folder, "dot.png") }],
        ["search_files", { path: folder, pattern: "*.txt" }],
        ["read_text_file", { path: "/etc/hostname" }],
        ["read_text_file", {}],
      ],
    }),
  },
  memory: {
    args: () => [at("@modelcontextprotocol/server-memory/dist/index.js")],
    env: (run) => ({ MEMORY_FILE_PATH: join(state, `memory-${run}.jsonl`) }),
    script: () => ({
      calls: [
        ["create_entities", { entities: [{ name: "a", entityType: "t", observations: ["o"] }] }],
        ["create_relations", { relations: [{ from: "a", to: "b", relationType: "knows" }] }],
        ["read_graph"],
        ["search_nodes", { query: "a" }],
        ["open_nodes", { names: ["a", "none"] }],
        ["delete_entities", { entityNames: ["a"] }],
        ["add_observations", { observations: [{ entityName: "none", contents: ["x"] }] }],
      ],
    }),
  },
  "sequential-thinking": {
    args: () => [at("@modelcontextprotocol/server-sequential-thinking/dist/index.js")],
    script: () => ({
      calls: [
        ["sequentialthinking", { thought: "one", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
        ["sequentialthinking", { thought: 1 }],
      ],
    }),
  },
  commands: {
    args: () => [at("mcp-server-commands/build/index.js")],
    script: () => ({
      calls: [
        ["run_command", { command: "echo hello; echo oops >&2" }],
        ["run_command", { command: "exit 3" }],
        ["run_command", {}],
      ],
      prompts: [["run_command", { command: "echo hello" }]],
    }),
  },
  "code-runner": {
    args: () => [at("mcp-server-code-runner/dist/cli.js")],
    script: () => ({
      calls: [
        ["run-code", { code: "console.log(6 * 7)", languageId: "javascript" }],
        ["run-code", {}],
      ],
    }),
  },
  "budget-allocator": {
    args: () => [at("@modelcontextprotocol/server-budget-allocator/dist/index.js"), "--stdio"],
    script: () => ({ calls: [["get-budget-data"], ["none"]], volatile: [[/"[\d-]{10}T[^"]*"/g, '"TIME"']] }),
  },
  debug: {
    args: () => [at("@modelcontextprotocol/server-debug/dist/index.js"), "--stdio"],
    script: () => ({
      calls: [
        ["debug-tool", { contentType: "mixed" }],
        ["debug-tool", { contentType: "resource", multipleBlocks: false }],
        ["debug-tool", { includeStructuredContent: true, includeMeta: true }],
        ["debug-tool", { simulateError: true }],
      ],
      volatile: [
        [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
        [/"(counter|processedAt)":\d+/g, '"$1":0'],
      ],
    }),
  },
  modern: {
    args: () => [new URL("modern-server.mjs", import.meta.url).pathname],
    script: () => ({
      calls: [["log", { lines: 3 }], ["where", { region: "eu" }], ["steps", { who: "me" }], ["none"]],
    }),
  },
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-servers-"));
  state = mkdtempSync(join(tmpdir(), "spillway-servers-"));
  writeFileSync(join(folder, "a.txt"), "one\ntwo\n");
  writeFileSync(join(folder, "dot.png"), Buffer.from(IMAGE, "base64"));
});
afterAll(() => {
  for (const each of [folder, state]) rmSync(each, { recursive: true });
});

describe.each(Object.entries(CASES))("%s", (_, { args, env = () => ({}), script }) => {
  test.each<Sdk>(["v1", "v2", "v2 auto"])("says the same to the %s client with and without the proxy", async (sdk) => {
    // The argument that the proxy adds to each tool is ours.
    const store = ["--no-looking-for", "--dir", join(state, "store")];
    const proxied = [CLI, "mcp", ...store, "--", process.execPath, ...args()];
    const [direct, through] = await Promise.all([
      talk(sdk, args(), env(`${sdk}-direct`), script()),
      talk(sdk, proxied, env(`${sdk}-proxied`), script()),
    ]);
    expect(JSON.stringify(through)).toMatch(/"name":"(?:spillway_)?recall"/);
    expect(withoutOurs(through)).toEqual(withoutOurs(direct));
  });
});
