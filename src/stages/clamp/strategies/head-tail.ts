import { startEdges } from "./edges.ts";
import type { KindSample, KindStrategy } from "./kind.ts";

const PAGE = /^(?:<!--(?:(?!-->)[^])*-->|<\?xml[^>]*>|\s)*<(?:!doctype html|html|head|body)\b/i;

/** Keeps both ends. */
export const headTail: KindStrategy = {
  name: "head-tail",
  kinds: [{ name: "html", order: 30, is: isPage }],
  start: (request) => startEdges(request, request.headShare),
};

/** A web page. */
export function isPage({ lines }: KindSample): boolean {
  return PAGE.test(lines.slice(0, 20).join("\n").slice(0, 2000));
}
