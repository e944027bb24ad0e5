import type { CallOptions } from "../../call/call-options.ts";
import type { Spillway } from "../../spillway.ts";

/** What may be said for the requests of one model. */
export interface AiMiddlewareOptions
  extends Pick<CallOptions, "session" | "window" | "pruning" | "answerTokens" | "media"> {}

interface Params {
  prompt: readonly unknown[];
  tools?: unknown;
  abortSignal?: AbortSignal | undefined;
}

interface Streamed {
  stream: ReadableStream<unknown>;
}

/** A language model of the AI SDK, as far as it is needed. */
interface Model<P, Generated, S> {
  readonly modelId: string;
  doGenerate(params: P): PromiseLike<Generated>;
  doStream(params: P): PromiseLike<S>;
}

/** Middleware for `wrapLanguageModel`, as the AI SDK types it. */
export interface AiMiddleware<Version extends string> {
  specificationVersion: Version;
  wrapGenerate<P extends Params, Generated>(given: {
    doGenerate(): PromiseLike<Generated>;
    params: P;
    model: Model<P, Generated, unknown>;
  }): Promise<Generated>;
  wrapStream<P extends Params, S extends Streamed>(given: StreamCall<P, S>): Promise<S>;
}

interface StreamCall<P, S> {
  doStream(): PromiseLike<S>;
  params: P;
  model: Model<P, unknown, S>;
}

/**
 * Middleware for a model of the AI SDK: each request is pruned on its way, and if the provider refuses it for its size it is
 * made smaller and sent again. The application's messages are not changed. For version 6 of the SDK say `"v3"`.
 */
export function spillwayMiddleware<Version extends string = "v4">(
  spillway: Pick<Spillway, "call">,
  { specificationVersion, ...options }: AiMiddlewareOptions & { specificationVersion?: Version } = {},
): AiMiddleware<Version> {
  const optionsOf = ({ tools, abortSignal }: Params, { modelId }: { modelId: string }): CallOptions => ({
    wire: "ai-sdk",
    model: modelId,
    systemAndTools: tools ?? [],
    ...(abortSignal !== undefined && { signal: abortSignal }),
    ...options,
  });
  return {
    specificationVersion: (specificationVersion ?? "v4") as Version,
    wrapGenerate: ({ doGenerate, params, model }) =>
      spillway.call(
        params.prompt,
        (prompt) => (prompt === params.prompt ? doGenerate() : model.doGenerate({ ...params, prompt })),
        optionsOf(params, model),
      ),
    async wrapStream<P extends Params, S extends Streamed>({ doStream, params, model }: StreamCall<P, S>): Promise<S> {
      const refused: { error: unknown; result: S }[] = [];
      try {
        return await spillway.call(
          params.prompt,
          async (prompt) => {
            const result: S = await (prompt === params.prompt ? doStream() : model.doStream({ ...params, prompt }));
            const { stream, fault } = await peekStream(result.stream);
            const same: S = { ...result, stream };
            if (fault === null) return same;
            refused.push({ error: fault.error, result: same });
            throw fault.error;
          },
          optionsOf(params, model),
        );
      } catch (error) {
        // An error that comes as a part of the stream, and is not about size, stays one.
        const last = refused.at(-1);
        if (last !== undefined && last.error === error) return last.result;
        throw error;
      }
    },
  };
}

/** Parts that come before a model's output. */
const FIRST = new Set<unknown>(["stream-start", "response-metadata", "raw"]);

/** Reads a stream up to its first output. The stream that it gives has all parts. */
async function peekStream(
  stream: ReadableStream<unknown>,
): Promise<{ stream: ReadableStream<unknown>; fault: { error: unknown } | null }> {
  const reader = stream.getReader();
  const parts: unknown[] = [];
  let fault: { error: unknown } | null = null;
  let done = false;
  for (;;) {
    const step = await reader.read();
    done = step.done;
    if (step.done) break;
    parts.push(step.value);
    const { type, error: thrown } = Object(step.value) as { type?: unknown; error?: unknown };
    if (FIRST.has(type)) continue;
    if (type === "error") fault = { error: thrown };
    break;
  }
  const replayed = new ReadableStream<unknown>({
    async pull(controller) {
      const [part] = parts;
      if (parts.length > 0) {
        parts.shift();
        controller.enqueue(part);
        return;
      }
      const step = done ? { done: true as const } : await reader.read();
      if (step.done) controller.close();
      else controller.enqueue(step.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { stream: replayed, fault };
}
