export type { WholeArtifact } from "./open-artifact.ts";
export { newReadBack } from "./read-back.ts";
export type { ReadBackFor, ReadBackKinds, ReadBackOptions } from "./read-back-kinds.ts";
export { READ_BACK_TOOLS } from "./read-back-tools.ts";
export { type ReadBy, type RecallOptions, type RecallPage, recallText } from "./recall.ts";
export type { RecallWant, SearchQuery } from "./recall-want.ts";
export { namedArguments } from "./recall-want.ts";
export { type SearchOptions, type SearchPage, searchText } from "./search.ts";
export { newLastGood, type SinceOptions, type SincePage } from "./since.ts";
