import { useSyncExternalStore } from "react";

/** Where somebody is. Every state that matters stands in the address, behind the #: the server never sees it. */
export interface Place {
  page: string;
  /** What the page is about: a session's name, an artifact's id. */
  id: string;
  params: URLSearchParams;
}

/** The address of a place. */
export function hrefTo(page: string, id = "", params: Record<string, string | number | undefined> = {}): string {
  const given = Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const query = new URLSearchParams(given).toString();
  return `#/${page}${id === "" ? "" : `/${encodeURIComponent(id)}`}${query === "" ? "" : `?${query}`}`;
}

/** Goes to a place. With `replace` the way back skips the place before. */
export function go(href: string, how: "push" | "replace" = "push"): void {
  if (how === "push") location.hash = href;
  else {
    try {
      history.replaceState(null, "", href);
    } catch {
      // Browsers refuse it if it comes too often, as from a key that is held down. The next place will be told.
      return;
    }
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

/** Reads an address. One that names no page, such as #main, is the start. */
export function placeOf(hash: string): Place {
  const [, page = "", id = "", query = ""] = /^#?\/([^/?]*)\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const params = new URLSearchParams(query);
  try {
    return { page, id: decodeURIComponent(id), params };
  } catch {
    return { page, id, params };
  }
}

/** Where we are now. */
export function usePlace(): Place {
  return placeOf(useSyncExternalStore(subscribe, () => location.hash));
}
