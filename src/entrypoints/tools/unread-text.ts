import { StringDecoder } from "node:string_decoder";

/** What a command has written and nobody has read yet: the newest of it, up to a limit. */
export interface UnreadText {
  add(chunk: Uint8Array): void;
  /** Takes what is there. `droppedChars` went before it and is gone from here. */
  take(): { text: string; droppedChars: number };
}

/** Holds at most `maxChars`. */
export function newUnreadText(maxChars: number): UnreadText {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let chars = 0;
  let droppedChars = 0;
  return {
    add(chunk) {
      const part = decoder.write(chunk as Buffer);
      if (part === "") return;
      parts.push(part);
      chars += part.length;
      while (chars > maxChars) {
        const first = parts[0] ?? "";
        const over = Math.min(chars - maxChars, first.length);
        if (over === first.length) parts.shift();
        else parts[0] = first.slice(over);
        chars -= over;
        droppedChars += over;
      }
    },
    take() {
      // A pair that the limit split leaves half a character.
      const taken = { text: parts.join("").toWellFormed(), droppedChars };
      parts = [];
      chars = 0;
      droppedChars = 0;
      return taken;
    },
  };
}
