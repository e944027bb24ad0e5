import { describe, expect, it } from "vitest";
import { createSpillway } from "../../../index.ts";
import { compileIntent } from "./compile-intent.ts";

const encoder = new TextEncoder();
/** The words of an intent that stand in a line. */
const found = (intent: Parameters<typeof compileIntent>[0], line: string) => {
  const focus = compileIntent(intent);
  return focus === undefined ? -1 : focus.find(encoder.encode(line));
};

describe("an intent", () => {
  it("looks for names, quotes and telling words, and not for the words of every question", () => {
    const user = "Why did the job product-data-scraper fail? Please find 'query failed' in the logs";
    for (const line of ["product-data-scraper-x1", "QUERY FAILED: 3", "the scraper", "job done", "Failure of it"])
      expect(found({ user }, line), line).toBeGreaterThan(0);
    for (const line of ["why did the", "please find", "in the", "jo b", "prefail", "myjobs"])
      expect(found({ user }, line), line).toBe(0);
    expect(compileIntent({ user: "why is it so, and what can we do about that?" })).toBeUndefined();
    expect(compileIntent({})).toBeUndefined();
  });

  it("finds a word at the start of a part of a name, and short words only whole", () => {
    expect(found({ user: "timeout" }, "onConnectTimeout fired")).toBe(1);
    expect(found({ user: "timeout" }, "connect_timeouts")).toBe(1);
    expect(found({ user: "db" }, "dbus started")).toBe(0);
    expect(found({ user: "db" }, "the db.")).toBe(1);
    expect(found({ user: "größe" }, "GRÖSSE: 3")).toBe(1);
  });

  it("takes only names from arguments, no flags, and never more than 31 words", () => {
    expect(found({ args: ["kubectl logs my-app-53 --tail-lines=5"] }, "my-app-53 is up")).toBeGreaterThan(0);
    expect(found({ args: ["kubectl logs my-app-53 --tail-lines=5"] }, "kubectl logs tail-lines")).toBe(0);
    expect(compileIntent({ args: ["seq 1 5000"] })).toBeUndefined();
    expect(found({ args: ["5000"] }, "5000 bottles of beer")).toBeGreaterThan(0);
    const many = compileIntent({ user: Array.from({ length: 300 }, (_, n) => `name-${n}`).join(" ") });
    expect(many?.words).toBe(31);
    expect(many?.find(encoder.encode("name-0"))).toBeGreaterThan(0);
  });
});

const spillway = await createSpillway({ store: null, ledger: null, env: {} });
const cut = async (output: string, user: string | undefined, more: object = {}) =>
  (await spillway.admit({ tool: "run_command", output, limits: { maxChars: 3000 }, intent: user, ...more })).text;

const question = "Why is customer acme-5500 not synced?";
const log = (n: number) =>
  `2024-05-01 10:00:${n % 60} INFO worker ${n % 7} handled customer acme-${4000 + n} of region ${n % 9}`;
const lines = Array.from({ length: 3000 }, (_, n) => log(n));
const text = lines.join("\n");

describe("what was asked", () => {
  it.each([
    ["a log", text, {}],
    ["an output of no known kind", lines.map((line) => line.slice(25)).join("\n"), { tool: "lookup" }],
    ["a table", ["NAME,STATE,SIZE", ...lines.map((_, n) => `acme-${4000 + n},${n},up`)].join("\n"), {}],
    ["JSON", JSON.stringify(lines.map((line, n) => ({ id: n, note: line }))), {}],
    ["JSON in objects", JSON.stringify(Object.fromEntries(lines.map((line, n) => [`acme-${4000 + n}`, { line }]))), {}],
  ])("is kept in %s, and not without the question", async (_, output, more) => {
    expect(await cut(output, question, more)).toContain("acme-5500");
    expect(await cut(output, undefined, more)).not.toContain("acme-5500");
  });

  it("comes before what usually tells most in JSON", async () => {
    const ids = Array.from({ length: 120 }, (_, id) => id);
    const about = {
      name: "pay",
      description: "Takes payments. ".repeat(9),
      author: { name: "A. Person" },
      title: "Pay",
    };
    const versions = Object.fromEntries(
      ids.map((id) => [`1.${id}.0`, { ...about, version: `1.${id}.0`, id: `pay@1.${id}.0` }]),
    );
    const time = Object.fromEntries(ids.map((id) => [`1.${id}.0`, `20${id}-05-01T10:00:00Z`]));
    const shown = await cut(JSON.stringify({ name: "pay", versions, time }), "When was pay 1.77.0 published?");
    expect(shown).toContain('"1.77.0":"2077-05-01T10:00:00Z"');
  });

  it("leaves the lines that tell of a failure, and is within its limits", async () => {
    const failing = lines.with(700, "2024-05-01 10:00:00 ERROR sync failed: connection to db-7 refused");
    for (const asked of [question, "worker region handled customer", undefined]) {
      const shown = await cut(failing.join("\n"), asked);
      expect(shown).toContain("connection to db-7 refused");
      expect(shown.length).toBeLessThanOrEqual(3000);
    }
  });

  it("changes nothing if its words stand in most lines or in none", async () => {
    const plain = await cut(text, undefined);
    expect(await cut(text, "worker region handled")).toBe(plain);
    expect(await cut(text, "nonsense nobody wrote")).toBe(plain);
  });

  it("folds like lines as ever if its words stand in most of them, at the start of the output or further on", async () => {
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const lines = Array.from(
      { length: 4200 },
      (_, at) => `10:00:${10 + (at % 50)} INFO checkout request ${10_000 + ((at * 7919) % 65_536)} took ${at % 97} ms`,
    );
    lines[2900] = "10:00:00 ERROR checkout failed: card declined";
    const shown = async (intent: string, from = 0) => {
      const quiet = lines.slice(0, from).map((line) => line.replace("checkout", "catalog"));
      const output = [...quiet, ...lines.slice(from)].join("\n");
      return (await spillway.admit({ tool: "server_log", output, intent })).text;
    };
    expect(await shown("why did checkout fail?")).toBe(await shown("why did it fail?"));
    const later = (await shown("why did checkout fail?", 200)).length - (await shown("why did it fail?", 200)).length;
    expect(later).toBeLessThan(4000);
  });

  it("keeps a name on the first of many like lines, and tells it from a common word by the same sample in any chunks", async () => {
    expect(await cut(text, "Why is customer acme-4001 not synced?")).toContain("acme-4001 ");
    const early = lines.map(
      (_, at) => `10:00 INFO ${at < 25 ? "checkout" : "catalog"} request ${at} in ${at % 97} ms\n`,
    );
    async function* chunks() {
      for (const line of early) yield encoder.encode(line);
    }
    const asked = { strategy: "signal", limits: { maxLines: 40 } };
    const whole = await cut(early.join(""), "why did checkout fail?", asked);
    const streamed = await spillway.admit({
      ...asked,
      tool: "run_command",
      output: chunks(),
      intent: "why did checkout fail?",
    });
    expect(streamed.text).toBe(whole);
  });

  it("gives the same bytes for the same question, in whatever chunks the output comes", async () => {
    async function* chunks() {
      for (let at = 0; at < text.length; at += 1777) yield encoder.encode(text.slice(at, at + 1777));
    }
    const streamed = await spillway.admit({
      tool: "run_command",
      output: chunks(),
      limits: { maxChars: 3000 },
      intent: question,
    });
    expect(streamed.text).toBe(await cut(text, question));
  });

  it("gives way to a focus", async () => {
    const shown = await cut(text, question, { focus: "acme-4014" });
    expect(shown).toContain("acme-4014 ");
  });

  it("of a focus the rare words come first", async () => {
    const shown = await cut(text, undefined, { focus: "worker acme-5500" });
    expect(shown).toContain("acme-5500");
  });

  it("comes from a function that says what a wrapped tool's call is for", async () => {
    const lookUp = (context?: () => string) =>
      spillway.wrapTool(async (asked: string) => (asked === "" ? "" : text), {
        name: "run_command",
        limits: { maxChars: 3000 },
        context,
      });
    expect(await lookUp(() => question)("x")).toContain("acme-5500");
    expect(await lookUp()("x")).not.toContain("acme-5500");
    const throwing = lookUp(() => {
      throw new Error("no");
    });
    expect(await throwing("x")).not.toContain("acme-5500");
    expect(await lookUp()("acme-5500")).toContain("acme-5500");
  });
});

describe("in a request", () => {
  const call = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "run_command", input: {} }] };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: text }] };
  const shownIn = async (messages: object[], by = spillway) => {
    const prepared = await by.prepare(messages, { wire: "anthropic", pruning: { sticky: false } });
    return JSON.stringify(prepared.messages[2]);
  };

  it("a result is cut by what was asked before it, and stays as it is whatever is said later", async () => {
    const open = () =>
      createSpillway({ store: null, ledger: null, env: {}, policy: { default: { limits: { maxChars: 3000 } } } });
    const start = [{ role: "user", content: question }, call, result];
    const first = await shownIn(start, await open());
    expect(first).toContain("acme-5500");
    const later = [...start, { role: "assistant", content: "It is." }, { role: "user", content: "And acme-4014?" }];
    expect(await shownIn(later, await open())).toBe(first);
    expect(
      await shownIn([{ role: "user", content: "go" }, call, result, { role: "user", content: question }], await open()),
    ).not.toContain("acme-5500");
  });
});

it("shows the JSON entry of which the word is a whole value before those that contain it", async () => {
  const releases = Array.from({ length: 300 }, (_, n) => ({
    version: `${n % 9}.${n}.1`,
    needs: n % 4 === 0 ? "^4.2.0 or newer" : "nothing",
    checksum: `sum-${n}-${"x".repeat(40)}`,
  }));
  const output = JSON.stringify(releases.with(151, { version: "4.2.0", needs: "nothing", checksum: "sum-of-it" }));
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const { text } = await spillway.admit({
    tool: "http_get",
    output,
    limits: { maxChars: 2000 },
    intent: "What is the checksum of release 4.2.0?",
  });
  expect(text).toContain("sum-of-it");
});

it("shows the lines around those that a call is for in a source file", async () => {
  const part = (n: number) => `function part${n}(input) {\n  const before = ${n};\n  return input + before;\n}\n`;
  const source = Array.from({ length: 200 }, (_, n) => part(n)).join("\n");
  const output = source.replace(
    "return input + before;\n}\n\nfunction part101",
    "sendGreeting(input);\n}\n\nfunction part101",
  );
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const call = { tool: "read_file", output, limits: { maxChars: 1500 }, intent: "where is sendGreeting called?" };
  expect((await spillway.admit(call)).text).toContain(
    "function part100(input) {\n  const before = 100;\n  sendGreeting(input);\n}\n",
  );
});
