import { describe, expect, it } from "vitest";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// What is recorded of results whose tools run elsewhere, as a gateway sees them.

const SECRET = `ghp_${"a1B2".repeat(9)}`;
const LONG = "a line of the log\n".repeat(5000);

const call = (id: string, input: unknown) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "bash", input }],
});
const result = (id: string, content: string) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const START = { role: "user", content: "go" };

async function open(options: SpillwayOptions = {}) {
  const ledger = memoryLedger();
  const spillway = await createSpillway({ store: memoryStore(), ledger, env: {}, ...options });
  const outputs = async () => (await ledger.events()).filter(({ kind }) => kind.startsWith("output-"));
  return { spillway, outputs, ledger };
}

describe("results in a request", () => {
  it("events and artifacts name what the tool was called with, the wire, the model and the agent", async () => {
    const { spillway, outputs, ledger } = await open();
    const messages = [START, call("c1", { command: `curl -H "x: ${SECRET}" example.com` }), result("c1", LONG)];
    await spillway.prepare(messages, { wire: "anthropic", model: "claude-x", agent: "some-agent", session: "s1" });
    const [event] = await outputs();
    expect(event).toMatchObject({
      kind: "output-clamped",
      tool: "bash",
      call: "c1",
      more: { wire: "anthropic", model: "claude-x", agent: "some-agent" },
    });
    expect(event?.more?.["command"]).toMatch(/^curl -H "x: .* example\.com$/);
    expect(JSON.stringify(event)).not.toContain(SECRET);
    const { command } = await spillway.artifact(event?.artifact ?? "");
    expect(command).toBe(event?.more?.["command"]);
    const [pruned] = await ledger.events({ kinds: ["request-pruned"] });
    expect(pruned?.more).toMatchObject({ wire: "anthropic", model: "claude-x", agent: "some-agent" });
  });

  it("arguments in JSON text are named too, and what is pruned later keeps them", async () => {
    const { spillway } = await open();
    const turn = (at: number) => [
      {
        role: "assistant",
        tool_calls: [
          { id: `c${at}`, type: "function", function: { name: "fetch_page", arguments: `{"url":"u${at}"}` } },
        ],
      },
      { role: "tool", tool_call_id: `c${at}`, content: `page ${at} `.repeat(1200) },
    ];
    const messages = [START, ...Array.from({ length: 8 }, (_, at) => turn(at)).flat()];
    const { report } = await spillway.prepare(messages, { wire: "openai-chat", window: 20_000 });
    const [first] = report.changes;
    expect((await spillway.artifact(first?.artifact ?? "")).command).toBe('{"url":"u0"}');
  });

  it("within their limits they are recorded only if that is asked for, each once, and kept with keep: all", async () => {
    const messages = [START, call("c1", { command: "ls" }), result("c1", "a\nb\n")];
    const quiet = await open();
    await quiet.spillway.prepare(messages);
    expect(await quiet.outputs()).toEqual([]);
    for (const keep of ["cut", "all"] as const) {
      const { spillway, outputs } = await open({ keep });
      const { messages: sent } = await spillway.prepare(messages, { records: "all" });
      expect(sent).toBe(messages);
      const longer = [...messages, call("c2", { command: "pwd" }), result("c2", "/home\n")];
      await spillway.prepare(longer, { records: "all" });
      await spillway.prepare(longer, { records: "all" });
      const events = await outputs();
      expect(events.map(({ kind, call }) => `${kind} ${call}`)).toEqual(["output-passed c1", "output-passed c2"]);
      expect(events.map(({ artifact }) => artifact !== null)).toEqual([keep === "all", keep === "all"]);
    }
  });
});
