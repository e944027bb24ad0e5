import type { CallOptions } from "../../call/call-options.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

/** What may be said for an agent. */
export type MastraProcessorOptions = Pick<CallOptions, "session" | "window" | "model" | "pruning" | "media">;

interface RequestArgs {
  prompt: unknown[];
  model?: unknown;
  state: Record<string, unknown>;
}

interface StepArgs {
  tools?: Record<string, unknown> | undefined;
  activeTools?: readonly string[] | undefined;
  state: Record<string, unknown>;
}

interface ErrorArgs {
  error: unknown;
  state: Record<string, unknown>;
}

/** A processor of Mastra, for `inputProcessors` and `errorProcessors`. */
export interface MastraProcessor {
  readonly id: "spillway";
  processInputStep(args: StepArgs): Promise<undefined>;
  processLLMRequest<Args extends RequestArgs>(args: Args): Promise<{ prompt: Args["prompt"] }>;
  processAPIError(args: ErrorArgs): Promise<{ retry: boolean } | undefined>;
}

/** One request of a run: as it came, and why it was refused so far. */
interface Sent {
  prompt: unknown[];
  model: string | undefined;
  systemAndTools: unknown;
  refusals: unknown[];
}

/** A refused request is made smaller this often; each time it takes a rung or more. */
const MAX_REFUSALS = 6;

/**
 * A processor for agents of Mastra: each request is pruned on its way, and if the provider refuses it for its size it is made
 * smaller and sent again. What Mastra keeps of the conversation is not changed. It stands in both lists:
 * `inputProcessors: [processor], errorProcessors: [processor]`.
 */
export function spillwayProcessor(
  spillway: Pick<Spillway, "call" | "prepare">,
  options: MastraProcessorOptions = {},
): MastraProcessor {
  const requests = new WeakMap<object, Sent>();
  /** The tools that each run offers its model now. The prompt already has the system's words. */
  const offers = new WeakMap<object, unknown[]>();

  /** What is sent once a request was refused like this. Throws if none of it was about size, or nothing more can go. */
  async function smaller({ prompt, model, systemAndTools, refusals }: Sent): Promise<unknown[]> {
    const left = [...refusals];
    let sent = prompt;
    await spillway.call(
      prompt,
      (messages) => {
        sent = messages;
        const refusal = left.shift();
        if (refusal !== undefined) throw refusal;
      },
      { wire: "ai-sdk", model, systemAndTools, ...options },
    );
    return sent;
  }

  return {
    id: "spillway",
    async processInputStep({ tools = {}, activeTools, state }) {
      const offered = Object.entries(tools).filter(([name]) => activeTools?.includes(name) ?? true);
      offers.set(state, offered.map(sentOf));
      return undefined;
    },
    async processLLMRequest({ prompt: given, model, state }) {
      const prompt = given.map(withoutOwnCopies);
      const before = requests.get(state);
      const isAgain = before !== undefined && before.refusals.length > 0 && isSame(before.prompt, prompt);
      const about = { model: idOf(model), systemAndTools: offers.get(state) };
      const sent: Sent = { prompt, ...about, refusals: isAgain ? before.refusals : [] };
      requests.set(state, sent);
      const messages = isAgain
        ? await smaller(sent).catch(() => prompt)
        : (await spillway.prepare(prompt, { wire: "ai-sdk", ...about, ...options })).messages;
      return { prompt: messages };
    },
    async processAPIError({ error, state }) {
      const sent = requests.get(state);
      if (sent === undefined || sent.refusals.length >= MAX_REFUSALS) return undefined;
      const refused = { ...sent, refusals: [...sent.refusals, error ?? new Error("refused")] };
      try {
        await smaller(refused);
      } catch {
        return undefined; // not about size, or nothing more can go: Mastra has the error
      }
      requests.set(state, refused);
      return { retry: true };
    },
  };
}

/** What a provider gets of a tool, as Mastra hands it over: `parameters` holds its schema as JSON. */
function sentOf([name, tool]: [string, unknown]): unknown {
  const { description, parameters } = Object(tool) as { description?: unknown; parameters?: unknown };
  const { jsonSchema } = Object(parameters) as { jsonSchema?: unknown };
  return { name, description, inputSchema: jsonSchema };
}

/** Mastra keeps what a tool's `toModelOutput` gave in the prompt twice more, for itself: no provider gets it. */
function withoutOwnCopies(message: unknown): unknown {
  if (!isRecord(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map((part: unknown) => {
    if (!isRecord(part) || !isRecord(part.providerOptions) || !isRecord(part.providerOptions.mastra)) return part;
    const { modelOutput: _, ...mastra } = part.providerOptions.mastra;
    return { ...part, providerOptions: { ...part.providerOptions, mastra } };
  });
  return { ...message, content };
}

/** A retry has the same prompt, built anew. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length;
}

function idOf(model: unknown): string | undefined {
  const { modelId } = Object(model) as { modelId?: unknown };
  return typeof modelId === "string" ? modelId : undefined;
}
