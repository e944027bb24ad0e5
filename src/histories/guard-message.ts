import { type AdmitPlan, type AdmittedOutput } from "../admit/admission.ts";
import { boundObject } from "../admit/admit-object.ts";
import { admitStructured, admitStructuredNow } from "../admit/admit-structured.ts";
import { boundDetail, fitTogether } from "../admit/admit-texts.ts";
import { admitPlainly } from "../admit/clamp-text.ts";
import { type OutputPorts } from "../admit/ports.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Wire, WireResult } from "../contract/wire.ts";
import { messageOf } from "../errors.ts";
import { repairText } from "../stages/guard/guard.ts";
import type { Access } from "../stages/mark/access.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { counted } from "../values.ts";

/** Tells a hook about the message that it may change. */
export interface PersistAbout {
  tool: string | null;
  call: string | null;
  /** True if Spillway wrote the message, in place of a result that never came. */
  isSynthetic: boolean;
}

/**
 * Gets a message with a result before it is persisted. Its return value is persisted instead; undefined leaves the
 * message as it is.
 */
export type PersistHook = (message: unknown, about: PersistAbout) => unknown;

/**
 * Says where whole results are saved and how a reader gets them. `accessNow` is used if nobody can wait for `access`.
 */
export interface SpillPorts extends Pick<OutputPorts, "place" | "access" | "knownTexts"> {
  accessNow: Access;
}

/** Says how one message is guarded. Everything is decided, and nothing is looked up. */
export interface GuardRequest {
  /** The message's format, or null if it is not known. Then only the message's text is repaired. */
  wire: Wire | null;
  toolOf(result: WireResult): string;
  /** Returns a tool's limits and strategy. If its `off` is set, results of the tool stay as they are. */
  planFor(tool: string, call: string | null): AdmitPlan;
  ports: SpillPorts;
  isSynthetic: boolean;
  before?: PersistHook | undefined;
  after?: PersistHook | undefined;
}

/** The message to persist, and what happened to it. */
export interface GuardedMessage {
  message: unknown;
  /** One receipt for each text or detail that was cut. */
  receipts: Receipt[];
  faults: string[];
}

type Step =
  | { does: "hook"; hook: PersistHook; message: unknown; about: PersistAbout }
  | { does: "admit"; plan: AdmitPlan; output: object; asData: boolean };

/** Guards a message. Never throws. */
export async function guardMessage(message: unknown, request: GuardRequest): Promise<GuardedMessage> {
  const guarded: GuardedMessage = { message, receipts: [], faults: [] };
  try {
    const steps = guardSteps(message, request, guarded);
    let step = steps.next();
    while (!step.done)
      step = steps.next(
        await act(step.value, request.ports).catch((error) => standIn(step.value as Step, error, guarded)),
      );
    guarded.message = step.value;
  } catch (error) {
    guarded.faults.push(messageOf(error));
  }
  return guarded;
}

/**
 * Does the same without a promise. If a hook returns a promise, it is not waited for, and the message stays as it was.
 */
export function guardMessageNow(message: unknown, request: GuardRequest): GuardedMessage {
  const guarded: GuardedMessage = { message, receipts: [], faults: [] };
  try {
    const steps = guardSteps(message, request, guarded);
    let step = steps.next();
    while (!step.done) step = steps.next(actNow(step.value, request.ports, guarded));
    guarded.message = step.value;
  } catch (error) {
    guarded.faults.push(messageOf(error));
  }
  return guarded;
}

async function act(step: Step, ports: SpillPorts): Promise<unknown> {
  if (step.does === "hook") return step.hook(step.message, step.about);
  const { plan, output, asData } = step;
  return admitStructured(plan, output, { ...ports, about: plan }, null, asData ? boundObject : undefined);
}

function actNow(step: Step, ports: SpillPorts, guarded: GuardedMessage): unknown {
  try {
    if (step.does === "admit")
      return admitStructuredNow(
        step.plan,
        step.output,
        { ...ports, about: step.plan },
        ports.accessNow,
        step.asData ? boundObject : undefined,
      );
    const answer = step.hook(step.message, step.about);
    if (!(answer instanceof Promise)) return answer;
    answer.catch(() => {});
    throw new Error("it gave a promise, which guardSync cannot wait for");
  } catch (error) {
    return standIn(step, error, guarded);
  }
}

/** Replaces a step that failed: a failed hook changes nothing, and a fault of ours gives a plain clamp. */
function standIn(step: Step, error: unknown, guarded: GuardedMessage): unknown {
  if (step.does === "admit") return admitPlainly(step.plan, step.output, error);
  guarded.faults.push(`a hook failed: ${messageOf(error)}`);
  return undefined;
}

function* guardSteps(
  message: unknown,
  request: GuardRequest,
  guarded: GuardedMessage,
): Generator<Step, unknown, unknown> {
  const { results, malformed } = request.wire?.read(message) ?? { results: [], malformed: 0 };
  if (malformed > 0)
    guarded.faults.push(`${counted(malformed, "part")} of the message could not be read: left unchanged`);
  const [result] = results;
  if (result === undefined) return repairText(message);
  const about = { tool: request.toolOf(result), call: result.id, isSynthetic: request.isSynthetic };
  const { before, after } = request;
  const first = before && (yield { does: "hook", hook: before, message, about });
  const bounded = yield* boundSteps(first ?? message, request, guarded);
  const last = after && (yield { does: "hook", hook: after, message: bounded, about });
  // What a hook returned is bound by the same limits.
  return last === undefined || last === bounded ? bounded : yield* boundSteps(last, request, guarded);
}

function* boundSteps(
  message: unknown,
  request: GuardRequest,
  guarded: GuardedMessage,
): Generator<Step, unknown, unknown> {
  const { wire } = request;
  const results = wire?.read(message).results.filter(({ fixed }) => !fixed) ?? [];
  const edits: { at: string; texts: string[] }[] = [];
  let last: AdmitPlan | null = null;
  for (const result of results) {
    const plan = request.planFor(request.toolOf(result), result.id);
    if (plan.off) continue;
    last = plan;
    const blocks = result.texts.map((text) => ({ type: "text", text }));
    if (
      fitTogether(
        plan,
        result.texts.map((text) => ({ text })),
      )
    )
      continue;
    const admitted = (yield { does: "admit", plan, output: { content: blocks }, asData: false }) as AdmittedOutput;
    guarded.receipts.push(admitted.receipt);
    edits.push({ at: result.at, texts: textsOf(admitted, blocks.length) });
  }
  const written = edits.length === 0 ? message : wire?.write(message, edits);
  return repairText(last === null ? written : yield* detailSteps(written, last, guarded));
}

/** Returns as many texts as there were, or one text if a bounded copy has fewer. */
function textsOf({ output, text }: AdmittedOutput, count: number): string[] {
  const content: unknown = (output as { content?: unknown }).content;
  const texts = Array.isArray(content) ? content.map((block) => (block as { text?: unknown }).text) : [];
  return texts.length === count && texts.every((one) => typeof one === "string") ? texts : [text];
}

/**
 * The fields besides the content that are persisted with it, and the fields in which a message is kept inside another
 * object.
 */
const DETAILS = ["details", "structuredContent", "artifact"];
const HOLDERS = ["message", "kwargs"];

function* detailSteps(message: unknown, plan: AdmitPlan, guarded: GuardedMessage): Generator<Step, unknown, unknown> {
  if (typeof message !== "object" || message === null) return message;
  const bounded: Record<string, unknown> = {};
  const maxBytes = NUMBERS.detailsBytes.default;
  for (const name of "role" in message ? [] : HOLDERS) {
    const inner: unknown = Object.hasOwn(message, name) ? Reflect.get(message, name) : undefined;
    const changed = yield* detailSteps(inner, plan, guarded);
    if (changed !== inner) bounded[name] = changed;
  }
  for (const name of DETAILS) {
    const value: unknown = Object.hasOwn(message, name) ? Reflect.get(message, name) : undefined;
    const short = boundDetail(value, maxBytes);
    if (value === undefined || short.isWhole) continue;
    const output = typeof value === "object" && value !== null ? value : { [name]: value };
    const admitted = (yield {
      does: "admit",
      plan: { ...plan, limits: { maxBytes } },
      output,
      asData: true,
    }) as AdmittedOutput;
    guarded.receipts.push(admitted.receipt);
    bounded[name] = output === value ? admitted.output : short.value;
  }
  return Object.keys(bounded).length === 0 ? message : { ...message, ...bounded };
}
