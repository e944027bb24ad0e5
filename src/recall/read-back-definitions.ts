import { NUMBERS } from "../stages/policy/defaults.ts";

/** What a model is told of a tool with which it reads artifacts. */
export interface ReadBackDefinition {
  name: "recall" | "search";
  description: string;
  /** The JSON Schema of its arguments. */
  inputSchema: { type: "object"; properties: Record<string, object>; required: string[] };
}

const ID = { type: "string", description: "the artifact's id, from the marker" };
const PAIR = { type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 };

const RECALL_ARGUMENTS = {
  id: ID,
  lines: { ...PAIR, description: "first and last line" },
  bytes: { ...PAIR, description: "from this byte to before that one" },
  head: { type: "integer", description: "the first lines" },
  tail: { type: "integer", description: "the last lines" },
  // Clients that check schemas strictly complain about a union of types.
  around: { type: "string", description: "a line number or a pattern: the lines around it, or around its first match" },
};
const SEARCH_ARGUMENTS = {
  id: ID,
  pattern: { type: "string" },
  literal: { type: "boolean", description: "the pattern is the text itself" },
  ignore_case: { type: "boolean" },
  context: {
    type: "integer",
    description: `lines before and after each match; ${NUMBERS.searchContext.default} by default`,
  },
  max: { type: "integer" },
  from: { type: "integer", description: "matches from this line on" },
};

export const RECALL_DEFINITION: ReadBackDefinition = {
  name: "recall",
  description: "Reads part of a saved tool output, in bounded pages. Lines count from 1.",
  inputSchema: { type: "object", properties: RECALL_ARGUMENTS, required: ["id"] },
};

export const SEARCH_DEFINITION: ReadBackDefinition = {
  name: "search",
  description: "Finds a regular expression in a saved tool output; the count is of all matches.",
  inputSchema: { type: "object", properties: SEARCH_ARGUMENTS, required: ["id", "pattern"] },
};
