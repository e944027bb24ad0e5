import type { WireCall } from "../contract/wire.ts";
import type { JsonRecord } from "./record.ts";

/** The kind of a function call as the Agents SDK keeps it. */
export const AGENTS_CALL = "agents_call";

/** The item that answers a call with an error, by the kind of call: each has its own. */
const ANSWERS = new Map<string, (id: string, call: WireCall, text: string) => JsonRecord | null>([
  ["function_call", (id, _call, text) => ({ type: "function_call_output", call_id: id, output: text })],
  ["custom_tool_call", (id, _call, text) => ({ type: "custom_tool_call_output", call_id: id, output: text })],
  ["local_shell_call", (id, _call, text) => ({ type: "local_shell_call_output", id, output: text })],
  [
    "shell_call",
    (id, _call, text) => {
      const output = [{ stdout: "", stderr: text, outcome: { type: "exit", exit_code: 1 } }];
      return { type: "shell_call_output", call_id: id, output };
    },
  ],
  [
    "apply_patch_call",
    (id, _call, text) => ({ type: "apply_patch_call_output", call_id: id, status: "failed", output: text }),
  ],
  // Only a screenshot answers it.
  ["computer_call", () => null],
  [
    AGENTS_CALL,
    (id, { tool }, text) => {
      return { type: "function_call_result", callId: id, name: tool, status: "incomplete", output: text };
    },
  ],
]);

/** Whether the one who made the request answers calls of this type. */
export function isAnswerable(type: string): boolean {
  return ANSWERS.has(type);
}

/** An item that says a call got no result; null where no text can. */
export function answerCall(id: string, call: WireCall, text: string): JsonRecord | null {
  return ANSWERS.get(call.kind ?? "function_call")?.(id, call, text) ?? null;
}
