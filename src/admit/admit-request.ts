import type { Output } from "../contract/output.ts";
import type { ToolOverride } from "../contract/policy.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Intent } from "./intent.ts";
import type { ShownBytes, WrapOptions } from "./wrap-tool.ts";

/** What may be said for one output. */
export interface AdmitOptions extends Omit<WrapOptions, "name" | "session" | "ask" | "context"> {
  /** The receipt says why each part of a text is shown or not. */
  explain?: boolean | undefined;
  /** Bounds `details` and `structuredContent` too, for results that reach a model or a transcript with them. */
  boundDetails?: boolean | undefined;
}

/** One output to admit. */
export interface AdmitRequest extends AdmitOptions {
  /** The tool's name, by which its limits are found. */
  tool?: string | undefined;
  session?: string | undefined;
  call?: string | undefined;
  output: Output;
  /** A command's exit code, or a promise of it: said where it matters, as the text's last line. */
  exitCode?: number | null | PromiseLike<number | null> | undefined;
  /** The command whose output it is: helps to tell what sort of output it is, and the artifact remembers it. */
  command?: string | undefined;
  /** The tool's arguments: where there is no command, the artifact remembers these. */
  args?: unknown;
  /**
   * What the call is for, as far as is known: lines with words of it that are rare in this output get a part of the room. A
   * `focus` is stronger. It is not stored.
   */
  intent?: Intent | string | undefined;
  /** The folder in which the command ran: the artifact remembers it. */
  folder?: string | undefined;
  /** The request to a model that the output came in, if it came in one: events name it. */
  via?: { wire?: string | undefined; model?: string | undefined; agent?: string | undefined } | undefined;
  /** What the tool itself declares; weaker than a policy row that names it. */
  declared?: ToolOverride | undefined;
  /** A partial result: clamped, never spilled, no receipt told. */
  isUpdate?: boolean | undefined;
  /** How the reader of this output's marker gets at the rest, where that is not as for the others. */
  reader?: Exclude<Access, { by: "file" }> | undefined;
}

/** An admitted output. `output` has the shape that came in; bytes and streams that are cut become text. */
export interface Admission<T> {
  output: T extends string ? string : ShownBytes<T>;
  text: string;
  receipt: Receipt;
}
