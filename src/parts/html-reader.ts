import { setImmediate } from "node:timers/promises";
import type { HtmlReader } from "../contract/html-reader.ts";
import { HtmlText } from "./html-text.ts";

/** Read between two looks at the clock. */
const SLICE_CHARS = 64 * 1024;

/** The reader on top of htmlparser2's tokenizer: one pass, and no tree that a page could make deep. */
export async function loadHtmlReader(): Promise<HtmlReader> {
  const { Tokenizer } = await import("htmlparser2");
  return {
    async read(html, signal) {
      const text = new HtmlText(html);
      const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, text);
      for (let at = 0; at < html.length; at += SLICE_CHARS) {
        signal.throwIfAborted();
        tokenizer.write(html.slice(at, at + SLICE_CHARS));
        await setImmediate();
      }
      tokenizer.end();
      return text.text();
    },
  };
}
