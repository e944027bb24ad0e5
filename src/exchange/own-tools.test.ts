import { expect, it } from "vitest";
import type { Wire, WireCall } from "../contract/wire.ts";
import { wireNamed } from "../wire/index.ts";
import { answerOwn, HiddenTurns, isOwnTool } from "./own-tools.ts";

const responses = wireNamed("openai-responses");
const anthropic = wireNamed("anthropic");
if (responses === null || anthropic === null) throw new Error("a wire is missing");

const own: WireCall = { id: "own", tool: "spillway_recall", input: "{}" };
const theirs: WireCall = { id: "theirs", tool: "read", input: "{}" };
const results = [{ call: own, text: "page", isError: false }];
const ownCall = { type: "function_call", id: "fc_1", call_id: "own", name: "spillway_recall", arguments: "{}" };
const theirCall = { type: "function_call", id: "fc_2", call_id: "theirs", name: "read", arguments: "{}" };
const ownOutput = { type: "function_call_output", call_id: "own", output: "page" };
const theirOutput = { type: "function_call_output", call_id: "theirs", output: "text" };
const first = { role: "user", content: "go" };
const asked = (wire: Wire, messages: unknown[], scope = "") => ({ wire, scope, messages });
const thought = (id: string) => ({ type: "reasoning", id, summary: [] });

it("items are put back where they were among the client's, with its own copies of those", () => {
  const hidden = new HiddenTurns();
  const messages = [thought("r1"), ownCall, ownOutput, thought("r2"), theirCall];
  hidden.keep(asked(responses, [first]), [theirs], { messages, results: [] });
  const marked = { ...theirCall, status: "completed" };
  const sent = hidden.restore(asked(responses, [first, thought("r1"), thought("r2"), marked, theirOutput]), false);
  expect(sent).toEqual([first, thought("r1"), ownCall, ownOutput, thought("r2"), marked, theirOutput]);
});

it("if the provider holds the turn, only our result is added", () => {
  const hidden = new HiddenTurns();
  hidden.keep(asked(responses, [first]), [theirs], { messages: [ownCall, theirCall], results });
  expect(hidden.restore(asked(responses, [theirOutput]), true)).toEqual([theirOutput, ownOutput]);
  const other = [{ ...theirOutput, call_id: "another" }];
  expect(hidden.restore(asked(responses, other), true)).toBe(other);
});

it("a turn that does not fit any more is left as the client has it", () => {
  const hidden = new HiddenTurns();
  const use = { type: "tool_use", id: "theirs", name: "read", input: {} };
  const whole = {
    role: "assistant",
    content: [{ type: "tool_use", id: "own", name: "spillway_recall", input: {} }, use],
  };
  hidden.keep(asked(anthropic, [first]), [theirs], { messages: [whole], results });
  const messages = [first, { role: "assistant", content: [use] }, { role: "user", content: "stop" }];
  expect(hidden.restore(asked(anthropic, messages), false)).toBe(messages);
});

it("a call without an id is known by what was said before it, and by nothing less", () => {
  const gemini = wireNamed("gemini");
  if (gemini === null) throw new Error("a wire is missing");
  const hidden = new HiddenTurns();
  const call = { functionCall: { name: "read", args: { path: "a" } } };
  const ours = { functionCall: { name: "spillway_recall", args: {} } };
  const start = { role: "user", parts: [{ text: "go" }] };
  const shown = { role: "model", parts: [call] };
  const response = { functionResponse: { name: "read", response: { output: "text" } } };
  const bare = { id: null, tool: "read", input: { path: "a" } };
  const page = { call: { ...own, id: null }, text: "page", isError: false };
  hidden.keep(asked(gemini, [start]), [bare], { messages: [{ role: "model", parts: [call, ours] }], results: [page] });
  const answers = { role: "user", parts: [response, { text: "more" }] };
  const sent = hidden.restore(asked(gemini, [start, shown, answers]), false);
  const own2 = { functionResponse: { name: "spillway_recall", response: { output: "page" } } };
  expect(sent).toEqual([
    start,
    { role: "model", parts: [call, ours] },
    { role: "user", parts: [response, own2, { text: "more" }] },
  ]);
  const other = [{ role: "user", parts: [{ text: "another" }] }, shown, answers];
  expect(hidden.restore(asked(gemini, other), false)).toBe(other);
});

it("a turn is put back into its own conversation only, though ids of calls repeat", () => {
  const chat = wireNamed("openai-chat");
  if (chat === null) throw new Error("a wire is missing");
  const hidden = new HiddenTurns();
  const called = (name: string, args: string) => ({
    id: `functions.${name}:0`,
    type: "function",
    function: { name, arguments: args },
  });
  const bash = called("bash", '{"command":"ls", "cwd":"a"}');
  const whole = { role: "assistant", content: null, tool_calls: [called("spillway_recall", "{}"), bash] };
  const [, call] = chat.read(whole).calls;
  const page = { call: { ...own, id: "functions.spillway_recall:0" }, text: "page", isError: false };
  if (call === undefined) throw new Error("the call was not read");
  hidden.keep(asked(chat, [first], "a"), [call], { messages: [whole], results: [page] });
  const shown = { role: "assistant", content: null, tool_calls: [bash] };
  const result = { role: "tool", tool_call_id: bash.id, content: "a" };
  const restored = (messages: unknown[], scope = "a") =>
    hidden.restore(asked(chat, messages, scope), false) !== messages;
  expect(restored([first, shown, result])).toBe(true);
  // A client that left a call out.
  hidden.keep(asked(chat, [first], "b"), [call, { ...call, id: "more" }], { messages: [whole], results: [page] });
  expect(restored([first, shown, result], "b")).toBe(false);
  // The client may write the arguments anew, and say more about a message.
  const again = { ...shown, tool_calls: [called("bash", '{"cwd":"a","command":"ls"}')] };
  expect(restored([{ ...first, cache_control: { type: "ephemeral" } }, again, result])).toBe(true);
  // Another conversation, another caller, another call, another tool, one call more, a later turn.
  expect(restored([{ role: "user", content: "other" }, shown, result])).toBe(false);
  expect(restored([first, shown, result], "b")).toBe(false);
  expect(restored([first, { ...shown, tool_calls: [called("bash", '{"command":"ls"}')] }, result])).toBe(false);
  const renamed = { ...bash, function: { ...bash.function, name: "sh" } };
  expect(restored([first, { ...shown, tool_calls: [renamed] }, result])).toBe(false);
  expect(restored([first, { ...shown, tool_calls: [bash, { ...bash, id: "functions.bash:1" }] }, result])).toBe(false);
  expect(restored([first, { role: "assistant", content: "hm" }, first, shown, result])).toBe(false);
});

it("an item of another conversation gets no turn, though ids of calls repeat", () => {
  const hidden = new HiddenTurns();
  hidden.keep(asked(responses, [first]), [theirs], { messages: [ownCall, theirCall], results });
  const other = [{ role: "user", content: "other" }, theirCall, theirOutput];
  expect(hidden.restore(asked(responses, other), false)).toBe(other);
  const changed = [first, { ...theirCall, arguments: '{"path":"b"}' }, theirOutput];
  expect(hidden.restore(asked(responses, changed), false)).toBe(changed);
});

it("the oldest turns are forgotten", () => {
  const hidden = new HiddenTurns();
  for (let at = 0; at < 300; at++)
    hidden.keep(asked(responses, []), [{ ...theirs, id: `c${at}` }], { messages: [ownCall], results });
  const held = (id: string) => hidden.restore(asked(responses, [{ ...theirOutput, call_id: id }]), true).length;
  expect([held("c0"), held("c43"), held("c44"), held("c299")]).toEqual([1, 1, 2, 2]);
});

it("a call that is wrong is answered with what is wrong", async () => {
  const from = {
    recall: async () => {
      throw new Error("no artifact x");
    },
    search: async () => {
      throw new Error("unused");
    },
    since: async () => {
      throw new Error("unused");
    },
  };
  expect(await answerOwn({ ...own, input: '{"id":"x"}' }, from)).toMatchObject({
    text: "no artifact x",
    isError: true,
  });
  expect(await answerOwn({ ...own, input: "not json" }, from)).toMatchObject({
    isError: true,
    text: expect.stringMatching(/arguments must be an object/),
  });
  expect([isOwnTool("spillway_search"), isOwnTool("recall"), isOwnTool(undefined)]).toEqual([true, false, false]);
});
