import type { KindSample } from "./kind.ts";

const OPENS = /^(?:<!--(?:(?!-->)[^])*-->|<\?xml[^>]*>|\s)*<(?:!doctype html|html|head|body)\b/i;

/** A web page. */
export function isHtml({ lines }: KindSample): boolean {
  return OPENS.test(lines.slice(0, 20).join("\n").slice(0, 2000));
}
