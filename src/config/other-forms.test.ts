import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolvePolicy } from "../stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "../stages/policy/resolve-tool-policy.ts";
import { loadConfig } from "./index.ts";

// Configs in forms that are in use already, as they stand there.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-forms-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(name: string, text: string) {
  const file = join(folder, name);
  await writeFile(file, text);
  const { policy, warnings, notes } = await loadConfig({ file, env: {} });
  return { policy: resolvePolicy(policy), warnings, notes };
}

const TOOL_CONFIG = `# 工具输出限制配置
tool_output_limits:
  # 全局默认限制
  default:
    max_chars: 8000
    max_lines: 500
    truncation_strategy: "head_tail"  # head_tail | head_only | summarize
  
  # 特定工具的限制
  tools:
    repo_map:
      max_chars: 10000
      max_lines: 1000
    
    read_file:
      max_chars: 5000
      max_lines: 200
    
    grep_search:
      max_lines: 100
      show_context: 2  # 每个匹配显示前后2行
    
    get_repo_structure:
      max_depth: 3
      max_files: 500

# 智能摘要配置（可选）
summarization:
  enabled: false  # 默认关闭，因为有额外成本
  model: "qwen-turbo"  # 使用便宜的模型
  max_input_chars: 50000  # 传递给摘要模型的最大字符数
  trigger_threshold: 20000  # 超过这个长度才触发摘要
`;

describe("tool_output_limits and summarization", () => {
  it("reads as it stands", async () => {
    const { policy, warnings } = await load("tool_config.yaml", TOOL_CONFIG);
    expect(warnings).toEqual([]);
    const about = (tool: string) => resolveToolPolicy(policy, tool);
    expect(about("anything")).toMatchObject({ limits: { maxChars: 8000, maxLines: 500 }, strategy: "head-tail" });
    expect(about("run_command").limits).toMatchObject({ maxChars: 8000, maxLines: 500 });
    expect(about("repo_map").limits).toMatchObject({ maxChars: 10_000, maxLines: 1000 });
    expect(about("read_file").limits).toMatchObject({ maxChars: 5000, maxLines: 200 });
    expect(about("grep_search")).toMatchObject({
      limits: { maxChars: 8000, maxLines: 100 },
      options: { showContext: 2 },
    });
    expect(about("get_repo_structure").options).toEqual({ maxDepth: 3, maxFiles: 500 });
    expect(policy.summarization).toEqual({
      enabled: false,
      model: "qwen-turbo",
      maxInputChars: 50_000,
      triggerChars: 20_000,
    });
  });

  it.each([
    ["head_tail", { strategy: "head-tail", headShare: 0.5, summarize: false }],
    ["head_only", { strategy: "head", headShare: 0.3, summarize: false }],
    ["summarize", { strategy: "auto", headShare: 0.3, summarize: true }],
  ])("takes %s as %j", async (written, expected) => {
    const { policy } = await load("s.yaml", TOOL_CONFIG.replace('"head_tail"', `"${written}"`));
    expect(resolveToolPolicy(policy, "anything")).toMatchObject(expected);
  });

  it("yields to our own form in the same file", async () => {
    const { policy } = await load(
      "b.yaml",
      `${TOOL_CONFIG}default: { max_lines: 9 }\ntools: { repo_map: { max_lines: 8 } }\n`,
    );
    expect(resolveToolPolicy(policy, "anything").limits).toMatchObject({ maxChars: 8000, maxLines: 9 });
    expect(resolveToolPolicy(policy, "repo_map").limits).toMatchObject({ maxChars: 10_000, maxLines: 8 });
  });
});

describe("contextPruning", () => {
  it.each([
    ["adaptive", `{\nagent: {\ncontextPruning: { mode: "adaptive" }\n}\n}\n`],
    ["off", `{\nagent: {\ncontextPruning: { mode: "off" }\n}\n}\n`],
    ["aggressive", `{\nagent: {\ncontextPruning: { mode: "aggressive" }\n}\n}\n`],
  ])("mode %s reads as it stands, the other numbers by default", async (mode, text) => {
    const { policy, warnings } = await load("spillway.json5", text);
    expect(warnings).toEqual([]);
    expect(policy.pruning).toEqual({
      preset: "spillway",
      mode,
      keepLastAssistants: 3,
      softTrimRatio: 0.3,
      hardClearRatio: 0.5,
      minPrunableToolChars: 50_000,
      softTrim: { maxChars: 4000, headChars: 1500, tailChars: 1500 },
      hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" },
      tools: { allow: [], deny: [] },
      sticky: true,
      namesSaved: true,
      callArguments: true,
      media: "results",
      keepLastMedia: 3,
      estimate: "tokens",
      clearAtLeastTokens: 12_500,
      clearAtLeastShare: 0.05,
      lowWatermark: 0.5,
      forceRatio: 0.9,
      cacheTtlMs: 300_000,
      ageTurns: 0,
      maxRequestBytes: 30_000_000,
      batch: { windowShare: 0.5, maxChars: 200_000, floorChars: 2000 },
      insure: true,
    });
  });

  it("what others do not have, in either spelling", async () => {
    const text = "pruning:\n  sticky: false\n  estimate: chars/4\n  cache_ttl_ms: 0\n  batch:\n    floor_chars: 10\n";
    const { policy, warnings } = await load("spillway.yaml", text);
    expect(warnings).toEqual([]);
    expect(policy.pruning).toMatchObject({ sticky: false, estimate: "chars/4", cacheTtlMs: 0 });
    expect(policy.pruning?.batch?.floorChars).toBe(10);
  });

  it("tools to allow and deny", async () => {
    const text = `{
agent: {
contextPruning: {
mode: "adaptive",
tools: { allow: ["exec", "read"], deny: ["*image*"] }
}
}
}
`;
    expect((await load("t.json5", text)).policy.pruning.tools).toEqual({ allow: ["exec", "read"], deny: ["*image*"] });
  });

  it("agents.defaults, contextTokens and models' windows, with comments and trailing commas, in .json too", async () => {
    const text = `// another program's config
{
  agents: {
    defaults: {
      contextPruning: { mode: 'aggressive', keepLastAssistants: 5, softTrim: { maxChars: 9000, }, hardClear: { enabled: false }, },
      contextTokens: 120000,
      workspace: "~/x",
    },
    list: [],
  },
  models: { providers: { anthropic: { baseUrl: "https://x", models: [{ id: "m1", contextWindow: 32768, cost: {} }, { id: "m2" }] } } },
}
`;
    const { policy, warnings } = await load("openclaw.json", text);
    expect(warnings).toEqual([]);
    expect(policy.pruning).toMatchObject({
      mode: "aggressive",
      keepLastAssistants: 5,
      softTrim: { maxChars: 9000, headChars: 1500 },
      hardClear: { enabled: false, placeholder: "[Old tool result content cleared]" },
    });
    expect(policy.contextTokens).toBe(120_000);
    expect(policy.models).toEqual([{ provider: "anthropic", model: "m1", contextTokens: 32_768 }]);
  });

  const WHOLE = `{
  meta: { lastTouchedVersion: "2026.9.6" },
  env: { vars: { A: "b" } },
  auth: { profiles: { "anthropic:default": { mode: "api_key" } } },
  gateway: { port: 18789, auth: { token: "x" } },
  channels: { telegram: { enabled: true } },
  tools: { profile: "coding", exec: { host: "gateway", timeoutSec: 1800 }, allow: ["read"] },
  commands: { native: "auto", restart: true },
  session: { dmScope: "per-peer" },
  models: { mode: "merge", providers: { local: { baseUrl: "http://x", api: "openai-completions", models: [{ id: "m", name: "M", contextWindow: 8192, maxTokens: 4096, cost: {} }] } } },
  agents: {
    defaults: {
      workspace: "~/w", model: { primary: "anthropic/claude-opus-4-6" }, heartbeat: { every: "1h" },
      compaction: { mode: "safeguard" }, contextTokens: 180000,
      contextPruning: { mode: "cache-ttl", ttl: "1h", keepLastAssistants: 4, hardClear: { placeholder: "[gone]" }, tools: { deny: ["browser"] } },
    },
    list: [{ id: "main", default: true }],
  },
  plugins: { entries: {} },
}
`;

  it.each(["openclaw.json", "renamed.json"])(
    "a whole config of OpenClaw as %s, its other sections named once",
    async (name) => {
      const { policy, warnings, notes } = await load(name, WHOLE);
      expect(warnings).toEqual([]);
      expect(notes).toEqual([
        expect.stringMatching(
          /: this is OpenClaw's config; not read: meta, env, auth, gateway, channels, tools, commands, session, plugins$/,
        ),
      ]);
      expect(policy.pruning).toMatchObject({
        preset: "spillway",
        mode: "adaptive",
        cacheTtlMs: 3_600_000,
        keepLastAssistants: 4,
        hardClear: { enabled: true, placeholder: "[gone]" },
        tools: { deny: ["browser"] },
      });
      expect([policy.contextTokens, policy.models]).toEqual([
        180_000,
        [{ provider: "local", model: "m", contextTokens: 8192 }],
      ]);
      expect(resolveToolPolicy(policy, "exec")).toEqual(resolveToolPolicy(resolvePolicy(), "exec"));
    },
  );

  it("what is wrong in a section that is read is still told, and sections of ours are not another program's", async () => {
    const wrong = join(folder, "openclaw.json5");
    await writeFile(wrong, "{ gateway: {}, agents: { defaults: { contextPruning: { mode: 'cold', ttl: 'soon' } } } }");
    await expect(loadConfig({ file: wrong, env: {} })).rejects.toThrow(
      /expected adaptive, aggressive, cache-ttl or off; got "cold"[^]*expected a time such as 5m or 1h; got "soon"/,
    );
    const own = join(folder, "own.json5");
    await writeFile(own, "{ agent: {}, gatewayy: {} }");
    await expect(loadConfig({ file: own, env: {} })).rejects.toThrow("unknown key gatewayy");
  });

  it.each([
    ["5m", 300_000],
    ["90s", 90_000],
    ["15", 900_000],
    [2, 120_000],
    ["30d", 86_400_000],
  ])("ttl %s is %d ms", async (ttl, cacheTtlMs) => {
    const { policy } = await load("ttl.yaml", `pruning: { ttl: ${JSON.stringify(ttl)} }\n`);
    expect(policy.pruning.cacheTtlMs).toBe(cacheTtlMs);
  });

  it("pruning.preset in a file, with what is said beside it", async () => {
    const { policy } = await load("p.yaml", "pruning: { preset: openclaw, keep_last_assistants: 5 }\n");
    expect(policy.pruning).toMatchObject({
      preset: "openclaw",
      sticky: false,
      estimate: "chars/4",
      namesSaved: false,
      callArguments: false,
      keepLastAssistants: 5,
    });
    const file = join(folder, "q.yaml");
    await writeFile(file, "pruning: { preset: seed }\n");
    await expect(loadConfig({ file, env: {} })).rejects.toThrow('expected spillway or openclaw; got "seed"');
  });

  it("a slip of the pen in another program's section is told", async () => {
    const file = join(folder, "slip.json5");
    await writeFile(file, "{ agent: { contextPrunning: { mode: 'off' }, workspace: 1 } }");
    await expect(loadConfig({ file, env: {} })).rejects.toThrow(
      "slip.json5:1:12: unknown key agent.contextPrunning; did you mean contextPruning?",
    );
  });
});
