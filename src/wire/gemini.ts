import type { Wire, WireCall, WireEdit, WireMedia, WireMessage } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addHostedCall, addText, readBlocks, settleHosted, settleRole, writeBlocks } from "./blocks.ts";
import { withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, geminiTokens, readMedium } from "./media.ts";
import { idOf, isJsonText, jsonChars, jsonObject, jsonText, textOrNull, withField } from "./record.ts";

// The SDK writes field names in camel case, and some clients of the REST API write them in snake case. Both are read.

const CODE = "code_execution";

/** Reads contents of the Gemini API. */
export const gemini: Wire = makeWire({
  name: "gemini",
  sign,
  read(content) {
    const view = emptyView(roleOf(content.role));
    if (Array.isArray(content.parts)) readParts(view, content.parts);
    else view.malformed += 1;
    return settleRole(view);
  },
  write(content, edits) {
    if (!Array.isArray(content.parts)) return content;
    const parts = writeBlocks(content.parts, edits, (part, edit) => {
      const made = "functionCall" in part ? "functionCall" : "function_call";
      const call = part[made];
      if (isRecord(call) && !isSigned(part))
        return withField(part, made, withField(call, "args", withLongTexts(call.args, edit.texts, "json")));
      const field = "functionResponse" in part ? "functionResponse" : "function_response";
      const answer = part[field];
      return isRecord(answer) ? withField(part, field, writeAnswer(answer, edit)) : part;
    });
    return withField(content, "parts", parts);
  },
  missing(calls, text) {
    if (calls.length === 0) return null;
    const parts = calls.map(({ id, tool }) => ({
      functionResponse: { ...(id === null ? {} : { id }), name: tool, response: { error: text } },
    }));
    return { role: "user", parts };
  },
  say: (text) => ({ role: "user", parts: [{ text }] }),
});

function readParts(view: WireMessage, parts: readonly unknown[]): void {
  const hosted: WireCall[] = [];
  readBlocks(view, parts, (part, at) => readPart(view, hosted, part, at));
  settleHosted(view, hosted);
}

function readPart(view: WireMessage, hosted: WireCall[], part: JsonRecord, at: number): void {
  const call = part.functionCall ?? part.function_call;
  const answer = part.functionResponse ?? part.function_response;
  const media = mediaOf(part);
  const code = part.executableCode ?? part.executable_code;
  const ran = part.codeExecutionResult ?? part.code_execution_result;
  if (answer !== undefined) readAnswer(view, answer, at);
  else if (isRecord(call))
    addCall(view, idOf(call.id), call.name, call.args, isSigned(part) ? null : { at: String(at) });
  else if (media !== undefined) countMedium(view.media, readMedium(media, geminiTokens));
  else if (isRecord(code)) addHostedCall(view, hosted, idOf(code.id), CODE, code.code);
  else if (isRecord(ran)) {
    const isError = ran.outcome !== undefined && ran.outcome !== "OUTCOME_OK";
    const texts = typeof ran.output === "string" ? [ran.output] : [];
    const media = { count: 0, bytes: 0 };
    view.results.push({ at: String(at), id: idOf(ran.id), tool: CODE, isError, texts, media, fixed: true });
  } else if (part.thought === true && typeof part.text === "string") view.chars += part.text.length;
  else if ("text" in part) addText(view, part.text);
  else view.chars += jsonChars(part);
}

/** Returns true for a part whose signature the provider checks. It must not change. */
function isSigned({ thoughtSignature, thought_signature: older }: JsonRecord): boolean {
  return thoughtSignature !== undefined || older !== undefined;
}

function readAnswer(view: WireMessage, answer: unknown, at: number): void {
  if (!isRecord(answer)) {
    view.malformed += 1;
    return;
  }
  const { response } = answer;
  const media: WireMedia = { count: 0, bytes: 0 };
  for (const data of mediaIn(answer)) countMedium(media, readMedium(data, geminiTokens));
  if (!isRecord(response)) view.malformed += 1;
  const texts = textsOf(response);
  const isError = isRecord(response) && isFault(response);
  const id = idOf(answer.id);
  const json = texts.length === 1 && isRecord(response) && onlyText(response) === null ? { json: response } : {};
  const about = { at: String(at), id, tool: textOrNull(answer.name), isError };
  view.results.push({ ...about, texts, ...json, media, fixed: false });
}

/** Returns the response's text if it holds nothing else. Otherwise returns its JSON, which is what the model reads. */
function textsOf(response: unknown): string[] {
  if (!isRecord(response) || Object.keys(response).length === 0) return [];
  return [onlyText(response) ?? jsonText(response) ?? ""];
}

function onlyText(response: JsonRecord): string | null {
  const [only, ...more] = Object.keys(response);
  if (more.length > 0 || (only !== "output" && only !== "error")) return null;
  return textOrNull(response[only]);
}

function isSaid(response: JsonRecord, text: string): boolean {
  if (Object.keys(response).length === 0) return text === "";
  const only = onlyText(response);
  return only === null ? isJsonText(response, text) : only === text;
}

// Makes an edit. A response must be an object, and the parts beside it hold only media, so a text that replaces media
// joins the response's text.
function writeAnswer(answer: JsonRecord, edit: WireEdit): JsonRecord {
  const { response } = answer;
  if (!isRecord(response)) return answer;
  const count = mediaIn(answer).length;
  const said = edit.mediaText === undefined ? [] : Array.from({ length: count }, () => edit.mediaText ?? "");
  const texts = edit.texts !== undefined && edit.texts.length > 0 ? edit.texts : textsOf(response);
  const text = [...texts, ...said].join("\n");
  const changed = isSaid(response, text) ? answer : withField(answer, "response", responseOf(response, text));
  if (said.length === 0 || !Array.isArray(answer.parts)) return changed;
  return withField(
    changed,
    "parts",
    answer.parts.filter((part) => !isRecord(part) || mediaOf(part) === undefined),
  );
}

/** Returns a response that says a text. It is an object as the one before, if the text is the JSON of one. */
function responseOf(response: JsonRecord, text: string): JsonRecord {
  const json = onlyText(response) === null ? jsonObject(text) : null;
  if (isRecord(json)) return json;
  return isFault(response) ? { error: text } : { output: text };
}

function isFault(response: JsonRecord): boolean {
  return response.error !== undefined && response.error !== null;
}

function mediaIn({ parts }: JsonRecord): unknown[] {
  if (!Array.isArray(parts)) return [];
  return parts.map((part) => (isRecord(part) ? mediaOf(part) : undefined)).filter((data) => data !== undefined);
}

function mediaOf(part: JsonRecord): unknown {
  return part.inlineData ?? part.inline_data ?? part.fileData ?? part.file_data;
}

function roleOf(role: unknown): WireMessage["role"] {
  if (role === "model") return "assistant";
  if (role === "system") return "system";
  // A content without a role belongs to the user. Older clients write the role "function" for responses.
  return role === undefined || role === "user" || role === "function" ? "user" : "other";
}

function sign({ role, parts }: JsonRecord): number {
  if (!Array.isArray(parts)) return -1;
  const first = parts.find(isRecord);
  if (first !== undefined && typeof first.type === "string") return -1;
  return role === undefined || ["user", "model", "function", "system"].includes(String(role)) ? 0.95 : -1;
}
