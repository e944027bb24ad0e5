import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireMessage } from "../contract/wire.ts";
import { measureText } from "../stages/measure/measure-text.ts";
import { joinTexts } from "../stages/prune/trim-text.ts";
import { NO_WEIGHT, type Weight, weighMedia, weighOutside } from "../stages/prune/weight.ts";

/** The weight of a result. Every character is counted, none is estimated from a sample. */
export interface WeighedResult {
  texts: Weight & { lines: number };
  media: Weight;
}

/** A message with its weights. */
export interface WeighedMessage {
  view: WireMessage;
  weight: Weight;
  outsideMedia: Weight;
  results: WeighedResult[];
}

/**
 * The tokens that a message costs besides its texts and marks. With the marks for its role and content there are three.
 */
const MESSAGE_TOKENS = 1;
/**
 * What a picture of common size costs. Pruning counts more for it to be careful, but here a count that is too high
 * misleads.
 */
const MEDIA_TOKENS = 1600;
/** Fields that no model reads as text. Their name and value cost one or two tokens of the format. */
const MARKS = new Set([
  "type",
  "role",
  "id",
  "tool_use_id",
  "tool_call_id",
  "call_id",
  "toolCallId",
  "status",
  "signature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
  "cache_control",
  "media_type",
  "mimeType",
  "mime_type",
]);
const MAX_DEPTH = 32;
/**
 * If a longer text has no white space in its first characters, it is data, or of a script without spaces. It is the
 * same kind throughout.
 */
const DATA_CHARS = 4096;
/**
 * How many pieces of that length are counted to find the density. To count all of it, a vocabulary may take seconds.
 */
const DATA_PIECES = 16;
/** The most digits of one token in most vocabularies. */
const DIGITS_A_TOKEN = 3;

/** Weighs a message. Bytes are those of its JSON, which is what is sent. */
export function weighMessage(wire: Wire, message: unknown, counter: TokenCounter): WeighedMessage {
  const view = wire.read(message);
  const results = view.results.map(({ texts, media }) => ({
    texts: weighWhole(joinTexts(texts), counter),
    media: weighPictures(media),
  }));
  const hasMedia = view.media.count > 0 || view.results.some(({ media }) => media.count > 0);
  const inside = results.reduce((sum, { texts, media }) => sum + texts.tokens + media.tokens, 0);
  const outsideMedia = weighPictures(view.media);
  const outside = () => weighOutside({ ...view, media: NO_MEDIA }, counter).tokens + outsideMedia.tokens;
  const tokens = hasMedia ? inside + outside() : weighValue(message, counter);
  const json = jsonOf(message);
  const weight = { chars: json.length, tokens: tokens + MESSAGE_TOKENS, bytes: measureText(json, NO_COUNTER).bytes };
  return { view, weight, outsideMedia, results };
}

/** Returns the tokens of what is sent besides the messages. The model's name, numbers and flags do not count. */
export function weighSystemAndTools(systemAndTools: unknown, counter: TokenCounter): number {
  if (typeof systemAndTools !== "object" || systemAndTools === null || Array.isArray(systemAndTools))
    return weighValue(systemAndTools, counter);
  return Object.entries(systemAndTools)
    .filter(([name, field]) => name !== "model" && (typeof field === "string" || typeof field === "object"))
    .reduce((sum, [, field]) => sum + weighValue(field, counter), 0);
}

const NO_MEDIA = { count: 0, bytes: 0 };

function weighPictures(media: { count: number; bytes: number }): Weight {
  return media.count === 0 ? NO_WEIGHT : { ...weighMedia(media), tokens: media.count * MEDIA_TOKENS };
}

/** Returns the tokens of everything that a model reads in a value: its texts and the names of its fields. */
function weighValue(value: unknown, counter: TokenCounter, depth = 0): number {
  if (typeof value === "string") return countText(value, counter);
  if (typeof value === "number") return Math.ceil(String(value).length / DIGITS_A_TOKEN);
  if (typeof value === "boolean") return 1;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || ArrayBuffer.isView(value)) return 0;
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + 1 + weighValue(one, counter, depth + 1), 0);
  let tokens = 0;
  for (const [name, field] of Object.entries(value))
    tokens += MARKS.has(name) ? 1 : counter.count(name) + weighValue(field, counter, depth + 1);
  return tokens;
}

/** Counts the tokens of a text. For long data it counts pieces at even distances, from the start to the end. */
function countText(text: string, counter: TokenCounter): number {
  const sampled = DATA_CHARS * DATA_PIECES;
  if (text.length <= sampled || /\s/.test(text.slice(0, DATA_CHARS))) return counter.count(text);
  const gap = (text.length - DATA_CHARS) / (DATA_PIECES - 1);
  let tokens = 0;
  for (let piece = 0; piece < DATA_PIECES; piece++) {
    const from = Math.floor(piece * gap);
    tokens += counter.count(text.slice(from, from + DATA_CHARS));
  }
  return Math.ceil((tokens / sampled) * text.length);
}

function weighWhole(text: string, counter: TokenCounter): Weight & { lines: number } {
  const { bytes, lines } = measureText(text, NO_COUNTER);
  return { chars: text.length, tokens: countText(text, counter), bytes, lines };
}

const NO_COUNTER: TokenCounter = { name: "none", exact: false, maxBytesPerToken: 1, count: () => 0 };

function jsonOf(message: unknown): string {
  try {
    return JSON.stringify(message) ?? "";
  } catch {
    return ""; // no client can send a circle either
  }
}
