import { SpillwayError } from "../../errors.ts";

/** Longer pieces of one run take quadratic time. */
const PIECE = /.{1,1024}/gsu;
const MAX_REMEMBERED_CHARS = 32 * 1024 * 1024;

/** A counter of o200k tokens times a factor (the optional package `gpt-tokenizer`), with a memory for texts that come again. */
export async function loadTokenCount(factor: number): Promise<(texts: readonly string[]) => number> {
  const { countTokens } = await load();
  const options = { disallowedSpecial: new Set<string>() };
  let known = new Map<string, number>();
  let chars = 0;
  const count = (text: string): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = (text.match(PIECE) ?? []).reduce((sum, piece) => sum + countTokens(piece, options), 0);
    chars += text.length;
    if (chars > MAX_REMEMBERED_CHARS) {
      known = new Map();
      chars = text.length;
    }
    known.set(text, tokens);
    return tokens;
  };
  return (texts) => Math.ceil(texts.reduce((sum, text) => sum + count(text), 0) * factor);
}

async function load() {
  try {
    return await import("gpt-tokenizer/encoding/o200k_base");
  } catch (cause) {
    const message = "the fake provider counts with the package gpt-tokenizer, which could not be loaded";
    throw new SpillwayError("missing-part", `${message}: npm install --save-dev gpt-tokenizer`, { cause });
  }
}
