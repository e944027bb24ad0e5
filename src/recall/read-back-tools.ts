import { messageOf } from "../errors.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { type ReadBy, type RecallPage, recallText } from "./recall.ts";
import { namedArguments, type RecallWant, type SearchQuery } from "./recall-want.ts";
import { type SearchPage, searchText } from "./search.ts";
import type { SinceOptions, SincePage } from "./since.ts";

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
  since: {
    type: "string",
    description:
      'what is new, gone, or there more or less often than in another run: "good" for the last good run of the same command, "last" for the last, or an id',
  },
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

/** Reads artifacts back. A Spillway does. */
export interface ReadsBack {
  recall(id: string, want?: RecallWant, by?: ReadBy): Promise<RecallPage>;
  search(id: string, query: SearchQuery, by?: ReadBy): Promise<SearchPage>;
  since(id: string, options?: SinceOptions): Promise<SincePage>;
}

/** A tool with which a model reads artifacts, in no framework's form. */
export interface ReadBackTool extends ReadBackDefinition {
  /** Returns what the model reads. Never throws: for bad arguments the text says what is wrong. */
  call(from: ReadsBack, args: unknown): Promise<{ text: string; isError: boolean }>;
}

/** The two tools, under the names that markers use. */
export const READ_BACK_TOOLS: readonly ReadBackTool[] = [
  {
    ...RECALL_DEFINITION,
    call: (from, args) =>
      told(async () => {
        const { id, since, ...rest } = namedArguments(args, Object.keys(RECALL_DEFINITION.inputSchema.properties));
        const want = wantOf(rest);
        if (since !== undefined && want !== undefined) throw new Error("Ask for since alone, without a part to read.");
        if (since !== undefined) return (await from.since(id as string, { against: String(since) })).text;
        return recallText(await from.recall(id as string, want));
      }),
  },
  {
    ...SEARCH_DEFINITION,
    call: (from, args) =>
      told(async () => {
        // `search` itself checks what the model gave.
        const { id, ignore_case, ...query } = namedArguments(
          args,
          Object.keys(SEARCH_DEFINITION.inputSchema.properties),
        );
        const flags = ignore_case === undefined ? {} : { ignoreCase: ignore_case };
        return searchText(await from.search(id as string, { ...query, ...flags } as unknown as SearchQuery));
      }),
  },
];

function wantOf({ lines, bytes, head, tail, around }: Record<string, unknown>): RecallWant | undefined {
  const wants: object[] = [];
  if (lines !== undefined) wants.push({ lines: pair(lines) });
  if (bytes !== undefined) wants.push({ bytes: pair(bytes) });
  if (head !== undefined) wants.push({ head: Number(head) });
  if (tail !== undefined) wants.push({ tail: Number(tail) });
  if (around !== undefined) wants.push({ around: isNumber(around) ? { line: Number(around) } : { pattern: around } });
  if (wants.length > 1) throw new Error("Ask for one of lines, bytes, head, tail or around, not for several.");
  return wants[0] as RecallWant | undefined;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && /^\d{1,15}$/.test(value));
}

/** Accepts the ways in which models write a range: [120, 180], "120-180" or one number. */
function pair(value: unknown): unknown {
  if (typeof value === "number") return [value, value];
  const [, from, to] = typeof value === "string" ? (/^\[?\s*(\d+)\s*[-,:]\s*(\d+)\s*\]?$/.exec(value) ?? []) : [];
  return from === undefined ? value : [Number(from), Number(to)];
}

async function told(read: () => Promise<string>): Promise<{ text: string; isError: boolean }> {
  try {
    return { text: await read(), isError: false };
  } catch (error) {
    return { text: messageOf(error), isError: true };
  }
}
