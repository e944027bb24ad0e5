import type { Wire, WireCall, WireMessage } from "../contract/wire.ts";
import { isRecord, type JsonRecord } from "../values.ts";
import { addCall, addResult, addText, readBlocks } from "./blocks.ts";
import { type ContentShape, writeContent } from "./content.ts";
import { type InputForm, withLongTexts } from "./long-texts.ts";
import { emptyView, makeWire } from "./make-wire.ts";
import { countMedium, type Medium, openaiTokens, readMedium } from "./media.ts";
import { idOf, jsonChars, jsonText, textOrNull, withField } from "./record.ts";

// Reads items of a Responses request. The Agents SDK keeps the same items under names in camel case. Both are read.

const AT = "output";
/** Calls whose input may be shown shorter, and where it is. The provider defines the others, so they must not change. */
const INPUTS = new Map<unknown, { field: string; form: InputForm }>([
  ["function_call", { field: "arguments", form: "json" }],
  ["custom_tool_call", { field: "input", form: "text" }],
]);
const ROLES = new Map<unknown, WireMessage["role"]>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

/** Reads input items of OpenAI responses, and those of the Agents SDK. */
export const openaiResponses: Wire = makeWire({
  name: "openai-responses",
  sign,
  read(item) {
    const type = item.type ?? "message";
    const view = emptyView(type === "message" ? (ROLES.get(item.role) ?? "other") : "other");
    view.id = idOf(item.id);
    if (type === "message") readMessage(view, item.content);
    else if (typeof type !== "string") view.malformed += 1;
    else if (isOutput(type)) readOutput(view, item);
    else if (type === "reasoning") readReasoning(view, item);
    else if (type.endsWith("_call")) readCall(view, item, type);
    else view.chars += jsonChars(item);
    return view;
  },
  write(item, edits) {
    const input = INPUTS.get(item.type);
    const call = input && edits.find(({ at }) => at === input.field);
    if (call) return withField(item, input.field, withLongTexts(item[input.field], call.texts, input.form));
    const edit = edits.find(({ at }) => at === AT);
    if (edit === undefined || typeof item.type !== "string" || !isOutput(item.type)) return item;
    if (isFixed(item.type)) return item;
    return withField(item, AT, writeContent(item.output, edit, shapeOf(item.type)));
  },
  missing(calls, text) {
    const [call] = calls;
    return call === undefined || call.id === null ? null : answerCall(call.id, call, text);
  },
  say: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
});

function readMessage(view: WireMessage, content: unknown): void {
  if (typeof content === "string") addText(view, content);
  else if (Array.isArray(content)) {
    readBlocks(view, content, (part) => {
      const medium = mediumIn(part);
      if (medium !== null) countMedium(view.media, medium);
      else if (/^(input_|output_)?text$/.test(String(part.type))) addText(view, part.text);
      else if (typeof part.type !== "string") view.malformed += 1;
      else view.chars += jsonChars(part);
    });
  } else view.malformed += 1;
}

function readOutput(view: WireMessage, item: JsonRecord): void {
  view.role = "result";
  const result = { at: AT, id: callIdOf(item) ?? idOf(item.id), tool: textOrNull(item.name) };
  const isError = item.status === "failed";
  addResult(view, { ...result, isError, fixed: isFixed(item.type) }, item.output, shapeOf(item.type));
}

function readReasoning(view: WireMessage, item: JsonRecord): void {
  view.role = "assistant";
  view.chars += jsonChars(item.summary ?? "") + jsonChars(item.content ?? "") + jsonChars(item.encrypted_content ?? "");
}

/** Reads a call that the caller answers, or one that the provider answered in the same item. */
function readCall(view: WireMessage, item: JsonRecord, type: string): void {
  view.role = "assistant";
  view.aborted = item.status === "incomplete";
  const ownId = callIdOf(item);
  const tool = textOrNull(item.name) ?? type.slice(0, -"_call".length);
  const input = item.arguments ?? item.input ?? item.action ?? item.operation ?? item.queries ?? item.code ?? "";
  const found = item.output ?? item.results ?? item.outputs ?? item.result ?? item.error ?? null;
  const isOurs = ownId !== null && isAnswerable(type);
  // The provider answers this call, or answered it in another item.
  if (!isOurs && found === null) {
    view.chars += jsonChars(item);
    return;
  }
  const place = isOurs ? INPUTS.get(type) : undefined;
  addCall(view, ownId ?? idOf(item.id), tool, input, place && { at: place.field, form: place.form });
  const [call] = view.calls;
  if (call !== undefined) call.kind = item.callId === undefined ? type : AGENTS_CALL;
  if (isOurs) return;
  const isError = item.status === "failed" || (item.error !== undefined && item.error !== null);
  const result = { at: AT, id: idOf(item.id), tool, isError, fixed: true };
  if (type === "image_generation_call") {
    view.results.push({ ...result, texts: [], media: { count: 1, bytes: jsonChars(found) } });
  } else addResult(view, result, found, hostedShape);
}

function isOutput(type: string): boolean {
  return type.endsWith("_call_output") || type.endsWith("_call_result");
}

// Only a screenshot may answer a screenshot, so it is never changed.
function isFixed(type: unknown): boolean {
  return type === "computer_call_output" || type === "computer_call_result";
}

function shapeOf(type: unknown): typeof outputShape {
  return type === "shell_call_output" ? shellShape : outputShape;
}

function callIdOf(item: JsonRecord): string | null {
  return idOf(item.call_id ?? item.callId);
}

function sign(item: JsonRecord): number {
  const { type, role, content } = item;
  if (item.parts !== undefined || item.message !== undefined) return -1;
  if (typeof type === "string" && (isOutput(type) || type.endsWith("_call"))) {
    return typeof (callIdOf(item) ?? item.id) === "string" ? 0.95 : 0.5;
  }
  if (type === "reasoning" || type === "item_reference") return 0.8;
  if ((type !== "message" && type !== undefined) || !ROLES.has(role)) return -1;
  if (item.tool_calls !== undefined || item.function_call !== undefined) return -1;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  if (parts.some((part) => /^(input|output)_(text|image|file)$/.test(String(part.type)))) return 0.9;
  if (parts.length > 0) return -1;
  return type === "message" ? 0.7 : 0.3;
}

/** The kind that marks a function call of the Agents SDK. */
const AGENTS_CALL = "agents_call";

/** Writes the item that answers a call with an error. Each kind of call has its own item. */
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
  // Only a screenshot may answer this call.
  ["computer_call", () => null],
  [
    AGENTS_CALL,
    (id, { tool }, text) => {
      return { type: "function_call_result", callId: id, name: tool, status: "incomplete", output: text };
    },
  ],
]);

/** Returns true if the caller answers calls of this type. */
function isAnswerable(type: string): boolean {
  return ANSWERS.has(type);
}

/** Returns an item that says that a call got no result, or null if a text cannot say so. */
function answerCall(id: string, call: WireCall, text: string): JsonRecord | null {
  return ANSWERS.get(call.kind ?? "function_call")?.(id, call, text) ?? null;
}

const TEXT = /^(input_|output_)?text$/;
const MEDIA = /^(input_)?(image|file|audio)$|^computer_screenshot$/;

/** The shape of a call's output in the Responses format. */
const outputShape: ContentShape = {
  look(part) {
    const medium = mediumIn(part);
    if (medium !== null) return { medium };
    if (TEXT.test(String(part.type))) return typeof part.text === "string" ? { text: part.text } : "malformed";
    return typeof part.type === "string" ? "other" : "malformed";
  },
  put: (part, text) => ({ ...part, text }),
  say: (text) => ({ type: "input_text", text }),
};

/** The shape of a hosted tool's result. It is never changed, so an unknown part counts as its JSON. */
const hostedShape: ContentShape = {
  ...outputShape,
  look(part) {
    const known = outputShape.look(part);
    return typeof known === "object" ? known : { text: jsonText(part) ?? "" };
  },
};

/** The shape of a shell's output. It has one entry for each command. The exit status of an entry is kept. */
const shellShape: ContentShape = {
  look({ stdout, stderr }) {
    const texts = [textOrNull(stdout), textOrNull(stderr)].filter((text) => text !== null);
    return texts.length === 0 ? "malformed" : { text: texts.filter((text) => text !== "").join("\n") };
  },
  put: (entry, text) => ({ ...entry, stdout: text, ...("stderr" in entry ? { stderr: "" } : {}) }),
  say: (text) => ({ stdout: text, stderr: "", outcome: { type: "exit", exit_code: 0 } }),
  drop: (entry) => ({ ...entry, stdout: "", stderr: "" }),
};

/** Returns the image, file or sound that a part holds, or null if it holds none. */
function mediumIn(part: JsonRecord): Medium | null {
  if (!MEDIA.test(String(part.type))) return null;
  const { image_url, file_data, file_url, file_id, image, file, data, audio } = part;
  const held = image_url ?? file_data ?? file_url ?? image ?? file ?? data ?? audio ?? { file_id };
  return readMedium(held, openaiTokens, part.detail);
}
