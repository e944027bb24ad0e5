import type { FakeMinute, FakeRefusal } from "./fake-provider.ts";

/** Makes an error in OpenAI's form. */
export function openaiRefusal(
  message: string,
  source: string,
  { param = null, code = null, type = "invalid_request_error", status = 400 }: Partial<OpenaiError> = {},
): FakeRefusal {
  return { status, body: { error: { message, type, param, code } }, source };
}

interface OpenaiError {
  param: string | null;
  code: string | null;
  type: string;
  status: number;
}

/** Refuses a body that is not JSON. The wording is OpenAI's, which names no place. */
export function openaiBadJson(): FakeRefusal {
  return openaiRefusal(
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    "OpenAI's API, wording from memory",
  );
}

/**
 * Refuses a request because the account has used its tokens of this minute. If the request alone is over the limit, the
 * text says to shrink it, not to wait.
 */
export function openaiTooFast({ limit, used, requested, retryMs }: FakeMinute, model: string): FakeRefusal {
  const about = "Visit https://platform.openai.com/account/rate-limits to learn more.";
  const where = `for ${model} in organization org-fake on tokens per min (TPM)`;
  const kind = { type: "tokens", code: "rate_limit_exceeded", status: 429 };
  const headers = { "x-ratelimit-limit-tokens": String(limit) };
  if (requested > limit) {
    const message = `Request too large ${where}: Limit ${limit}, Requested ${requested}. The input or output tokens must be reduced in order to run successfully. ${about}`;
    return { ...openaiRefusal(message, "https://github.com/vanderschaarlab/climb/issues/1", kind), headers };
  }
  const message = `Rate limit reached ${where}: Limit ${limit}, Used ${used}, Requested ${requested}. Please try again in ${retryMs}ms. ${about}`;
  return {
    ...openaiRefusal(message, "https://github.com/BuilderIO/micro-agent/issues/86", kind),
    headers: { ...headers, "retry-after-ms": String(retryMs), "x-ratelimit-remaining-tokens": String(limit - used) },
  };
}

/** Refuses a body that is over the limit of the web server in front of the API. */
export function openaiTooManyBytes(): FakeRefusal {
  return {
    status: 413,
    body: "<html><head><title>413 Request Entity Too Large</title></head><body></body></html>",
    source: "what web servers send in front of it",
  };
}
