import { isRecord, type JsonRecord, withField } from "./record.ts";

// Media outside results, in the shapes of all formats: a block is known by its type or by the field that holds the data.

const TYPES = /^(image|image_url|input_image|document|file|input_file|input_audio|audio|video|media)$/;
const FIELDS = ["inlineData", "inline_data", "fileData", "file_data"];
/** Bedrock names a block by its only field. */
const BEDROCK = new Set(["image", "document", "video"]);

/** A copy of a message with a text in place of each image, sound and file that stands outside results. */
export function replaceMedia(message: unknown, text: string): unknown {
  if (!isRecord(message)) return message;
  for (const field of ["content", "parts"]) {
    const blocks: unknown = message[field];
    if (!Array.isArray(blocks)) continue;
    const said = blocks.map((block) => (isRecord(block) ? (replaced(block, text) ?? block) : block));
    if (said.some((block, at) => block !== blocks[at])) return withField(message, field, said);
  }
  return message;
}

function replaced(block: JsonRecord, text: string): JsonRecord | null {
  const { type } = block;
  if (typeof type === "string") {
    if (!TYPES.test(type)) return null;
    const said = { type: type.startsWith("input_") && type !== "input_audio" ? "input_text" : "text", text };
    return block.cache_control === undefined ? said : { ...said, cache_control: block.cache_control };
  }
  const [only, ...more] = Object.keys(block);
  const isMedia = FIELDS.some((name) => name in block) || (more.length === 0 && BEDROCK.has(only ?? ""));
  return isMedia ? { text } : null;
}
