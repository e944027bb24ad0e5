import { statSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "./data-folder.ts";

/** Either is enough: who moves a damaged database away still has the files beside it. Others have folders of artifacts too. */
const SIGNS = ["spillway.db", "secret"];

/** Whether something was ever kept in a folder. Where that cannot be seen the answer is yes: opening it says why. */
export function hasStore(dir: string = dataFolder()): boolean {
  try {
    return SIGNS.some((name) => statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined);
  } catch {
    return true;
  }
}
