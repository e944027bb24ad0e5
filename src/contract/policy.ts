import type { Limits } from "./limits.ts";

/** A named set of built-in numbers. */
export type ProfileName = "balanced" | "frugal" | "uniform" | "off";

/** What a tool itself is told, beyond limits on its output. */
export interface ToolOptions {
  /** Lines shown before and after each match. */
  showContext?: number;
  maxDepth?: number;
  maxFiles?: number;
  maxMatches?: number;
}

/** What may be said about a tool for one layer, session or call. What is absent stays as it was. */
export interface ToolOverride {
  limits?: Limits | undefined;
  /** A strategy's name; checked where strategies are known. */
  strategy?: string | undefined;
  /** Share of the room that the output's start gets, 0 to 1. */
  headShare?: number | undefined;
  /** False for exact content: files, diffs, JSON. */
  fold?: boolean | undefined;
  /** Lines that the last good run of the same command has too are worth less. */
  since?: boolean | undefined;
  /** What people look for in such outputs, as texts or patterns (`/timed out after \d+/i`): weighed as if every call asked for it. */
  focus?: readonly string[] | undefined;
  /** Lines that are shown before others, up to half of the room, as texts or patterns. */
  keep?: readonly string[] | undefined;
  /** Lines that are worth nothing, as texts or patterns; what `keep` names stays. */
  drop?: readonly string[] | undefined;
  /** Nothing is clamped. */
  off?: boolean | undefined;
  /** Summarise by a model, where a summariser is set up. */
  summarize?: boolean | undefined;
  /** Only outputs over this are summarised; the policy's own number where it is not said. */
  triggerChars?: number | undefined;
  options?: ToolOptions | undefined;
  /** The tool's own word: stronger than a default row, weaker than a row that names the tool. */
  declared?: boolean | undefined;
}

/** A row about the tools that its name or pattern matches. */
export interface PolicyRow extends Omit<ToolOverride, "declared"> {
  /** The limits of this row hold even where they are over the ceiling. */
  raisesCeiling?: boolean | undefined;
}

/** A row and the tools it is about: a name, a family's name, or a pattern with `*`. */
export interface ToolRule {
  tool: string;
  row: PolicyRow;
}

/** What holds for every tool, whatever its row says: the environment's word. A limit here is the ceiling too. */
export interface ForcedRow {
  limits?: Limits | undefined;
  strategy?: string | undefined;
  headShare?: number | undefined;
  fold?: boolean | undefined;
  summarize?: boolean | undefined;
}

/** A set of pruning rules: our own, or those that another program publishes. */
export type PruningPreset = "spillway" | "openclaw";

/** How old results are lightened before a request. */
export interface PruningPolicy {
  /** The preset that the rest began with. */
  preset: PruningPreset;
  /** `cache-ttl` is `adaptive` in requests whose prompt cache is cold, for those who prune each request by itself. */
  mode: "adaptive" | "aggressive" | "cache-ttl" | "off";
  keepLastAssistants: number;
  softTrimRatio: number;
  hardClearRatio: number;
  minPrunableToolChars: number;
  softTrim: { maxChars: number; headChars: number; tailChars: number };
  hardClear: { enabled: boolean; placeholder: string };
  /** Patterns of tool names; deny wins; an empty allow means all. */
  tools: { allow: string[]; deny: string[] };
  /** A result once trimmed or cleared keeps that form, and new cuts come in rare, large steps. */
  sticky: boolean;
  /** A cut result says where the whole of it is saved. */
  namesSaved: boolean;
  /** Long strings in the arguments of old calls are pruned as results are. */
  callArguments: boolean;
  /**
   * Which old images, sounds and files go: those in results and in messages that follow results before an assistant
   * answers, those in all messages of users, or none.
   */
  media: "results" | "all" | "off";
  /** So many of the newest images, sounds and files stay. */
  keepLastMedia: number;
  /** How a request is weighed against the window: by the token counter, or a quarter of its characters. */
  estimate: "tokens" | "chars/4";
  /** A step frees at least this, or that share of the window, whichever is more; never more than a third of it. */
  clearAtLeastTokens: number;
  clearAtLeastShare: number;
  /** A step goes on until the request is at this share of the ratio that set it off. */
  lowWatermark: number;
  /** From this share of the window half a step is enough. */
  forceRatio: number;
  /** How long a provider keeps a prompt cache: after a longer pause a step of any size costs nothing. */
  cacheTtlMs: number;
  /** Results older than this many assistant messages are cleared whatever the pressure; 0 for never. */
  ageTurns: number;
  /** The request's estimated size from which old results are cleared: providers refuse bytes apart from tokens. */
  maxRequestBytes: number;
  /** What all results that no model has seen yet may take together, and what each of them keeps in any case. */
  batch: { windowShare: number; maxChars: number; floorChars: number };
  /** Clamp results over their tool's limits that did not come through `admit`. */
  insure: boolean;
}

/** A part of a pruning policy, as a person or a program gives it. */
export interface PruningInput extends Partial<Omit<PruningPolicy, "softTrim" | "hardClear" | "tools" | "batch">> {
  softTrim?: Partial<PruningPolicy["softTrim"]>;
  hardClear?: Partial<PruningPolicy["hardClear"]>;
  tools?: Partial<PruningPolicy["tools"]>;
  batch?: Partial<PruningPolicy["batch"]>;
}

/** Summarising one output by a model. */
export interface SummarizationPolicy {
  enabled: boolean;
  /** Null until one is named. */
  model: string | null;
  maxInputChars: number;
  /** Only outputs over this are summarised. */
  triggerChars: number;
}

/** What a command's output may take in memory; the rest is in the artifact. */
export interface CommandPolicy {
  maxChars: number;
  /** A background command's output that nobody has read yet. */
  maxPendingChars: number;
}

/** A model's window as a person stated it. */
export interface ModelWindow {
  provider: string;
  model: string;
  contextTokens: number;
}

/** A policy as a program, a file or the environment gives it: any part of it. */
export interface PolicyInput {
  profile?: ProfileName | undefined;
  ceiling?: Limits | undefined;
  /** For every tool that no row names. */
  default?: Omit<ToolOverride, "declared"> | undefined;
  tools?: Record<string, PolicyRow> | readonly ToolRule[] | undefined;
  force?: ForcedRow | undefined;
  pruning?: PruningInput | undefined;
  summarization?: Partial<SummarizationPolicy> | undefined;
  commands?: Partial<CommandPolicy> | undefined;
  /** The window where a model's own is not known. */
  contextTokens?: number | undefined;
  models?: readonly ModelWindow[] | undefined;
  /** What a project's file says: weaker than all of the above, and it only ever tightens. */
  project?: Omit<PolicyInput, "project" | "force"> | undefined;
}

/** Which limits and which strategy apply to which tool: checked and complete. */
export interface Policy {
  profile: ProfileName;
  ceiling: Limits;
  builtIn: { default: ToolOverride; rules: readonly ToolRule[] };
  default: ToolOverride;
  rules: readonly ToolRule[];
  force: ForcedRow;
  pruning: PruningPolicy;
  summarization: SummarizationPolicy;
  commands: CommandPolicy;
  contextTokens: number;
  /** True if a person stated `contextTokens`. A project's file does not count. */
  statesContextTokens: boolean;
  models: readonly ModelWindow[];
  /** A project's rows: their limits tighten, and what else they say counts where no stronger row speaks. */
  project: Pick<Policy, "builtIn" | "default" | "rules"> | null;
}

/** Lines that people know, by texts or patterns. */
export type LinePatterns = Required<{ [name in "focus" | "keep" | "drop"]: readonly string[] }>;

/** What applies to one tool's output. */
export interface ToolPolicy {
  /** Under the ceiling; a limit that is absent does not apply. */
  limits: Limits;
  /** An output of fewer characters is not cut for its lines alone; 0 if somebody set a limit on lines. */
  shortChars: number;
  strategy: string;
  headShare: number;
  fold: boolean;
  since: boolean;
  /** The patterns of all rows that apply. */
  lines: LinePatterns;
  off: boolean;
  summarize: boolean;
  triggerChars: number;
  options: ToolOptions;
}
