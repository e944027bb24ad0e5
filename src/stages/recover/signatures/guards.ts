import type { ProviderSignatures } from "../compile-signatures.ts";

const BILLING = ["billing", "insufficient_quota", "insufficient credit", "insufficient balance", "more credits"];

/**
 * Error pages of gateways. The status says what such a page means, whatever its text is. They are tried before the
 * guards.
 */
export const pages: ProviderSignatures = {
  provider: null,
  signatures: [{ rule: "page-413", kind: "payload-too-large", status: [413], text: ["<html", "<!doctype html"] }],
};

/**
 * Words that sound like size and mean something else. They are tried after the providers' own words and before `last`.
 */
export const guards: ProviderSignatures = {
  provider: null,
  signatures: [
    {
      rule: "not-size-billing",
      kind: "other",
      text: BILLING,
    },
    { rule: "not-size-payment", kind: "other", status: [402], not: BILLING },
    {
      rule: "not-size-rate",
      kind: "rate-limit",
      text: [
        "rate limit",
        "rate_limit",
        "ratelimit",
        "too many requests",
        "requests per minute",
        "requests per hour",
        "requests per day",
        "tokens per minute",
        "tokens per day",
        "tokens per min (tpm)",
        "for this minute",
        "within a given time frame",
        "per-model limit",
        "quota",
        "throttl",
      ],
      not: BILLING,
    },
    {
      rule: "not-size-batch",
      kind: "other",
      text: ["tokens in batch", "tokens per submitted batch", "max {number} tokens per request"],
    },
    { rule: "not-size-template", kind: "other", text: ["prompt template"] },
    {
      rule: "not-size-small-window",
      kind: "other",
      text: ["context window too small", "context window ... minimum is"],
    },
    { rule: "not-size-reasoning", kind: "other", text: ["reasoning is mandatory", "reasoning is required"] },
  ],
};
