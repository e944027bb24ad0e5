import type { ContentShape } from "./content.ts";
import { jsonChars, jsonText } from "./json-text.ts";
import { type JsonRecord, textOrNull } from "./record.ts";

const TEXT = /^(input_|output_)?text$/;
const MEDIA = /^(input_)?(image|file|audio)$|^computer_screenshot$/;

/** What a call's output holds in the Responses format. */
export const outputShape: ContentShape = {
  look(part) {
    const bytes = mediaBytesOf(part);
    if (bytes !== null) return { mediaBytes: bytes };
    if (TEXT.test(String(part.type))) return typeof part.text === "string" ? { text: part.text } : "malformed";
    return typeof part.type === "string" ? "other" : "malformed";
  },
  put: (part, text) => ({ ...part, text }),
  say: (text) => ({ type: "input_text", text }),
};

/** What a hosted tool found: never changed, so whatever it is stands as its JSON. */
export const hostedShape: ContentShape = {
  ...outputShape,
  look(part) {
    const known = outputShape.look(part);
    return typeof known === "object" ? known : { text: jsonText(part) ?? "" };
  },
};

/** A shell's output: one entry a command, with its exit status, which is kept. */
export const shellShape: ContentShape = {
  look({ stdout, stderr }) {
    const texts = [textOrNull(stdout), textOrNull(stderr)].filter((text) => text !== null);
    return texts.length === 0 ? "malformed" : { text: texts.filter((text) => text !== "").join("\n") };
  },
  put: (entry, text) => ({ ...entry, stdout: text, ...("stderr" in entry ? { stderr: "" } : {}) }),
  say: (text) => ({ stdout: text, stderr: "", outcome: { type: "exit", exit_code: 0 } }),
  drop: (entry) => ({ ...entry, stdout: "", stderr: "" }),
};

/** About how many bytes an image, file or sound takes; null if it is none. */
export function mediaBytesOf(part: JsonRecord): number | null {
  if (!MEDIA.test(String(part.type))) return null;
  const { image_url, file_data, file_url, file_id, image, file, data, audio } = part;
  return jsonChars(image_url ?? file_data ?? file_url ?? image ?? file ?? data ?? audio ?? file_id ?? "");
}
