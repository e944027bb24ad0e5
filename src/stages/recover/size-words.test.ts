import { describe, expect, it } from "vitest";
import { classify } from "./classify.ts";
import { findSizeWords, readNamedSizes } from "./size-words.ts";
import { normalize } from "./text-pattern.ts";

const says = (text: string) => findSizeWords(normalize(text)) !== null;

describe("families of words", () => {
  // A sentence that nobody has listed, and beside it one that differs in the word that decides.
  it.each([
    ["Your conversation exceeds this deployment's window.", "Your conversation exceeds this deployment's patience."],
    ["The request is larger than the context of the model", "The request is larger than the disk of the model"],
    ["The sequence surpasses the maximum length", "The sequence surpasses the maximum depth"],
    ["The messages have more tokens than allowed", "The messages have more images than tokens allowed"],
    ["Inputs must have fewer than 4096 tokens", "Names must have fewer than 64 letters"],
    ["The prompt does not fit the context window", "The prompt does not fit the safety guidelines"],
    ["We ran out of context for this conversation", "We ran out of time for this conversation"],
    ["Prompt is too large", "Prompt is too vague"],
    ["prompt_too_long", "prompt_too_short"],
    ["Error: context overflow", "Let us look at the context overflow bug"],
    ["Context overflow: prompt too large for the model.", "Stack overflow: recursion too deep for the model."],
    ["n_keep (9000) >= n_ctx (4096)", "top_k (9000) >= vocab (4096)"],
    [
      "Prompt is 11543 tokens but the context window is 4096 tokens.",
      "Prompt is 400 tokens, the context window is 4096 tokens.",
    ],
    [
      "The request needs 9,000 prompt tokens, but this model allows 8,192. Then choose a smaller file.",
      "The file needs 9,000 tokens, but this model allows 8,192.",
    ],
    ["prompt uses 9000 tokens but the context holds 8192", "prompt uses 900 tokens but the context holds 8192"],
    ["You sent 120 tokens, but only 100 fit the context", "You sent 120 messages, but only 100 in a 3-hour window"],
    ["no room left in the context window for a reply", "no room left on the disk for a reply"],
    ["Your message was too long and was not processed", "sendto: message too long"],
    ["The prompt exceeds the length of the context", "num_ctx is larger than the trained context length"],
    ["The request has too many tokens", "logit_bias has too many tokens"],
    ["input tokens must be less than 4096", "min_tokens must be less than max_tokens=16"],
    ["Input tokens exceed the limit", "Input tokens exceed the limit per minute"],
    ["Input tokens exceed the limit", "Input tokens exceed the limit of your plan"],
    ["Total tokens exceed the limit", "Output tokens exceed the limit"],
    ["Prompt and completion tokens exceed the limit", "Completion tokens exceed the limit"],
    ["The input exceeds the token limit", "The input file exceeds the token limit"],
    ["inputs tokens + max_new_tokens must be <= 4096", "max_new_tokens must be <= 4096"],
    ["The prompt tokens exceed the maximum", "The access token exceeds the maximum length of the header"],
    ["The prompt has too many tokens", "The batch has too many tokens"],
    ["The context is greater than the window", "Max context tokens 512 must be greater than overlap 1024."],
    ["The input exceeds the context length, trace_id: 39d8", "The input exceeds the length of an id"],
    ["The sequence exceeds the KV cache budget", "The sequence exceeds the token length of the thinking budget"],
    ["Batch generation failed: the prompt exceeds the context", "Batch: the prompt exceeds the context"],
    ["内容超出长度上限，请减少附件后重试", "内容附件超出长度上限"],
    ["输入内容过长", "输出内容过长"],
    ["请求的 tokens 超过上限", "每分钟请求的 tokens 超过上限"],
    ["prompt 长度大于 8192", "图片大小大于 8192"],
  ])("%s | %s", (yes, no) => {
    expect(says(yes)).toBe(true);
    expect(says(no)).toBe(false);
  });

  it("hold for one sentence at a time", () => {
    expect(says("The prompt is fine. The image exceeds 5 MB. Its length is 9 tokens.")).toBe(false);
    expect(says("The image is fine. The prompt exceeds the context length.")).toBe(true);
  });

  it("are found in a code that nobody has listed, however it joins its words", () => {
    const coded = (code: string) => classify({ status: 400, body: { error: { message: "Bad request", code } } }).kind;
    for (const code of ["exceededContextWindowSize", "context_too_long", "PROMPT_TOO_LARGE"]) {
      expect(coded(code)).toBe("context-overflow");
    }
    for (const code of [
      "context_deadline_exceeded",
      "rateLimitExceeded",
      "input_file_too_large",
      "maxTokensExceeded",
    ]) {
      expect(coded(code)).not.toBe("context-overflow");
    }
  });

  it("count for nothing beside a status that is about keys, accounts or the rate", () => {
    const refused = (status: number) => classify({ status, body: { message: "The prompt exceeds the token limit" } });
    expect([400, 413, 422, 500].map((status) => refused(status).kind)).toEqual(Array(4).fill("context-overflow"));
    for (const status of [401, 402, 403, 404, 429]) expect(refused(status).kind).not.toBe("context-overflow");
  });
});

describe("the sizes that are named", () => {
  it.each([
    ["Prompt length (5056) exceeds maximum sequence length (2048)", { observed: 5056, limit: 2048 }],
    ["9000 tokens is more than 8,192", { observed: 9000, limit: 8192 }],
    ["Request too many tokens: 1999 + 50 > 2048", { observed: 2049, limit: 2048 }],
    ["prompt token count ( 5000 ) and max_new_tokens ( 500 ) exceed length 4096", { observed: 5000, limit: 4096 }],
    ["cannot exceed 2048 - received 6354", { observed: 6354, limit: 2048 }],
    ["Max input length is 4096 tokens, but you supplied 5441 tokens.", { observed: 5441, limit: 4096 }],
    ["The maximum of claude-3-5 is 200000, you requested 256k tokens", { observed: 256_000, limit: 200_000 }],
    ["500 Requested tokens exceed context window of 512", { limit: 512 }],
    ["Turn 3 exceeds the maximum of 8192 tokens", { limit: 8192 }],
    ["Context window exceeded: requested 12000 tokens", { observed: 12_000 }],
    ["maximum context length: 20000 requested, 16384 available", { observed: 20_000, limit: 16_384 }],
    ["context window overflow: estimated=140000 remaining=9000", { observed: 140_000 }],
    ["requires 40960 tokens, the window accommodates only 32768", { observed: 40_960, limit: 32_768 }],
    ["exceeds the 121000 token window (projected 127891 tokens)", { observed: 127_891, limit: 121_000 }],
    ["The prompt exceeds the context window after 3 attempts", {}],
    ["The maximum is 8192 tokens. You requested 400 tokens", {}],
    ["The prompt is too long", {}],
  ])("%s", (text, sizes) => {
    expect(readNamedSizes(normalize(text))).toEqual(sizes);
  });
});

it("a long text takes no long time to look through", () => {
  // Counts steps by length: twice the text may take at most about twice the work, so 16 KB of anything ends at once.
  for (const piece of ["prompt 1 ", "9 + 9 exceeds than ", "max 1-1-1.1 ", "a-1", "(((", "超过 1"]) {
    const text = piece.repeat(16_384 / piece.length);
    expect([typeof findSizeWords(text), typeof readNamedSizes(text)]).toContain("object");
  }
});
