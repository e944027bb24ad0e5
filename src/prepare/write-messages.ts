import type { Wire } from "../contract/wire.ts";
import type { Conversation } from "./conversation.ts";
import { type MessageChange, writeChange } from "./form.ts";
import type { ReadMessage } from "./read-message.ts";

/** The messages with results in their forms; what did not change is the same object, and so is what was written before. */
export function writeMessages<Message>(
  wire: Wire,
  messages: readonly Message[],
  conversation: Conversation,
): Message[] {
  const { edited, written, covered, head } = conversation;
  if (edited.size === 0 && covered === 0) return messages as Message[];
  for (const index of edited.keys()) {
    if (index < covered || written.has(index)) continue;
    written.set(index, writeMessage(wire, conversation.messages[index] as ReadMessage, conversation.changeOf(index)));
  }
  const sent = messages.slice();
  for (const [index, message] of written) sent[index] = message as Message;
  return covered === 0 ? sent : [...(head.map(({ source }) => source) as Message[]), ...sent.slice(covered)];
}

/** What another reading of the same conversation wrote serves again, if the forms are the same. */
function writeMessage(wire: Wire, read: ReadMessage, change: MessageChange): unknown {
  if (read.written === null || !isSame(read.written.change, change)) {
    read.written = { change, message: writeChange(wire, read.source, change) };
  }
  return read.written.message;
}

function isSame(one: MessageChange, other: MessageChange): boolean {
  return (
    one.mediaText === other.mediaText &&
    one.edits.length === other.edits.length &&
    one.edits.every(({ at, texts, mediaText }, index) => {
      const edit = other.edits[index];
      return edit?.at === at && edit.texts === texts && edit.mediaText === mediaText;
    })
  );
}
