import type { AdmitRequest } from "../../admit/admit-request.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";
import { boundMedia } from "./bound-media.ts";
import { ERROR_CODES, type Message } from "./json-rpc.ts";
import type { ToolNames } from "./offer-tools.ts";

/** Where the receipt stands in a result. */
const RECEIPT_KEY = "spillway/receipt";

/** A call and how its result is to be treated. */
export interface Call {
  spillway: Spillway;
  session: string;
  tool: string;
  names: ToolNames;
  rules: { maxMediaBytes?: number | undefined };
}

/** A tool's result as the model should get it; null if it stays as it came. */
export async function admitCallResult(
  { spillway, session, tool, names, rules }: Call,
  message: Message,
  came: Record<string, unknown>,
): Promise<Message | null> {
  // A result that asks the client for input is not an output yet.
  if (came.content === undefined && came.structuredContent === undefined) return null;
  const about = { tool, session, call: String(message.id) };
  const { maxMediaBytes } = rules;
  const result = maxMediaBytes === undefined ? came : await boundMedia(spillway, about, came, maxMediaBytes);
  const { output, receipt } = await spillway.admit({
    ...about,
    output: result,
    boundDetails: true,
    reader: { by: "tool", ...names },
  });
  if (output === came) return null;
  const meta = (output as { _meta?: object })._meta;
  const details = await keepDetails(spillway, { ...about, reader: { by: "tool", ...names } }, result, output);
  const told = receipt.artifact === null ? (details?.receipt ?? receipt) : receipt;
  const admitted = { ...output, ...(details !== null && { structuredContent: details.output }) };
  return { ...message, result: { ...admitted, _meta: { ...meta, [RECEIPT_KEY]: told } } };
}

/** A text takes more room in JSON, since line breaks and quotes take two bytes there. */
const ESCAPED_SHARE = 0.8;

/** Cuts and saves structured content, with a marker of its own, since some clients show their model nothing else. */
async function keepDetails(
  spillway: Spillway,
  about: Omit<AdmitRequest, "output">,
  { structuredContent: whole }: Record<string, unknown>,
  { structuredContent: bounded }: Record<string, unknown>,
): Promise<{ output: unknown; receipt: unknown } | null> {
  if (bounded === whole || typeof whole !== "object" || whole === null) return null;
  const mostBytes = Buffer.byteLength(JSON.stringify(bounded));
  const limits = { maxBytes: Math.floor(mostBytes * ESCAPED_SHARE) };
  const { output, receipt } = await spillway.admit({ ...about, limits, output: whole });
  return { output: Buffer.byteLength(JSON.stringify(output)) <= mostBytes ? output : bounded, receipt };
}

/** An error of the protocol, whose words reach the model too. */
export async function admitCallError(
  spillway: Spillway,
  session: string,
  tool: string,
  message: Message,
  came: unknown,
): Promise<Message | null> {
  // An error that is not an object breaks the protocol, but its text may still reach the model.
  const error = isRecord(came) ? came : { code: ERROR_CODES.gone, message: came };
  const said = typeof error.message === "string" ? error.message : (JSON.stringify(error.message) ?? "");
  const { text } = await spillway.admit({ tool, session, call: String(message.id), output: said });
  const { data, ...rest } = error as Record<string, unknown>;
  if (text === said && data === undefined) return null;
  const bounded = data === undefined ? {} : { data: await boundData(spillway, session, tool, data) };
  return { ...message, error: { ...rest, message: text, ...bounded } };
}

async function boundData(spillway: Spillway, session: string, tool: string, data: unknown): Promise<unknown> {
  return (await spillway.admit({ tool, session, output: data })).output;
}
