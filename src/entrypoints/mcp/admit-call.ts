import { isDeepStrictEqual } from "node:util";
import type { AdmitRequest } from "../../admit/admit-request.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord, LargeJson, tried } from "../../values.ts";
import { boundMedia, type MediaOf } from "./bound-media.ts";
import { ERROR_CODES, type Message } from "./json-rpc.ts";
import type { ToolNames } from "./offer-tools.ts";

/** Where the receipt stands in a result. */
const RECEIPT_KEY = "spillway/receipt";

/** A request and how its result is to be treated. */
export interface Call {
  spillway: Spillway;
  session: string;
  tool: string;
  names: ToolNames;
  rules: { maxMediaBytes?: number | undefined };
  /** What the model said that it looks for in it. */
  lookingFor?: string | undefined;
  /** The receipt of a long text of the result that was already cut. */
  cut?: Receipt | undefined;
}

type Result = Record<string, unknown>;

/** What is said of each output beside the output itself. */
type About = MediaOf & Pick<AdmitRequest, "reader" | "intent">;

/** A tool's result as the model should get it; null if it stays as it came. */
export async function admitCallResult(call: Call, message: Message, came: unknown): Promise<Message | null> {
  const result = await admitResult(call, message, came);
  return result === came ? null : { ...message, result: result as Result };
}

async function admitResult(call: Call, message: Message, came: unknown): Promise<unknown> {
  const { spillway, rules, tool } = call;
  const about = aboutOf(call, message);
  if (!isRecord(came)) return isAdmissible(came) ? (await spillway.admit({ ...about, output: came })).output : came;
  const { content, structuredContent } = came;
  if (content === undefined && structuredContent === undefined) {
    // A result that asks the client for input, or names a task, is not an output yet.
    const isOutput = came.resultType === undefined || came.resultType === "complete";
    return isOutput && came.task === undefined ? (await spillway.admit({ ...about, output: came })).output : came;
  }
  const { maxMediaBytes } = rules;
  const bounded = maxMediaBytes === undefined ? came : await boundMedia(spillway, about, came, maxMediaBytes);
  const { off, limits } = spillway.resolve(tool);
  if (off) return bounded;
  const shown = await admitContent(spillway, about, bounded.content);
  const isOver =
    structuredContent instanceof LargeJson ||
    isLonger(structuredContent, limits) ||
    (await admitDetails(spillway, { ...about, isUpdate: true }, structuredContent)) !== null;
  if (shown === null && !isOver && call.cut === undefined) return bounded;
  const { structuredContent: _, ...rest } = bounded;
  const withContent = { ...rest, ...shown?.output };
  // Some clients show their model this and nothing else, and some show both: what it repeats of the content goes.
  const isLarge = structuredContent instanceof LargeJson;
  if (structuredContent === undefined || (!isLarge && repeats(structuredContent, content))) {
    return withReceipt(withContent, shown?.receipt ?? call.cut);
  }
  const kept = isOver ? await admitDetails(spillway, about, structuredContent) : null;
  const told =
    [shown?.receipt, kept?.receipt].find((receipt) => receipt?.artifact) ?? shown?.receipt ?? kept?.receipt ?? call.cut;
  return withReceipt({ ...withContent, structuredContent: kept === null ? structuredContent : kept.output }, told);
}

/** What a client reads of a server that is not a tool's result. */
export const READERS: Record<string, { tool: string; list: "contents" | "messages" }> = {
  "resources/read": { tool: "read_resource", list: "contents" },
  "prompts/get": { tool: "get_prompt", list: "messages" },
};

/** What a resource or a prompt says, under the limits of `read_resource` or `get_prompt`; null if it stays as it came. */
export async function admitReading(
  call: Call,
  message: Message,
  came: Result,
  list: "contents" | "messages",
): Promise<Message | null> {
  const parts = came[list];
  if (!Array.isArray(parts) || parts.some(isPage)) return null;
  const blocks = parts.map((part) => (list === "contents" ? { type: "resource", resource: part } : bodyOf(part)));
  const result = await admitResult(call, message, { content: blocks });
  if (!isRecord(result) || !Array.isArray(result.content)) return null;
  const { content } = result;
  if (content.length === blocks.length && content.every((block, index) => block === blocks[index])) return null;
  const shown = content.map((block, index) => {
    const part: unknown = parts[content.length === parts.length ? index : 0];
    if (block === blocks[index]) return part;
    if (list === "messages") return { ...(isRecord(part) ? part : { role: "user" }), content: block };
    if (isRecord(block) && isRecord(block.resource)) return block.resource;
    return { uri: isRecord(part) ? part.uri : "", mimeType: "text/plain", text: isRecord(block) ? block.text : block };
  });
  const meta = isRecord(result._meta) ? { _meta: { ...(isRecord(came._meta) && came._meta), ...result._meta } } : {};
  return { ...message, result: { ...came, [list]: shown, ...meta } };
}

/** A page that a client shows to a person, and no model reads. */
function isPage(part: unknown): boolean {
  return isRecord(part) && typeof part.uri === "string" && part.uri.startsWith("ui://");
}

function bodyOf(part: unknown): unknown {
  return isRecord(part) ? part.content : part;
}

function aboutOf({ tool, session, names, lookingFor }: Call, { id }: Message): About {
  const intent = lookingFor === undefined ? undefined : { model: lookingFor };
  return { tool, session, call: String(id), reader: { by: "tool", ...names }, intent };
}

function isAdmissible(value: unknown): value is string | object {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** The content under its limits; null if it stays as it is. */
async function admitContent(
  spillway: Spillway,
  about: About,
  content: unknown,
): Promise<{ output: Result; receipt: Receipt } | null> {
  if (content === undefined || (Array.isArray(content) && content.length === 0)) return null;
  const given = { content };
  const { output, receipt } = await spillway.admit({ ...about, output: given });
  return output === given ? null : { output, receipt };
}

/** Surely over the limits as JSON: this saves a try for what is very large. */
function isLonger(details: unknown, { maxBytes = Number.POSITIVE_INFINITY, maxChars = maxBytes }: Limits): boolean {
  return isAdmissible(details) && JSON.stringify(details).length > Math.min(maxBytes, maxChars);
}

/** Structured content under its limits as the JSON that some clients show; null if it stays as it is. */
async function admitDetails(
  spillway: Spillway,
  about: About & Pick<AdmitRequest, "isUpdate">,
  details: unknown,
): Promise<{ output: unknown; receipt: Receipt } | null> {
  if (!isAdmissible(details)) return null;
  if (!isRecord(details) || details.content === undefined || details instanceof LargeJson) {
    const { output, receipt } = await spillway.admit({ ...about, output: details });
    return output === details ? null : { output, receipt };
  }
  // It looks like a result, whose images would pass, but it is shown as JSON.
  const given = { details };
  const { output, receipt } = await spillway.admit({ ...about, output: given });
  const { details: bounded, ...notes } = output as Result;
  return output === given ? null : { output: { ...(bounded as Result), ...notes }, receipt };
}

/** With more leaves than this, structured content is compared as JSON only. */
const MAX_LEAVES = 100;

/** Structured content says nothing that the content does not: one text is its JSON, or all that it has are texts that stand there. */
function repeats(structured: unknown, content: unknown): boolean {
  const said = leavesOf(content, Number.POSITIVE_INFINITY).filter((leaf) => typeof leaf === "string");
  if (said.some((text) => isJsonOf(text, structured))) return true;
  const leaves = leavesOf(structured, MAX_LEAVES + 1);
  const isSaid = (leaf: unknown) => typeof leaf === "string" && said.some((text) => text.includes(leaf));
  return leaves.length <= MAX_LEAVES && leaves.every(isSaid);
}

function isJsonOf(text: string, value: unknown): boolean {
  return /^\s*[[{"]/.test(text) && tried(() => isDeepStrictEqual(JSON.parse(text), value)) === true;
}

function leavesOf(value: unknown, most: number): unknown[] {
  const leaves: unknown[] = [];
  const open = [value];
  while (open.length > 0 && leaves.length < most) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) leaves.push(next);
    else for (const each of Object.values(next)) open.push(each);
  }
  return leaves;
}

/** Some clients give this to their model too, so it says no more than where the whole is and how much of it is shown. */
function withReceipt(result: Result, receipt: Receipt | undefined): Result {
  if (receipt === undefined) return result;
  const { artifact, saved, total, shown } = receipt;
  const told = { artifact, saved, bytes: total.bytes, shownBytes: shown.bytes };
  return { ...result, _meta: { ...(isRecord(result._meta) && result._meta), [RECEIPT_KEY]: told } };
}

/** An error of the protocol, whose words reach the model too; null if it stays as it came. */
export async function admitCallError(call: Call, message: Message, came: unknown): Promise<Message | null> {
  // An error that is not an object breaks the protocol, but its text may still reach the model.
  const error = isRecord(came) ? came : { code: ERROR_CODES.gone, message: came };
  const { spillway } = call;
  const about = aboutOf(call, message);
  const said = typeof error.message === "string" ? error.message : (JSON.stringify(error.message) ?? "");
  const { text } = await spillway.admit({ ...about, output: said });
  const { data, ...rest } = error as Result;
  const bounded = isAdmissible(data) ? (await spillway.admit({ ...about, output: data })).output : data;
  if (text === error.message && bounded === data) return null;
  return { ...message, error: { ...rest, message: text, ...(data !== undefined && { data: bounded }) } };
}
