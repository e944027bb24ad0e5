import { createServer, type ServerResponse } from "node:http";
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
import { afterAll, afterEach, expect, it, vi } from "vitest";
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

async function metric(name: string) {
  await meters.forceFlush();
  const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: each }) => each));
  return all.findLast(({ descriptor }) => descriptor.name === name);
}

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
  expect((await metric("spillway.tool.output.size"))?.dataPoints[0]?.value).toMatchObject({
    count: 1,
    sum: output.length,
  });
});

const served: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  spans.reset();
  for (const stop of served.splice(0)) await stop();
});

/** A gateway before a provider that answers what it is told, and what asks it. */
async function startGateway(answer: (response: ServerResponse) => void) {
  const upstream = createServer((request, response) => {
    request.resume().on("end", () => answer(response));
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
  served.push(async () => {
    await server.stop({ now: true });
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  });
  return async (path: string, session: string, body: object) => {
    const headers = { "content-type": "application/json", "x-spillway-session": session };
    await (await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })).text();
  };
}

const JSON_TYPE = { "content-type": "application/json" };
const ASKED = { model: "claude-x", messages: [{ role: "user", content: "hi" }] };
const finished = (count: number) =>
  vi.waitFor(() => {
    const done = spans.getFinishedSpans();
    expect(done).toHaveLength(count);
    return done;
  }, 120_000);

it("a request through the gateway has a span with the names of GenAI conventions", async () => {
  let status = 200;
  const ask = await startGateway((response) =>
    response
      .writeHead(status, JSON_TYPE)
      .end('{"usage":{"input_tokens":7,"output_tokens":3,"cache_read_input_tokens":5}}'),
  );
  await ask("/v1/messages", "s9", ASKED);
  // These ask no model for an answer.
  await ask("/v1/messages/count_tokens", "s9", ASKED);
  await ask("/v1/files", "s9", {});
  status = 401;
  await ask("/v1/messages", "s9", ASKED);
  const [answered, refused] = await finished(2);
  expect(answered?.name).toBe("chat claude-x");
  expect(answered?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-x",
    "gen_ai.conversation.id": "s9",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.usage.cache_read.input_tokens": 5,
    "http.response.status_code": 200,
  });
  expect(refused?.status.code).toBe(SpanStatusCode.ERROR);
  expect(refused?.attributes["error.type"]).toBe("401");
  const about = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic" };
  const tokens = (await metric("gen_ai.client.token.usage"))?.dataPoints.map(({ attributes, value }) => [
    attributes,
    (value as { sum: number }).sum,
  ]);
  expect(tokens).toEqual([
    [{ ...about, "gen_ai.request.model": "claude-x", "gen_ai.token.type": "input" }, 12],
    [{ ...about, "gen_ai.request.model": "claude-x", "gen_ai.token.type": "output" }, 3],
  ]);
  const took = (await metric("gen_ai.client.operation.duration"))?.dataPoints;
  expect(took?.map(({ attributes }) => attributes)).toEqual([
    { ...about, "gen_ai.request.model": "claude-x" },
    { ...about, "error.type": "401" },
  ]);
});

it("Gemini has the names that the conventions give it", async () => {
  const ask = await startGateway((response) => response.writeHead(200, JSON_TYPE).end('{"candidates":[]}'));
  await ask("/v1beta/models/gemini-x:generateContent", "s1", { contents: [{ role: "user", parts: [{ text: "hi" }] }] });
  const [answered] = await finished(1);
  expect(answered?.name).toBe("generate_content gemini-x");
  expect(answered?.attributes).toMatchObject({
    "gen_ai.operation.name": "generate_content",
    "gen_ai.provider.name": "gcp.gemini",
  });
});

it("answers that come at the same time are told on their own spans", async () => {
  const waiting: ServerResponse[] = [];
  const ask = await startGateway((response) => {
    if (waiting.push(response) < 4) return;
    for (const [at, one] of waiting.entries())
      one.writeHead(200, JSON_TYPE).end(`{"usage":{"input_tokens":${at},"output_tokens":1}}`);
  });
  const sessions = ["s1", "s2", "s3", "s4"];
  await Promise.all(sessions.map((session) => ask("/v1/messages", session, ASKED)));
  const told = (await finished(4)).map(({ attributes }) => attributes["gen_ai.conversation.id"]);
  expect(told.toSorted()).toEqual(sessions);
});
