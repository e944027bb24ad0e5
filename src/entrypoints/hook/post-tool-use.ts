import type { Spillway } from "../../spillway.ts";
import { findTexts, putTexts } from "./response-texts.ts";

/** What an agent tells a hook after a tool has run. Claude Code's words; others use the same. */
export interface PostToolUse {
  session_id?: unknown;
  tool_name?: unknown;
  tool_response?: unknown;
  tool_use_id?: unknown;
}

/** What the agent should show its model instead; null to leave the result as it is. */
export async function answerPostToolUse(spillway: Pick<Spillway, "admit">, event: PostToolUse): Promise<object | null> {
  const { tool_response: response } = event;
  const about = {
    tool: textOr(event.tool_name, "tool"),
    session: textOr(event.session_id, undefined),
    call: textOr(event.tool_use_id, undefined),
  };
  const updated = await clampResponse(spillway, about, response);
  if (updated === null) return null;
  return { hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: updated } };
}

/** The same shape as came, since the agent drops any other; null if nothing had to be cut. */
async function clampResponse(
  spillway: Pick<Spillway, "admit">,
  about: { tool: string; session?: string | undefined; call?: string | undefined },
  response: unknown,
): Promise<unknown> {
  if (typeof response === "string") {
    const { text } = await spillway.admit({ ...about, output: response });
    return text === response ? null : text;
  }
  const found = findTexts(response);
  if (found.length === 0) return null;
  // One budget over all of them: what a model reads of one call is one output.
  const blocks = found.map(({ text }) => ({ type: "text", text }));
  const { output } = await spillway.admit({ ...about, output: { content: blocks } });
  if (output.content === blocks) return null;
  const texts = found.map(
    (each, index) => output.content[index]?.text ?? (index < output.content.length ? each.text : ""),
  );
  return texts.every((text, index) => text === found[index]?.text) ? null : putTexts(response, found, texts);
}

function textOr<T>(value: unknown, other: T): string | T {
  return typeof value === "string" && value !== "" ? value : other;
}
