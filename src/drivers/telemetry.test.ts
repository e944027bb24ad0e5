import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context, metrics, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, expect, it, vi } from "vitest";
import { startServe } from "../entrypoints/serve/start-serve.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
const meters = new MeterProvider({ readers: [reader] });

afterAll(async () => {
  await meters.shutdown();
  for (const api of [trace, context, metrics, propagation]) api.disable();
});

it("without an SDK nothing is told; with one, events stand on the active span and in metrics", async () => {
  const open = () => createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
  const output = "a line of the log\n".repeat(5000);
  await (await open()).admit({ tool: "bash", output });

  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(meters);
  await trace.getTracer("host").startActiveSpan("execute_tool bash", async (span) => {
    await (await open()).admit({ tool: "bash", call: "c1", session: "s1", output });
    span.end();
  });
  const [host] = spans.getFinishedSpans();
  const clamp = host?.events.find(({ name }) => name === "spillway.clamp");
  expect(clamp?.attributes).toMatchObject({
    "gen_ai.tool.name": "bash",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.conversation.id": "s1",
    "spillway.original.bytes": output.length,
    "spillway.artifact.id": expect.any(String),
  });
  await meters.forceFlush();
  const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: each }) => each));
  const size = all.find(({ descriptor }) => descriptor.name === "spillway.tool.output.size");
  expect(size?.dataPoints[0]?.value).toMatchObject({ count: 1, sum: output.length });
});

it("a request through the gateway has a span with the names of GenAI conventions", async () => {
  spans.reset();
  let status = 200;
  const upstream = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end('{"usage":{"input_tokens":7,"output_tokens":3}}');
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
  const server = await startServe({
    spillway,
    policy: undefined,
    version: "",
    host: "127.0.0.1",
    port: 0,
    tokens: [],
    hostNames: [],
    gateway: { upstreams: { anthropic: url, openai: url, gemini: url }, allowed: [] },
    warn: () => {},
  });
  const ask = async () => {
    const body = JSON.stringify({ model: "claude-x", messages: [{ role: "user", content: "hi" }] });
    const headers = { "content-type": "application/json", "x-spillway-session": "s9" };
    await (await fetch(`${server.url}/v1/messages`, { method: "POST", headers, body })).text();
  };
  try {
    await ask();
    status = 401;
    await ask();
    const [answered, refused] = await vi.waitFor(() => {
      const done = spans.getFinishedSpans();
      expect(done).toHaveLength(2);
      return done;
    }, 120_000);
    expect(answered?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-x",
      "gen_ai.conversation.id": "s9",
      "gen_ai.usage.input_tokens": 7,
      "gen_ai.usage.output_tokens": 3,
      "http.response.status_code": 200,
    });
    expect(refused?.status.code).toBe(SpanStatusCode.ERROR);
    expect(refused?.attributes["error.type"]).toBe("401");
  } finally {
    await server.stop({ now: true });
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  }
});
