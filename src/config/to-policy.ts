import type { Limits } from "../contract/limits.ts";
import type {
  ModelWindow,
  PolicyInput,
  PolicyRow,
  ProfileName,
  PruningInput,
  SummarizationPolicy,
} from "../contract/policy.ts";
import { LIMIT_NAMES } from "../stages/policy/check-limits.ts";
import { definedOnly, mergeInputs, readStrategy } from "../stages/policy/check-row.ts";
import { readTtl } from "./schema.ts";
import type { PlainConfig } from "./validate-config.ts";

/** A checked row: our keys in camelCase. */
type PlainRow = Partial<Record<keyof Limits, number | "none">> &
  Omit<PolicyRow, "limits" | "options" | "triggerChars" | "raisesCeiling"> &
  NonNullable<PolicyRow["options"]> & { triggerThreshold?: number; raiseCeiling?: boolean };

interface PlainRows {
  default?: PlainRow;
  tools?: Record<string, PlainRow>;
}

/** Pruning as a file has it. Another program has a mode and a time more. */
type PlainPruning = PruningInput & { ttl?: string | number };

interface PlainAgent {
  contextPruning?: PlainPruning;
  contextTokens?: number;
}

/** A checked config: what the schema lets through. */
interface Plain extends PlainRows {
  profile?: ProfileName;
  ceiling?: PlainRow;
  pruning?: PlainPruning;
  summarization?: { enabled?: boolean; model?: string; maxInputChars?: number; triggerThreshold?: number };
  commands?: { maxChars?: number; maxPendingChars?: number };
  contextTokens?: number;
  toolOutputLimits?: PlainRows;
  agent?: PlainAgent;
  agents?: { defaults?: PlainAgent };
  models?: { providers?: Record<string, { models?: { id?: string; contextWindow?: number }[] }> };
}

/** A checked config as a policy's input. Our own form wins over the others where a file has both. */
export function toPolicy(config: PlainConfig): PolicyInput {
  const plain = config as Plain;
  const own: PolicyInput = {
    profile: plain.profile,
    ceiling: plain.ceiling && toLimits(plain.ceiling),
    pruning: plain.pruning && toPruning(plain.pruning),
    summarization: plain.summarization && toSummarization(plain.summarization),
    commands: plain.commands,
    contextTokens: plain.contextTokens,
    models: plain.models && toModels(plain.models),
    ...toRows(plain),
  };
  return mergeInputs(
    toRows(plain.toolOutputLimits ?? {}),
    fromAgent(plain.agent),
    fromAgent(plain.agents?.defaults),
    definedOnly(own),
  );
}

function toRows({ default: row, tools }: PlainRows): PolicyInput {
  return definedOnly({
    default: row && toRow(row),
    tools: tools && Object.entries(tools).map(([tool, plain]) => ({ tool, row: toRow(plain) })),
  });
}

function toRow(plain: PlainRow): PolicyRow {
  const { fold, since, focus, keep, drop, off, raiseCeiling: raisesCeiling } = plain;
  const said = { fold, since, focus, keep, drop, off, raisesCeiling };
  const { showContext, maxDepth, maxFiles, maxMatches } = plain;
  const read = plain.strategy === undefined ? undefined : readStrategy(plain.strategy);
  const limits = toLimits(plain);
  const options = definedOnly({ showContext, maxDepth, maxFiles, maxMatches });
  return definedOnly({
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    strategy: read?.strategy,
    headShare: plain.headShare ?? read?.headShare,
    ...said,
    summarize: plain.summarize ?? read?.summarize,
    triggerChars: plain.triggerThreshold,
    options: Object.keys(options).length > 0 ? (options as NonNullable<PolicyRow["options"]>) : undefined,
  });
}

function toLimits(plain: PlainRow): Limits {
  const limits: Limits = {};
  for (const name of LIMIT_NAMES) {
    const value = plain[name];
    if (value !== undefined) limits[name] = value === "none" ? Infinity : value;
  }
  return limits;
}

function toSummarization(plain: NonNullable<Plain["summarization"]>): Partial<SummarizationPolicy> {
  const { enabled, model, maxInputChars, triggerThreshold: triggerChars } = plain;
  return definedOnly({ enabled, model, maxInputChars, triggerChars }) as Partial<SummarizationPolicy>;
}

function fromAgent(agent: PlainAgent | undefined): PolicyInput {
  const { contextPruning, contextTokens } = agent ?? {};
  return definedOnly({ pruning: contextPruning && toPruning(contextPruning), contextTokens });
}

function toPruning({ mode, ttl, ...plain }: PlainPruning): PruningInput {
  const cacheTtlMs = ttl === undefined ? undefined : readTtl(ttl);
  return definedOnly({ cacheTtlMs, mode, ...plain }) as PruningInput;
}

function toModels({ providers = {} }: NonNullable<Plain["models"]>): ModelWindow[] {
  const windows: ModelWindow[] = [];
  for (const [provider, { models = [] }] of Object.entries(providers)) {
    for (const { id, contextWindow } of models) {
      if (id !== undefined && contextWindow !== undefined) {
        windows.push({ provider, model: id, contextTokens: contextWindow });
      }
    }
  }
  return windows;
}
