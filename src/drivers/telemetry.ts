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
  provider: string;
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

/** Events are recorded while the answer goes on: a span that has ended takes what it is told for this long. */
const LATE_MS = 500;

/** The name of the span event for each kind; others are told by their own kind. */
const NAMES: Partial<Record<SpillwayEvent["kind"], string>> = {
  "output-clamped": "spillway.clamp",
  "artifact-spilled": "spillway.spill",
  "request-pruned": "spillway.prune",
  "overflow-recovered": "spillway.recover",
};

function newTelemetry({ trace, metrics, context, propagation, SpanKind, SpanStatusCode }: typeof Api): Telemetry {
  const tracer = trace.getTracer("spillway");
  const meter = metrics.getMeter("spillway");
  const sizes = meter.createHistogram("spillway.tool.output.size", {
    unit: "By",
    description: "Outputs as they came.",
  });
  const shown = meter.createHistogram("spillway.tool.output.shown", { unit: "By", description: "What models got." });
  const recovered = meter.createCounter("spillway.overflows", { description: "Refusals for size, by how they ended." });
  return {
    tell(event) {
      const { kind, tool, receipt } = event;
      const span = trace.getActiveSpan();
      span?.addEvent(NAMES[kind] ?? `spillway.${kind}`, attributesOf(event));
      if (kind === "request-answered") span?.setAttributes(answerAttributes(event));
      if (kind === "output-clamped" || kind === "output-passed") {
        const labels = { "gen_ai.tool.name": tool ?? "" };
        sizes.record(receipt?.total.bytes ?? 0, labels);
        shown.record(receipt?.shown.bytes ?? 0, labels);
      }
      if (kind === "overflow-recovered" || kind === "overflow-failed") recovered.add(1, { "spillway.outcome": kind });
    },
    span({ provider, headers, status }, run) {
      const parent = propagation.extract(context.active(), headers);
      const attributes = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider };
      return tracer.startActiveSpan("chat", { kind: SpanKind.CLIENT, attributes }, parent, async (span) => {
        try {
          return await run();
        } finally {
          span.setAttribute("http.response.status_code", status());
          if (status() >= 400)
            span.setAttribute("error.type", String(status())).setStatus({ code: SpanStatusCode.ERROR });
          const endMs = Date.now();
          setTimeout(() => span.end(endMs), LATE_MS);
        }
      });
    },
  };
}

type Attributes = Record<string, string | number>;

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
    "gen_ai.request.model": more?.["model"],
    "gen_ai.conversation.id": session,
    "gen_ai.usage.input_tokens": more?.["inputTokens"],
    "gen_ai.usage.output_tokens": more?.["outputTokens"],
  });
}

function present(given: Record<string, unknown>): Attributes {
  const kept = Object.entries(given).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return Object.fromEntries(kept) as Attributes;
}
