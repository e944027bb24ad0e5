import { describe, expect, it } from "vitest";
import { recordedIn } from "./recorded.ts";

const chat = [
  { role: "user", content: "go" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "1", content: "done" },
];

describe("recordedIn", () => {
  it.each([
    ["a list of messages", chat],
    ["a run", { id: 1, messages: chat }],
    ["a run by another name", { task: 1, traj: chat }],
    ["a list of runs", [{ trajectory: chat }]],
    ["a request", { model: "gpt-5", messages: chat }],
  ])("finds messages in %s", (_, value) => {
    const found = recordedIn(value, "file");
    expect(found.map(({ wire, messages }) => [wire.name, messages])).toEqual([["openai-chat", chat]]);
  });

  it("numbers the runs of a list", () => {
    expect(recordedIn([{ traj: chat }, { other: 1 }, { traj: chat }], "f").map(({ name }) => name)).toEqual([
      "f#1",
      "f#3",
    ]);
  });

  it.each([[null], ["text"], [7], [[]], [{}], [{ messages: [1, 2] }]])("finds nothing in %j", (value) => {
    expect(recordedIn(value, "file")).toEqual([]);
  });

  it("reads shell blocks and the outputs that users hand back as calls and results", () => {
    const texts = [
      { role: "user", content: "fix it" },
      { role: "assistant", content: "I look.\n\n```bash\nls $&\n```" },
      { role: "user", content: "<returncode>0</returncode>\n<output>\na\n</output>" },
      { role: "assistant", content: "no block" },
      { role: "user", content: "Please give one." },
    ];
    const [found = expect.fail()] = recordedIn({ messages: texts }, "run");
    const { results, calls } = {
      results: found.messages.flatMap((message) => found.wire.read(message).results),
      calls: found.messages.flatMap((message) => found.wire.read(message).calls),
    };
    expect(results.map(({ texts: [text] }) => text)).toEqual([texts[2]?.content]);
    expect(calls).toMatchObject([{ tool: "bash", input: '{"command":"ls $&"}' }]);
    expect(found.messages[1]).toMatchObject({ content: "I look.\n\n" });
    expect(found.messages.slice(3)).toEqual(texts.slice(3));
  });
});
