import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env.PATH, HOME: folder, SPILLWAY_DIR: join(folder, "store") };
const spillway = (...args: string[]) =>
  spawnSync(process.execPath, [CLI, "replay", ...args], { cwd: folder, encoding: "utf8", env, timeout: 240_000 });
const message = (value: object) => JSON.stringify({ type: "message", timestamp: "t", message: value });

const turn = (at: number) => [
  { role: "assistant", content: [{ type: "toolCall", id: `c${at}`, name: "bash", arguments: { command: "ls" } }] },
  {
    role: "toolResult",
    toolCallId: `c${at}`,
    toolName: "bash",
    content: [{ type: "text", text: `some text of result ${at}` }],
    isError: false,
  },
];
const session = [
  { role: "user", content: [{ type: "text", text: "go" }] },
  ...Array.from({ length: 12 }, (_, at) => turn(at)).flat(),
  { role: "assistant", content: [{ type: "text", text: "it said:\nsome text of result 0" }] },
];
const header = JSON.stringify({ type: "session", id: "s", timestamp: "t", cwd: "/" });
writeFileSync(join(folder, "session.jsonl"), `${[header, ...session.map(message)].join("\n")}\n`);

describe("spillway replay", () => {
  it("prints a row for none and each policy that was asked for", () => {
    const { stdout, stderr, status } = spillway("session.jsonl", "--policy", "last-10", "--policy", "ours");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows.map(([name]) => name)).toEqual([
      expect.stringContaining("1 conversation, 13 requests"),
      "",
      "POLICY",
      "none",
      "ours",
      "last-10",
      "",
    ]);
    expect(rows[4]?.slice(1)).toEqual(rows[3]?.slice(1));
    expect(rows[5]?.at(-2)).toBe("1");
  });

  it("gives everything as JSON, the same every time, with prices by flags", () => {
    const flags = ["session.jsonl", "--json", "--window", "100", "--prices", "openai", "--cache-write-price", "2.5"];
    const { stdout } = spillway(...flags, "--cache-ttl", "1h", "--min-cache-tokens", "7", "--input-price", "2");
    const { totals, prices, conversations } = JSON.parse(stdout);
    expect(prices).toMatchObject({
      input: 2,
      cacheRead: 0.125,
      cacheWrite: 2.5,
      minCacheTokens: 7,
      cacheTtlMs: 3_600_000,
    });
    expect(totals.map(({ policy }: { policy: string }) => policy)).toHaveLength(8);
    expect(totals[0]).toMatchObject({ requests: 13, misses: 0, overflows: expect.any(Number) });
    expect(conversations[0]).toMatchObject({ name: "session.jsonl", wire: "pi", messages: 26 });
    expect(spillway(...flags).stdout).toBe(spillway(...flags).stdout);
  });

  it("says how many requests of other branches it left out", () => {
    const entry = (id: number, parent: number | null, value: object) =>
      JSON.stringify({ type: "message", id: `${id}`, parentId: parent === null ? null : `${parent}`, message: value });
    const said = { role: "assistant", content: [{ type: "text", text: "yes" }], stopReason: "stop" };
    const lines = [header, entry(1, null, session[0] ?? {}), entry(2, 1, said), entry(3, 1, said)];
    writeFileSync(join(folder, "branches.jsonl"), `${lines.join("\n")}\n`);
    expect(spillway("branches.jsonl", "--policy", "none").stdout).toContain("\n1 request of other branches left out\n");
    expect(spillway("session.jsonl", "--policy", "none").stdout).not.toContain("left out");
  });

  it("writes a page", () => {
    expect(spillway("session.jsonl", "--html", "page.html").status).toBe(0);
    expect(readFileSync(join(folder, "page.html"), "utf8")).toContain("session.jsonl");
  });

  it("says what is wrong", () => {
    writeFileSync(join(folder, "other.json"), '{"a":1}');
    expect(spillway("missing.json")).toMatchObject({ status: 2, stderr: expect.stringContaining("no such file") });
    expect(spillway("other.json")).toMatchObject({ status: 2, stderr: expect.stringContaining("--wire") });
    expect(spillway("session.jsonl", "--policy", "x")).toMatchObject({ status: 2 });
    expect(spillway("session.jsonl", "--cache-read-price", "-1")).toMatchObject({ status: 2 });
    expect(spillway("session.jsonl", "--wire", "x")).toMatchObject({ status: 2 });
    expect(spillway("session.jsonl", "--window", "0")).toMatchObject({ status: 2 });
    expect(spillway("session.jsonl", "--cache-ttl", "7d")).toMatchObject({ status: 2 });
    expect(spillway()).toMatchObject({ status: 2 });
  });
});
