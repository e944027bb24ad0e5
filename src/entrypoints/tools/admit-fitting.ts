import type { Limits } from "../../contract/limits.ts";
import type { ToolPlace } from "./bounded-tool.ts";

/** Whose limits apply. */
export interface FittingAbout {
  tool: string;
  /** Tighter ones that this answer has to keep too. */
  size?: Limits;
}

/** Returns true if nothing of an answer would be cut. */
export async function fitsLimits({ spillway, session }: ToolPlace, about: FittingAbout, output: string) {
  const { limits, off } = spillway.resolve(about.tool);
  const { maxBytes = Infinity, maxChars = Infinity } = limits;
  // A text that is far too long is not worth a closer look.
  if (!off && output.length > Math.min(maxBytes, maxChars)) return false;
  const plain = { strategy: "head", fold: false, summarize: false };
  const { receipt } = await spillway.admit({ ...about, ...plain, session, output, isUpdate: true });
  return receipt.omitted.bytes === 0;
}

/**
 * Admits the longest of a tool's answers that is within its limits: `write(n)` is the answer with n rows, and says of just
 * these rows what is shown. So nothing is cut afterwards, and what the answer tells of itself is true.
 */
export async function admitFitting(
  place: ToolPlace,
  about: FittingAbout,
  most: number,
  write: (rows: number) => string,
): Promise<string> {
  let least = 0;
  let over = most + 1;
  for (let rows = most; least < over - 1; rows = (least + over) >> 1) {
    if (await fitsLimits(place, about, write(rows))) least = rows;
    else over = rows;
  }
  return (await place.spillway.admit({ ...about, session: place.session, output: write(least) })).text;
}
