import type { SignatureInput } from "../contract/verdict.ts";
import { SpillwayError } from "../errors.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";

/** What a person adds to how overflows are known. */
export interface OverflowOptions {
  /** Signatures of one's own, asked before all others. */
  rules?: readonly SignatureInput[] | undefined;
}

/** Makes signatures ready. Throws an error that names the key: a wrong one should show before the first refusal. */
export async function openRules(overflow: OverflowOptions | undefined): Promise<readonly Rule[]> {
  if (overflow === undefined) return [];
  if (typeof overflow !== "object" || overflow === null)
    throw new SpillwayError("bad-input", `overflow must be an object with rules; got ${String(overflow)}`);
  const unknown = Object.keys(overflow).find((key) => key !== "rules");
  if (unknown !== undefined) throw new SpillwayError("bad-input", `overflow.${unknown} is not known; known is rules`);
  const { rules = [] } = overflow;
  if (!Array.isArray(rules)) throw new SpillwayError("bad-input", "overflow.rules must be a list");
  if (rules.length === 0) return [];
  return (await import("../stages/recover/compile-signatures.ts")).compileSignatures(rules);
}
