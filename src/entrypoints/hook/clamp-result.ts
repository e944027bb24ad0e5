import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AdmitRequest } from "../../admit/admit-request.ts";
import type { Intent } from "../../admit/intent.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Spillway } from "../../spillway.ts";
import { mapLimits, parsedJson } from "../../values.ts";
import type { AgentFile, ToolResult } from "./agent.ts";
import { findTexts, putTexts } from "./response-texts.ts";

/** What the agent should be told instead of a result; null to leave the result as it is. */
export async function clampResult(
  spillway: Pick<Spillway, "admit" | "resolve">,
  result: ToolResult,
): Promise<object | null> {
  const { tool, session, call, made, response, isNumbered, beside = "", exitCode } = result;
  const intent = result.transcript === undefined ? undefined : await readIntent(result.transcript);
  // What is within our limits is the agent's to show. That may be what another of us cut already.
  const size = result.most === undefined || fitOf(spillway, result) === "within" ? undefined : result.most;
  const about = { tool, session, call, intent, size, ...made, ...(isNumbered && { strategy: "head", fold: false }) };
  const limited = beside === "" ? about : { ...about, limits: roomBeside(beside, spillway.resolve(tool).limits) };
  const whole = result.whole === undefined ? null : await admitFile(spillway, { ...limited, exitCode }, result.whole);
  const updated =
    whole === null
      ? await clampResponse(spillway, limited, response)
      : ((await clampResponse(spillway, about, whole)) ?? whole);
  return updated === null ? null : result.answer(updated);
}

/** The conversation's last words stand in so much of the end of its file, where they are to be found at all. */
const TRANSCRIPT_BYTES = 512 * 1024;

/** What the user and the model said last, read from the end of a conversation's file; undefined if that cannot be read. */
async function readIntent(transcript: string): Promise<Intent | undefined> {
  const file = await openOwn(transcript);
  try {
    if (file === null) return undefined;
    const { size } = await file.stat();
    const from = Math.max(0, size - TRANSCRIPT_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, TRANSCRIPT_BYTES)), 0, null, from);
    const { lastWords } = await import("../../admit/intent.ts");
    const text = buffer.toString("utf8", 0, bytesRead);
    return lastWords(text.split("\n").flatMap(messagesIn)) ?? lastWords(messagesIn(text)) ?? undefined;
  } catch {
    return undefined; // the output is cut without it
  } finally {
    await file?.close();
  }
}

/** The messages in a line of such a file, or in the whole of it: agents wrap each in an entry, or keep all in one list. */
function messagesIn(line: string): unknown[] {
  const entry = parsedJson(line) as { message?: unknown; payload?: unknown; messages?: unknown } | null;
  return Array.isArray(entry?.messages) ? entry.messages : [entry?.message ?? entry?.payload ?? entry];
}

/** Characters for each token of a text that is not measured. It is low, so that the text is never counted as too short. */
const CHARS_A_TOKEN = 2;
/** However long the text beside it is, so much of the limits is left to an output. */
const MIN_SHARE = 0.25;

/** What limits leave an output that a model gets together with another text. */
function roomBeside(text: string, limits: Limits): Limits {
  const bytes = Buffer.byteLength(text) + 1;
  const tokens = Math.ceil(text.length / CHARS_A_TOKEN);
  const taken = { bytes, chars: text.length + 1, lines: text.split("\n").length, tokens };
  return mapLimits(limits, (limit, unit) => Math.max(Math.floor(limit * MIN_SHARE), limit - taken[unit]));
}

/** The response with the whole output, which the agent keeps in a file, clamped in place of a part; null if there is no such file. */
async function admitFile(
  spillway: Pick<Spillway, "admit">,
  about: Omit<AdmitRequest, "output">,
  { path, part, sinceMs = 0, put }: AgentFile,
): Promise<unknown> {
  const file = await openOwn(path);
  try {
    if (file === null || (await file.stat()).mtimeMs < sinceMs || !(await holds(file, part))) return null;
    const { text } = await spillway.admit({ ...about, output: readBounded(file) });
    return put(text);
  } catch {
    return null; // the part that came is clamped
  } finally {
    await file?.close();
  }
}

/** Opens a regular file of this user. Null for anything else: a link, a device, another user's file. */
async function openOwn(path: string): Promise<FileHandle | null> {
  const named = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  // A pipe without a writer would let the hook wait.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(named, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  const about = await file?.stat();
  const user = process.getuid?.();
  if (about?.isFile() && (user === undefined || about.uid === user)) return file;
  await file?.close();
  return null;
}

/** Characters of the part that are looked for at the file's beginning and end, and bytes that are read there. */
const COMPARED_CHARS = 4096;
const COMPARED_BYTES = 4 * COMPARED_CHARS;
/** A shorter part could be one that a tool made up, to get a file of the user shown. Agents show more than this. */
const MIN_PART_CHARS = 400;

/** Returns true if a file begins or ends with a part of an output, or can have so many characters. Agents trim blanks. */
async function holds(file: FileHandle, part: AgentFile["part"]): Promise<boolean> {
  const { size } = await file.stat();
  // A character has one to three bytes here: four are counted as two characters.
  if (typeof part === "object") return part.chars > 0 && size >= part.chars && size <= 3 * part.chars;
  const shown = part.trim();
  if (shown.length < MIN_PART_CHARS) return false;
  const read = async (from: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(COMPARED_BYTES), 0, COMPARED_BYTES, Math.max(0, from));
    return buffer.toString("utf8", 0, bytesRead).trim();
  };
  const isHead = (await read(0)).startsWith(shown.slice(0, COMPARED_CHARS));
  return isHead || (await read(size - COMPARED_BYTES)).endsWith(shown.slice(-COMPARED_CHARS));
}

/** An agent waits some ten seconds for a hook. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

async function* readBounded(file: FileHandle): AsyncGenerator<Uint8Array> {
  const { size } = await file.stat();
  for await (const chunk of file.createReadStream({ autoClose: false, start: 0, end: MAX_FILE_BYTES - 1 })) yield chunk;
  if (size > MAX_FILE_BYTES) throw new Error(`only ${MAX_FILE_BYTES} of ${size} bytes were read`);
}

/** Plain text has none of these. A result that has one may be binary, which is described in words. */
const STRANGE = /(?![\t\n\v\f\r])\p{Cc}|\ufffd|%PDF-/u;
/** Begins a terminal code, which any command may print. */
const ESCAPE = "\u001b";

/** Says whether a result is surely within its tool's limits or surely over one, as far as sizes tell without a clamp. */
export function fitOf(
  { resolve }: Pick<Spillway, "resolve">,
  { tool, response, whole }: ToolResult,
): "within" | "over" | "unsure" {
  const { limits, off } = resolve(tool);
  if (off) return "within";
  // An agent only writes what it finds too long to a file.
  if (whole !== undefined) return "over";
  const { maxBytes = Infinity, maxChars = Infinity, maxLines = Infinity, maxTokens = Infinity } = limits;
  const texts = findTexts(response);
  if (texts === null) return "unsure";
  const text = texts.join("\n");
  const bytes = Buffer.byteLength(text);
  // The breaks between texts are not part of the texts.
  const joints = Math.max(0, texts.length - 1);
  if (text.length - joints > maxChars || bytes - joints > maxBytes) return "over";
  let lines = text === "" ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines++;
  if (lines - joints > maxLines) return "over";
  // A token has at least one byte.
  const isWithin = text.length <= maxChars && bytes <= Math.min(maxBytes, maxTokens) && lines <= maxLines;
  return isWithin && text.isWellFormed() && !STRANGE.test(text.replaceAll(ESCAPE, "")) ? "within" : "unsure";
}

/** The response within its limits, in the same shape, since an agent ignores any other; null if nothing had to be cut. */
async function clampResponse(
  spillway: Pick<Spillway, "admit">,
  about: Omit<AdmitRequest, "output">,
  response: unknown,
): Promise<unknown> {
  if (typeof response === "string") {
    const { text } = await spillway.admit({ ...about, output: response });
    return text === response ? null : text;
  }
  const isBlocks = Array.isArray(response) && response.length > 0 && response.every(isBlock);
  const texts = isBlocks ? null : findTexts(response);
  if (texts === null) {
    // These are blocks, or too many texts to look through. Parts that do not fit are left out whole.
    const came = (isBlocks ? { content: response } : response) as object & { content?: unknown };
    const { output } = await spillway.admit({ ...about, output: came });
    if (output === came || (isBlocks && output.content === response)) return null;
    return isBlocks ? output.content : output;
  }
  if (texts.length === 0) return null;
  // All texts share the limits, since a model reads the result of one call as one output.
  const blocks = texts.map((text) => ({ type: "text", text }));
  const { output } = await spillway.admit({ ...about, output: { content: blocks } });
  if (output.content === blocks) return null;
  const shown = texts.map((text, index) => output.content[index]?.text ?? (index < output.content.length ? text : ""));
  return shown.every((text, index) => text === texts[index]) ? null : putTexts(response, shown);
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
