// Written by scripts/write-windows.mjs; do not edit. The list is @earendil-works/pi-ai 1.5.2 of 2026-11-10.

/**
 * Windows of models in tokens, each with the names that have it. A name stands for every model that begins with it up to
 * "-", ":" or "@"; the longest counts. Names are in lower case with "-" for "." and "_", without the maker's prefix.
 */
export const MODEL_WINDOWS: readonly (readonly [window: number, names: string])[] = [
  [8192, "gpt-4"],
  [16_385, "gpt-3"],
  [32_768, "gpt-4-32k qwen3-32b voxtral-mini-3b voxtral-small-24b voxtral-small-2507 voxtral-small-latest"],
  [122_880, "palmyra-x4"],
  [
    128_000,
    "deepseek-chat deepseek-reasoner gemini-2-5-computer gpt-4-0125 gpt-4-1106 gpt-4-turbo gpt-4-vision gpt-4o gpt-5-3-codex-spark gpt-5-chat gpt-oss-safeguard-120b llama-3-1 llama-3-3 llama3-1 llama3-3 magistral-small-2509 ministral-3-14b ministral-3-8b mistral-small-2506 nova-micro-v1 o1-mini o1-preview open-mistral-nemo pixtral-12b pixtral-large-2502",
  ],
  [
    131_072,
    "deepseek-v3 gemini-robotics-er-2 gemma-4-e2b gpt-oss-120b gpt-oss-20b gpt-oss-safeguard-20b llama-3-1-8b llama-3-3-70b ministral-3b mistral-medium-2505 nemotron-nano-12b nemotron-nano-9b qwen3-6-27b qwen3-8-27b qwen3-coder-480b",
  ],
  [196_608, "minimax-m2-1 minimax-m2-5"],
  [200_000, "claude-3 claude-haiku-4 claude-opus-4 claude-sonnet-4 glm-5-turbo o1 o3 o4-mini"],
  [202_752, "glm-4-7-flash glm-5"],
  [204_608, "minimax-m2"],
  [204_800, "glm-4-7 minimax-m2-7"],
  [256_000, "codestral-2508 codestral-latest grok-4 grok-code-fast labs-devstral-small-2512 ministral-3-3b"],
  [
    262_144,
    "devstral-2 devstral-2512 devstral-latest devstral-medium-latest gemma-4-26b gemma-4-31b kimi-k2 labs-leanstral-1 magistral-medium-latest ministral-14b ministral-8b mistral-large-2512 mistral-large-3 mistral-large-latest mistral-medium-2508 mistral-medium-2604 mistral-medium-3 mistral-medium-latest mistral-small-2603 mistral-small-latest nemotron-nano-3 nemotron-super-3 qwen3-235b qwen3-coder qwen3-next qwen3-vl",
  ],
  [272_000, "gpt-5 gpt-5-4-mini gpt-5-4-nano"],
  [300_000, "nova-lite-v1 nova-pro-v1"],
  [400_000, "chat-latest gpt-daybreak-red-latest"],
  [500_000, "grok-4-5 grok-4-6 grok-4-7"],
  [922_000, "gpt-5-4 gpt-5-5 gpt-5-6-luna gpt-5-6-sol gpt-5-6-terra gpt-6"],
  [
    1_000_000,
    "claude-fable-5 claude-haiku-5 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-4-6 claude-sonnet-5 deepseek-flash deepseek-v4 glm-5-2 glm-5-3 grok-4-3 llama4-maverick minimax-m3 nova-2 nova-premier-v1 qwen3-6-flash qwen3-6-plus qwen3-7 qwen3-8-flash qwen3-8-max",
  ],
  [1_040_000, "palmyra-x5"],
  [1_047_576, "gpt-4-1"],
  [
    1_048_576,
    "deep-research-max-preview-04 deep-research-preview-04 gemini-1-5-flash gemini-2-0 gemini-2-5-flash gemini-2-5-pro gemini-3 gemini-4 gemini-flash-latest gemini-flash-lite-latest gemini-pro-latest kimi-k3 mimo-v2 mistral-large-4 muse-ember-1 muse-spark-1 muse-wonder-1 zai-glm-5",
  ],
  [1_050_000, "gpt-daybreak-blue-latest"],
  [2_097_152, "gemini-1-5-pro"],
  [10_000_000, "llama4-scout"],
];
