import { counted } from "../mark/texts.ts";
import { splitsPair } from "../measure/encode-text.ts";
import { NUMBERS } from "../policy/defaults.ts";

/** A text as people see it: its start within the limit, the note of how much is missing counted in. */
export function displayText(text: string, maxChars: number = NUMBERS.displayTextChars.default): string {
  if (text.length <= maxChars) return text.toWellFormed();
  const note = (chars: number) => `\n... [${counted(chars, "character")} omitted]`;
  // Reserved for the largest count there can be: the true one is never longer.
  const room = maxChars - note(text.length).length;
  if (room <= 0) return textStart(text, maxChars);
  const start = textStart(text, room);
  return start + note(text.length - start.length);
}

/** The first characters of a text, not parting a surrogate pair. */
export function textStart(text: string, maxChars: number): string {
  const end = maxChars > 0 && maxChars < text.length && splitsPair(text, maxChars) ? maxChars - 1 : maxChars;
  return text.slice(0, Math.max(0, end)).toWellFormed();
}
