import { dirname } from "node:path";
import { isObject, isRecord, type JsonRecord } from "../../values.ts";
import type { ToolResult } from "./agent.ts";

/** A field of an event as a text; undefined for anything else and for an empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A folder and all that it is in. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

/** What made a result, from the tool's arguments and the folder. */
export function madeBy(args: unknown, folder: unknown): ToolResult["made"] {
  const command = isRecord(args) ? args.command : undefined;
  return {
    ...(typeof command === "string" ? { command } : args !== undefined && { args }),
    ...(typeof folder === "string" && { folder }),
  };
}

/** The call that an event is about, in the names of Claude Code, which Codex, Gemini CLI and Qwen Code use too. */
export function callIn(event: JsonRecord) {
  return {
    kind: "result",
    tool: textOf(event.tool_name) ?? "tool",
    session: textOf(event.session_id),
    call: textOf(event.tool_use_id ?? event.tool_call_id),
    made: madeBy(event.tool_input, event.cwd),
    transcript: textOf(event.transcript_path),
  } as const;
}

/** The text that a model would read of a text, a part or a list of parts; null if there is more than text in it. */
export function modelText(content: unknown): string | null {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    const texts = content.map(modelText);
    return texts.includes(null) ? null : texts.join("\n");
  }
  if (!isRecord(content)) return null;
  const { type = "text", text, ...rest } = content;
  const isPlain = type === "text" && typeof text === "string" && !Object.values(rest).some(isObject);
  return isPlain ? text : null;
}

/** Agents write such files right after a call, or while it runs. Clocks of file systems are coarse. */
const SLACK_MS = 2000;

/** The time from which on a file can be of a call that took so long and has ended at this time. */
export function startOf(endMs: unknown, durationMs: unknown, otherwiseMs: number): number {
  const end = typeof endMs === "string" ? Date.parse(endMs) : endMs;
  const took = typeof durationMs === "number" ? durationMs : otherwiseMs;
  return (typeof end === "number" && Number.isFinite(end) ? Math.min(end, Date.now()) : Date.now()) - took - SLACK_MS;
}
