/** Who speaks in a message. A message of results only is "result"; "other" is passed through and never changed. */
export type WireRole = "system" | "user" | "assistant" | "result" | "other";

/** A call that an assistant made, in place. */
export interface WireCall {
  id: string | null;
  tool: string;
  /** As it came: an object, or text of JSON. */
  input: unknown;
  /** The sort of call, where its wire answers sorts differently. */
  kind?: string;
  /** Long strings in its input that may be shown shorter. Left out where there are none, or the call must stay as it is. */
  long?: WireLong;
}

/** Long strings in a call's input, where they stand in its message. */
export interface WireLong {
  /** Names the place within its message, as a result's `at` does; the two never have the same. */
  at: string;
  /** In order. An edit gives as many. */
  texts: string[];
  /** The input is text of JSON, so each string stands in it with escapes. */
  isJson: boolean;
}

/** Images, audio and files. */
export interface WireMedia {
  count: number;
  /** About how many bytes of the request they take. */
  bytes: number;
  /** About how many tokens the provider counts for them. Where this is left out, each counts as a picture of common size. */
  tokens?: number;
  /** What each of them holds: its base64, a URL, its bytes, or what else stands in its place. */
  data?: readonly unknown[];
}

/** A tool's result, where it stands in its message. */
export interface WireResult {
  /** Names the place within its message; only its wire can read it. */
  at: string;
  /** The id of the call it answers. Ids may repeat in a conversation: pair by occurrence. */
  id: string | null;
  /** The tool's name where the message says it; else it comes from the call. */
  tool: string | null;
  isError: boolean;
  /** What the model reads as text, in order. */
  texts: string[];
  /** The object whose JSON is its one text. An edit with the JSON of another object is written as an object too. */
  json?: object | undefined;
  media: WireMedia;
  /** The provider ran this tool itself, or the result is otherwise not ours to change. */
  fixed: boolean;
}

/** One message as its wire reads it. A pure function of the message, so it may be kept by the message's identity. */
export interface WireMessage {
  role: WireRole;
  /** The message's own id where the format has one. */
  id: string | null;
  calls: WireCall[];
  results: WireResult[];
  /** UTF-16 units a model reads here outside results: texts, thinking, calls and their input. */
  chars: number;
  /** Media outside results. */
  media: WireMedia;
  /** The first text, where there is one; a conversation is known by its first user's. */
  text: string | null;
  /** Those after it, where there are more. */
  moreTexts?: string[] | undefined;
  /** An assistant's turn that was broken off: its calls get no results. */
  aborted: boolean;
  /** Parts that could not be read; they come back as they were. */
  malformed: number;
}

/** New content for one result, or for the long strings of a call. */
export interface WireEdit {
  at: string;
  /**
   * As many texts as there were, each in its place; or, for a result, one, which stands where the first stood and for all of
   * them.
   */
  texts?: string[];
  /** Said in place of each image, audio or file. */
  mediaText?: string;
}

/** A foreign message format: a lens that finds calls and results in place and changes only what they hold. */
export interface Wire {
  readonly name: string;
  /** How surely `messages` are in this format, 0 to 1; looks at a bounded number of them. */
  detect(messages: readonly unknown[]): number;
  /** Never throws: what is malformed is counted and passed through. */
  read(message: unknown): WireMessage;
  /** A copy of the message with those results and calls changed; everything else is the same object or the same bytes. */
  write(message: unknown, edits: readonly WireEdit[]): unknown;
  /**
   * A message, clearly marked as an error, that answers calls which got no result; null where the format has none. Where a
   * message holds one result it answers the first: `missingMessages` answers them all.
   */
  missing(calls: readonly WireCall[], text: string): unknown;
  /** A message in which a user says a text; null where the format has none. */
  say(text: string): unknown;
  /**
   * What of a message goes to the provider: frameworks keep more in a message than they send. Where this is left out, all of
   * it goes.
   */
  sent?(message: unknown): unknown;
}
