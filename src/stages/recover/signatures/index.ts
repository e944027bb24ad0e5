import type { ProviderSignatures } from "../compile-signatures.ts";
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import { cerebras } from "./cerebras.ts";
import { copilot } from "./copilot.ts";
import { deepseek } from "./deepseek.ts";
import { gemini } from "./gemini.ts";
import { githubModels } from "./github-models.ts";
import { groq } from "./groq.ts";
import { kimi } from "./kimi.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { qwen } from "./qwen.ts";
import { textGenerationInference } from "./text-generation-inference.ts";
import { together } from "./together.ts";
import { vllm } from "./vllm.ts";
import { volcengine } from "./volcengine.ts";
import { xai } from "./xai.ts";
import { zai } from "./zai.ts";

export { compaction } from "./compaction.ts";
export { guards, pages } from "./guards.ts";
export { bare, last } from "./last.ts";
export { litellm } from "./litellm.ts";

/** Every provider whose refusals are known. A new provider is a file in this folder and a line in this list. */
export const providers: readonly ProviderSignatures[] = [
  anthropic,
  openai,
  azure,
  bedrock,
  gemini,
  openrouter,
  deepseek,
  mistral,
  groq,
  xai,
  together,
  textGenerationInference,
  cerebras,
  copilot,
  githubModels,
  kimi,
  minimax,
  zai,
  qwen,
  volcengine,
  vllm,
  llamacpp,
  lmstudio,
  ollama,
];
