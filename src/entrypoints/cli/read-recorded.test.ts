import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createSpillway } from "../../index.ts";
import { estimateCounter } from "../../stages/measure/estimate-tokens.ts";
import { PRICES, type Prices, policies, replay } from "../replay/index.ts";
import { readRecorded } from "./read-recorded.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-recorded-"));
afterAll(() => rmSync(folder, { recursive: true }));

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const said = (text: string, input = 0) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  usage: { input, output: 1, cacheRead: 10, cacheWrite: 5 },
  timestamp: 1,
});
const message = (id: string, parentId: string | null, value: object) => ({
  type: "message",
  id,
  parentId,
  message: value,
});

/** A tree whose entries have ids, as pi writes it now. */
const tree = [
  { type: "session", version: 3, id: "s" },
  message("1", null, user("go")),
  message("2", "1", said("one", 100)),
  message("x", "2", said("on another branch", 100)),
  message("3", "2", user("on")),
  message("4", "3", said("two", 200)),
  { type: "compaction", id: "5", parentId: "4", summary: "sum", firstKeptEntryId: "3" },
  message("6", "5", said("three", 50)),
  message("7", "6", user("and")),
  message("8", "7", { ...said("broke off"), usage: undefined }),
  message("9", "8", said("four", 60)),
  { type: "compaction", id: "10", parentId: "9", summary: "all", firstKeptEntryId: "none" },
  message("11", "10", user("last")),
  message("12", "11", said("five", 20)),
];
/** The same branch as a plain list, as the oldest versions wrote it. */
const list: object[] = tree
  .filter(({ id }) => id !== "x")
  .map(({ id, parentId: _parentId, firstKeptEntryId: first, ...entry }: Record<string, unknown>) => ({
    ...entry,
    ...(entry.type === "session" && { id }),
    ...(first !== undefined && { firstKeptEntryIndex: first === "3" ? 3 : 11 }),
  }));
list.push({ type: "message", timestamp: 1 });
/** The same, with one line more that was cut off and still counts as a place. */
const damaged: (object | null)[] = list.map((entry) =>
  "firstKeptEntryIndex" in entry ? { ...entry, firstKeptEntryIndex: Number(entry.firstKeptEntryIndex) + 1 } : entry,
);
damaged.splice(1, 0, null);

it.each([
  ["a tree", tree, 1],
  ["a plain list", list, 0],
  ["a plain list with a damaged line", damaged, 0],
])("every request of %s is played as it was sent, across compactions", async (_, lines, leftOut) => {
  const path = join(folder, "session.jsonl");
  writeFileSync(path, lines.map((line) => `${line === null ? '{"type":' : JSON.stringify(line)}\n`).join(""));
  const recorded = readRecorded(path);
  const texts = recorded.map(({ messages }) =>
    (messages as { summary?: string; content: { text: string }[] }[]).map((one) => one.summary ?? one.content[0]?.text),
  );
  expect(texts).toEqual([
    ["go", "one", "on", "two"],
    ["sum", "on", "two", "three", "and", "broke off", "four"],
    ["all", "last", "five"],
  ]);
  const replayed = await replay(recorded, {
    policies: policies.filter(({ name }) => name === "none"),
    windowTokens: 1000,
    prices: PRICES[0] as Prices,
    counter: estimateCounter,
    makeSpillway: () => createSpillway({ store: null, ledger: null, env: {} }),
  });
  expect(replayed.conversations.map(({ played }) => played[0]?.requests.length)).toEqual([2, 3, 1]);
  expect(replayed.leftOut).toBe(leftOut);
  expect(replayed.counted).toMatchObject({ requests: 5, tokens: 100 + 200 + 50 + 60 + 20 + 5 * 15 });
  const [first, second] = replayed.conversations.map(
    ({ played }) => played[0]?.requests.map(({ tokens }) => tokens) ?? [],
  );
  const { estimated, beside } = replayed.conversations[0]?.counted ?? expect.fail();
  expect(estimated).toBe((first?.[0] ?? 0) + (first?.[1] ?? 0));
  expect(beside).toBe(115 - (first?.[0] ?? 0));
  // What came after the answer that broke off was sent by itself.
  // The requests are played by what their provider's counts showed in the end, each message rounded.
  const counted = replayed.conversations[1]?.counted ?? expect.fail();
  const share = (counted.tokens - counted.beside * counted.requests) / counted.estimated;
  expect(Math.abs(counted.estimated * share - (second?.[0] ?? 0) - (second?.[2] ?? 0))).toBeLessThan(2);
});
