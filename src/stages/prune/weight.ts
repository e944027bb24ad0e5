import type { TokenCounter } from "../../contract/token-counter.ts";
import type { Wire, WireCall, WireLong, WireMedia, WireMessage } from "../../contract/wire.ts";
import { MEDIA_TOKENS } from "../../wire/media.ts";
import { loaded } from "../../wire/stored-message.ts";
import { measureText } from "../measure/estimate-tokens.ts";
import { joinTexts } from "./trim-text.ts";

/** What something takes of a request, in the units that requests are bound by. */
export interface Weight {
  chars: number;
  tokens: number;
  bytes: number;
}

/** Nothing. */
export const NO_WEIGHT: Readonly<Weight> = { chars: 0, tokens: 0, bytes: 0 };

/** A message as its wire reads it, with its weights: all of it is what is outside results, and the results. */
export interface WeighedMessage {
  view: WireMessage;
  outside: Weight;
  /** The part of `outside` that is images, audio and files. */
  outsideMedia: Weight;
  results: { texts: Weight & { lines: number }; media: Weight /** Of texts. */; count: number }[];
  /** Long strings of calls, for each call that has some. They are apart from what is outside. */
  calls: { call: WireCall; long: WireLong; texts: Weight & { lines: number }; lengths: number[] }[];
}

/** Counts the tokens of a text: every character, or samples of it. */
type Count = (text: string) => number;

/** What one image, audio or file counts. */
const MEDIA_CHARS = 8000;
/** What a message costs besides its texts and marks. With the marks for its role and content there are three. */
const MESSAGE_TOKENS = 1;
/** Fields that no model reads as text. Their name and value cost one or two tokens of the format. */
const MARKS = new Set(
  (
    "type role id tool_use_id tool_call_id call_id toolCallId status signature thinkingSignature textSignature " +
    "thoughtSignature thought_signature encrypted_content cache_control media_type mimeType mime_type"
  ).split(" "),
);
const MAX_DEPTH = 32;
/** The most digits of one token in most vocabularies. */
const DIGITS_A_TOKEN = 3;
/** The quotes, colon and comma around a field. */
const FIELD_BYTES = 6;
/** Without a text to judge by: JSON, mostly. */
const CHARS_PER_TOKEN = 3;

const NO_COUNTER: TokenCounter = { name: "none", exact: false, maxBytesPerToken: 1, count: () => 0 };

/**
 * Weighs what of a message goes to the provider. All who weigh messages use it, so that they agree. Bytes are those of its
 * JSON, without what is escaped in it.
 */
export function weighMessage(wire: Wire, message: unknown, count: Count): WeighedMessage {
  const whole = loaded(message);
  const weighed = weighWhole(wire, whole, count);
  if (whole === message) return weighed;
  // What is held of it later must not hold its texts.
  const view = wire.read(message);
  const long = view.calls.flatMap((call) => (call.long === undefined ? [] : { call, long: call.long }));
  return { ...weighed, view, calls: weighed.calls.map((one, at) => ({ ...one, ...long[at] })) };
}

function weighWhole(wire: Wire, message: unknown, count: Count): WeighedMessage {
  const view = wire.read(message);
  const results = view.results.map(({ texts, json, media }) => {
    const weight = weighText(joinTexts(texts), count);
    const lines = json === undefined ? weight.lines : weight.lines + breaksIn(texts);
    return { texts: { ...weight, lines }, media: weighMedia(media), count: texts.length };
  });
  const calls = view.calls.flatMap((call) => {
    const { long } = call;
    if (long === undefined) return [];
    return { call, long, texts: weighTexts(long.texts, long, count), lengths: long.texts.map(({ length }) => length) };
  });
  const emptied = [
    ...view.results.filter(({ fixed }) => !fixed).map(({ at }) => ({ at, texts: [""] })),
    ...calls.map(({ long: { at, texts } }) => ({ at, texts: texts.map(() => "") })),
  ];
  const rest = emptied.length === 0 ? message : wire.write(message, emptied);
  const found = weighValue(() => (wire.sent === undefined ? rest : wire.sent(rest)), count);
  // What is not ours to change could not be emptied.
  const inside = { tokens: 0, bytes: 0 };
  results.forEach(({ texts, media }, at) => {
    inside.bytes += media.bytes;
    if (!view.results[at]?.fixed) return;
    inside.tokens += texts.tokens;
    inside.bytes += texts.bytes;
  });
  const outsideMedia = weighMedia(view.media);
  const hasMedia = view.media.count > 0 || view.results.some(({ media }) => media.count > 0);
  const chars = calls.reduce((sum, { texts }) => sum - texts.chars, view.chars);
  const tokens = hasMedia
    ? weighRead({ chars, text: view.text }, count) + outsideMedia.tokens
    : Math.max(0, found.tokens - inside.tokens);
  const outside = {
    chars: chars + outsideMedia.chars,
    tokens: tokens + MESSAGE_TOKENS,
    bytes: Math.max(0, found.bytes - inside.bytes),
  };
  return { view, outside, outsideMedia, results, calls };
}

/** All of a message. */
export function weightOf({ outside, results, calls }: WeighedMessage): Weight {
  const said = calls.reduce<Weight>((sum, { texts }) => add(sum, texts), outside);
  return results.reduce((sum, { texts, media }) => add(sum, add(texts, media)), said);
}

/** What is sent besides the messages. The model's name, numbers and flags do not count. */
export function weighSystemAndTools(systemAndTools: unknown, count: Count): Weight {
  const isBody = typeof systemAndTools === "object" && systemAndTools !== null && !Array.isArray(systemAndTools);
  const fields = Object.entries(isBody ? systemAndTools : { systemAndTools }).filter(
    ([name, field]) => name !== "model" && (typeof field === "string" || typeof field === "object"),
  );
  const found = fields.map(([, field]) => weighValue(() => field, count));
  const sum = (of: "chars" | "tokens" | "bytes") => found.reduce((total, one) => total + one[of], 0);
  return { chars: sum("chars"), tokens: sum("tokens"), bytes: sum("bytes") };
}

/** A text's weight and lines. The same text always weighs the same. */
export function weighText(text: string, count: Count): Weight & { lines: number } {
  const { bytes, lines } = measureText(text, NO_COUNTER);
  return { chars: text.length, tokens: count(text), bytes, lines };
}

/** The line breaks in strings of JSON: a model reads them as lines. */
function breaksIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + (text.match(/\\n/g)?.length ?? 0), 0);
}

/** Strings of a call's input, each as it stands in the message. */
export function weighTexts(
  texts: readonly string[],
  { isJson }: Pick<WireLong, "isJson">,
  count: Count,
): Weight & { lines: number } {
  const sum = { chars: 0, tokens: 0, bytes: 0, lines: 0 };
  for (const text of texts) {
    const { lines, ...weight } = weighText(isJson ? JSON.stringify(text).slice(1, -1) : text, count);
    Object.assign(sum, { ...add(sum, weight), lines: sum.lines + lines });
  }
  return sum;
}

/** Images and other media. */
function weighMedia({ count, bytes, tokens = count * MEDIA_TOKENS }: WireMedia): Weight {
  return count === 0 ? NO_WEIGHT : { chars: count * MEDIA_CHARS, tokens, bytes };
}

/** Both together. */
export function add(a: Weight, b: Weight): Weight {
  return { chars: a.chars + b.chars, tokens: a.tokens + b.tokens, bytes: a.bytes + b.bytes };
}

/** A share of it, rounded down. */
export function portion({ chars, tokens, bytes }: Weight, share: number): Weight {
  return { chars: Math.floor(chars * share), tokens: Math.floor(tokens * share), bytes: Math.floor(bytes * share) };
}

/** The first without the second. */
export function subtract(a: Weight, b: Weight): Weight {
  return { chars: a.chars - b.chars, tokens: a.tokens - b.tokens, bytes: a.bytes - b.bytes };
}

/** The tokens of what a wire reads outside results, where data beside it must not count: its first text tells how dense. */
function weighRead({ chars, text }: Pick<WireMessage, "chars" | "text">, count: Count): number {
  const known = text === null ? 0 : Math.min(text.length, chars);
  const sample = text === null || text === "" ? 1 / CHARS_PER_TOKEN : count(text) / text.length;
  return Math.ceil(known * sample + (chars - known) * Math.max(sample, 1 / CHARS_PER_TOKEN));
}

/** Everything that a model reads in a value: its texts and the names of its fields, as far as they can be read. */
function weighValue(value: () => unknown, count: Count): Weight {
  const sum = { chars: 0, tokens: 0, bytes: 0 };
  const walk = (one: unknown, depth: number): void => {
    if (typeof one === "string") {
      sum.chars += one.length;
      sum.tokens += count(one);
      sum.bytes += measureText(one, NO_COUNTER).bytes;
    } else if (typeof one === "number" || typeof one === "boolean") {
      const { length } = String(one);
      sum.chars += length;
      sum.tokens += typeof one === "boolean" ? 1 : Math.ceil(length / DIGITS_A_TOKEN);
      sum.bytes += length;
    } else if (typeof one !== "object" || one === null || depth > MAX_DEPTH) return;
    else if (ArrayBuffer.isView(one)) sum.bytes += Math.ceil((one.byteLength * 4) / 3);
    else if (Array.isArray(one)) {
      for (const each of one) {
        sum.tokens += 1;
        sum.bytes += 1;
        walk(each, depth + 1);
      }
    } else {
      for (const [name, field] of Object.entries(one)) {
        sum.chars += name.length;
        sum.bytes += name.length + FIELD_BYTES;
        if (!MARKS.has(name)) {
          sum.tokens += nameTokens(name, count);
          walk(field, depth + 1);
        } else {
          sum.tokens += 1;
          sum.bytes += typeof field === "string" ? field.length : 0;
        }
      }
    }
  };
  try {
    walk(value(), 0);
  } catch {}
  return sum;
}

/** The names of fields repeat in every message. */
const nameCounts = new WeakMap<Count, Map<string, number>>();
const MAX_NAMES = 1000;

function nameTokens(name: string, count: Count): number {
  const known = nameCounts.get(count) ?? new Map<string, number>();
  nameCounts.set(count, known);
  const tokens = known.get(name) ?? count(name);
  if (known.size < MAX_NAMES) known.set(name, tokens);
  return tokens;
}

/** Longer texts are weighed by samples: counting all of a large history would take longer than sending it. */
const SAMPLE_OVER_CHARS = 4096;
const SAMPLES = 3;
const SAMPLE_CHARS = 512;

/** Counts long texts by samples. */
export function countSamples(counter: TokenCounter): Count {
  return (text) =>
    text.length <= SAMPLE_OVER_CHARS ? counter.count(text) : sample(text, counter, SAMPLES, SAMPLE_CHARS);
}

/**
 * If a longer text has no white space in its first characters, it is data, or of a script without spaces. It is the same
 * kind throughout, and a vocabulary may take seconds to count all of it.
 */
const DATA_CHARS = 4096;
const DATA_PIECES = 16;

/** Counts every character, except in long data. */
export function countAll(counter: TokenCounter): Count {
  return (text) => {
    const isShort = text.length <= DATA_CHARS * DATA_PIECES || /\s/.test(text.slice(0, DATA_CHARS));
    return isShort ? counter.count(text) : sample(text, counter, DATA_PIECES, DATA_CHARS);
  };
}

/** Counts pieces at even distances, from the start to the end. */
function sample(text: string, counter: TokenCounter, pieces: number, chars: number): number {
  const gap = (text.length - chars) / (pieces - 1);
  let tokens = 0;
  for (let piece = 0; piece < pieces; piece++) {
    const from = Math.floor(piece * gap);
    tokens += counter.count(text.slice(from, from + chars));
  }
  return Math.ceil((tokens / (pieces * chars)) * text.length);
}
