import type { Searcher } from "../contract/searcher.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { plainSearcher } from "./plain-searcher.ts";
import { ripgrepSearcher } from "./ripgrep-searcher.ts";
import { Turns } from "./turns.ts";

/** Which searcher to load. */
export interface SearcherOptions {
  /** Where ripgrep is; by default the one that the package brings; null for none. */
  rgPath?: string | null;
}

/** Ripgrep, or where there is none a searcher that needs nothing but Node. */
export async function loadSearcher(options: SearcherOptions = {}): Promise<Searcher> {
  const rgPath = options.rgPath === undefined ? await findRipgrep() : options.rgPath;
  const chosen = rgPath === null ? plainSearcher() : ripgrepSearcher(rgPath, plainSearcher());
  const turns = new Turns(NUMBERS.searchesAtOnce.default);
  return {
    name: chosen.name,
    search: (source, request) => turns.take(() => chosen.search(source, request), request.signal),
  };
}

async function findRipgrep(): Promise<string | null> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    // Not installed, or not for this platform.
    return null;
  }
}
