import { describe, expect, it } from "vitest";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import { mcp } from "./mcp.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { pi } from "./pi.ts";

// Tests what only one format has. testWire tests what all formats share.

describe("roles", () => {
  it("a message of results only is theirs; with words beside them it is the user's", () => {
    const result = { type: "tool_result", tool_use_id: "1", content: "x" };
    expect(anthropic.read({ role: "user", content: [result] }).role).toBe("result");
    expect(anthropic.read({ role: "user", content: [result, { type: "text", text: "and?" }] }).role).toBe("user");
    expect(gemini.read({ role: "model", parts: [{ text: "hi" }] }).role).toBe("assistant");
    expect(openaiChat.read({ role: "developer", content: "hi" }).role).toBe("system");
    expect(openaiChat.read({ role: "critic", content: "hi" }).role).toBe("other");
  });

  it("says the first text, and how much a model reads outside results", () => {
    const view = anthropic.read({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "abc", signature: "s" },
        { type: "text", text: "hello" },
        { type: "text", text: "you" },
        { type: "tool_use", id: "1", name: "read", input: { path: "a" } },
      ],
    });
    expect([view.text, view.moreTexts]).toEqual(["hello", ["you"]]);
    expect(view.chars).toBeGreaterThanOrEqual("abchelloyouread".length + '{"path":"a"}'.length);
    expect(view.chars).toBeLessThan(40);
  });
});

describe("ai-sdk", () => {
  it("counts what a model thought, and the name and input of what it called", () => {
    const view = aiSdk.read({
      role: "assistant",
      content: [
        { type: "reasoning", text: "t".repeat(1000), providerOptions: { anthropic: { signature: "s".repeat(500) } } },
        { type: "tool-call", toolCallId: "c", toolName: "read", input: { path: "a" } },
      ],
    });
    expect(view.chars).toBeGreaterThanOrEqual(1000 + "read".length + '{"path":"a"}'.length);
    expect(view.chars).toBeLessThan(1020);
  });
});

describe("pi", () => {
  it.each([
    ["aborted", true],
    ["error", true],
    ["toolUse", false],
    ["stop", false],
    ["deferred", false],
    [undefined, false],
  ])("a turn that ended with %s is broken off: %s", (stopReason, aborted) => {
    const message = {
      role: "assistant",
      content: [{ type: "toolCall", id: "1", name: "a", arguments: {} }],
      stopReason,
    };
    expect(pi.read(message).aborted).toBe(aborted);
    expect(pi.read({ type: "message", id: "e1", parentId: null, message })).toMatchObject({ id: "e1", aborted });
  });

  it.each(["aborted", "error", "toolUse"])(
    "calls of a turn that ended with %s are sent if it did not break off",
    (stopReason) => {
      const call = { type: "toolCall", id: "1", name: "write", arguments: { text: "x".repeat(20_000) } };
      const message = { role: "assistant", content: [{ type: "text", text: "I write." }, call], stopReason };
      const isWhole = stopReason === "toolUse";
      const content = isWhole ? message.content : message.content.slice(0, 1);
      for (const one of [message, { type: "message", id: "e1", parentId: null, message }])
        expect(pi.sent?.(one)).toEqual({ role: "assistant", content });
      // What is not sent is not pruned.
      expect(pi.read(message).calls.map(({ long }) => long !== undefined)).toEqual([isWhole]);
      if (!isWhole) expect(pi.write(message, [{ at: "1", texts: ["short"] }])).toBe(message);
    },
  );

  it.each(["toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "callId", "call_id"])(
    "reads ids under %s",
    (field) => {
      expect(pi.read({ role: "tool", [field]: "x1", content: "y" }).results[0]).toMatchObject({
        id: "x1",
        texts: ["y"],
      });
    },
  );

  it.each(["toolCall", "toolUse", "functionCall", "tool_call", "tool_use", "function_call"])(
    "reads calls named %s",
    (type) => {
      const content = [{ type, id: "1", name: "read", input: { path: "a" } }];
      expect(pi.read({ role: "assistant", content }).calls).toEqual([{ id: "1", tool: "read", input: { path: "a" } }]);
    },
  );

  it("a command that is kept out of the context says nothing to a model", () => {
    const run = { role: "bashExecution", command: "ls", output: "a b c", exitCode: 0 };
    expect(pi.read(run)).toMatchObject({ role: "user", text: "ls", chars: 7 });
    expect(pi.read({ ...run, excludeFromContext: true })).toMatchObject({ role: "other", chars: 0 });
  });

  it.each(["user", "assistant", "system", "custom"])("a message of the role %s leaves a session recognised", (role) => {
    const result = { role: "toolResult", toolCallId: "1", toolName: "ls", content: [{ type: "text", text: "a" }] };
    expect(pi.detect([{ role, content: "note" }, result])).toBe(0.95);
  });

  it("lines of a transcript that hold no message are passed by", () => {
    const header = { type: "session", version: 3, id: "s1", timestamp: "t", cwd: "/" };
    expect(pi.read(header)).toMatchObject({ role: "other", id: "s1", malformed: 0 });
    expect(pi.read({ type: "message", id: "m1", message: null })).toMatchObject({ role: "other", malformed: 1 });
    expect(pi.read({ type: "custom_message", id: "c1", content: "note" })).toMatchObject({
      role: "user",
      text: "note",
    });
  });
});

describe("openai-responses", () => {
  it.each([
    ["function_call", { call_id: "1", name: "a", arguments: "{}" }, "function_call_output"],
    ["custom_tool_call", { call_id: "1", name: "a", input: "x" }, "custom_tool_call_output"],
    ["shell_call", { call_id: "1", action: { commands: ["ls"] } }, "shell_call_output"],
    ["local_shell_call", { call_id: "1", id: "l1", action: { command: ["ls"] } }, "local_shell_call_output"],
    ["apply_patch_call", { call_id: "1", operation: {} }, "apply_patch_call_output"],
    ["function_call", { callId: "1", name: "a", arguments: "{}" }, "function_call_result"],
    ["computer_call", { call_id: "1", action: {} }, null],
  ])("answers a %s in its own way", (type, fields, answer) => {
    const { calls } = openaiResponses.read({ type, ...fields });
    expect(calls).toHaveLength(1);
    const missing = openaiResponses.missing(calls, "Error: none.") as { type: string } | null;
    expect(missing?.type ?? null).toBe(answer);
    if (missing !== null)
      expect(openaiResponses.read(missing).results[0]).toMatchObject({ id: "1", texts: ["Error: none."] });
  });

  it("a search for tools is the provider's, or answered by an item that is not a result", () => {
    const search = { type: "tool_search_call", call_id: "t1", execution: "client", arguments: {} };
    expect(openaiResponses.read(search).calls).toEqual([]);
  });

  it("a hosted call without a result is nobody's to answer", () => {
    const view = openaiResponses.read({
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { query: "x" },
    });
    expect(view).toMatchObject({ role: "assistant", calls: [], results: [] });
    expect(view.chars).toBeGreaterThan(0);
  });

  it("one text for several commands leaves every exit status in place", () => {
    const outcome = { type: "exit", exit_code: 3 };
    const output = [
      { stdout: "a", stderr: "b", outcome },
      { stdout: "c", stderr: "", outcome },
    ];
    const item = { type: "shell_call_output", call_id: "1", output };
    expect(openaiResponses.read(item).results[0]?.texts).toEqual(["a\nb", "c"]);
    expect(openaiResponses.write(item, [{ at: "output", texts: ["short"] }])).toEqual({
      ...item,
      output: [
        { stdout: "short", stderr: "", outcome },
        { stdout: "", stderr: "", outcome },
      ],
    });
  });
});

describe("anthropic", () => {
  it("a server tool without its result yet is not listed as a call", () => {
    const call = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: { type: "web_search_tool_result_error" },
    };
    expect(anthropic.read({ role: "assistant", content: [call] }).calls).toEqual([]);
    const view = anthropic.read({ role: "assistant", content: [call, found] });
    expect(view.calls).toHaveLength(1);
    expect(view.results[0]).toMatchObject({ isError: true, fixed: true });
  });

  it("a cache breakpoint on a block that goes stands on the one that stays", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "text", text: "b", cache_control: { type: "ephemeral" } },
    ];
    const message = { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content }] };
    expect(anthropic.write(message, [{ at: "0", texts: ["c"] }])).toEqual({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "1",
          content: [{ type: "text", text: "c", cache_control: { type: "ephemeral" } }],
        },
      ],
    });
  });

  it("a cache breakpoint on what gives way to text, media or a search result, stands on that text", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const found = { type: "search_result", source: "a.md", title: "A", content: [{ type: "text", text: "long" }] };
    const content = [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" }, cache_control },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "BB" } },
      { ...found, cache_control },
      found,
    ];
    const message = { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content }] };
    expect(anthropic.write(message, [{ at: "0", texts: ["cut", "short"], mediaText: "[image]" }])).toEqual({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "1",
          content: [
            { type: "text", text: "[image]", cache_control },
            { type: "text", text: "[image]" },
            { type: "text", text: "cut", cache_control },
            { type: "text", text: "short" },
          ],
        },
      ],
    });
  });
});

describe("gemini", () => {
  it.each([
    ["OUTCOME_OK", false],
    [undefined, false],
    ["OUTCOME_FAILED", true],
    ["OUTCOME_DEADLINE_EXCEEDED", true],
  ])("code that the provider ran with %s has failed: %s", (outcome, isError) => {
    for (const field of ["codeExecutionResult", "code_execution_result"]) {
      const { results } = gemini.read({ role: "model", parts: [{ [field]: { outcome, output: "Traceback" } }] });
      expect(results).toMatchObject([{ tool: "code_execution", isError, fixed: true, texts: ["Traceback"] }]);
    }
  });

  it("what is said of media joins the text, and an error stays one", () => {
    const parts = [{ inlineData: { mimeType: "image/png", data: "AA" } }, { fileData: { fileUri: "gs://a" } }];
    const message = { role: "user", parts: [{ functionResponse: { name: "a", response: { error: "no" }, parts } }] };
    expect(gemini.write(message, [{ at: "0", texts: ["cut"], mediaText: "[image]" }])).toEqual({
      role: "user",
      parts: [{ functionResponse: { name: "a", response: { error: "cut\n[image]\n[image]" }, parts: [] } }],
    });
  });
});

describe("mcp", () => {
  it("a structure that stood for missing text gives way to text; beside text it stays", () => {
    const structuredContent = { rows: [1, 2] };
    expect(mcp.write({ content: [], structuredContent }, [{ at: "content", texts: ["cut"] }])).toEqual({
      content: [{ type: "text", text: "cut" }],
    });
    const both = { content: [{ type: "text", text: "[1,2]" }], structuredContent };
    expect(mcp.write(both, [{ at: "content", texts: ["cut"] }])).toEqual({
      content: [{ type: "text", text: "cut" }],
      structuredContent,
    });
  });
});

describe("langchain", () => {
  it("an instance stays an instance", () => {
    class ToolMessage {
      type = "tool";
      content = "long";
      tool_call_id = "1";
    }
    const message = Object.freeze(new ToolMessage());
    const written = langchain.write(message, [{ at: "content", texts: ["short"] }]);
    expect(written).toBeInstanceOf(ToolMessage);
    expect(written).toMatchObject({ content: "short", tool_call_id: "1" });
    expect(message.content).toBe("long");
  });

  it.each([
    ["an instance", (fields: object) => ({ type: "tool", ...fields, lc_kwargs: fields, lc_namespace: ["messages"] })],
    [
      "serialised",
      (kwargs: object) => ({ lc: 1, type: "constructor", id: ["core", "messages", "ToolMessage"], kwargs }),
    ],
    ["stored", (data: object) => ({ type: "tool", data })],
  ])("what a provider gets has no data that only the application gets: %s", (_form, made) => {
    const sent = { content: "short", name: "read", tool_call_id: "1" };
    const message = made({ ...sent, artifact: "x".repeat(9000), response_metadata: { raw: "y".repeat(9000) } });
    expect(langchain.sent?.(message)).toEqual({ role: "tool", ...sent });
  });
});
