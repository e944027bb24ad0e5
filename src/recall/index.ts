export type { SearchQuery } from "./check-query.ts";
export { READ_BACK_TOOLS } from "./read-back-tools.ts";
export type { SearchMatch } from "./read-match.ts";
export { type RecallOptions, type RecallPage, recall, recallText } from "./recall.ts";
export type { RecallWant } from "./recall-want.ts";
export { type SearchOptions, type SearchPage, search, searchText } from "./search.ts";
