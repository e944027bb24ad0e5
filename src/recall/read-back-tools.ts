import { messageOf } from "../errors.ts";
import { namedArguments } from "./named-arguments.ts";
import { RECALL_DEFINITION, type ReadBackDefinition, SEARCH_DEFINITION } from "./read-back-definitions.ts";
import { type RecallPage, recallText } from "./recall.ts";
import type { RecallWant, SearchQuery } from "./recall-want.ts";
import { type SearchPage, searchText } from "./search.ts";

/** Reads artifacts back. A Spillway does. */
export interface ReadsBack {
  recall(id: string, want?: RecallWant): Promise<RecallPage>;
  search(id: string, query: SearchQuery): Promise<SearchPage>;
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
        const { id, ...rest } = namedArguments(args, Object.keys(RECALL_DEFINITION.inputSchema.properties));
        return recallText(await from.recall(id as string, wantOf(rest)));
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
