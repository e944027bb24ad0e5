// Names and marks cost a real model a token or two each, whatever their length. Media cost by their size, not by their
// base64.
const MARKS = new Set(
  (
    "type role id tool_use_id tool_call_id call_id cache_control status media_type mimeType signature thoughtSignature " +
    "encrypted_content"
  ).split(" "),
);
const MEDIA = new Set(["data", "image_url", "file_data", "fileData", "inlineData", "source"]);
const MARK = " mark";
/** About 1,600 tokens, the cost of a picture of common size. */
const PICTURE = MARK.repeat(1600);

/** Returns the texts of a request from which its tokens are counted. */
export function countedTexts(value: unknown, texts: string[] = []): string[] {
  if (typeof value === "string") texts.push(value);
  else if (typeof value === "number" || typeof value === "boolean") texts.push(String(value));
  else if (Array.isArray(value)) {
    for (const one of value) {
      texts.push(MARK);
      countedTexts(one, texts);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, field] of Object.entries(value)) {
      if (MARKS.has(name)) texts.push(MARK);
      else if (MEDIA.has(name) && holdsMedia(field)) texts.push(PICTURE);
      else {
        texts.push(name);
        countedTexts(field, texts);
      }
    }
  }
  return texts;
}

function holdsMedia(field: unknown): boolean {
  return (
    typeof field === "string" ||
    (typeof field === "object" && field !== null && ("data" in field || "url" in field || "fileUri" in field))
  );
}
