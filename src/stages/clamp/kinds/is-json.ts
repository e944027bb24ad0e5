import { JsonLexer } from "../json/lex-json.ts";
import type { KindSample } from "./kind.ts";

const NOTHING = { open() {}, close() {}, key() {}, text() {}, scalar() {} };

/** JSON, or JSON values one after another: an object or an array that is right as far as the sample goes. */
export function isJson({ bytes }: Pick<KindSample, "bytes">): boolean {
  const lexer = new JsonLexer(NOTHING, 64);
  lexer.add(bytes);
  return !lexer.failed && (lexer.depth > 0 || lexer.values > 0);
}
