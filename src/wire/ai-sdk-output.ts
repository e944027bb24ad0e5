import type { WireEdit } from "../contract/wire.ts";
import { type Content, type ContentShape, readContent, typedShape, writeContent } from "./content.ts";
import { isJsonText, jsonChars, jsonText } from "./json-text.ts";
import { isRecord, type JsonRecord, withField } from "./record.ts";

/** Media in a result's content, by the names that specifications V2, V3 and V4 gave them. */
const MEDIA = /^(media|file|image|file-(data|url|id|reference)|image-(data|url|file-id|file-reference))$/;
const ERRORS = new Set<unknown>(["error-text", "error-json", "execution-denied"]);

const plain = typedShape(mediaBytesOf, "providerOptions");

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
export function readOutput(output: unknown): Content & { isError: boolean } {
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

/** The output with an edit made; JSON becomes text, an error stays one. */
export function writeOutput(output: unknown, edit: WireEdit): unknown {
  if (!isRecord(output)) return output;
  if (output.type === "content") {
    return Array.isArray(output.value) ? withField(output, "value", writeContent(output.value, edit, shape)) : output;
  }
  if (edit.texts === undefined || edit.texts.length === 0) return output;
  const text = edit.texts.join("\n");
  if (isJson(output)) {
    if (output.value === undefined || isJsonText(output.value, text)) return output;
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

function mediaBytesOf(part: JsonRecord): number | null {
  if (!MEDIA.test(String(part.type))) return null;
  const { data, url, fileId, image } = part;
  // V4 says in `data` what sort it is.
  const inner = isRecord(data) ? (data.data ?? data.url ?? data.text ?? data.reference) : data;
  return jsonChars(inner ?? url ?? image ?? fileId ?? "");
}
