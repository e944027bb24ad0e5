import { expect, it } from "vitest";
import { type Format, formats } from "../../test/recovery/formats.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const { user, turn, sent } = formats.anthropic as Format;
const RESULTS = 9;

/** No two lines are alike, so that nothing is folded. */
const logOf = (at: number) =>
  Array.from({ length: 1500 }, (_, line) => `${(line * 7919) % 9973} ${at} ${(line * 31_337) % 65_521}`).join("\n");

/** Sends nine results that no model has seen to a provider that takes `limit` tokens. */
async function send(limit: number, records: "cut" | "all" = "cut") {
  const ledger = memoryLedger();
  const spillway = await createSpillway({ store: memoryStore(), ledger, env: {} });
  const turns = Array.from({ length: RESULTS }, (_, at) => turn(`c${at}`, logOf(at)));
  const messages = [user("go"), ...turns.map(([call]) => call), ...turns.map(([, result]) => result)];
  let sends = 0;
  const answer = spillway.call(
    messages,
    (request) => {
      sends++;
      const tokens = Math.ceil(request.map(sent).join("").length / 4);
      if (tokens <= limit) return "answer";
      throw Object.assign(new Error("Prompt exceeds max length"), { status: 400, code: "1261" });
    },
    {
      wire: "anthropic",
      session: "s",
      records,
      pruning: { insure: false, batch: { maxChars: 1_000_000, windowShare: 1 } },
    },
  );
  await answer.catch(() => {});
  const events = await ledger.events();
  const cut = events.filter(({ kind }) => kind === "output-clamped");
  const rungs = events.filter(({ kind }) => kind === "overflow-reduced").length;
  const [sums] = await ledger.stats({ by: "all" });
  return { cut: cut.map(({ call }) => call).toSorted(), sends, rungs, calls: sums?.calls };
}

const ALL = Array.from({ length: RESULTS }, (_, at) => `c${at}`);

it("a cut counts once it was accepted, and tries do not count", async () => {
  const { cut, rungs } = await send(8000);
  expect(rungs).toBeGreaterThan(1);
  expect(cut).toEqual(ALL);
});

it("if the request is refused to the end, the cuts of the last send count", async () => {
  const { cut, sends } = await send(10);
  expect(sends).toBeGreaterThan(1);
  expect(cut).toEqual(ALL);
});

it.each(["cut", "all"] as const)(
  "a result that is told as it came and cut in recovery is one call: %s",
  async (records) => {
    const { cut, calls } = await send(8000, records);
    expect(cut).toEqual(ALL);
    expect(calls).toBe(RESULTS);
  },
);
