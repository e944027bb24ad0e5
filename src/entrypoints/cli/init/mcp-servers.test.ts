import fc from "fast-check";
import { expect, test } from "vitest";
import type { McpFile } from "../../hook/agent.ts";
import { withoutProxy, withProxy } from "./mcp-servers.ts";

const json: McpFile = { path: "", format: "json", at: [["mcpServers"], ["projects", "*", "mcpServers"], ["mcp"]] };
const toml: McpFile = { path: "", format: "toml", at: [["mcp_servers"]] };
const bothWays = (text: string, file: McpFile) => {
  const { text: wrapped, ...said } = withProxy(text, file);
  expect(withProxy(wrapped, file).text).toBe(wrapped);
  expect(withoutProxy(wrapped, file).text).toBe(text);
  expect(withoutProxy(text, file).text).toBe(text);
  return { wrapped, ...said };
};

test("JSON: the proxy comes before every server that is started, and goes again to the byte", () => {
  const text = `\ufeff{ // servers
  "mcpServers": {
    "files": { "command": "npx", "args": [ "-y", "server", ], "env": { "A": "b" } },
    "bare": {"command": "/opt/some server"},
    "empty": { "args": [], "command": "x" },
    "remote": { "type": "http", "url": "https://example.com/mcp" },
    "ours": { "command": "spillway", "args": ["tools"] },
  },
  "projects": { "/p": { "mcpServers": { "deep": { "command": "d", "args": ["--", "1"] } } }, "/q": {} },
  "mcp": { "open": { "type": "local", "command": ["bun", "x.ts"] } },
}`;
  const { wrapped, changed, remote } = bothWays(text, json);
  expect(changed).toEqual(["files", "bare", "empty", "deep", "open"]);
  expect(remote).toEqual(["remote"]);
  expect(wrapped).toContain(`"command": "spillway", "args": ["mcp","--","npx", "-y", "server", ]`);
  expect(wrapped).toContain(`{"command": "spillway", "args": [ "mcp","--","/opt/some server"]}`);
  expect(wrapped).toContain(`"args": ["mcp","--","d","--", "1"]`);
  expect(wrapped).toContain(`"command": ["spillway","mcp","--","bun", "x.ts"]`);
});

test("TOML: tables, dotted keys, braces, literals and comments", () => {
  const text = `model = "x" # [mcp_servers.no]
note = """
[mcp_servers.text]
command = "never"
"""
[mcp_servers.files] # mine
command = 'npx'   # a comment
args = [ # many
  "-y", "server \\"q\\"",
]
env = { A = "b" }

[mcp_servers."odd name"]
"command" = "x"

[mcp_servers.remote]
url = "https://example.com"
[mcp_servers]
inline = { command = "y", args = ["1"] }
short = { command = "z" }
dotted.command = "w"
[[other]]
command = "no"
since = 2026-01-01 10:00:00
`;
  const { wrapped, changed, remote } = bothWays(text, toml);
  expect(changed).toEqual(["files", "odd name", "inline", "short", "dotted"]);
  expect(remote).toEqual(["remote"]);
  expect(wrapped).toContain(`command = "spillway"   # a comment\nargs = ["mcp","--",'npx', # many\n  "-y"`);
  expect(wrapped).toContain(`"command" = "spillway"\n"args" = [ "mcp","--","x"]\n`);
  expect(wrapped).toContain(`short = { command = "spillway", args = [ "mcp","--","z"] }`);
  expect(wrapped).toContain(`dotted.command = "spillway"\ndotted.args = [ "mcp","--","w"]`);
  expect(wrapped).toContain(`command = "no"`);
});

test("flags that the proxy was given go with it", () => {
  const given = `{"mcpServers":{"a":{"command":"spillway","args":["mcp","--max-chars","9","--","npx","-y"]}}}`;
  expect(withoutProxy(given, json).text).toBe(`{"mcpServers":{"a":{"command":"npx","args":["-y"]}}}`);
});

test("whatever the words are, they come back, in JSON and in TOML", () => {
  const word = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(word, fc.option(fc.array(word), { nil: undefined }), fc.nat(3), (command, args, indent) => {
      if (/(^|[\\/])spillway(\.cmd)?$/.test(command)) return;
      const server = { command, ...(args && { args }) };
      bothWays(JSON.stringify({ mcpServers: { a: server } }, null, indent), json);
      const line = (key: string, value: unknown) =>
        value === undefined ? "" : `${key} = ${JSON.stringify(value).replaceAll("\u007f", "\\u007f")}\n`;
      bothWays(`[mcp_servers.a]\n${line("command", command)}${line("args", args)}`, toml);
    }),
  );
});

test("odd files get an error with the place", () => {
  expect(() => withProxy("[mcp_servers.a\ncommand = 1", toml)).toThrow("line 1");
  expect(() => withProxy('a = 1\nb = "open', toml)).toThrow("line 2");
  expect(() => withProxy("[]", json)).toThrow("no object");
  expect(withProxy('{"mcpServers": 7, "projects": []}', json)).toMatchObject({ changed: [], remote: [] });
});
