import type { Wire } from "../contract/wire.ts";
import type { Conversation, Item } from "./conversation.ts";
import type { Form } from "./form.ts";
import type { ReadMessage } from "./read-message.ts";

/** The messages with results in their forms; what did not change is the same object, and so is what was written before. */
export function writeMessages<Message>(
  wire: Wire,
  messages: readonly Message[],
  conversation: Conversation,
): Message[] {
  const { edited, written } = conversation;
  if (edited.size === 0) return messages as Message[];
  for (const [index, items] of edited) {
    if (!written.has(index)) written.set(index, writeMessage(wire, conversation.messages[index] as ReadMessage, items));
  }
  const sent = messages.slice();
  for (const [index, message] of written) sent[index] = message as Message;
  return sent;
}

/** What another reading of the same conversation wrote serves again, if the forms are the same. */
function writeMessage(wire: Wire, read: ReadMessage, items: readonly Item[]): unknown {
  const forms: (Form | null)[] = read.results.map(() => null);
  for (const { at, form } of items) forms[at] = form;
  if (read.written === null || !isSame(read.written.forms, forms)) {
    const edits = items.flatMap(({ result, form }) => (form === null ? [] : { at: result.at, texts: form.texts }));
    read.written = { forms, message: wire.write(read.source, edits) };
  }
  return read.written.message;
}

function isSame(before: readonly (Form | null)[], now: readonly (Form | null)[]): boolean {
  return before.length === now.length && before.every((form, at) => form === now[at]);
}
