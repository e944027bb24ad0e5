import type { OverflowFixture } from "./print-matrix.ts";

/** What the conversation may hold in the request that an SDK's error carries along: none of it may count. */
const QUOTED = "prompt is too long: 205668 tokens > 200000 maximum; HTTP 413 context_length_exceeded";

/** The ways in which one refusal reaches an application. All must give the same verdict. */
export function disguises({ status, body, thrown, event }: OverflowFixture): [form: string, subject: unknown][] {
  if (event !== undefined) {
    return [
      ["a stream's event", event],
      ["the event on the wire", `event: message\ndata: ${JSON.stringify(event)}\n\n`],
      ["the data of an event", { event: "message", data: JSON.stringify(event) }],
    ];
  }
  if (thrown !== undefined) {
    const error = toError(thrown);
    return [
      ["what was thrown", error],
      ["as a cause", new Error("The agent stopped.", { cause: error })],
      [
        "the last of several tries",
        Object.assign(new Error("Failed after 3 attempts."), {
          lastError: error,
          errors: [new Error("429 rate limit"), error],
        }),
      ],
    ];
  }
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const message = `${status} ${text === "" ? "status code (no body)" : text}`;
  const inner = isObject(body) && isObject(body.error) ? body.error : undefined;
  const request = { messages: [{ role: "user", content: QUOTED }] };
  const aiSdk = Object.assign(new Error(typeof inner?.message === "string" ? inner.message : text || "Bad Request"), {
    name: "AI_APICallError",
    statusCode: status,
    responseBody: text,
    data: body,
    requestBodyValues: request,
    isRetryable: false,
  });
  return [
    ["a body", { status, body: text }],
    ["a parsed body", { status, body }],
    [
      "an SDK's error",
      Object.assign(new Error(message), { status, error: inner ?? body, headers: {}, requestID: "req_example" }),
    ],
    ["an SDK's error with the whole body", Object.assign(new Error(message), { status, error: body })],
    ["the AI SDK's error", text === "" ? { statusCode: status, responseBody: text } : aiSdk],
    [
      "the AI SDK's error after retries",
      Object.assign(new Error("Failed after 3 attempts."), {
        name: "AI_RetryError",
        reason: "maxRetriesExceeded",
        errors: [new Error("429 rate limit"), { statusCode: status, responseBody: text }],
        lastError: { statusCode: status, responseBody: text, requestBodyValues: request },
      }),
    ],
    [
      "an HTTP client's error",
      Object.assign(new Error(`Request failed with status code ${status}`), {
        code: "ERR_BAD_REQUEST",
        config: { data: QUOTED },
        response: { status, data: body, headers: {} },
      }),
    ],
    [
      "a framework's wrapper",
      new Error("Error invoking the model", {
        cause: Object.assign(new Error(message), { status, error: inner ?? body, lc_error_code: "INVALID_REQUEST" }),
      }),
    ],
    ["a message", message],
  ];
}

function toError({ cause, ...fields }: Record<string, unknown>): Error {
  const error = new Error(String(fields.message), isObject(cause) ? { cause: toError(cause) } : {});
  return Object.assign(error, fields);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
