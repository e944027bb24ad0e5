import { messageOf } from "../errors.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallParts } from "./call-parts.ts";
import type { Draft } from "./draft.ts";

/** Writes what was accepted into the caller's history, guarded. A transcript that cannot be written must not cost the answer. */
export async function persistHistory(
  { messages, wire }: Draft,
  { session, history }: CallOptions,
  { guard }: CallParts,
): Promise<string | null> {
  try {
    const guarded: unknown[] = [];
    for (const message of messages) guarded.push(await guard(message, { wire: wire.name, session }));
    await history?.replace(guarded);
    return null;
  } catch (error) {
    return `the transcript could not be rewritten: ${messageOf(error)}`;
  }
}
