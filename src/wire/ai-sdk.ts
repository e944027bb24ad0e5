import type { Wire, WireCall, WireEdit, WireMessage, WireRole } from "../contract/wire.ts";
import { isObject, isRecord, type JsonRecord } from "../values.ts";
import { addCall, addHostedCall, addText, readBlocks, settleHosted, settleRole, writeBlocks } from "./blocks.ts";
import { type Content, type ContentShape, readContent, typedShape, writeContent } from "./content.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, type Medium, mostTokens, readMedium } from "./media.ts";
import { idOf, isJsonText, jsonChars, jsonObject, jsonText, pick, textOrNull, withField } from "./record.ts";

const ROLES = new Set<unknown>(["system", "user", "assistant", "tool"]);

/** Reads model messages of the AI SDK, and the prompts that its providers get (specifications V2 to V4). */
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
    if (!Array.isArray(message.content)) return message;
    const parts = writeBlocks(message.content, edits, (part, edit) => {
      if (part.type === "tool-call" && !isFixedCall(part))
        return withField(part, "input", withLongTexts(part.input, edit.texts, "json"));
      // A result in an assistant's message comes from a tool that the provider ran. It must not change.
      const isOurs = part.type === "tool-result" && message.role !== "assistant";
      return isOurs ? withField(part, "output", writeOutput(part.output, edit)) : part;
    });
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
  sent: (message) => pick(message, ["role", "content"]),
});

function readPart(view: WireMessage, hosted: WireCall[], part: JsonRecord, index: number): void {
  const { type } = part;
  if (type === "text") addText(view, part.text);
  else if (type === "tool-call") {
    const id = idOf(part.toolCallId);
    if (part.providerExecuted === true) addHostedCall(view, hosted, id, part.toolName, part.input);
    else addCall(view, id, part.toolName, part.input, isFixedCall(part) ? null : { at: String(index) });
  } else if (type === "tool-result") {
    const { texts, media, otherChars, malformed, isError } = readOutput(part.output);
    const [at, id, tool] = [String(index), idOf(part.toolCallId), textOrNull(part.toolName)];
    const json = isRecord(part.output) && isJson(part.output) ? part.output.value : null;
    const about = { at, id, tool, isError, ...(texts.length === 1 && isObject(json) && { json }) };
    view.results.push({ ...about, texts, media, fixed: view.role === "assistant" });
    view.chars += otherChars;
    view.malformed += malformed;
  } else if (type === "file" || type === "image" || type === "reasoning-file")
    countMedium(view.media, readMedium(part.data ?? part.image ?? "", mostTokens));
  else if (typeof type !== "string") view.malformed += 1;
  else if (type === "reasoning" && typeof part.text === "string") view.chars += part.text.length;
  else view.chars += jsonChars(part);
}

/** Returns true for a call that the provider ran, or signed: Google checks its signatures of calls. */
function isFixedCall({ providerExecuted, providerOptions, providerMetadata }: JsonRecord): boolean {
  const about = [providerOptions, providerMetadata].flatMap((one) => (isRecord(one) ? Object.values(one) : []));
  return providerExecuted === true || about.some((one) => isRecord(one) && one.thoughtSignature !== undefined);
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

/** Matches media in a result's content, under the names of specifications V2, V3 and V4. */
const MEDIA = /^(media|file|image|file-(data|url|id|reference)|image-(data|url|file-id|file-reference))$/;
const ERRORS = new Set<unknown>(["error-text", "error-json", "execution-denied"]);

const plain = typedShape(mediumIn, "providerOptions");

const shape: ContentShape = {
  ...plain,
  look(part) {
    const { type, data } = part;
    const isText = type === "file" && isRecord(data) && data.type === "text" && typeof data.text === "string";
    return isText ? { text: data.text as string } : plain.look(part);
  },
  put: (part, text) => (isRecord(part.data) ? { ...part, data: { ...part.data, text } } : { ...part, text }),
};

/** Reads the output of a tool result. */
function readOutput(output: unknown): Content & { isError: boolean } {
  const nothing = { texts: [], media: { count: 0, bytes: 0 }, otherChars: 0, malformed: 0 };
  if (!isRecord(output)) return { ...nothing, malformed: 1, isError: false };
  const isError = ERRORS.has(output.type);
  if (output.type === "content") {
    return {
      ...(Array.isArray(output.value) ? readContent(output.value, shape) : { ...nothing, malformed: 1 }),
      isError,
    };
  }
  const text = textOf(output);
  if (text !== null) return { ...nothing, texts: [text], isError };
  const isDenied = output.type === "execution-denied" && output.reason === undefined;
  return { ...nothing, malformed: isDenied ? 0 : 1, isError };
}

/** Returns the output with an edit made. JSON becomes text, unless that is JSON too, and an error stays an error. */
function writeOutput(output: unknown, edit: WireEdit): unknown {
  if (!isRecord(output)) return output;
  if (output.type === "content") {
    return Array.isArray(output.value) ? withField(output, "value", writeContent(output.value, edit, shape)) : output;
  }
  if (edit.texts === undefined || edit.texts.length === 0) return output;
  const text = edit.texts.join("\n");
  if (isJson(output)) {
    if (output.value === undefined || isJsonText(output.value, text)) return output;
    const json = isObject(output.value) ? jsonObject(text) : null;
    if (json !== null) return { ...output, value: json };
  } else {
    const before = textOf(output);
    if (text === before) return output;
    if (output.type === "execution-denied" && output.reason === undefined) return { ...output, reason: text };
    if (before === null) return output;
    if (output.type === "execution-denied") return withField(output, "reason", text);
  }
  const isError = ERRORS.has(output.type);
  return { ...output, type: isError ? "error-text" : "text", value: text };
}

function isJson({ type }: JsonRecord): boolean {
  return type === "json" || type === "error-json";
}

function textOf(output: JsonRecord): string | null {
  const { type, value, reason } = output;
  if (type === "text" || type === "error-text") return typeof value === "string" ? value : null;
  if (isJson(output)) return jsonText(value);
  return type === "execution-denied" && typeof reason === "string" ? reason : null;
}

function mediumIn(part: JsonRecord): Medium | null {
  if (!MEDIA.test(String(part.type))) return null;
  const { data, url, fileId, image } = part;
  // In V4, `data` is an object that names its sort.
  const inner = isRecord(data) ? (data.data ?? data.url ?? data.text ?? data.reference) : data;
  return readMedium(inner ?? url ?? image ?? fileId ?? "", mostTokens);
}
