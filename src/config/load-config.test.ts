import type * as promises from "node:fs/promises";
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SpillwayError } from "../errors.ts";
import { resolvePolicy } from "../stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "../stages/policy/resolve-tool-policy.ts";
import { type LoadConfigOptions, loadConfig } from "./index.ts";

// Whoever runs the tests may be allowed to read everything.
vi.mock("node:fs/promises", async (load) => {
  const actual = await load<typeof promises>();
  return { ...actual, open: vi.fn<typeof open>(actual.open) };
});

let top: string;
let home: string;
let cwd: string;

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), "spillway-config-"));
  home = join(top, "home");
  cwd = join(home, "code", "project", "src");
  await mkdir(cwd, { recursive: true });
});
afterEach(() => rm(top, { recursive: true }));

const USER = "home/.config/spillway/spillway.yaml";
const PROJECT = "home/code/project/spillway.yaml";

async function put(path: string, text: string): Promise<string> {
  const full = join(top, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
  return full;
}
const load = (options: LoadConfigOptions = {}) => loadConfig({ cwd, home, env: {}, platform: "linux", ...options });
async function failure(options: LoadConfigOptions = {}): Promise<string> {
  const error = await load(options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SpillwayError);
  expect((error as SpillwayError).code).toBe("bad-config");
  return (error as SpillwayError).message.replaceAll(`${top}/`, "");
}
const toolPolicy = async (tool: string) => resolveToolPolicy(resolvePolicy((await load()).policy), tool);

describe("sizes", () => {
  it("are written with a unit wherever bytes are meant", async () => {
    await put(
      USER,
      `ceiling: { max_bytes: 1 MiB }
tools: { bash: { maxBytes: 10KB, max_lines: 7 }, cat: { max_bytes: none } }
pruning: { max_request_bytes: 8MB }
retention: { max_bytes: 2.5GiB, max_session_bytes: 1000 }`,
    );
    const { options, policy } = await load();
    expect(policy.ceiling).toEqual({ maxBytes: 1024 ** 2 });
    expect((await toolPolicy("bash")).limits).toMatchObject({ maxBytes: 10_240, maxLines: 7 });
    expect((await toolPolicy("cat")).limits.maxBytes).toBe(1024 ** 2);
    expect(policy.pruning).toEqual({ maxRequestBytes: 8 * 1024 ** 2 });
    expect(options.retention).toEqual({ maxBytes: 2.5 * 1024 ** 3, maxSessionBytes: 1000 });
  });

  it.each([
    [
      "default: { max_bytes: 10 lines }",
      'expected a whole number of 0 or more, a size such as 50KB, or none; got "10 lines"',
    ],
    ["retention: { max_bytes: 900000TB }", "or a size such as 500MB; got"],
    ["default: { max_lines: 10KB }", 'expected a whole number of 0 or more, or none; got "10KB"'],
  ])("%s is a mistake", async (text, message) => {
    await put(USER, text);
    expect(await failure()).toContain(message);
  });
});

describe("upstreams", () => {
  it("are the user's own to say, and no project's", async () => {
    await put(PROJECT, "upstreams: { openai: https://elsewhere.example }");
    await put(USER, "upstreams: { anthropic: 'http://127.0.0.1:9/api', allowed: ['https://eu.example/v1'] }");
    const { upstreams, options, warnings } = await load();
    expect(upstreams).toEqual({ anthropic: "http://127.0.0.1:9/api", allowed: ["https://eu.example/v1"] });
    expect(options).toEqual({ policy: expect.anything() });
    expect(warnings).toEqual([
      expect.stringContaining(":1:1: upstreams is ignored in a project's file: where requests"),
    ]);
  });

  it.each([
    ["upstreams: { gemini: example.com }", "upstreams.gemini: expected an address such as https://host/v1"],
    [
      "upstreams: { gemini: 'https://u:p@example.com' }",
      'without a query or a password; got "https://...@example.com"',
    ],
    ["upstreams: { allowed: https://a.example }", "expected a list of addresses"],
    ["upstreams: { allowed: ['ftp://a.example'] }", "expected an address such as https://host/v1"],
  ])("%s is a mistake", async (text, message) => {
    await put(USER, text);
    expect(await failure()).toContain(message);
  });
});

describe("where a config is found", () => {
  it("nothing anywhere: nothing is said", async () => {
    const nothing = { policy: {}, options: { policy: {} }, upstreams: {}, sources: [], ignored: [], warnings: [] };
    expect(await load()).toEqual({ ...nothing, notes: [] });
  });

  it("a project's, from the working directory upwards, the nearest; then the user's own; then the environment", async () => {
    await put("home/code/spillway.yaml", "default: { max_lines: 1 }");
    const project = await put(
      PROJECT,
      "default: { max_lines: 22, max_chars: 7000 }\ntools: { bash: { max_lines: 20 } }",
    );
    const user = await put(USER, "default: { max_lines: 33 }\ntools: { bash: { max_lines: 30 } }");
    const { sources, warnings } = await load({ env: { SPILLWAY_HEAD_SHARE: "0.4" } });
    expect(sources).toMatchObject([
      { kind: "project", path: project },
      { kind: "user", path: user },
      { kind: "environment", path: null },
    ]);
    expect(warnings).toEqual([]);
    expect((await toolPolicy("other")).limits).toMatchObject({ maxLines: 22, maxChars: 7000 });
    expect((await toolPolicy("bash")).limits).toMatchObject({ maxLines: 20 });
  });

  it("home is the last folder looked into", async () => {
    await put("spillway.yaml", "default: { max_lines: 1 }");
    expect((await load()).sources).toMatchObject([]);
    const inHome = await put("home/spillway.yaml", "default: { max_lines: 1 }");
    expect((await load()).sources).toMatchObject([{ kind: "project", path: inHome }]);
  });

  it("--config and SPILLWAY_CONFIG replace the search, the first winning", async () => {
    await put(PROJECT, "default: { max_lines: 1 }");
    await put(USER, "default: { max_lines: 2 }");
    await put("a.yaml", "profile: off");
    await put("b.conf", "// a comment\n{ profile: 'frugal' }");
    const env = { SPILLWAY_CONFIG: join(top, "b.conf") };
    expect((await load({ env })).policy).toEqual({ profile: "frugal" });
    expect((await load({ env, file: "../../../../a.yaml" })).policy).toEqual({ profile: "off" });
    expect(await failure({ file: "gone.yaml" })).toMatch(/^cannot read config .*gone\.yaml: no such file$/);
    expect(await failure({ file: "." })).toMatch(/it is a folder$/);
  });

  it("follows the platform's habits", async () => {
    const xdg = await put("xdg/spillway/spillway.json", "{}");
    expect((await load({ env: { XDG_CONFIG_HOME: join(top, "xdg") } })).sources).toMatchObject([
      { kind: "user", path: xdg },
    ]);
    const mac = await put("home/Library/Application Support/spillway/spillway.json5", "{}");
    expect((await load({ platform: "darwin" })).sources).toMatchObject([{ kind: "user", path: mac }]);
    const windows = await put("roaming/spillway/spillway.jsonc", "{}");
    const env = { APPDATA: join(top, "roaming"), XDG_CONFIG_HOME: "relative" };
    expect((await load({ platform: "win32", env })).sources).toMatchObject([{ kind: "user", path: windows }]);
  });

  it("says which of two files beside each other it does not read, and what is no file", async () => {
    await put(PROJECT, "profile: frugal");
    await put("home/code/project/spillway.json", "{}");
    await mkdir(join(top, "home/code/project/spillway.yml"));
    expect((await load()).warnings).toEqual([
      expect.stringMatching(/project\/spillway\.yml is not read: it is not a file$/),
      expect.stringMatching(/project\/spillway\.json is not read: .*spillway\.yaml is$/),
    ]);
    await symlink("/dev/zero", join(cwd, "spillway.yaml"));
    const { policy, warnings } = await load();
    expect(policy.project?.profile).toBe("frugal");
    expect(warnings[0]).toMatch(/spillway\.yaml is not read: it is not a file$/);
  });

  it("says that a variable is ignored that looks like one of ours, and leaves others alone", async () => {
    const env = { SPILLWAY_MAX_LINE: "5", SPILLWAY_DRI: "x", SPILLWAY_MAX_LINES: "9", SPILLWAY_SEED: "1", LINES: "3" };
    const { policy, warnings } = await load({ env });
    expect(warnings).toEqual([
      "SPILLWAY_MAX_LINE is ignored; did you mean SPILLWAY_MAX_LINES?",
      "SPILLWAY_DRI is ignored; did you mean SPILLWAY_DIR?",
    ]);
    expect(policy).toEqual({ force: { limits: { maxLines: 9 } } });
  });
});

describe("errors", () => {
  const cases: [name: string, text: string, message: string][] = [
    [
      "a wrong value",
      "default:\n  max_lines: many",
      'spillway.yaml:2:14: default.max_lines: expected a whole number of 0 or more, or none; got "many"',
    ],
    [
      "a negative limit",
      "ceiling: {maxBytes: -1}",
      "spillway.yaml:1:21: ceiling.maxBytes: expected a whole number of 0 or more, a size such as 50KB, or none; got -1",
    ],
    [
      "half a line",
      "tools:\n  bash:\n    max_lines: 1.5",
      "spillway.yaml:3:16: tools.bash.max_lines: expected a whole number of 0 or more, or none; got 1.5",
    ],
    [
      "a typo",
      "tools:\n  bash:\n    max_line: 5",
      "spillway.yaml:3:5: unknown key tools.bash.max_line; did you mean max_lines?",
    ],
    [
      "a typo in camelCase",
      "default: {maxLine: 5}",
      "spillway.yaml:1:11: unknown key default.maxLine; did you mean maxLines?",
    ],
    ["swapped letters", "profiel: frugal", "spillway.yaml:1:1: unknown key profiel; did you mean profile?"],
    [
      "a key like no other",
      "commands: {zebra: 5}",
      "spillway.yaml:1:12: unknown key commands.zebra; known here: max_chars, max_pending_chars",
    ],
    [
      "a share out of range",
      "default: {head_share: 30}",
      "spillway.yaml:1:23: default.head_share: expected a number from 0 to 1; got 30",
    ],
    [
      "a number out of range",
      "commands: {max_chars: 5}",
      "spillway.yaml:1:23: commands.max_chars: expected a whole number from 1,000 to 16,777,216; got 5",
    ],
    [
      "a wrong profile",
      "profile: cheap",
      'spillway.yaml:1:10: profile: expected balanced, frugal, uniform or off; got "cheap"',
    ],
    [
      "a mode nobody knows",
      "agent: {contextPruning: {mode: soft}}",
      'spillway.yaml:1:32: agent.contextPruning.mode: expected adaptive, aggressive, cache-ttl or off; got "soft"',
    ],
    [
      "a list for a mapping",
      "tools: [a]",
      "spillway.yaml:1:8: tools: expected a mapping of keys to values; got a list",
    ],
    ["a list for a file", "- a", "spillway.yaml:1:1: expected a mapping of keys to values; got a list"],
    [
      "a text for a list",
      "pruning: {tools: {allow: exec}}",
      'spillway.yaml:1:26: pruning.tools.allow: expected a list of names; got "exec"',
    ],
    [
      "a blank placeholder",
      "pruning: {hard_clear: {placeholder: ' '}}",
      'spillway.yaml:1:37: pruning.hard_clear.placeholder: expected a text that is not blank; got " "',
    ],
    [
      "one thing said twice",
      "default:\n  max_lines: 1\n  maxLines: 2",
      "spillway.yaml:3:3: default.maxLines is the same as max_lines; keep one",
    ],
    ["a key twice", "profile: frugal\nprofile: off", "spillway.yaml:2:1: the key profile is already on line 1"],
    ["a key that is no key", "__proto__: {a: 1}", "spillway.yaml:1:1: the key __proto__ is not allowed"],
    ["an alias without an anchor", "default: *gone", "spillway.yaml:1:10: no anchor &gone stands before this alias"],
    ["a tag", "profile: !!js/function x", "spillway.yaml:1:10: Unresolved tag: tag:yaml.org,2002:js/function"],
    [
      "two documents",
      "profile: frugal\n---\nprofile: off",
      "spillway.yaml:2:1: a config file holds one document, without a second `---`",
    ],
    ["a pattern that YAML takes for an alias", "tools:\n  *image*: {max_lines: 1}", "; quote a key that begins with *"],
    ["an old key form", "<<: {a: 1}", "spillway.yaml:1:1: unknown key"],
  ];
  it.each(cases)("%s", async (_name, text, message) => {
    await put(USER, text);
    expect(await failure()).toContain(message);
  });

  it("syntax, in both languages", async () => {
    await put("bad.yaml", "default:\n  max_lines: [1\nprofile: x");
    expect(await failure({ file: join(top, "bad.yaml") })).toMatch(/^bad\.yaml:3:1: .*; the line is "profile: x"$/);
    await put("bad.json", '{\n  "profile": "frugal",,\n}');
    expect(await failure({ file: join(top, "bad.json") })).toBe(
      'bad.json:2:23: Unexpected token Comma; the line is "  \\"profile\\": \\"frugal\\",,"',
    );
    await put("bad.json5", "{ profile: 'frugal', profile: 'off' }");
    expect(await failure({ file: join(top, "bad.json5") })).toBe(
      "bad.json5:1:22: the key profile is already on line 1",
    );
  });

  it("shows of a line that cannot be read what stands around the place, and no secret or control character", async () => {
    const shown = async (text: string) => {
      await put(USER, text);
      return JSON.parse(/; the line is (".*")$/.exec(await failure())?.[1] ?? "null");
    };
    expect(await shown("tools:\n\tbash: 1")).toBe("\tbash: 1");
    expect(await shown(`profile: a: b # ${"x".repeat(900)}\n`)).toMatch(/^profile: a: b # x{64}$/);
    expect(await shown(`{ default: { ${"max_lines: 5, ".repeat(50)}strategy: head: tail } }`)).toMatch(
      /^.{20,60}strategy: head: tail.{0,40}$/,
    );
    expect(await shown("ledger: postgres://me:pass-word@host/db: x")).toBe("ledger: postgres://...@host/db: x");
    const long = "y".repeat(200);
    expect(await shown(`ledger: postgres://me:${long}@host/db: x`)).not.toContain("yy");
    expect(await shown("redact: { rules: [{ name: a, literal: my-secret: x }] }")).toMatch(/literal: \.\.\.$/);
    await put(USER, "profile: \u001b[2J: x");
    expect(await failure()).toMatch(/^[\x20-\x7e]+$/);
  });

  it("tells all, up to ten, in the file's order", async () => {
    await put(USER, Array.from({ length: 14 }, (_, index) => `zebra${index}: 1`).join("\n"));
    const lines = (await failure()).split("\n");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toContain(":1:1: unknown key zebra0");
    expect(lines[10]).toBe("... and 4 more");
  });

  it("does not pass control characters on", async () => {
    await put(USER, '"\\e[2Jx\\u202e": 1\nprofile: "\\e[31m"');
    const message = await failure();
    expect(message.replaceAll("\n", "")).toMatch(/^[\x20-\x7e]+$/);
    expect(message).toContain("\\u001b[2Jx\\u202e");
  });
});

describe("bounds", () => {
  it("a billion laughs end in one clear line", async () => {
    const names = "abcdefghij".split("");
    const lines = names.map((name, index) => {
      const before = names[index - 1];
      return `${name}: &${name} [${Array(9)
        .fill(before ? `*${before}` : "x")
        .join(", ")}]`;
    });
    await put(USER, lines.join("\n"));
    expect(await failure()).toMatch(/:\d+:\d+: more than 20000 values \(aliases count each time they are used\)$/);
  });

  it("an alias inside its own anchor, and deep nesting, are too deep", async () => {
    await put(USER, "tools: &a\n  x: *a");
    expect(await failure()).toContain("nested more than 32 levels deep");
    await put(USER, `a: ${"[".repeat(20_000)}`);
    expect(await failure()).toMatch(/nested/);
    await put("deep.json", "[".repeat(100_000));
    expect(await failure({ file: join(top, "deep.json") })).toContain("nested too deeply");
  });

  it("1 MiB for the user's own, 64 KiB for a project's", async () => {
    await put(USER, `#${"x".repeat(1024 * 1024 - 1)}`);
    expect((await load()).policy).toEqual({});
    await put(USER, `#${"x".repeat(1024 * 1024)}`);
    expect(await failure()).toContain("a config file here has at most 1,048,576 bytes");
    await rm(join(top, USER));
    await put(PROJECT, `#${"x".repeat(64 * 1024)}`);
    expect((await load()).warnings.join("\n")).toContain("a config file here has at most 65,536 bytes");
  });

  it("text that is not UTF-8 is refused; a byte order mark and an empty file are not", async () => {
    await put("a.yaml", "");
    await writeFile(join(top, "a.yaml"), new Uint8Array([0x61, 0xff]));
    expect(await failure({ file: join(top, "a.yaml") })).toBe("a.yaml:1:1: this is not UTF-8 text");
    await put("b.json", '\ufeff{"profile": "frugal"}');
    expect((await load({ file: join(top, "b.json") })).policy).toEqual({ profile: "frugal" });
    await put("c.yaml", "# nothing\n");
    expect((await load({ file: join(top, "c.yaml") })).policy).toEqual({});
  });
});

describe("values", () => {
  it("both spellings, none, .inf, empty keys and aliases", async () => {
    await put(
      USER,
      "default: &d { maxLines: 5, max_chars: none, head_share: 0.5 }\ntools:\n  bash: *d\n  read: { max_lines: .inf }\npruning:\nceiling: { max_tokens: }",
    );
    expect((await load()).policy).toEqual({
      ceiling: {},
      default: { limits: { maxLines: 5, maxChars: Infinity }, headShare: 0.5 },
      tools: [
        { tool: "bash", row: { limits: { maxLines: 5, maxChars: Infinity }, headShare: 0.5 } },
        { tool: "read", row: { limits: { maxLines: Infinity } } },
      ],
    });
  });

  it("the addresses of ledger and store are taken, unless the environment names others", async () => {
    await put(USER, "ledger: postgres://me@db.example/spillway\nstore: s3://outputs/team");
    const addresses = { ledger: "postgres://me@db.example/spillway", store: "s3://outputs/team" };
    expect((await load()).options).toMatchObject(addresses);
    const env = { SPILLWAY_LEDGER: "postgres://other/db", SPILLWAY_STORE: "s3://other" };
    expect(Object.keys((await load({ env })).options)).toEqual(["policy"]);
    // A variable that names a place is a source as one of the policy is.
    for (const one of [{ SPILLWAY_DIR: "/data" }, { SPILLWAY_SCOPE: "team" }, env])
      expect((await load({ env: one })).sources.map(({ kind }) => kind)).toEqual(["user", "environment"]);
    await put(USER, "store: { path: x }");
    await expect(load()).rejects.toThrow(/store: expected an address such as s3:/);
    await put(USER, "ledger: mysql://db");
    await expect(load()).rejects.toThrow(/ledger: expected an address such as postgres:/);
  });
});

describe("how overflows are known", () => {
  const RULES =
    "overflow:\n  rules:\n    - rule: house-gateway\n      kind: context-overflow\n      status: [400]\n      text: ['cannot digest {observed} of {limit}']\n      fields: { limit: max_prompt }";
  const rules = [
    {
      rule: "house-gateway",
      kind: "context-overflow",
      status: [400],
      text: ["cannot digest {observed} of {limit}"],
      fields: { limit: "max_prompt" },
    },
  ];

  it("the user's own rules are handed on as they are; a project has none", async () => {
    await put(USER, RULES);
    expect((await load()).options.overflow).toEqual({ rules });
    await put(PROJECT, RULES.replace("house-gateway", "hostile"));
    const { options, warnings } = await load();
    expect(options.overflow).toEqual({ rules });
    expect(warnings.join("\n")).toMatch(/spillway\.yaml:1:1: overflow is ignored in a project's file/);
  });

  it.each([
    ["overflow: { rules: [{ rule: a, kind: too-big, text: [abcd] }] }", "overflow.rules[0].kind: expected one of"],
    [
      "overflow: { rules: [{ rule: a, kind: other }] }",
      "overflow.rules[0]: expected a rule: a name under rule, a kind",
    ],
    [
      "overflow: { rules: [{ rule: a, kind: other, status: [200] }] }",
      "overflow.rules[0].status[0]: expected a number from 400 to 599; got 200",
    ],
    [
      "overflow: { rules: [{ rule: a, kind: other, texts: [x] }] }",
      "unknown key overflow.rules[0].texts; did you mean text?",
    ],
    ["overflow: { rule: [] }", "unknown key overflow.rule; did you mean rules?"],
    ["overflow: yes please", "overflow: expected a mapping of keys to values"],
  ])("%s is an error that names the key", async (written, why) => {
    await put(USER, written);
    expect(await failure()).toContain(why);
  });
});

describe("where things are kept and what is redacted", () => {
  it("comes from the user's own file, paths from its folder or from home", async () => {
    await put(USER, "dir: /srv/spill\nevents: ~/log/events.jsonl\nruns: runs\nredact: model\nprofile: frugal");
    const { options, warnings } = await load();
    expect(options).toEqual({
      policy: { profile: "frugal" },
      dir: "/srv/spill",
      events: join(home, "log/events.jsonl"),
      runs: join(top, "home/.config/spillway/runs"),
      redact: "model",
    });
    expect(warnings).toEqual([]);
    expect((await load({ env: { SPILLWAY_DIR: "/elsewhere" } })).options.dir).toBeUndefined();
  });

  it.each([
    ["off", "off"],
    ["on", "on"],
    ["false", "off"],
    ["true", "on"],
    ["{ model: true }", { rules: [], model: true }],
    [
      "{ rules: [{ name: a, pattern: 'x{9}', ignore_case: true }, { name: b, literal: heron }] }",
      {
        rules: [
          { name: "a", pattern: "x{9}", ignoreCase: true },
          { name: "b", literal: "heron" },
        ],
      },
    ],
  ])("redact: %s", async (written, redact) => {
    await put(USER, `redact: ${written}`);
    expect((await load()).options.redact).toEqual(redact);
  });

  it.each([
    ["redact: loud", '1:9: redact: expected off, on, model, or a mapping with rules; got "loud"'],
    ["redact: { rules: yes please }", '1:18: redact.rules: expected a list of rules; got "yes please"'],
    [
      "redact:\n  rules:\n    - name: a",
      "3:7: redact.rules[0]: expected a rule: a name, and either a pattern or a literal; got a mapping",
    ],
    [
      "redact:\n  rules:\n    - { name: mine, literal: 'abc-1234' }\n    - { name: Yours, pattern: '(a+)+$' }",
      '4:15: redact.rules[1].name: its name must be lower-case words with "-" between them, at most 40 characters',
    ],
    [
      "redact: { rules: [{ name: mine, literal: abc }] }",
      "1:42: redact.rules[0].literal: it could match fewer than 4 bytes",
    ],
    ["redact: { rulez: [] }", "1:11: unknown key redact.rulez; did you mean rules?"],
    ["redact: { rules: [{ name: a, patern: x }] }", "1:30: unknown key redact.rules[0].patern; did you mean pattern?"],
    ["redact: { model: often }", '1:18: redact.model: expected true or false; got "often"'],
    ["events: 3", "1:9: events: expected a text; got 3"],
    ['runs: " "', '1:7: runs: expected a text that is not blank; got " "'],
  ])("%s is told to be wrong", async (written, message) => {
    await put(USER, written);
    expect(await failure()).toContain(message);
  });

  it("never comes from a project's", async () => {
    await put(PROJECT, "dir: /etc\nevents: /etc/passwd\nruns: .\nredact: off\ndefault: { max_lines: 5 }");
    const { options, warnings } = await load();
    expect(options).toEqual({ policy: { project: { default: { limits: { maxLines: 5 } } } } });
    expect(warnings.length).toBe(4);
    expect((await load({ ownOnly: true })).sources).toMatchObject([]);
  });
});

describe("the model that summarises", () => {
  const FILE =
    "summarization: { enabled: true, endpoint: http://localhost:1234/v1, model: small, key_variable: MY_KEY }";

  it("comes from the user's own file; its key from the variable that the file names", async () => {
    await put(USER, FILE);
    const at = { endpoint: "http://localhost:1234/v1", model: "small", speaks: "openai" };
    expect((await load()).options.summarizer).toEqual(at);
    expect((await load({ env: { MY_KEY: "k" } })).options.summarizer).toEqual({ ...at, key: "k" });
    expect(JSON.stringify((await load({ env: { MY_KEY: "k" } })).policy)).not.toContain('"k"');
    await put(USER, FILE.replace("key_variable: MY_KEY", "speaks: ollama, timeout_ms: 5000, max_calls_per_hour: 9"));
    const local = { ...at, speaks: "ollama", timeoutMs: 5000, maxCallsPerHour: 9 };
    expect((await load({ env: { MY_KEY: "k" } })).options.summarizer).toEqual(local);
    expect((await load({ env: { SPILLWAY_SUMMARY_KEY: "s" } })).options.summarizer).toEqual({ ...local, key: "s" });
  });

  it("is there only if it is switched on and whole; the environment's word is stronger", async () => {
    for (const file of [
      FILE.replace("true", "false"),
      FILE.replace("model: small, ", ""),
      FILE.replace("enabled: true, ", ""),
    ]) {
      await put(USER, file);
      expect((await load()).options).not.toHaveProperty("summarizer");
    }
    await put(USER, "summarization: { max_concurrent: 2 }");
    const env = {
      SPILLWAY_SUMMARY_ENDPOINT: "http://h",
      SPILLWAY_SUMMARY_MODEL: "m",
      SPILLWAY_SUMMARY_SPEAKS: "anthropic",
    };
    const named = { endpoint: "http://h", model: "m", speaks: "anthropic", maxConcurrent: 2 };
    expect((await load({ env })).options.summarizer).toEqual(named);
    await put(USER, "summarization: { endpoint: /etc/passwd }");
    await expect(load()).rejects.toThrow("summarization.endpoint: expected an address such as https://host/v1");
  });

  it("never comes from a project's", async () => {
    await put(PROJECT, FILE);
    await put(USER, "summarization: { enabled: true, model: mine }");
    const { options, warnings } = await load({ env: { MY_KEY: "k" } });
    expect(options).not.toHaveProperty("summarizer");
    // The last one says that the user's own word is not enough to summarise.
    expect(warnings).toHaveLength(5);
    expect(warnings.at(-1)).toContain("summarization is enabled, but no model is named");
    await put(USER, "summarization: { enabled: true, model: mine, endpoint: http://mine }");
    expect((await load({ env: { MY_KEY: "k" } })).options.summarizer).toEqual({
      endpoint: "http://mine",
      model: "mine",
      speaks: "openai",
    });
  });
});

describe("what is wrong in the user's own config, for a command that must go on", () => {
  const lenient = (env = {}) => load({ lenient: true, env });

  it("is left out, each thing with a warning that has its place; the rest holds", async () => {
    await put(
      USER,
      [
        "default: { max_lines: many, max_chars: 900, stratgy: head }",
        "tools: { bash: { strategy: nosuch, max_lines: 7 }, 5: 3 }",
        "redact: { rules: [{ name: a, pattern: '(' }, { name: b, literal: secret-word }, { literal: other }] }",
        "retention: { max_bytes: -1 }",
        "no_such_key: 1",
      ].join("\n"),
    );
    const { options, warnings } = await load({ lenient: true, tellsAll: true });
    expect(options.policy.default).toEqual({ limits: { maxChars: 900 } });
    expect(options.policy.tools).toEqual([{ tool: "bash", row: { limits: { maxLines: 7 } } }]);
    expect(options.redact).toEqual({ rules: [{ name: "b", literal: "secret-word" }] });
    expect(warnings.map((warning) => /spillway\.yaml:(\d+):\d+: /.exec(warning)?.[1])).toEqual(
      "1 1 2 2 3 3 4 5".split(" "),
    );
    await expect(load()).rejects.toThrow("spillway.yaml:1:");
  });

  it("is the whole file if it cannot be read as one", async () => {
    for (const text of ["a: [", "- a\n- b\n", "\u0000", "default: &a { max_lines: *a }"]) {
      await put(USER, text);
      const { policy, warnings } = await lenient();
      expect(policy).toEqual({});
      expect(warnings).toEqual([expect.stringMatching(/spillway\.yaml is ignored: .*spillway\.yaml:\d+:\d+: /)]);
    }
  });

  it("is a variable by itself", async () => {
    const env = { SPILLWAY_MAX_LINES: "x", SPILLWAY_STRATEGY: "nosuch", SPILLWAY_SUMMARY_MODEL: "alone" };
    const { policy, options, warnings } = await lenient({ ...env, SPILLWAY_MAX_CHARS: "800" });
    expect(policy.force).toEqual({ limits: { maxChars: 800 } });
    expect(options.summarizer).toBeUndefined();
    expect(warnings).toHaveLength(3);
    expect(warnings.join("\n")).toMatch(/MAX_LINES[^]*STRATEGY[^]*SUMMARY_MODEL/);
  });

  it("is a missing file too, but not one that the caller names", async () => {
    const { warnings } = await lenient({ SPILLWAY_CONFIG: "/no/such/file.yaml" });
    expect(warnings).toEqual(["cannot read config /no/such/file.yaml: no such file; it is ignored"]);
    await expect(load({ lenient: true, file: "/no/such/file.yaml" })).rejects.toThrow("no such file");
  });
});

describe("a project's file", () => {
  it("does not set what is the user's to say; each such key is named", async () => {
    await put(
      PROJECT,
      [
        "profile: off",
        "store: { path: /etc }",
        "summarization: { enabled: true, model: x, trigger_threshold: 9 }",
        "default: { off: true, max_lines: 30 }",
        "tools: { bash: { raise_ceiling: true, max_bytes: 900000 }, read: { raiseCeiling: true } }",
        "agents: { defaults: { contextPruning: { mode: aggressive, hardClear: { placeholder: run rm } } } }",
        "ceiling: { max_bytes: 900000, max_lines: 50 }",
        "zebra: 1",
      ].join("\n"),
    );
    const { policy, warnings } = await load({ tellsAll: true });
    expect(
      warnings.map((warning) => warning.replace(/^.*?:(?=\d+:)/, "").replace(/:? is ignored.*|; known.*/, "")),
    ).toEqual([
      "1:1: profile",
      "2:1: store",
      "3:18: summarization.enabled",
      "3:33: summarization.model",
      "4:12: default.off",
      "5:18: tools.bash.raise_ceiling",
      "5:68: tools.read.raiseCeiling",
      "6:72: agents.defaults.contextPruning.hardClear.placeholder",
      "8:1: unknown key zebra",
    ]);
    expect(warnings[1]).toContain("store is ignored in a project's file: where things are kept");
    expect(warnings[1]).toContain("it belongs in your own config");
    const resolved = resolvePolicy(policy);
    expect(resolved).toMatchObject({
      profile: "balanced",
      ceiling: { maxBytes: 51_200, maxLines: 50 },
      pruning: { mode: "aggressive", hardClear: { placeholder: "[Old tool result content cleared]" } },
      summarization: { enabled: false, model: null, triggerChars: 9 },
    });
    expect(resolveToolPolicy(resolved, "bash")).toMatchObject({
      off: false,
      limits: { maxBytes: 51_200, maxLines: 30 },
    });
  });

  it("does not get the right to raise the ceiling from the user's row beside it", async () => {
    await put(PROJECT, "tools: { bash: { max_lines: 1000000 } }");
    await put(USER, "tools: { bash: { max_bytes: 100000, raise_ceiling: true } }");
    expect((await toolPolicy("bash")).limits).toMatchObject({ maxBytes: 100_000, maxLines: 200 });
  });

  it("may say that nothing is summarised; with a wrong value in it the file is ignored, and that is told", async () => {
    await put(PROJECT, "summarization: { enabled: false }");
    expect(await load()).toMatchObject({ policy: { project: { summarization: { enabled: false } } }, warnings: [] });
    await put(PROJECT, "default: { max_lines: x }");
    const { policy, warnings } = await load();
    expect(policy).toEqual({});
    expect(warnings).toEqual([
      expect.stringMatching(/spillway\.yaml is ignored: .*:1:23: default\.max_lines: expected/),
    ]);
  });

  it("with faults of several sorts has all of them told, each with its line", async () => {
    await put(
      PROJECT,
      [
        "default: { max_lines: x, max_chars: -1 }",
        "no_such_key: 1",
        "storage: { dir: /elsewhere }",
        "tools: { bash: { max_lines: many } }",
        "overflow: { max_bytes: 5, maxBytes: 6 }",
        ...Array.from({ length: 12 }, (_, index) => `other_${index}: 1`),
      ].join("\n"),
    );
    const lines = (warnings: string[]) => warnings.map((each) => Number(/spillway\.yaml:(\d+):\d+: /.exec(each)?.[1]));
    const { warnings } = await load({ tellsAll: true });
    expect(warnings[0]).toContain("is ignored: ");
    expect(lines(warnings)).toEqual([1, 1, 2, 3, 4, 5, ...Array.from({ length: 12 }, (_, index) => index + 6)]);
    const few = (await load()).warnings;
    expect(few.slice(0, 3)).toEqual(warnings.slice(0, 3));
    expect(few.slice(3)).toEqual(["... and 15 more: spillway config check"]);
  });

  it("has at most three unknown keys told, the path once, and only what a project may set is offered instead", async () => {
    const path = await put(PROJECT, "zebra: 1\nsummarization: { zebra: 2 }\nstore: x\nlimits: 1\nlinks: 2\n");
    const { warnings } = await load();
    expect(warnings).toEqual([
      `${path}:1:1: unknown key zebra; known here: profile, ceiling, default, tools, pruning, summarization, commands, context_tokens, tool_output_limits, agent, agents, models`,
      "spillway.yaml:2:18: unknown key summarization.zebra; known here: enabled, max_input_chars, trigger_threshold, input_price, output_price",
      expect.stringMatching(/^spillway\.yaml:3:1: store is ignored in a project's file: /),
      "... and 2 more: spillway config check",
    ]);
  });

  it("that asks for a looser limit than is in force gets a note with its line, what holds and who said so", async () => {
    const project = await put(
      PROJECT,
      [
        "tools:",
        "  bash: { max_lines: 5000, max_bytes: 60KB, max_chars: 9 }",
        "  read_file: { maxLines: 150 }",
        "  mcp__*: { max_lines: 2500 }",
        "  grep: { max_lines: 90 }",
        "default: { max_lines: 3000, max_tokens: 70 }",
        "ceiling: { max_lines: 1500, max_bytes: 99999 }",
        "tool_output_limits: { tools: { Task: { max_chars: 60 } } }",
      ].join("\n"),
    );
    const user = await put(
      USER,
      "tools: { Task: { max_chars: 50 }, mcp__big: { max_lines: 3500, raise_ceiling: true } }",
    );
    const notes = async (env = {}) =>
      (await load({ tellsAll: true, env })).notes.map((note) => note.replaceAll(`${top}/`, ""));
    const inFile = (line: number) => `in ${project}:${line} has no effect here:`.replace(`${top}/`, "");
    const own = "put it into your own file";
    expect(await notes()).toEqual([
      `tools.bash.max_lines 5,000 ${inFile(2)} 200 holds (from the default); ${own}, and raise the ceiling there`,
      `tools.bash.max_bytes 60KB ${inFile(2)} 51,200 holds (from the default); ${own}, and raise the ceiling there`,
      `default.max_lines 3,000 ${inFile(6)} 2,500 holds (from ${user.replace(`${top}/`, "")}); ${own}, and raise the ceiling there`,
      `ceiling.max_bytes 99,999 ${inFile(7)} 51,200 holds (from the default); ${own}, and raise the ceiling there`,
      `tool_output_limits.tools.Task.max_chars 60 ${inFile(8)} 50 holds (from ${user.replace(`${top}/`, "")}); ${own}`,
    ]);
    const forced = await notes({ SPILLWAY_MAX_LINES: "100" });
    expect(forced).toContain(`tools.read_file.maxLines 150 ${inFile(3)} 100 holds (from the environment)`);
    expect(forced.join("\n")).not.toContain("grep");
    expect((await load()).notes).toEqual([]);
    await rm(user);
    await put(PROJECT, "default: { max_lines: 5000, max_chars: 9000 }");
    expect(await notes()).toEqual([
      `default.max_lines 5,000 ${inFile(1)} 2,000 holds (from the default); ${own}, and raise the ceiling there`,
    ]);
  });

  it("that cannot be read is ignored with one warning; the user's own is an error", async () => {
    const refused = Object.assign(new Error("EACCES: open"), { code: "EACCES" });
    await put(PROJECT, "default: { max_lines: 1 }");
    vi.mocked(open).mockRejectedValueOnce(refused);
    const { policy, sources, warnings } = await load();
    expect({ policy, sources }).toEqual({ policy: {}, sources: [] });
    expect(warnings).toEqual([
      expect.stringMatching(/^cannot read config .*spillway\.yaml: no permission; it is ignored$/),
    ]);
    await rm(join(top, PROJECT));
    await put(USER, "profile: frugal");
    vi.mocked(open).mockRejectedValueOnce(refused);
    expect(await failure()).toMatch(/^cannot read config .*: no permission$/);
  });

  it("that is a link out of its folder is not read; a link inside it is, and the search goes on above", async () => {
    const secret = await put("secret.yaml", "default: { max_lines: 1 }");
    const above = await put("home/code/spillway.yaml", "default: { max_lines: 2 }");
    const link = join(top, PROJECT);
    await symlink(secret, link);
    const { sources, warnings } = await load();
    expect(sources).toMatchObject([{ kind: "project", path: above }]);
    expect(warnings).toEqual([`${link} is not read: it is a link to a file outside of its folder`]);
    await rm(link);
    await put("home/code/project/conf/limits.yaml", "default: { max_lines: 3 }");
    await symlink("conf/limits.yaml", link);
    expect(await load()).toMatchObject({ sources: [{ kind: "project", path: link }], warnings: [] });
    await rm(link);
    await symlink("spillway.yaml", link);
    expect((await load()).warnings).toEqual([`${link} is not read: it is a link that leads nowhere`]);
  });

  it("says a strategy that is not built in, and is heard in the rest", async () => {
    await put(
      PROJECT,
      "default: { strategy: nonsense, max_lines: 7 }\ntools: { bash: { truncation_strategy: head_only } }",
    );
    const { policy, warnings } = await load();
    expect(policy.project).toEqual({
      default: { limits: { maxLines: 7 } },
      tools: [{ tool: "bash", row: { strategy: "head" } }],
    });
    expect(warnings).toEqual([expect.stringContaining(":1:12: default.strategy is ignored in a project's file")]);
  });

  it("lifts nothing and switches nothing off", async () => {
    await put(USER, 'default: { max_tokens: 500, strategy: tail, fold: false }\ntools: { "*": { max_lines: 40 } }');
    await put(
      PROJECT,
      [
        "ceiling: { max_lines: none }",
        'tools: { "*": { max_tokens: none }, bash: { max_lines: 4000, max_tokens: 501, strategy: head, fold: true, off: true } }',
        "pruning: { mode: off, insure: false, hard_clear: { enabled: false }, tools: { deny: ['*'] }, soft_trim_ratio: 1, batch: { max_chars: 16777216 }, sticky: false }",
        "context_tokens: 10000000",
        "models: { providers: { p: { models: [{ id: m, context_window: 10000000 }] } } }",
        "commands: { max_chars: 16777216 }",
      ].join("\n"),
    );
    const { policy, warnings } = await load({ tellsAll: true });
    expect(warnings.map((warning) => warning.match(/\d: ([\w.*[\]"]+) is ignored/)?.[1]).toSorted()).toEqual([
      "ceiling.max_lines",
      "pruning.hard_clear.enabled",
      "pruning.insure",
      "pruning.mode",
      "pruning.sticky",
      "pruning.tools",
      "tools.*.max_tokens",
      "tools.bash.off",
    ]);
    const { project: _project, ...alone } = policy;
    const { project: _rows, ...tightened } = resolvePolicy(policy);
    expect(tightened).toEqual({
      ...resolvePolicy(alone),
      project: undefined,
      models: [{ provider: "p", model: "m", contextTokens: 200_000 }],
    });
    expect(await toolPolicy("bash")).toEqual(resolveToolPolicy(resolvePolicy(alone), "bash"));
  });
});
