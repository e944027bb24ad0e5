import type { Limits } from "../../contract/limits.ts";
import type { ProfileName, ToolOverride, ToolRule } from "../../contract/policy.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "./defaults.ts";

/** What a profile says about tools. */
export interface Profile {
  default: ToolOverride;
  rules: readonly ToolRule[];
}

const limits = (maxChars: { default: number }, maxLines: { default: number }): Limits => ({
  maxChars: maxChars.default,
  maxLines: maxLines.default,
});

const exactContent: ToolRule = { tool: "exact_content", row: { fold: false } };

const balanced: Profile = {
  default: { strategy: DEFAULT_STRATEGY, headShare: NUMBERS.headShare.default, fold: true },
  rules: [
    { tool: "read_file", row: { limits: limits(NUMBERS.readFileChars, NUMBERS.readFileLines), fold: false } },
    { tool: "run_command", row: { limits: limits(NUMBERS.runCommandChars, NUMBERS.runCommandLines) } },
    { tool: "list_directory", row: { limits: limits(NUMBERS.listDirectoryChars, NUMBERS.listDirectoryLines) } },
    { tool: "search_files", row: { limits: limits(NUMBERS.searchFilesChars, NUMBERS.searchFilesLines) } },
    exactContent,
  ],
};

const frugal: Profile = {
  default: {
    limits: limits(NUMBERS.frugalChars, NUMBERS.frugalLines),
    strategy: DEFAULT_STRATEGY,
    headShare: NUMBERS.frugalHeadShare.default,
    fold: true,
  },
  rules: [
    { tool: "repo_map", row: { limits: limits(NUMBERS.frugalRepoMapChars, NUMBERS.frugalRepoMapLines) } },
    {
      tool: "read_file",
      row: { limits: limits(NUMBERS.frugalReadFileChars, NUMBERS.frugalReadFileLines), fold: false },
    },
    {
      tool: "search_files",
      row: {
        options: { maxMatches: NUMBERS.frugalSearchMatches.default, showContext: NUMBERS.frugalSearchContext.default },
      },
    },
    {
      tool: "get_repo_structure",
      row: {
        options: { maxDepth: NUMBERS.frugalStructureDepth.default, maxFiles: NUMBERS.frugalStructureFiles.default },
      },
    },
    exactContent,
  ],
};

/** The ceiling for every tool, and nothing else: no rows, and nothing is folded. */
const uniform: Profile = {
  default: {
    limits: { maxBytes: NUMBERS.ceilingBytes.default, maxLines: NUMBERS.ceilingLines.default },
    strategy: DEFAULT_STRATEGY,
    headShare: NUMBERS.headShare.default,
    fold: false,
  },
  rules: [],
};

/** The profiles by name. */
export const PROFILES: Record<ProfileName, Profile> = { balanced, frugal, uniform, off: balanced };
/** The names as a person is told them. */
export const PROFILE_NAMES = "balanced, frugal, uniform or off";

/** Rows that stand in every profile but `uniform` and that a default row does not touch: these tools have caps of their own. */
export const SELF_CAPPED_RULES: readonly ToolRule[] = [
  {
    tool: "sessions_history",
    row: {
      limits: { maxBytes: NUMBERS.sessionsHistoryBytes.default, maxChars: Infinity, maxLines: Infinity },
      raisesCeiling: true,
      fold: false,
    },
  },
];
