import type { Conversation } from "./conversation.ts";

/**
 * What a conversation is known by: who may read, the first user's text and the first call. Never the system prompt, which
 * hosts change between requests.
 */
export function conversationKey(conversation: Conversation, scope: string, sha256: (text: string) => string): string {
  const { firstUser, firstCall, messages } = conversation;
  if (conversation.key !== null) return conversation.key;
  const user = firstUser === null ? null : (messages[firstUser]?.view.text ?? null);
  const call = firstCall === null ? null : [firstCall.id, firstCall.tool, inputText(firstCall.input)];
  const key = sha256(JSON.stringify([scope, user?.toWellFormed() ?? null, call])).slice(0, 32);
  if (user !== null && call !== null) conversation.key = key;
  return key;
}

function inputText(input: unknown): string {
  try {
    return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  } catch {
    return "";
  }
}
