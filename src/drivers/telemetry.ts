import type * as Api from "@opentelemetry/api";
import type { SpillwayEvent } from "../contract/event.ts";
import { loadPackage } from "../load-package.ts";

/** Tells OpenTelemetry what happened, and spans the requests of a gateway. */
export interface Telemetry {
  /** Adds an event to the span in which it happened, and to the metrics. */
  tell(event: SpillwayEvent): void;
  /** Runs one request to a model in a span of its own, below the one that the caller's headers name. */
  span<T>(about: RequestSpan, run: () => Promise<T>): Promise<T>;
}

/** A request to a model, as its span names it. */
export interface RequestSpan {
  provider: "anthropic" | "openai" | "gemini";
  headers: Record<string, unknown>;
  /** Returns the status of the answer. */
  status(): number;
}

let loading: Promise<Telemetry | null> | undefined;

/** Loads what tells OpenTelemetry. Null if the package is not installed. */
export function loadTelemetry(): Promise<Telemetry | null> {
  loading ??= loadPackage<typeof Api>("@opentelemetry/api").then(newTelemetry, () => null);
  return loading;
}

/** Events are recorded while the answer goes on: a request that has ended takes what it is told for this long. */
const LATE_MS = 500;
/** Where it was not told what the answer cost, it waits so often. On a busy machine that takes a while. */
const LATE_WAITS = 20;

/** The name of the span event for each kind; others are told by their own kind. */
const NAMES: Partial<Record<SpillwayEvent["kind"], string>> = {
  "output-clamped": "spillway.clamp",
  "artifact-spilled": "spillway.spill",
  "request-pruned": "spillway.prune",
  "overflow-recovered": "spillway.recover",
};

/** What the conventions call the providers' APIs, and what they are asked for. */
const ASKED = {
  anthropic: { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic" },
  openai: { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai" },
  gemini: { "gen_ai.operation.name": "generate_content", "gen_ai.provider.name": "gcp.gemini" },
};
// The conventions state these bounds.
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

function newTelemetry({ trace, metrics, context, propagation, SpanKind, SpanStatusCode }: typeof Api): Telemetry {
  const tracer = trace.getTracer("spillway");
  const meter = metrics.getMeter("spillway");
  const sizes = meter.createHistogram("spillway.tool.output.size", {
    unit: "By",
    description: "Outputs as they came.",
  });
  const shown = meter.createHistogram("spillway.tool.output.shown", { unit: "By", description: "What models got." });
  const recovered = meter.createCounter("spillway.overflows", { description: "Refusals for size, by how they ended." });
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Number of input and output tokens used.",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  const durations = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "GenAI operation duration.",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  /** What the metrics of a request say of it. Spans of others have none, because their makers count those requests. */
  const labelsOf = new WeakMap<Api.Span, Attributes>();
  const isTold = new WeakSet<Api.Span>();
  const answered = (span: Api.Span, event: SpillwayEvent) => {
    const attributes = answerAttributes(event);
    span.setAttributes(attributes);
    isTold.add(span);
    const labels = labelsOf.get(span);
    if (labels === undefined) return;
    const { [MODEL]: model } = attributes;
    if (model !== undefined) {
      labels[MODEL] = model;
      span.updateName(`${labels["gen_ai.operation.name"]} ${model}`);
    }
    for (const type of ["input", "output"]) {
      const used = attributes[`gen_ai.usage.${type}_tokens`];
      if (typeof used === "number") tokens.record(used, { ...labels, "gen_ai.token.type": type });
    }
  };
  return {
    tell(event) {
      const { kind, tool, receipt } = event;
      const span = trace.getActiveSpan();
      span?.addEvent(NAMES[kind] ?? `spillway.${kind}`, attributesOf(event));
      if (kind === "request-answered" && span !== undefined) answered(span, event);
      if (kind === "output-clamped" || kind === "output-passed") {
        const labels = { "gen_ai.tool.name": tool ?? "" };
        sizes.record(receipt?.total.bytes ?? 0, labels);
        shown.record(receipt?.shown.bytes ?? 0, labels);
      }
      if (kind === "overflow-recovered" || kind === "overflow-failed") recovered.add(1, { "spillway.outcome": kind });
    },
    span({ provider, headers, status }, run) {
      const parent = propagation.extract(context.active(), headers);
      const labels: Attributes = { ...ASKED[provider] };
      const name = ASKED[provider]["gen_ai.operation.name"];
      const startedMs = performance.now();
      return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes: labels }, parent, async (span) => {
        labelsOf.set(span, labels);
        try {
          return await run();
        } finally {
          span.setAttribute("http.response.status_code", status());
          if (status() >= 400) {
            labels["error.type"] = String(status());
            span.setAttributes(labels).setStatus({ code: SpanStatusCode.ERROR });
          }
          const [endMs, seconds] = [Date.now(), (performance.now() - startedMs) / 1000];
          const end = (waits: number): unknown => {
            if (waits > 0 && status() < 400 && !isTold.has(span)) return setTimeout(end, LATE_MS, waits - 1);
            durations.record(seconds, labels);
            span.end(endMs);
            return null;
          };
          setTimeout(end, LATE_MS, LATE_WAITS);
        }
      });
    },
  };
}

type Attributes = Record<string, string | number>;
const MODEL = "gen_ai.request.model";

function attributesOf({ session, tool, call, artifact, receipt, more }: SpillwayEvent): Attributes {
  return present({
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": call,
    "gen_ai.conversation.id": session,
    "spillway.artifact.id": artifact,
    "spillway.original.bytes": receipt?.total.bytes,
    "spillway.original.lines": receipt?.total.lines,
    "spillway.shown.bytes": receipt?.shown.bytes,
    "spillway.shown.tokens": receipt?.shown.tokens,
    "spillway.reason": receipt?.cutBy ?? more?.["why"],
  });
}

function answerAttributes({ session, more }: SpillwayEvent): Attributes {
  return present({
    [MODEL]: more?.["model"],
    "gen_ai.conversation.id": session,
    "gen_ai.usage.input_tokens": more?.["inputTokens"],
    "gen_ai.usage.output_tokens": more?.["outputTokens"],
    "gen_ai.usage.cache_read.input_tokens": more?.["cacheReadTokens"],
    "gen_ai.usage.cache_creation.input_tokens": more?.["cacheWriteTokens"],
  });
}

function present(given: Record<string, unknown>): Attributes {
  const kept = Object.entries(given).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return Object.fromEntries(kept) as Attributes;
}
