import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { boundedTools, type HistoryWant, openRoots } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-sessions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "in"));
writeFileSync(join(folder, "secret.jsonl"), '{"role":"user","content":"secret"}\n');
writeFileSync(join(folder, "in", "one.jsonl"), '{"role":"user","content":"first"}\n');
writeFileSync(join(folder, "in", "s-42.jsonl"), '{"role":"user","content":"by its key"}\n');
writeFileSync(
  join(folder, "in", "sessions.json"),
  '{"agent:main:main":{"sessionId":"s-42"},"evil":{"sessionId":"../secret"}}',
);
symlinkSync(join(folder, "secret.jsonl"), join(folder, "in", "link.jsonl"));

/** As large as it may be. */
async function open() {
  const wants: HistoryWant[] = [];
  const histories = {
    roots: await openRoots([join(folder, "in")]),
    async read(file: string, want: HistoryWant) {
      wants.push(want);
      const first: unknown = JSON.parse((await readFile(file, "utf8")).split("\n")[0] ?? "");
      const room = want.maxBytes - JSON.stringify([first, { a: "" }]).length;
      const messages = [first, { a: "x".repeat(room) }];
      const bytes = Buffer.byteLength(JSON.stringify(messages));
      return { messages, truncated: true, droppedMessages: true, contentTruncated: false, bytes, next: 7 };
    },
  };
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const tools = boundedTools({ spillway, roots: histories.roots, histories });
  const tool = tools.find(({ name }) => name === "sessions_history");
  return { wants, call: (args: unknown) => tool?.call(args) };
}

test("gives the history with its flags, within 80 KiB, not cut a second time", async () => {
  const { call, wants } = await open();
  const answer = await call({ sessionKey: "one", limit: 500, includeTools: true });
  expect(answer?.isError).toBe(false);
  expect(Buffer.byteLength(answer?.text ?? "")).toBeLessThanOrEqual(80 * 1024);
  expect(Buffer.byteLength(answer?.text ?? "")).toBeGreaterThan(79 * 1024 - 500);
  const read = JSON.parse(answer?.text ?? "");
  expect(Object.keys(read)).toEqual([
    "sessionKey",
    "messages",
    "truncated",
    "droppedMessages",
    "contentTruncated",
    "bytes",
    "next",
  ]);
  expect(read).toMatchObject({ sessionKey: "one", truncated: true, next: 7 });
  expect(wants).toEqual([{ limit: 500, offset: 0, includeTools: true, maxBytes: 80 * 1024 - 1024 }]);
});

test("a session is named by its key, or by its file", async () => {
  const { call } = await open();
  for (const sessionKey of ["agent:main:main", "s-42", "s-42.jsonl"]) {
    expect((await call({ sessionKey }))?.text).toContain("by its key");
  }
});

test.each(["evil", "link", "../secret", "../secret.jsonl", "__proto__", "none", "a\0", ".", "x".repeat(201)])(
  "%s is no session",
  async (sessionKey) => {
    const { call } = await open();
    const answer = await call({ sessionKey });
    expect(answer?.isError).toBe(true);
    expect(answer?.text).not.toContain("role");
  },
);
