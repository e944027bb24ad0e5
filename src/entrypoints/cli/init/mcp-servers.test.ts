import fc from "fast-check";
import { expect, test } from "vitest";
import type { McpFile } from "../../hook/agent.ts";
import { offersIn, withoutProxy, withProxy } from "./mcp-servers.ts";

const json: McpFile = { path: "", format: "json", at: [["mcpServers"], ["projects", "*", "mcpServers"], ["mcp"]] };
const toml: McpFile = { path: "", format: "toml", at: [["mcp_servers"]] };
const bothWays = (text: string, file: McpFile) => {
  const { text: wrapped, offers: _, ...said } = withProxy(text, file);
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
  // "ours" offers recall and search already.
  expect(wrapped).toContain(`"command": "spillway", "args": ["mcp","--no-read-back","--","npx", "-y", "server", ]`);
  expect(wrapped).toContain(`{"command": "spillway", "args": [ "mcp","--no-read-back","--","/opt/some server"]}`);
  expect(wrapped).toContain(`"args": ["mcp","--no-read-back","--","d","--", "1"]`);
  expect(wrapped).toContain(`"command": ["spillway","mcp","--no-read-back","--","bun", "x.ts"]`);
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
  expect(wrapped).toContain(`"command" = "spillway"\n"args" = [ "mcp","--no-read-back","--","x"]\n`);
  expect(wrapped).toContain(`short = { command = "spillway", args = [ "mcp","--no-read-back","--","z"] }`);
  expect(wrapped).toContain(`dotted.command = "spillway"\ndotted.args = [ "mcp","--no-read-back","--","w"]`);
  expect(wrapped).toContain(`command = "no"`);
});

test("of the servers that are started together one offers recall and search", () => {
  const file = (servers: object, projects: object = {}) => JSON.stringify({ mcpServers: servers, projects });
  const offering = (text: string, isOffered = false) => {
    const { text: after, offers } = withProxy(text, json, isOffered);
    const { mcpServers, projects } = JSON.parse(after) as {
      mcpServers: Record<string, { args: string[] }>;
      projects: Record<string, { mcpServers: Record<string, { args: string[] }> }>;
    };
    const all = [
      ...Object.entries(mcpServers),
      ...Object.values(projects).flatMap((each) => Object.entries(each.mcpServers)),
    ];
    return { names: all.flatMap(([name, { args }]) => (args.includes("--no-read-back") ? [] : name)), offers };
  };
  const [a, b] = [{ command: "x" }, { command: "y", args: ["--no-read-back"] }];
  const off = { command: "z", disabled: true };
  expect(offering(file({ off, a, b: { command: "y" } }))).toEqual({ names: ["a"], offers: true });
  expect(offering(file({ a }), true)).toEqual({ names: [], offers: true });
  expect(offering(file({ a }, { "/p": { mcpServers: { c: a } } }))).toEqual({ names: ["a"], offers: true });
  const projects = { "/p": { mcpServers: { c: a, d: a } }, "/q": { mcpServers: { e: a } } };
  expect(offering(file({}, projects))).toEqual({ names: ["c", "e"], offers: false });
  // What an earlier set-up offers stays, and the server's own words are no flags of ours.
  const ours = { command: "spillway", args: ["mcp", "--", "y"] };
  expect(offering(file({ a, ours }))).toEqual({ names: ["ours"], offers: true });
  const same = { command: "spillway", args: ["mcp", "--", "y", "--no-read-back"] };
  expect(offersIn(file({ same }), json)).toBe(true);
  expect(offersIn(file({ b }), json)).toBe(false);
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
