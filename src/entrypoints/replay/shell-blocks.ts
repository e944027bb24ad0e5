interface ChatMessage {
  role: string;
  content: string;
}

const BLOCK = /```(?:bash|sh)\n([\s\S]*?)\n?```/;
/** How mini-swe-agent begins an output, or the word that a command took too long. */
const OBSERVATION = /^(?:<returncode>|The last command <command>)/;

/**
 * Agents without tool calls write a command as a code block and get its output from the user. Pruning is about results, so
 * such messages are read as a call and its result; what they say stays the same.
 */
export function callsFromShellBlocks(messages: readonly unknown[]): readonly unknown[] {
  const isPlain = messages.every(isChatMessage);
  if (!isPlain || !messages.some(({ role, content }) => role === "user" && OBSERVATION.test(content))) return messages;
  return messages.map((message, index) => {
    const before = messages[index - 1];
    const after = messages[index + 1];
    if (message.role === "user" && before !== undefined && isAnswered(before, message)) {
      return { role: "tool", tool_call_id: `call_${index - 1}`, content: message.content };
    }
    if (after === undefined || !isAnswered(message, after)) return message;
    const [block = "", command = ""] = BLOCK.exec(message.content) ?? [];
    const call = { name: "bash", arguments: JSON.stringify({ command }) };
    return {
      role: "assistant",
      content: message.content.replace(block, () => ""),
      tool_calls: [{ id: `call_${index}`, type: "function", function: call }],
    };
  });
}

function isAnswered(message: ChatMessage, next: ChatMessage): boolean {
  return (
    message.role === "assistant" &&
    next.role === "user" &&
    OBSERVATION.test(next.content) &&
    BLOCK.test(message.content)
  );
}

/** A message of plain text. */
export function isChatMessage(message: unknown): message is ChatMessage {
  if (typeof message !== "object" || message === null) return false;
  const { role, content, tool_calls } = message as Record<string, unknown>;
  return typeof role === "string" && typeof content === "string" && tool_calls === undefined;
}
