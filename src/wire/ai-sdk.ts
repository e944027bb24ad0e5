import type { Wire, WireCall, WireMessage, WireRole } from "../contract/wire.ts";
import { readOutput, writeOutput } from "./ai-sdk-output.ts";
import {
  addCall,
  addHostedCall,
  addMedia,
  addText,
  readBlocks,
  settleHosted,
  settleRole,
  writeBlocks,
} from "./blocks.ts";
import { jsonChars } from "./json-text.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { idOf, isRecord, type JsonRecord, textOrNull, withField } from "./record.ts";

const ROLES = new Set<unknown>(["system", "user", "assistant", "tool"]);

/** Model messages of the AI SDK, and the prompts that its providers get (specifications V2 to V4). */
export const aiSdk: Wire = makeWire({
  name: "ai-sdk",
  sign,
  read(message) {
    const view = emptyView(roleOf(message.role));
    const { content } = message;
    view.id = idOf(message.id);
    const hosted: WireCall[] = [];
    if (typeof content === "string") addText(view, content);
    else if (Array.isArray(content)) readBlocks(view, content, (part, at) => readPart(view, hosted, part, at));
    else view.malformed += 1;
    settleHosted(view, hosted);
    return settleRole(view);
  },
  write(message, edits) {
    // A result in an assistant's message is of a tool that the provider ran.
    if (!Array.isArray(message.content) || message.role === "assistant") return message;
    const parts = writeBlocks(message.content, edits, (part, edit) =>
      part.type === "tool-result" ? withField(part, "output", writeOutput(part.output, edit)) : part,
    );
    return withField(message, "content", parts);
  },
  missing(calls, text) {
    const content = calls
      .filter(({ id }) => id !== null)
      .map(({ id, tool }) => {
        const output = { type: "error-text", value: text };
        return { type: "tool-result", toolCallId: id, toolName: tool, output };
      });
    return content.length === 0 ? null : { role: "tool", content };
  },
  say: (text) => ({ role: "user", content: [{ type: "text", text }] }),
});

function readPart(view: WireMessage, hosted: WireCall[], part: JsonRecord, index: number): void {
  const { type } = part;
  if (type === "text") addText(view, part.text);
  else if (type === "tool-call") {
    const id = idOf(part.toolCallId);
    if (part.providerExecuted === true) addHostedCall(view, hosted, id, part.toolName, part.input);
    else addCall(view, id, part.toolName, part.input);
  } else if (type === "tool-result") {
    const { texts, media, otherChars, malformed, isError } = readOutput(part.output);
    const [at, id, tool] = [String(index), idOf(part.toolCallId), textOrNull(part.toolName)];
    view.results.push({ at, id, tool, isError, texts, media, fixed: view.role === "assistant" });
    view.chars += otherChars;
    view.malformed += malformed;
  } else if (type === "file" || type === "image" || type === "reasoning-file")
    addMedia(view, jsonChars(part.data ?? part.image ?? ""));
  else if (typeof type !== "string") view.malformed += 1;
  else if (type === "reasoning" && typeof part.text === "string") view.chars += part.text.length;
  else view.chars += jsonChars(part);
}

function roleOf(role: unknown): WireRole {
  if (role === "tool") return "result";
  return role === "system" || role === "user" || role === "assistant" ? role : "other";
}

function sign({ role, content, parts, tool_calls: calls, tool_call_id: callId }: JsonRecord): number {
  if (!ROLES.has(role) || parts !== undefined || calls !== undefined || callId !== undefined) return -1;
  if (typeof content === "string") return role === "tool" ? -1 : 0.3;
  if (!Array.isArray(content)) return -1;
  let strength = 0.3;
  for (const part of content.slice(0, 16)) {
    if (!isRecord(part)) continue;
    if (typeof part.type !== "string" || part.type.includes("_")) return -1;
    if (/^tool-(call|result|approval)/.test(part.type)) strength = 0.95;
    else if (/^(reasoning-)?file$/.test(part.type) && typeof part.mediaType === "string")
      strength = Math.max(strength, 0.85);
    else if (part.type === "image" && "image" in part) strength = Math.max(strength, 0.85);
    else if (part.type === "reasoning") strength = Math.max(strength, 0.7);
    else if (!/^(text|custom)$|-/.test(part.type)) return -1;
  }
  return strength;
}
