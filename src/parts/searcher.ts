import type { Searcher } from "../contract/searcher.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { plainSearcher } from "./plain-searcher.ts";
import { ripgrepSearcher } from "./ripgrep-searcher.ts";
import { Turns } from "./turns.ts";

/** Options of `loadSearcher`. */
export interface SearcherOptions {
  /** The path of ripgrep. Absent: the ripgrep of the installed package. Null: no ripgrep. */
  rgPath?: string | null;
}

/** Loads ripgrep. If there is none, loads a searcher that needs nothing but Node. */
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
    // The package is not installed, or it has no binary for this platform.
    return null;
  }
}
