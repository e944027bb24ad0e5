export { namedArguments } from "./named-arguments.ts";
export { type WholeArtifact, wholeArtifact } from "./open-artifact.ts";
export { READ_BACK_TOOLS } from "./read-back-tools.ts";
export { type RecallOptions, type RecallPage, recall, recallText } from "./recall.ts";
export type { RecallWant, SearchQuery } from "./recall-want.ts";
export { type SearchOptions, type SearchPage, search, searchText } from "./search.ts";
