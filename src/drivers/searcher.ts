import type * as Ripgrep from "@vscode/ripgrep";
import type { Searcher } from "../contract/searcher.ts";
import { newTurns } from "../deadline.ts";
import { messageOf } from "../errors.ts";
import { loadPackage } from "../load-package.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { plainSearcher } from "./plain-searcher.ts";
import { ripgrepSearcher } from "./ripgrep-searcher.ts";

/** Options of `loadSearcher`. */
export interface SearcherOptions {
  /** The path of ripgrep. Absent: the ripgrep of the installed package. Null: no ripgrep. */
  rgPath?: string | null;
  /** Told why ripgrep is not used where it was looked for. */
  onMissing?: (fault: string) => void;
}

/** Loads ripgrep. If there is none, loads a searcher that needs nothing but Node. */
export async function loadSearcher(options: SearcherOptions = {}): Promise<Searcher> {
  const rgPath = options.rgPath === undefined ? await findRipgrep(options.onMissing) : options.rgPath;
  const chosen = rgPath === null ? plainSearcher() : ripgrepSearcher(rgPath, plainSearcher());
  const turns = newTurns(NUMBERS.searchesAtOnce.default);
  return {
    name: chosen.name,
    async search(source, request) {
      await turns.take(request.signal);
      return chosen.search(source, request).finally(turns.give);
    },
  };
}

async function findRipgrep(onMissing: SearcherOptions["onMissing"]): Promise<string | null> {
  try {
    return (await loadPackage<typeof Ripgrep>("@vscode/ripgrep")).rgPath;
  } catch (error) {
    // The package is not installed, or it has no binary for this platform.
    onMissing?.(`the package @vscode/ripgrep could not be loaded: ${messageOf(error)}`);
    return null;
  }
}
